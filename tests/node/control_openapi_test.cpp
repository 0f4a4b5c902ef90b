// The OpenAPI document of the control API: complete, its examples true to its schemas, and the node's answers too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/seams.h"
#include "domains/registry.h"
#include "kernel/domain_description.h"
#include "node/api/control_routes.h"
#include "tests/node/json_schema_check.h"
#include "tests/node/node_process.h"

namespace witan::node::control_openapi_test {
namespace {

using test::Node;
using test::Scratch;
using witan::test::SchemaCheck;

std::string verbOf(const ControlRoute& route) { return route.reads() ? "get" : "post"; }

// Visits every operation: its path with the verb, and itself.
void forEachOperation(const json::value& document, const auto& visit) {
  for (const auto& [path, verbs] : document.at("paths").as_object())
    for (const auto& [verb, operation] : verbs.as_object())
      visit(std::string(verb) + " " + std::string(path), operation.as_object());
}

void forEachParameter(const json::object& operation, const auto& visit) {
  if (const json::value* parameters = operation.if_contains("parameters"))
    for (const json::value& one : parameters->as_array()) visit(one.as_object());
}

// Visits each content of a JSON media type below a value.
void forEachContent(const json::value& below, const auto& visit) {
  if (!below.is_object()) return;
  for (const auto& [name, member] : below.get_object()) {
    if (name == "application/json" && member.is_object() && member.get_object().contains("schema"))
      visit(member.get_object());
    forEachContent(member, visit);
  }
}

TEST(OpenApi, NamesEveryRouteWithItsRoleAndItsErrors) {
  const json::value document = openApi();
  for (const ControlRoute& route : controlRoutes()) {
    const json::value& operation = document.at("paths").at(route.info.path).at(verbOf(route));
    EXPECT_EQ(operation.at("summary"), route.info.summary);
    EXPECT_EQ(operation.at("security").as_array().empty(), !route.info.role.has_value()) << route.info.path;
    const json::object& responses = operation.at("responses").as_object();
    for (const int status : route.info.errors) EXPECT_TRUE(responses.contains(std::to_string(status))) << status;
    EXPECT_EQ(responses.contains("202"), route.accepted != nullptr) << route.info.path;
    EXPECT_EQ(responses.contains("401"), route.info.role.has_value()) << route.info.path;
    EXPECT_EQ(responses.contains("413"), !route.reads()) << route.info.path;
  }
}

TEST(OpenApi, EveryOperationHasAnIdATagAndDescribedSchemas) {
  const json::value document = openApi();
  std::set<std::string> ids;
  forEachOperation(document, [&](const std::string& name, const json::object& operation) {
    const std::string id(operation.at("operationId").as_string());
    EXPECT_THAT(id, ::testing::MatchesRegex("[a-z][A-Za-z]+")) << name;
    EXPECT_TRUE(ids.insert(id).second) << id;
    EXPECT_EQ(operation.at("tags").as_array().size(), 1u) << name;
    EXPECT_TRUE(operation.at("responses").at("200").as_object().contains("content")) << name;
    forEachParameter(operation, [&](const json::object& one) {
      EXPECT_TRUE(one.contains("description") && one.at("schema").is_object()) << name << " " << one.at("name");
    });
  });
  for (const auto& [name, schema] : document.at("components").at("schemas").as_object())
    for (const auto& [member, form] : schema.at("properties").as_object())
      EXPECT_FALSE(form.at("description").as_string().empty()) << name << "." << member;
}

TEST(OpenApi, EveryExampleFitsItsSchema) {
  const json::value document = openApi();
  const SchemaCheck check(document, true);
  std::size_t examples = 0;
  forEachContent(document, [&](const json::object& content) {
    ++examples;
    EXPECT_EQ(check.problem(content.at("example"), content.at("schema").as_object()), "")
        << json::serialize(content.at("example"));
  });
  EXPECT_GT(examples, controlRoutes().size());
  forEachOperation(document, [&](const std::string& name, const json::object& operation) {
    forEachParameter(operation, [&](const json::object& one) {
      if (one.contains("example")) {
        EXPECT_EQ(check.problem(one.at("example"), one.at("schema").as_object()), "") << name;
      }
    });
  });
}

TEST(OpenApi, ExamplesThatDoNotFitAreNoticed) {
  const json::value document = openApi();
  const SchemaCheck check(document, true);
  const json::object schema{{"$ref", "#/components/schemas/ProposeRequest"}};
  const json::object whole{{"domain", "d"}, {"entity", "e"}, {"role", "r"}, {"action", json::object{}}};
  EXPECT_EQ(check.problem(whole, schema), "");
  json::object other = whole;
  other.erase("role");
  EXPECT_NE(check.problem(other, schema), "");
  other = whole;
  other["role"] = "";
  EXPECT_NE(check.problem(other, schema), "");
  other = whole;
  other["surprise"] = 1;
  EXPECT_NE(check.problem(other, schema), "");
}

// No member that the node sends is missing in the document, and none has another form.
TEST(OpenApi, TheAnswersOfANodeFitTheirSchemas) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const json::value document = node.get("/v1/openapi.json");
  EXPECT_EQ(canonicalJson(document), canonicalJson(openApi()));
  const SchemaCheck check(document, true);
  const auto fits = [&](const std::string& verb, const std::string& path, const json::value& answer) {
    const json::value& content = document.at("paths").at(path).at(verb).at("responses").at("200").at("content");
    EXPECT_EQ(check.problem(answer, content.at("application/json").at("schema").as_object()), "") << path << answer;
  };
  const auto posts = [&](const std::string& path, const json::object& body) {
    const auto answer = node.post(path, body);
    ASSERT_TRUE(answer.ok()) << path << answer.error().message;
    fits("post", path, *answer);
  };
  posts("/v1/entities", {{"domain", "budget"}, {"entity", "team"}});
  for (const int n : {45'000, 60'000})
    posts("/v1/propose",
          {{"domain", "budget"}, {"entity", "team"}, {"role", "A"}, {"action", {{"type", "SpendA"}, {"n", n}}}});
  posts("/v1/feed", {{"id", "n"}, {"type", "note"}, {"payload", {{"n", 1}}}});
  posts("/v1/log", {{"level", "info"}});
  posts("/v1/devices/invite", {{"uses", 1}, {"roles", json::array{"*"}}});
  posts("/v1/backup", {{"to", scratch / "copy"}});
  const std::map<std::string, std::string> queries{{"/v1/slice", "?domain=budget&entity=team"},
                                                   {"/v1/ledger/verify", "?replay=true"}};
  for (const ControlRoute& route : controlRoutes()) {
    const std::string path = route.info.path;
    if (!route.reads() || path.find('{') != std::string::npos) continue;
    if (route.needsRequest && !queries.contains(path)) continue;  // of records that this node does not have
    if (route.info.mediaType != std::string_view("application/json")) continue;
    const auto query = queries.find(path);
    fits("get", path, node.get(path + (query == queries.end() ? "" : query->second)));
  }
  const json::value domains = node.get("/v1/domains");
  for (const json::value& domain : domains.at("domains").as_array())
    fits("get", "/v1/domains/{domain}", node.get("/v1/domains/" + std::string(domain.at("name").as_string())));
}

// Actions of every domain fit the schemas that it describes for them.
TEST(OpenApi, ActionsFitTheSchemasOfTheirDomain) {
  for (const std::string_view name : domains::domainNames()) {
    const auto module = domains::makeDomain(name).value();
    const kernel::DomainDescription described = kernel::describeDomain(*module);
    const SchemaCheck check(nullptr, true);
    SeededRandom random(7);
    const Time at = parseTime("2026-03-23T08:00:00Z").value();
    const auto entity = module->create(parseJson(module->sampleInit(random, at)).value().as_object(), at);
    ASSERT_TRUE(entity.ok()) << name << entity.error().message;
    std::set<std::string> seen;
    for (int i = 0; i < 500; ++i) {
      const kernel::ActionPtr action = module->sample(**entity, random, at);
      if (!action) break;
      std::string text;
      module->writeAction(text, *action);
      const kernel::ProcessDescription& process = described.processes.at(action->process);
      EXPECT_EQ(check.problem(parseJson(text).value(), process.schema), "") << text;
      json::object other = parseJson(text).value().as_object();
      other["type"] = "Nothing";
      EXPECT_NE(check.problem(other, process.schema), "") << text;
      seen.insert(process.name);
    }
    EXPECT_FALSE(seen.empty()) << name;
  }
}

}  // namespace
}  // namespace witan::node::control_openapi_test
