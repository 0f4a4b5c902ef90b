// sim/catalog.cpp lists whatever the simulator counts.
#include "sim/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>

#include "sim/run.h"
#include "sim/scenario.h"

#include "tests/paths.h"

namespace witan::probes_test {
namespace {

using namespace witan;
using namespace witan::sim;

bool isListed(const std::string& name) { return std::binary_search(probeNames().begin(), probeNames().end(), name); }

std::string contentOf(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Probes, EveryNameOnce) {
  EXPECT_EQ(std::adjacent_find(probeNames().begin(), probeNames().end()), probeNames().end());
}

// Calls visit(text) for each source file of a folder and of those below it.
void forEachSource(const std::string& folder, const std::function<void(const std::string& text)>& visit) {
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::string(witan::tests::kSourceDir) + "/" + folder))
    if (file.path().extension() == ".cpp") visit(contentOf(file.path()));
}

// Kinds that are told, and become names: notices of replicas and of agents, incidents.
TEST(Probes, WhatReplicasReportIsListed) {
  static const std::regex notice("(?:notices_?\\.push_back\\(\\s*\\{|\\bnotice\\()\"([^\"]+)\","),
      incident("note\\(\\{\"([^\"]+)\",");
  std::size_t found = 0;
  const auto expect = [&](const std::string& folder, const std::regex& told, const std::string& family) {
    forEachSource(folder, [&](const std::string& text) {
      for (std::sregex_iterator at(text.begin(), text.end(), told), end; at != end; ++at, ++found)
        EXPECT_TRUE(isListed(family + (*at)[1].str())) << family << (*at)[1];
    });
  };
  expect("replica", notice, "notice: ");
  expect("agents/host", notice, "notice: agent ");
  for (const char* folder : {"replica", "replication", "agents/wake"}) expect(folder, incident, "incident: ");
  EXPECT_GT(found, 25u);
}

TEST(Probes, WhatTheSourcesCountIsListed) {
  static const std::regex call("(?:probe|onNetwork|onEtcd|kill)\\(([^;]*);"), words("\"([^\"]*)\"");
  std::size_t found = 0;
  forEachSource("sim", [&](const std::string& text) {
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
      const std::string arguments = (*at)[1];
      if (arguments.find("concat(") != std::string::npos || arguments.find(" + ") != std::string::npos) continue;
      for (std::sregex_iterator word(arguments.begin(), arguments.end(), words); word != end; ++word, ++found)
        EXPECT_TRUE(isListed((*word)[1])) << (*word)[1];
    }
  });
  EXPECT_GT(found, 30u);
}

TEST(Probes, WhatRunsReachIsListed) {
  for (const BuiltinScenario& builtin : builtinScenarios()) {
    Scenario scenario = *builtinScenario(builtin.name);
    scenario.draws["time.seconds"] = {0, 0, {std::int64_t{60}}, {}};
    scenario.events.clear(), scenario.repeated.clear();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto plan = drawPlan(scenario, seed);
      ASSERT_TRUE(plan.ok()) << plan.error().message;
      for (const auto& [name, count] : run(*plan).probes) EXPECT_TRUE(isListed(name)) << builtin.name << ": " << name;
    }
  }
}

}  // namespace
}  // namespace witan::probes_test
