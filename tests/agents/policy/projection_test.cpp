// NEED_TO_KNOW, seed 003 section 9.1 and invariant 7 of section 10: fields(pi(x)) is a subset of allowlist(b, o,
// version).
#include "agents/policy/projection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "base/seams.h"

namespace witan::agents::projection_test {
namespace {

Allowlist listOf(const std::vector<std::string>& allow, const std::vector<std::string>& mask = {}) {
  return Allowlist::compile(allow, mask).value();
}
json::value jsonOf(std::string_view text) { return parseJson(text).value(); }

// What is kept, and the names of the rest behind a bar.
std::string projected(const std::vector<std::string>& allow, std::string_view payload,
                      const std::vector<std::string>& mask = {}) {
  const Projection p = project(listOf(allow, mask), jsonOf(payload));
  std::string out = canonicalJson(p.payload);
  if (p.leftOut.count > 0) out += " | " + p.leftOut.words();
  if (p.masked.count > 0) out += " # " + p.masked.words();
  EXPECT_EQ(conforms(listOf(allow, mask), jsonOf(payload)), p.leftOut.count + p.masked.count == 0) << payload;
  return out;
}

TEST(NeedToKnow, KeepsWhatIsAllowedAndNamesTheRest) {
  EXPECT_EQ(projected({"a", "b.c"}, R"({"a":1,"b":{"c":null,"d":2},"e":[3]})"), R"({"a":1,"b":{"c":null}} | b.d, e)");
  EXPECT_EQ(projected({"a", "b.c"}, R"({"a":"x","b":{"c":true}})"), R"({"a":"x","b":{"c":true}})");
  EXPECT_EQ(projected({"list[].id", "tags[]"}, R"({"list":[{"id":1,"ssn":2},{"ssn":3},4],"tags":["x",{"y":1},[]]})"),
            R"({"list":[{"id":1},{}],"tags":["x"]} | list[], list[].ssn, tags[])");
  EXPECT_EQ(projected({"[].id"}, R"([{"id":1},{"id":2,"x":3}])"), R"([{"id":1},{"id":2}] | [].x)");
  EXPECT_EQ(projected({"m[][]"}, R"({"m":[[1,2],[3,[4]]]})"), R"({"m":[[1,2],[3]]} | m[][])");
}

TEST(NeedToKnow, AnAllowedNameIsNotWhatIsBeneathIt) {
  EXPECT_EQ(projected({"patient"}, R"({"patient":{"ssn":1}})"), "{} | patient");
  EXPECT_EQ(projected({"patient"}, R"({"patient":[1]})"), "{} | patient");
  EXPECT_EQ(projected({"patient"}, R"({"patient":{}})"), "{} | patient");
  EXPECT_EQ(projected({"patient.id"}, R"({"patient":7})"), "{} | patient");
  EXPECT_EQ(projected({"patient.id"}, R"({"patient":null})"), "{} | patient");
  EXPECT_EQ(projected({"patient.id"}, R"({"patient":[{"id":1}]})"), "{} | patient");
  EXPECT_EQ(projected({"patient[].id"}, R"({"patient":{"id":1}})"), "{} | patient");
  EXPECT_EQ(projected({"patient", "patient.id"}, R"({"patient":{"id":1}})"), R"({"patient":{"id":1}})");
  EXPECT_EQ(projected({"patient", "patient.id"}, R"({"patient":"p"})"), R"({"patient":"p"})");
}

// Ways to smuggle a field past its name.
TEST(NeedToKnow, NamesAreComparedByteByByteAfterJsonsEscapes) {
  EXPECT_EQ(projected({"a.b"}, R"({"a.b":1})"), R"({} | "a.b")");
  EXPECT_EQ(projected({"\"a.b\""}, R"({"a.b":1,"a":{"b":2}})"), R"({"a.b":1} | a)");
  EXPECT_EQ(projected({"name"}, R"({"n\u0061me":1})"), R"({"name":1})");
  EXPECT_EQ(projected({"name"}, R"({"Name":1,"name ":2,"name\u0000":3,"":4})"),
            R"({} | "", "name ", "name\u0000", Name)");
  EXPECT_EQ(projected({"\"\""}, R"({"":1})"), R"({"":1})");
  // e with acute as one code point and as two: other bytes, another name.
  EXPECT_EQ(projected({"\"caf\u00e9\""}, "{\"caf\u00e9\":1,\"cafe\u0301\":2}"), "{\"caf\u00e9\":1} | \"cafe\u0301\"");
  EXPECT_EQ(projected({"\"\\u0061b\""}, R"({"ab":1})"), R"({"ab":1})");
  EXPECT_EQ(projected({"list[].id"}, R"({"list[]":{"id":1},"list":{"[]":{"id":2},"0":{"id":3}}})"),
            R"({} | "list[]", list)");
  EXPECT_EQ(projected({"list.0"}, R"({"list":[1]})"), "{} | list");
  EXPECT_EQ(projected({"list.0"}, R"({"list":{"0":1,"00":2}})"), R"({"list":{"0":1}} | list.00)");
  EXPECT_EQ(projected({"__proto__.x"}, R"({"x":1,"__proto__":{"x":2,"y":3}})"),
            R"({"__proto__":{"x":2}} | __proto__.y, x)");
}

TEST(NeedToKnow, RepeatedNamesNeverGetThisFar) { EXPECT_FALSE(parseJson(R"({"a":1,"\u0061":2})").ok()); }

TEST(NeedToKnow, NothingIsNoField) {
  for (const char* empty : {"{}", "[]", "null"}) {
    EXPECT_EQ(projected({}, empty), empty);
    EXPECT_EQ(projected({"a.b"}, empty), empty);
  }
  for (const char* scalar : {"1", "\"a\"", "false", "0.5"}) EXPECT_EQ(projected({"a"}, scalar), "null | .");
  EXPECT_EQ(projected({}, R"({"a":{}})"), "null | .");
  EXPECT_EQ(projected({"a"}, R"([1])"), "null | .");
}

TEST(NeedToKnow, MaskedFieldsGoWithoutTheirValue) {
  EXPECT_EQ(projected({"a", "b[]"}, R"({"a":1,"b":["x",null]})", {"a", "b[]"}),
            R"({"a":"[redacted]","b":["[redacted]","[redacted]"]} # a, b[])");
  EXPECT_EQ(projected({"a"}, R"({"a":"[redacted]"})", {"a"}), R"({"a":"[redacted]"})");
  EXPECT_EQ(projected({"a"}, R"({"a":{"b":1}})", {"a"}), "{} | a");
}

// The walk is as deep as the allowlist.
TEST(NeedToKnow, DepthOfThePayloadDoesNotMatter) {
  json::value deep = 1;
  for (int i = 0; i < 2'000; ++i) deep = json::object{{"a", std::move(deep)}};
  EXPECT_FALSE(conforms(listOf({"a.a"}), deep));
  const Projection p = project(listOf({"a.a"}), deep);
  EXPECT_EQ(canonicalJson(p.payload), R"({"a":{}})");
  EXPECT_EQ(p.leftOut.words(), "a.a");
}

TEST(NeedToKnow, NamesInWordsAreFewAndShort) {
  json::object many;
  for (int i = 100; i < 400; ++i) many["k" + std::to_string(i)] = i;
  many[std::string(100'000, 'x')] = 1;
  const Projection p = project(listOf({"a"}), many);
  EXPECT_EQ(p.leftOut.count, 301u);
  EXPECT_EQ(p.leftOut.names.size(), kMaxNamedFields);
  EXPECT_NE(p.leftOut.words().find(" and 285 more"), std::string::npos);
  const Projection longName = project(listOf({"a"}), json::object{{std::string(100'000, 'x'), 1}});
  EXPECT_LT(longName.leftOut.words().size(), 100u);
}

TEST(NeedToKnow, TheOrderOfMembersChangesNoWord) {
  EXPECT_EQ(project(listOf({"a"}), jsonOf(R"({"z":1,"y":2,"x":3})")).leftOut.words(),
            project(listOf({"a"}), jsonOf(R"({"x":3,"z":1,"y":2})")).leftOut.words());
}

// ---- for all payloads and allowlists ----

const std::vector<std::string> kKeys{"a", "b", "a.b", "", "0", "[]", "\u00e9", "\"", "c"};

// Choices that a seed makes: RapidCheck's own ranges begin small, and payloads of nothing prove nothing.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t bound) { return random_.below(bound); }

  json::value payload(int depth) {
    const std::size_t kind = depth == 4 ? 4 + below(5) : below(depth == 0 ? 4 : 9);
    if (kind == 0) return nullptr;
    if (kind == 1) return below(2) == 0;
    if (kind == 2) return static_cast<std::int64_t>(below(9));
    if (kind == 3) return json::value(below(3) == 0 ? kMask : std::string_view("x"));
    if (kind < 6) {
      json::array list;
      for (std::size_t i = below(4); i > 0; --i) list.push_back(payload(depth - 1));
      return list;
    }
    json::object object;
    for (std::size_t i = below(5); i > 0; --i) object[kKeys[below(kKeys.size())]] = payload(depth - 1);
    return object;
  }

  // Of things that are in `x` mostly, so that something is kept.
  std::vector<FieldPath> paths(const json::value& x) {
    std::set<FieldPath> out;
    for (std::size_t i = below(8); i > 0; --i) {
      FieldPath path;
      const json::value* at = &x;
      while (path.size() < 6) {
        if (at != nullptr && at->is_object() && !at->get_object().empty() && below(8) != 0) {
          const auto& item = *(at->get_object().begin() + below(at->get_object().size()));
          path.push_back({false, std::string(item.key())});
          at = &item.value();
        } else if (at != nullptr && at->is_array() && !at->get_array().empty() && below(8) != 0) {
          path.push_back({true, {}});
          at = &at->get_array()[below(at->get_array().size())];
        } else if (path.empty() || below(4) == 0) {
          const bool element = below(3) == 0;
          path.push_back({element, element ? std::string() : kKeys[below(kKeys.size())]});
          at = nullptr;
        } else {
          break;
        }
      }
      out.insert(path);
    }
    return {out.begin(), out.end()};
  }

 private:
  SeededRandom random_;
};

constexpr int kRounds = 50;  // for each seed

std::vector<std::string> textsOf(const std::vector<FieldPath>& paths) {
  std::vector<std::string> texts;
  for (const FieldPath& path : paths) texts.push_back(fieldPathText(path));
  return texts;
}

// fields(x) by their definition, without the compiled list: calls visit(path, is the place allowed).
template <class Visit>
void forEachField(const std::vector<FieldPath>& allow, const json::value& x, FieldPath& path, Visit visit) {
  const auto through = [&](bool element) {
    for (const FieldPath& q : allow)
      if (q.size() > path.size() && std::equal(path.begin(), path.end(), q.begin()) &&
          q[path.size()].element == element)
        return true;
    return false;
  };
  if (x.is_object()) {
    visit(path, through(false));
    for (const auto& item : x.get_object()) {
      path.push_back({false, std::string(item.key())});
      forEachField(allow, item.value(), path, visit);
      path.pop_back();
    }
  } else if (x.is_array()) {
    visit(path, through(true));
    for (const json::value& item : x.get_array()) {
      path.push_back({true, {}});
      forEachField(allow, item, path, visit);
      path.pop_back();
    }
  } else {
    visit(path, std::find(allow.begin(), allow.end(), path) != allow.end());
  }
}

bool fieldsAreAllowed(const std::vector<FieldPath>& allow, const json::value& x) {
  if (x.is_null() || x == json::value(json::object{}) || x == json::value(json::array{})) return true;
  bool all = true;
  FieldPath path;
  forEachField(allow, x, path, [&](const FieldPath&, bool allowed) { all = all && allowed; });
  return all;
}

TEST(NeedToKnow, TheDefinitionFires) {
  EXPECT_FALSE(fieldsAreAllowed({{{false, "a"}}}, jsonOf(R"({"b":1})")));
  EXPECT_FALSE(fieldsAreAllowed({{{false, "a"}}}, jsonOf(R"({"a":{}})")));
  EXPECT_TRUE(fieldsAreAllowed({{{false, "a"}}}, jsonOf(R"({"a":1})")));
}

RC_GTEST_PROP(NeedToKnow, FieldsOfTheProjectionAreASubsetOfTheAllowlist, (std::uint64_t seed)) {
  Choices choose(seed);
  for (int round = 0; round < kRounds; ++round) {
    const json::value x = choose.payload(4);
    const std::vector<FieldPath> allow = choose.paths(x);
    const Allowlist list = Allowlist::compile(textsOf(allow), {}).value();
    const Projection p = project(list, x);
    RC_ASSERT(fieldsAreAllowed(allow, p.payload));
    RC_ASSERT(conforms(list, x) == fieldsAreAllowed(allow, x));
    RC_ASSERT((p.leftOut.count == 0) == conforms(list, x));
    RC_ASSERT(fieldsBeyond(list, x).words() == p.leftOut.words());
    if (conforms(list, x)) RC_ASSERT(p.payload == x);
  }
}

// The cases are worth something: some pass whole, some in part, some keep nested values.
TEST(NeedToKnow, TheCasesAreOfEveryKind) {
  int whole = 0, part = 0, nested = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Choices choose(seed);
    for (int round = 0; round < kRounds; ++round) {
      const json::value x = choose.payload(4);
      const Projection p = project(Allowlist::compile(textsOf(choose.paths(x)), {}).value(), x);
      const std::string kept = canonicalJson(p.payload);
      whole += p.leftOut.count == 0 && kept.size() > 4 ? 1 : 0;
      part += p.leftOut.count > 0 && kept.size() > 4 ? 1 : 0;
      nested += kept.size() > 20 ? 1 : 0;
    }
  }
  EXPECT_GT(whole, 100);
  EXPECT_GT(part, 1'000);
  EXPECT_GT(nested, 300);
}

RC_GTEST_PROP(NeedToKnow, ProjectionIsIdempotent, (std::uint64_t seed)) {
  Choices choose(seed);
  for (int round = 0; round < kRounds; ++round) {
    const json::value x = choose.payload(4);
    const std::vector<std::string> allow = textsOf(choose.paths(x));
    std::vector<std::string> mask;
    for (const std::string& path : allow)
      if (choose.below(3) == 0) mask.push_back(path);
    const Allowlist list = Allowlist::compile(allow, mask).value();
    const Projection once = project(list, x);
    RC_ASSERT(conforms(list, once.payload));
    const Projection twice = project(list, once.payload);
    RC_ASSERT(twice.payload == once.payload);
    RC_ASSERT(twice.leftOut.count == 0u && twice.masked.count == 0u);
  }
}

// Blocking everything would be safe, too: with all of a payload's own fields allowed, all of it stays.
RC_GTEST_PROP(NeedToKnow, WhatIsAllowedStays, (std::uint64_t seed)) {
  Choices choose(seed);
  for (int round = 0; round < kRounds; ++round) {
    const json::value x = choose.payload(4);
    std::set<FieldPath> allow;
    FieldPath path;
    forEachField({}, x, path, [&](const FieldPath& at, bool) {
      if (!at.empty()) allow.insert(at);
      for (const bool element : {false, true}) {  // through empty containers
        FieldPath longer = at;
        longer.push_back({element, element ? "" : "a"});
        allow.insert(longer);
      }
    });
    RC_ASSERT(project(Allowlist::compile(textsOf({allow.begin(), allow.end()}), {}).value(), x).payload == x);
  }
}

// ---- field paths ----

RC_GTEST_PROP(FieldPaths, TextReadsBackAsThePath, (std::uint64_t seed)) {
  Choices choose(seed);
  for (const FieldPath& path : choose.paths(choose.payload(4)))
    RC_ASSERT(parseFieldPath(fieldPathText(path)).value() == path);
}

TEST(FieldPaths, AreRefusedWithThePlace) {
  const auto refused = [](const std::string& text, const std::string& why) {
    const auto path = parseFieldPath(text);
    ASSERT_FALSE(path.ok()) << text;
    EXPECT_NE(path.error().message.find(why), std::string::npos) << path.error().message;
  };
  refused("", "empty");
  refused(".a", "expected a name at byte 0");
  refused("a.", "a name is missing");
  refused("a..b", "expected a name at byte 2");
  refused("a[0]", "expected []");
  refused("a[", "expected []");
  refused("a[]b", "expected '.' or []");
  refused("a b", "expected '.' or []");
  refused("a.*", "expected a name");
  refused("*", "expected a name");
  refused("\"a", "without closing quote");
  refused("\"a\\\"", "without closing quote");
  refused("\"a\"b", "expected '.' or []");
  refused("\"\\x\"", "");
  refused("\xc3\xa9", "expected a name");
  refused(std::string(kMaxPathBytes + 1, 'a'), "more than 1024 bytes");
  std::string deep = "a";
  for (std::size_t i = 0; i < kMaxPathSteps; ++i) deep += "[]";
  refused(deep, "more than 32 steps");
}

TEST(FieldPaths, AllowlistsRefuseRepetitionAndMasksOfTheForbidden) {
  const std::vector<std::string> twice{"a", "\"a\""}, one{"a.b"}, other{"a"};
  EXPECT_NE(Allowlist::compile(twice, {}).error().message.find("allowed twice"), std::string::npos);
  EXPECT_NE(Allowlist::compile(one, other).error().message.find("masked and not allowed"), std::string::npos);
  const std::vector<std::string> masks{"a.b", "a.b"};
  EXPECT_NE(Allowlist::compile(one, masks).error().message.find("masked twice"), std::string::npos);
  EXPECT_TRUE(Allowlist::compile(one, {}).value().allowsScalar(parseFieldPath("a.b").value()));
  EXPECT_FALSE(Allowlist::compile(one, {}).value().allowsScalar(parseFieldPath("a").value()));
}

}  // namespace
}  // namespace witan::agents::projection_test
