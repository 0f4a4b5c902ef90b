// The registry on a node that requires it: no agent works in a graph before the admin signed that it was validated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/node/node_process.h"

namespace witan::node::test {
namespace {

using ::testing::HasSubstr;

TEST(GraphRegistry, AnAgentNeedsTheAdminsWord) {
  const std::string examples = std::string(witan::tests::kSourceDir) + "/docs/examples/";
  const Scratch scratch;
  Node node(scratch, "desk");
  ASSERT_EQ(node.init(2).exitCode, 0);
  std::string config = contentOf(node.dir() + "/witan.toml");
  const std::size_t at = config.find("required = false");
  ASSERT_NE(at, std::string::npos);
  scratch.write("desk/witan.toml", config.replace(at, 16, "required = true"));
  std::filesystem::copy_file(examples + "graphs-policy.toml", node.dir() + "/policy.toml");
  ASSERT_TRUE(node.up()) << node.log();
  const std::string clinic = examples + "clinic.graph.toml";
  const auto deployed = [&] { return node.run({"graph", "deploy", clinic}); };
  EXPECT_THAT(deployed().err, HasSubstr("agent udt-planner has no validation artefact"));
  EXPECT_EQ(node.run({"graph", "register", clinic}).exitCode, 1) << "it does not pass";

  scratch.write("report.txt", "312 of 312 cases\n");
  const auto registered = [&](const std::string& agent, const std::string& result) {
    return node.run({"graph", "register", agent, "--kind", "agent", "--suite", "clinic-suite", "--report",
                     scratch / "report.txt", "--result", result});
  };
  EXPECT_THAT(registered("nobody", "pass").err, HasSubstr("this node has no agent \"nobody\""));
  for (const char* agent : {"udt-results", "udt-planner", "udt-reviewer"})
    EXPECT_EQ(registered(agent, agent == std::string("udt-planner") ? "fail" : "pass").exitCode, 0);
  EXPECT_THAT(deployed().err, HasSubstr("agent udt-planner has no validation artefact"));
  EXPECT_EQ(registered("udt-planner", "pass").exitCode, 0);
  EXPECT_EQ(deployed().exitCode, 0) << deployed().err;
  EXPECT_EQ(node.run({"graph", "register", clinic}).exitCode, 0);

  const json::value all = node.runJson({"graph", "list", "--artefacts"});
  EXPECT_TRUE(all.at("needed").as_bool());
  ASSERT_EQ(all.at("artefacts").as_array().size(), 4u) << canonicalJson(all);
  const json::value& planner = all.at("artefacts").at(0);
  EXPECT_EQ(planner.at("id"), "udt-planner");
  EXPECT_EQ(planner.at("result"), "pass");
  EXPECT_EQ(all.at("artefacts").at(3).at("kind"), "graph");
}

}  // namespace
}  // namespace witan::node::test
