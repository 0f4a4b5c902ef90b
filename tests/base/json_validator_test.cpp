// The validator of JSON Schema against the official suite, where it is, and where the suite has nothing: limits, and
// what is refused.
#include "base/json_validator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace witan::json_validator_test {
namespace {

bool valid(const char* schema, const char* value) {
  const auto made = JsonValidator::compile(parseJson(schema).value());
  EXPECT_TRUE(made.ok()) << schema;
  return made.ok() && made->check(parseJson(value, {.depth = 400}).value()).ok();
}

std::string refusal(std::string_view schema) {
  const auto made = JsonValidator::compile(parseJson(schema, {.depth = 400}).value());
  return made.ok() ? "" : made.error().message;
}

std::string complaint(const char* schema, const char* value) {
  const Status checked = JsonValidator::compile(parseJson(schema).value())->check(parseJson(value).value());
  return checked.ok() ? "" : checked.error().message;
}

TEST(JsonValidator, SaysWhereAndWhat) {
  const char* schema = R"({"properties":{"a":{"items":{"type":"integer"}}},"required":["a"]})";
  EXPECT_EQ(complaint(schema, R"({"a":[1,"x"]})"), R"("/a/1" does not hold to "type")");
  EXPECT_EQ(complaint(schema, "{}"), R"(the value does not hold to "required: a")");
  EXPECT_EQ(complaint(schema, R"({"a":[1,2.0]})"), "");
}

TEST(JsonValidator, KeepsWhatOneSchemaHasSeenFromItsCousins) {
  EXPECT_FALSE(valid(R"({"allOf":[{"properties":{"a":true}},{"unevaluatedProperties":false}]})", R"({"a":1})"));
  EXPECT_TRUE(valid(R"({"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false})", R"({"a":1})"));
  EXPECT_FALSE(valid(R"({"prefixItems":[true],"contains":{"const":1},"unevaluatedItems":false})", "[0,1,2]"));
  EXPECT_TRUE(valid(R"({"prefixItems":[true],"contains":{"const":1},"unevaluatedItems":false})", "[0,1,1]"));
}

TEST(JsonValidator, FollowsReferencesWithinTheSchemaOnly) {
  const char* list =
      R"({"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}},"$ref":"#/$defs/n"})";
  EXPECT_TRUE(valid(list, R"({"next":{"next":{}}})"));
  EXPECT_FALSE(valid(list, R"({"next":{"other":1}})"));
  EXPECT_NE(refusal(R"({"$ref":"http://localhost/x.json"})"), "");
  EXPECT_NE(refusal(R"({"$ref":"#/description","description":"x"})"), "");
  EXPECT_NE(refusal(R"({"properties":{"a":{"$id":"other","type":"null"}}})"), "");
}

TEST(JsonValidator, RefusesWhatItDoesNotKnow) {
  for (const char* schema : {R"({"mustBe":"blue"})", R"({"type":"colour"})", R"({"items":[{}]})", R"({"minimum":"1"})",
                             R"({"multipleOf":0})", R"({"required":[1]})", R"({"pattern":"(?=x)y"})", R"({"allOf":[]})",
                             R"({"$schema":"http://json-schema.org/draft-04/schema#"})", "5"})
    EXPECT_NE(refusal(schema), "") << schema;
  EXPECT_EQ(refusal(R"({"$schema":"http://json-schema.org/draft-07/schema#","x-order":1,"title":"t"})"), "");
}

TEST(JsonValidator, IsBounded) {
  std::string deep = "{}";
  for (int i = 0; i < 100; ++i) deep = R"({"not":)" + deep + "}";
  EXPECT_NE(refusal(deep), "");
  // A loop of references, and a schema whose cost doubles with each level.
  EXPECT_EQ(complaint(R"({"$ref":"#"})", "1"), "the value takes too long to check");
  std::string twice = R"({"$defs":{"a0":{"type":"integer"})";
  for (int i = 1; i < 40; ++i)
    twice +=
        concat(R"(,"a)", i, R"(":{"anyOf":[{"$ref":"#/$defs/a)", i - 1, R"("},{"$ref":"#/$defs/a)", i - 1, R"("}]})");
  twice += R"(},"$ref":"#/$defs/a25"})";
  EXPECT_EQ(complaint(twice.c_str(), "\"x\""), "the value takes too long to check");
}

TEST(BoundedRegex, MatchesAsEcmaScriptDoes) {
  const auto found = [](const char* pattern, std::string_view text) {
    std::uint64_t steps = 100'000;
    const auto made = BoundedRegex::compile(pattern);
    return made.ok() ? made->search(text, steps) : std::nullopt;
  };
  EXPECT_EQ(found("^a+$", "aaa"), true);
  EXPECT_EQ(found("^a{2,3}$", "aaaa"), false);
  EXPECT_EQ(found("^(ab|c)*$", "ababc"), true);
  EXPECT_EQ(found("[^\\d]", "123"), false);
  EXPECT_EQ(found("\\bword\\b", "a word."), true);
  EXPECT_EQ(found("^.$", "\xF0\x9F\x90\x89"), true);  // one code point
  EXPECT_EQ(found("^[a-c]{0}$", ""), true);
  EXPECT_EQ(found("x*", ""), true);
  EXPECT_EQ(found("^(a*)*$", "aaab"), false);
  for (const char* pattern :
       {"(?=a)", "(a)\\1", "\\p{L}", "(", "a{2,1}", "*", "[z-a]", "a{1001}", "((((a{1000}){1000}){1000}))"})
    EXPECT_EQ(found(pattern, "a"), std::nullopt) << pattern;
}

TEST(BoundedRegex, TakesLinearTime) {
  std::uint64_t steps = 1'000'000;
  EXPECT_EQ(BoundedRegex::compile("^(a|a)*(a|a)*(a|a)*b$")->search(std::string(10'000, 'a'), steps), false);
  std::uint64_t few = 100;
  EXPECT_EQ(BoundedRegex::compile("^(a|a)*b$")->search(std::string(10'000, 'a'), few), std::nullopt);
}

TEST(JsonValidator, OfficialSuite) {
  const char* folder = std::getenv("JSON_SCHEMA_SUITE");
  if (folder == nullptr) GTEST_SKIP() << "$JSON_SCHEMA_SUITE names no folder tests/draft2020-12 of the official suite";
  int right = 0, accepted = 0, rejected = 0, refused = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const json::value groups = json::parse(text.str());
    for (const json::value& group : groups.as_array()) {
      const auto schema = JsonValidator::compile(group.at("schema"));
      for (const json::value& one : group.at("tests").as_array()) {
        if (!schema.ok()) {
          ++refused;
          continue;
        }
        const bool holds = schema->check(one.at("data")).ok();
        const bool should = one.at("valid").as_bool();
        ++(holds == should ? right : holds ? accepted : rejected);
      }
    }
  }
  RecordProperty("right", right);
  std::printf("right %d, wrongly accepted %d, wrongly rejected %d, refused %d\n", right, accepted, rejected, refused);
  EXPECT_EQ(accepted + rejected, 0);
  EXPECT_GE(right, 1'182);
}

}  // namespace
}  // namespace witan::json_validator_test
