// The public conformance cases of CEL. SPECIFICATION_DIR: the folder of the specification, if it is not ../shared
// beside the checkout; without it the test is skipped. What is not supported stands in docs/RULES.md; its cases are
// named here, and no other case may differ.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <regex>

#include "rules/program/cases.h"
#include "tests/paths.h"

namespace witan::rules {
namespace {

bool same(const json::value& a, const json::value& b) {
  const auto number = [](const json::value& v, const char* kind) {
    const json::value* at = v.is_object() && v.get_object().size() == 1 ? v.get_object().if_contains(kind) : nullptr;
    return at != nullptr && at->is_string() ? std::optional(std::string(at->get_string())) : std::nullopt;
  };
  if (const auto x = number(a, "double"), y = number(b, "double"); x && y) {
    const double p = std::strtod(x->c_str(), nullptr), q = std::strtod(y->c_str(), nullptr);
    return p == q || (std::isnan(p) && std::isnan(q));
  }
  if (a.is_array() && b.is_array()) {
    if (a.get_array().size() != b.get_array().size()) return false;
    for (std::size_t i = 0; i < a.get_array().size(); ++i)
      if (!same(a.get_array()[i], b.get_array()[i])) return false;
    return true;
  }
  const auto map = [](const json::value& v) -> const json::array* {
    const json::value* at = v.is_object() ? v.get_object().if_contains("map") : nullptr;
    return at != nullptr && at->is_array() ? &at->get_array() : nullptr;
  };
  if (const json::array* x = map(a), *y = map(b); x != nullptr && y != nullptr)
    return x->size() == y->size() && std::all_of(x->begin(), x->end(), [&](const json::value& one) {
             return std::any_of(y->begin(), y->end(), [&](const json::value& other) { return same(one, other); });
           });
  return a == b;
}

// Empty: it is as the case demands.
std::string difference(const json::object& wanted, const json::object& got) {
  const json::value* expect = wanted.if_contains("expect");
  const json::value* value = got.if_contains("value");
  if (expect == nullptr) return value == nullptr ? "" : "an error was expected, found " + json::serialize(*value);
  if (value == nullptr) return json::serialize(got);
  return same(*expect, *value) ? "" : "expected " + json::serialize(*expect) + ", found " + json::serialize(*value);
}

TEST(CelConformance, PublicCases) {
  const char* named = std::getenv("SPECIFICATION_DIR");
  const std::string folder = named != nullptr ? named : std::string(tests::kSourceDir) + "/../shared";
  std::ifstream file(folder + "/data/cel/cases.jsonl");
  if (!file) GTEST_SKIP() << "no conformance cases of CEL in " << folder << " (SPECIFICATION_DIR)";
  // docs/RULES.md has this list in words.
  const std::regex unsupported(
      R"(string/matches/.*|.*selectors_tz/.*|string_ext/format.*|math_ext/.*|parse/whitespace/.*)");
  std::size_t held = 0, left = 0;
  for (std::string line; std::getline(file, line);) {
    const json::object wanted = json::parse(line).as_object();
    const std::string name(wanted.at("name").as_string());
    const auto got = evaluateCase(line);
    ASSERT_TRUE(got.ok()) << name << ": " << got.error().message;
    const std::string differs = difference(wanted, *got);
    if (differs.empty())
      ++held;
    else if (std::regex_match(name, unsupported))
      ++left;
    else
      ADD_FAILURE() << name << "  " << wanted.at("expr") << "\n  " << differs;
  }
  RecordProperty("held", static_cast<int>(held));
  RecordProperty("unsupported", static_cast<int>(left));
  EXPECT_GE(held, 800u);
}

}  // namespace
}  // namespace witan::rules
