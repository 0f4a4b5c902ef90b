// What is proposed to the ledger of a graph as a deployment: the owner takes what lint would, with its document, and
// nothing else. Each refused case of the lint's vectors is proposed as a program would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/graph/vectors.h"
#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_deploy_test {
namespace {

using kernel::Outcome;
using ::testing::HasSubstr;

// A device whose policy, tools and registry are those of the vector.
class Owner {
 public:
  explicit Owner(const std::string& environment)
      : stage_(gateDocument(500), {setup(environment)}, {}), a(stage_.cluster.a()) {}

  Answer ask(Request request) {
    stage_.submit(a, request);
    stage_.rounds([&] { return a.answered(request.operationId) != nullptr; }, 20);
    const Answer* answer = a.answered(request.operationId);
    return answer == nullptr ? Answer() : *answer;
  }
  // As its document says, or as somebody would say who wants another in.
  Request deployment(const json::value& source, bool withDocument = true) {
    const auto document = graph::readDocument(source).document;
    const std::string id = document != nullptr ? document->id : "none";
    if (a.replica().host("graph/0")->partition().state(id) == nullptr)
      (void)ask(initRequest(graphs(), id, concat("begin-", ++asked_), json::object{}));
    const std::string operation = concat("deploy-", ++asked_);
    if (document != nullptr) {
      Request request = deployRequest(graphs(), *document, source, operation).value();
      if (!withDocument) request.text.clear();
      return request;
    }
    const json::object action{
        {"type", "Deploy"},  {"version", 1},           {"digest", graph::identityOf(canonicalJson(source))},
        {"deliveries", 100}, {"edges", json::array{}}, {"gates", json::array{}}};
    Request request = proposalRequest(graphs(), id, "Operator", operation, action).value();
    request.text = canonicalJson(source);
    return request;
  }

 private:
  static std::shared_ptr<AgentSetup> setup(const std::string& environment) {
    auto made = gateSetup();
    made->graphEnvironment = [read = graph::parseEnvironment(graph::tests::vectorText(environment)).value()] {
      return read;
    };
    return made;
  }
  int asked_ = 0;
  Stage stage_;

 public:
  Device& a;
};

TEST(GraphDeploy, WhatLintRefusesTheLedgerDoesNotTake) {
  std::map<std::string, std::unique_ptr<Owner>> owners;
  std::map<std::string, int> refused;
  std::int64_t version = 0;
  for (json::object& vector : graph::tests::vectorsOf("checks.jsonl")) {
    SCOPED_TRACE(std::string(vector.at("name").as_string()));
    const std::string environment(vector.at("env").as_string());
    auto& owner = owners[environment];
    if (owner == nullptr) owner = std::make_unique<Owner>(environment);
    json::value source = vector.at("document");
    if (source.as_object().contains("graph")) source.at("graph").as_object()["version"] = ++version;
    const json::array& errors = vector.at("errors").as_array();
    const Answer bare = owner->ask(owner->deployment(source, graph::readDocument(source).document == nullptr));
    EXPECT_EQ(bare.outcome, Outcome::refused) << bare.message;
    const Answer answer = owner->ask(owner->deployment(source));
    EXPECT_EQ(answer.outcome, errors.empty() ? Outcome::approved : Outcome::refused) << answer.message;
    for (const json::value& id : errors) ++refused[std::string(id.as_string())];
    if (errors.empty() || errors[0] == "GL01") continue;
    EXPECT_TRUE(std::ranges::any_of(errors, [&](const json::value& id) {
      return answer.message.find(std::string(id.as_string())) != answer.message.npos;
    })) << answer.message;
  }
  EXPECT_EQ(refused.size(), 23u);  // GL01 to GL23
}

// Whose agents, graphs and markets may be on other devices.
TEST(GraphDeploy, TheOwnerJudgesWhatIsItsOwn) {
  Owner owner("env.json");
  for (json::object& vector : graph::tests::vectorsOf("checks.jsonl")) {
    if (vector.at("name") != "line") continue;
    json::value source = vector.at("document");
    for (json::value& node : source.at("node").as_array())
      if (node.at("kind") == "agent") node.as_object()["agent"] = "elsewhere";
    EXPECT_EQ(owner.ask(owner.deployment(source)).outcome, Outcome::approved);
    source.at("graph").as_object()["version"] = 1'000;
    for (json::value& node : source.at("node").as_array())
      if (node.at("kind") == "agent") node.as_object()["maxOut"] = 1'000;
    EXPECT_THAT(owner.ask(owner.deployment(source)).message, HasSubstr("GL16"));
  }
}

}  // namespace
}  // namespace witan::node::test::graph_deploy_test
