// The graphs of docs/examples at work on devices, as their files have them: the clinic's through a cut network, the
// disclosure's with people at three gates and a tool outside, writer and critic with a scripted model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "agents/data/data_agent.h"
#include "domains/agents.h"
#include "program/policy_file.h"
#include "tests/paths.h"
#include "tests/replica/graph_stage.h"

namespace witan::node::test::graph_examples_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kExamples = std::string(witan::tests::kSourceDir) + "/docs/examples/";

std::string textOf(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

agents::Policy policyOf(const std::string& name) {
  return agents::parsePolicyToml(textOf(kExamples + name), name).value();
}

json::object documentOf(const std::string& example) {
  return readTableFile(kExamples + example + ".graph.toml", {"graph", false}).value();
}

void writeResult(Device& lab) {
  const replication::JournalBody body{
      "lab.result", R"({"on":"2026-03-23","outcome":"POSITIVE"})", 1, "person", 1, {}, {}};
  const auto write = replication::recordWrite("lab/Ruth/R1", body);
  ASSERT_TRUE(write.ok());
  ASSERT_TRUE(lab.replica().data().commit(replication::DatabaseName::journal, "main", {&*write, 1}).ok());
}

TEST(GraphExamples, TheClinicsRunGoesThroughACutNetwork) {
  const auto agent = [](const char* id) { return domains::findAgent(id); };
  Stage stage(documentOf("clinic"),
              {setupOf({}, policyOf("graphs-policy.toml")), setupOf({agent("udt-results")}, std::nullopt),
               setupOf({agent("udt-planner"), agent("udt-reviewer")}, std::nullopt)},
              {&moduleOf("udt")});
  Device &desk = stage.cluster.a(), &lab = stage.cluster.b(), &clinic = stage.cluster.c();
  const kernel::DomainModule& udt = moduleOf("udt");
  stage.submit(desk, initRequest(udt, "Ruth", "ruth", json::object{{"baselinePositiveOn", "2025-12-01"}}));
  stage.step();
  stage.propose(desk, udt, "Ruth", "LabOrder",
                {{"type", "DocumentRationale"}, {"order", "R1"}, {"text", "treatment plan: random monitoring"}});
  stage.propose(desk, udt, "Ruth", "LabOrder",
                {{"type", "OrderTest"},
                 {"order", "R1"},
                 {"kind", "PRESUMPTIVE"},
                 {"code", "80307"},
                 {"method", "IMMUNOASSAY"},
                 {"dos", "2026-03-23"}});
  stage.deploy();
  stage.send(desk, "orders", "R1", {{"patient", "Ruth"}, {"order", "R1"}, {"test", "screening"}});
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(lab, "R1") == "running"; })) << stage.words(desk);
  for (int round = 0; round < 20; ++round) stage.step();

  stage.connectAll(false);
  writeResult(lab);
  for (int round = 0; round < 20; ++round) stage.step();
  EXPECT_EQ(stage.statusOf(desk, "R1"), "running");
  EXPECT_FALSE(stage.asks(desk));

  stage.connectAll(true);
  ASSERT_TRUE(stage.rounds([&] { return stage.asks(clinic); })) << stage.words(desk);
  ASSERT_TRUE(stage.rounds([&] { return !stage.bodyAsked(clinic).empty(); }));
  EXPECT_EQ(stage.bodyAsked(clinic).at("plan"),
            "after the relapse of R1: weekly screening; a definitive test of the screening; a talk within a week");
  EXPECT_TRUE(desk.replica().host("udt/0")->partition().frozen("Ruth")) << "the relapse waits for the doctor, too";
  stage.answer(clinic, "dr.supervising", "doctor");
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "R1") == "completed"; })) << stage.words(desk);
  for (int round = 0; round < 30; ++round) stage.step();
  for (Device* device : stage.devices) {
    EXPECT_EQ(stage.statusOf(*device, "R1"), "completed");
    EXPECT_THAT(stage.journal(*device, "examples.clinic/plans/"), SizeIs(1));
    EXPECT_EQ(finishedSpans(*device), finishedSpans(desk));
  }
}

agents::Policy disclosurePolicy() {
  agents::Policy policy{.name = "desk", .version = 1};
  agents::OperationRule send{.name = "send", .allow = {"id", "title", "text"}};
  send.requireHuman = true;
  policy.boundary = {
      {"intake",
       {"device"},
       {{"admit", {"id", "component", "text", "entity", "action.type", "action.f", "action.loc", "action.cwe"}}}},
      {"mail", {"device"}, {send}}};
  policy.grant = {{"examples.disclosure", "graph", {"device"}, {"graph"}, {"intake", "mail"}}};
  return policy;
}

TEST(GraphExamples, ThreePeopleLetAFindingOut) {
  const Emitter reproducer("reproducer", {"sandbox.run", 5, {}, {}}, [](const json::object& body) {
    return agents::Emission{"Report", json::object{{"id", body.at("id")}, {"reproduced", true}, {"text", "overflow"}}};
  });
  const Emitter drafter("drafter", {"llm.chat", 10, {}, {}}, [](const json::object& body) {
    return agents::Emission{"Advisory",
                            json::object{{"id", body.at("id")}, {"title", "Overflow"}, {"text", body.at("text")}}};
  });
  auto setup = setupOf({&reproducer, &drafter}, disclosurePolicy());
  agents::episode::ToolInfo mail{.name = "mail.send", .kind = agents::episode::ToolKind::action};
  mail.boundary = "mail", mail.operation = "send";
  setup->options.tools = {mail};
  Stage stage(documentOf("disclosure"), {setup}, {&moduleOf("verification")});
  Device& desk = stage.cluster.a();
  std::vector<json::object> mails;
  stage.onCall = [&](Device& device, const agents::ToolCall& call) {
    ASSERT_EQ(call.tool, "mail.send");
    ASSERT_TRUE(call.operation);
    mails.push_back(call.arguments);
    device.replica().agents()->answered(*call.operation, {replication::OperationOutcome::applied, "{}"}, at(device.ms));
  };
  stage.submit(desk, initRequest(moduleOf("verification"), "reader", "reader", json::object{}));
  stage.deploy();
  const auto finding = [](const char* id) {
    return json::object{
        {"id", id},
        {"component", "reader"},
        {"text", "overflow"},
        {"entity", "reader"},
        {"action", json::object{{"type", "SubmitFinding"}, {"f", id}, {"loc", "reader.c:41"}, {"cwe", "CWE-787"}}}};
  };
  stage.send(desk, "findings", "F-1", finding("F-1"));
  ASSERT_TRUE(stage.rounds([&] { return stage.asks(desk); })) << stage.words(desk);
  stage.answer(desk, "coordinator", "intake");
  for (const char* gate : {"release", "advisory"}) {
    ASSERT_TRUE(stage.rounds([&] {
      return stage.asks(desk) && domains::graph::questionsIn(stage.state(desk))[0].node == gate;
    })) << stage.words(desk);
    EXPECT_TRUE(mails.empty());
    stage.answer(desk, "security-lead", gate);
  }
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "F-1") == "completed"; })) << stage.words(desk);
  ASSERT_THAT(mails, SizeIs(1));
  EXPECT_EQ(mails[0].at("title"), "Overflow");
  // The same finding again: the domain rejects it, and no one is asked.
  stage.send(desk, "findings", "F-1-again", finding("F-1"));
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "F-1-again") == "completed"; }));
  EXPECT_THAT(mails, SizeIs(1));
}

// A model whose answers are a function of what it is asked.
json::object scriptedModel(const agents::ToolCall& call) {
  const json::value asked =
      parseJson(std::string_view(call.arguments.at("messages").as_array().front().at("text").as_string())).value();
  json::object body = asked.at("wake").at("graph").at("body").as_object();
  const bool writer = call.agentId == "writer";
  std::string name = writer ? "emit.Draft" : "emit.Text";
  const std::string text(body.at("text").as_string());
  if (writer) body["text"] = text.empty() ? "Tea." : "Tea, boiled.";
  if (!writer && text == "Tea.") {
    name = "emit.Brief";
    body["left"] = body.at("left").as_int64() - 1;
    body["text"] = "Tea. How?";
  }
  if (name == "emit.Text") body.erase("left");
  return {{"calls", json::array{json::object{{"id", "1"}, {"name", name}, {"arguments", body}}}}, {"text", ""}};
}

TEST(GraphExamples, AWriterAndACriticThatAreFiles) {
  std::vector<std::unique_ptr<agents::DataAgent>> files;
  std::vector<const agents::Agent*> all;
  for (const std::string id : {"writer", "critic"}) {
    const std::string text = textOf(kExamples + "agents/" + id + ".agent.toml");
    auto file = agents::readAgentFile(text, id);
    ASSERT_TRUE(file.ok()) << file.error().message;
    files.push_back(agents::DataAgent::make(*file, agents::agentFileVersion(text)).value());
    all.push_back(files.back().get());
  }
  auto writers = setupOf(all, std::nullopt);
  writers->options.tools = {{.name = "llm.chat"}};
  Stage stage(documentOf("writer-critic"), {setupOf({}, policyOf("graphs-policy.toml")), writers}, {});
  Device& desk = stage.cluster.a();
  std::vector<std::string> asked;
  stage.onCall = [&](Device& device, const agents::ToolCall& call) {
    asked.push_back(call.agentId);
    agents::episode::Observation seen;
    seen.ok = true, seen.content = scriptedModel(call), seen.tokens = 5;
    ASSERT_TRUE(device.replica().agents()->observed(call.run, call.span, std::move(seen)).ok());
  };
  for (const json::value& node : stage.document.at("node").as_array()) {
    if (node.at("kind") == "agent") {
      EXPECT_EQ(node.at("version").as_string(), all[node.at("id") == "writer" ? 0 : 1]->spec().version);
    }
  }
  stage.deploy();
  stage.send(desk, "brief", "tea", {{"topic", "tea"}, {"text", ""}, {"left", 3}});
  ASSERT_TRUE(stage.rounds([&] { return stage.statusOf(desk, "tea") == "completed"; }))
      << stage.statusOf(desk, "tea") << stage.words(desk) << stage.words(stage.cluster.b());
  EXPECT_EQ(asked, (std::vector<std::string>{"writer", "critic", "writer", "critic"}));
  EXPECT_THAT(stage.journal(desk, "examples.writer-critic/publish/"), SizeIs(1));
}

}  // namespace
}  // namespace witan::node::test::graph_examples_test
