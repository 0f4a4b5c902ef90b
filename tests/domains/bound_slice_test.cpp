// Slices that are bound to a key: the rows of an organisation, and no word of another's (seed 000, Def. A.7 and Table
// 3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "domains/registry.h"
#include "kernel/bound_slices.h"
#include "kernel/partition.h"
#include "rules/domain/rule_module.h"
#include "tests/domains/scenario_run.h"

namespace witan::domains::bound_slice_test {
namespace {

using namespace kernel;
using kernel::test::actionOf;
using testing::HasSubstr;
using testing::Not;

Time day(std::int64_t n) { return Time{n * kMicrosPerDay}; }

FieldMask footprintOf(const DomainModule& module, std::string_view role) {
  return std::ranges::find(module.signature().roles, role, &RoleInfo::name)->footprint;
}

std::string sliceOf(const DomainModule& module, const EntityState& state, std::string_view role, std::string_view key) {
  std::string text;
  boundSlicesOf(module)->writeSlice(text, state, footprintOf(module, role), key);
  return text;
}

class BoundSlice : public testing::Test {
 protected:
  BoundSlice() { partition.init("P", {}, day(0)); }
  Decision act(const char* role, const std::string& action) {
    const ActionPtr parsed = actionOf(*module, action);
    const std::string id = "op" + std::to_string(++acts);
    Proposal p{.entity = "P", .role = role, .operationId = id, .action = parsed.get(), .at = day(acts)};
    return partition.propose(p);
  }
  bool within(const std::string& action, std::string_view key) {
    const std::string before = whole();
    const bool stays =
        boundSlicesOf(*module)->staysWithin(*partition.state("P"), *actionOf(*module, action), day(acts + 1), key);
    EXPECT_EQ(whole(), before) << "a look changes nothing";
    return stays;
  }
  std::string slice(std::string_view role, std::string_view key) {
    return sliceOf(*module, *partition.state("P"), role, key);
  }
  std::string whole() {
    std::string text;
    module->writeState(text, *partition.state("P"));
    return text;
  }
  void portfolio() {
    act("ReporterCoordination", R"({"type":"Intake","v":"V1","orgs":["acme"]})");
    act("ReporterCoordination", R"({"type":"Intake","v":"V2","orgs":["rival"]})");
    act("ReporterCoordination", R"({"type":"Intake","v":"V3","orgs":["acme","rival"]})");
    act("ReporterCoordination", R"({"type":"SubmitReport","r":"R2","v":"V2","org":"rival","maint":"m"})");
    act("ReporterCoordination", R"({"type":"SubmitReport","r":"R3","v":"V3","org":"rival","maint":"m"})");
    act("PatchTracking", R"({"type":"ReleaseFix","v":"V1","ref":"fix-of-acme"})");
    act("PatchTracking", R"({"type":"ReleaseFix","v":"V2","ref":"fix-of-rival"})");
  }

  std::unique_ptr<DomainModule> module = makeDomain("disclosure").value();
  Partition partition{*module};
  int acts = 0;
};

TEST_F(BoundSlice, HasTheRowsOfItsKeyAlone) {
  portfolio();
  const std::string acme = slice("PatchTracking", "acme"), rival = slice("PatchTracking", "rival");
  EXPECT_THAT(acme, HasSubstr("fix-of-acme"));
  EXPECT_THAT(acme, Not(HasSubstr("V2")));
  EXPECT_THAT(rival, HasSubstr("fix-of-rival"));
  EXPECT_THAT(rival, Not(HasSubstr("V1")));
  EXPECT_THAT(slice("ReporterCoordination", "acme"), HasSubstr("V3"));
  EXPECT_THAT(slice("ReporterCoordination", "acme"), Not(HasSubstr("R3"))) << "a report is its receiver's";
  EXPECT_THAT(slice("ReporterCoordination", "rival"), HasSubstr("R3"));
  EXPECT_EQ(slice("PatchTracking", "nobody"), concat(R"({"clock":")", formatTime(day(acts)), R"("})"));
}

TEST_F(BoundSlice, AGroupIsItsMembersAndACommitmentItsVulnerabilitys) {
  portfolio();
  act("Disclosure", R"({"type":"FormCoDisclosureGroup","g":"G1","members":["V1"],"planned":"2027-01-01T00:00:00Z"})");
  act("Disclosure", R"({"type":"FormCoDisclosureGroup","g":"G2","members":["V2"],"planned":"2027-01-01T00:00:00Z"})");
  const std::string hash(64, 'a');
  act("CommitmentManagement",
      R"({"type":"PublishCommitment","hash":")" + hash + R"(","alg":"SHA-256","artifact":"of-rival","v":"V2"})");
  EXPECT_THAT(slice("Disclosure", "acme"), testing::AllOf(HasSubstr("G1"), Not(HasSubstr("G2"))));
  EXPECT_THAT(slice("CommitmentManagement", "acme"), Not(HasSubstr("of-rival")));
  EXPECT_THAT(slice("CommitmentManagement", "rival"), HasSubstr("of-rival"));
}

TEST_F(BoundSlice, AWaiverOfAnotherRowIsNotShown) {
  auto state = module
                   ->readState(parseJson(R"({"vuln.orgs":{"V1":["acme"],"V2":["rival"]},
      "waivers":[["EMBARGO_ENFORCEMENT","V1"],["EMBARGO_ENFORCEMENT","V2"]]})")
                                   .value()
                                   .as_object())
                   .value();
  const std::string acme = sliceOf(*module, *state, "ReporterCoordination", "acme");
  EXPECT_THAT(acme, testing::AllOf(HasSubstr(R"([["EMBARGO_ENFORCEMENT","V1"]])"), Not(HasSubstr("V2"))));
}

TEST_F(BoundSlice, AnActionStaysWithinOrNot) {
  portfolio();
  EXPECT_TRUE(within(R"({"type":"DevelopPatch","v":"V1"})", "acme"));
  EXPECT_TRUE(within(R"({"type":"DevelopPatch","v":"V3"})", "acme"));
  EXPECT_FALSE(within(R"({"type":"DevelopPatch","v":"V2"})", "acme")) << "another's row";
  EXPECT_FALSE(within(R"({"type":"DevelopPatch","v":"V9"})", "acme")) << "a new row that belongs to nobody";
  EXPECT_FALSE(within(R"({"type":"DevelopPatch","v":"V1","mentions":["V2"]})", "acme")) << "it names another's row";
  EXPECT_TRUE(within(R"({"type":"Intake","v":"V9","orgs":["acme"]})", "acme"));
  EXPECT_FALSE(within(R"({"type":"Intake","v":"V9","orgs":["rival"]})", "acme")) << "a new row for another";
  EXPECT_FALSE(within(R"({"type":"Intake","v":"V2","orgs":["acme"]})", "acme")) << "another's row made its own";
  EXPECT_FALSE(within(R"({"type":"Intake","v":"V1","orgs":["rival"]})", "acme")) << "its own row given away";
  EXPECT_FALSE(within(R"({"type":"SubmitReport","r":"R2","v":"V1","org":"acme","maint":"m"})", "acme"))
      << "the name of another's report";
  EXPECT_FALSE(within(R"({"type":"RecordAcknowledgment","r":"R3"})", "acme")) << "writes the row that it names";
}

json::object stateOf(const DomainModule& module, const EntityState& state) {
  std::string all;
  module.writeState(all, state);
  return parseJson(all).value().as_object();
}

const json::value& cellOf(const json::object& state, const std::string& field, std::string_view key) {
  static const json::value none;
  const json::value* column = state.if_contains(field);
  const json::value* cell = column == nullptr ? nullptr : column->as_object().if_contains(key);
  return cell == nullptr ? none : *cell;
}

void addTexts(const json::value& cell, std::set<std::string>& out) {
  if (cell.is_string()) out.emplace(cell.as_string());
  if (cell.is_array())
    for (const json::value& one : cell.as_array()) addTexts(one, out);
}

// Whose a written cell is, by the state as JSON: what DisclosureDomain::keysOf says, said again.
void addOwners(const json::object& state, const std::string& field, std::string_view key, std::set<std::string>& out) {
  const auto ofVuln = [&](const json::value& v) {
    if (v.is_string()) addTexts(cellOf(state, "vuln.orgs", v.as_string()), out);
  };
  if (field.starts_with("report.")) return addTexts(cellOf(state, "report.org", key), out);
  if (field == "group.plannedAt") {
    if (const json::value* groups = state.if_contains("group.of"))
      for (const auto& [v, group] : groups->as_object())
        if (group.as_string() == key) ofVuln(json::value(v));
    return;
  }
  if (field == "commit.log") {
    const json::value& fact = cellOf(state, field, key);
    if (fact.is_object()) ofVuln(fact.at("vuln"));
    return;
  }
  if (field == "resolve.log") {
    const json::value& fact = cellOf(state, field, key);
    const json::value* commits = state.if_contains("commit.log");
    if (fact.is_object() && commits != nullptr)
      for (const auto& [number, commit] : commits->as_object())
        if (commit.at("hash") == fact.at("hash")) ofVuln(commit.at("vuln"));
    return;
  }
  ofVuln(json::value(key));
}

// Noninterference: what is written to rows of others leaves every slice of a key as it was, but for its clock.
TEST_F(BoundSlice, WhatHappensToOtherRowsIsNotSeen) {
  int unseen = 0, seen = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    SeededRandom random(seed);
    auto state = module->create(parseJson(module->sampleInit(random, day(0))).value().as_object(), day(0)).value();
    Evaluation out;
    for (int i = 0; i < 120; ++i) {
      const Time at = day(i / 4 + 1);
      const ActionPtr action = module->sample(*state, random, at);
      const json::object before = stateOf(*module, *state);
      const EntityPtr old = module->clone(*state);
      module->evaluate(*state, module->signature().processes[action->process].role, *action, at, out);
      if (out.tag != Evaluation::Tag::approved) continue;
      const json::object after = stateOf(*module, *state), writes = parseJson(out.writes).value().as_object();
      std::set<std::string> touched, everybody;
      for (const auto& [field, cells] : writes)
        for (const auto& [key, cell] : cells.as_object())
          addOwners(before, std::string(field), key, touched), addOwners(after, std::string(field), key, touched);
      if (const json::value* orgs = after.if_contains("vuln.orgs"))
        for (const auto& [v, of] : orgs->as_object()) addTexts(of, everybody);
      for (const std::string& org : everybody)
        for (const RoleInfo& role : module->signature().roles) {
          json::value then = parseJson(sliceOf(*module, *old, role.name, org)).value();
          json::value now = parseJson(sliceOf(*module, *state, role.name, org)).value();
          then.as_object().erase("clock"), now.as_object().erase("clock");
          if (then == now) {
            ++unseen;
            continue;
          }
          ++seen;
          EXPECT_TRUE(touched.contains(org))
              << "seed " << seed << ": " << org << " sees as " << role.name << " what " << out.writes << " wrote";
        }
    }
  }
  EXPECT_GT(unseen, 200);
  EXPECT_GT(seen, 20) << "nothing of its own changed";
}

TEST_F(BoundSlice, ADomainThatDoesNotSayWhoseItsRowsAreHasNone) {
  EXPECT_EQ(boundSlicesOf(*makeDomain("budget").value()), nullptr);
}

constexpr const char* kRules = R"toml(domain = "desks"
title = "Cases of desks"
counselors = ["chief"]

[tables.cases]
desk = "string"
amount = "int"

[logs]
notes = "record(case: string, text: string)"

[belongs]
cases = "[row.desk]"
notes = "[cases[row.case].desk]"

[fields]
total = "int = 0"

[processes.Put]
role = "Clerk"
arguments = "case: string, desk: string, n: int"
do = '''
cases[case].desk = desk;
cases[case].amount = n;
'''

[processes.Note]
role = "Clerk"
arguments = "case: string, text: string"
do = "append notes = {'case': case, 'text': text}"

[processes.Add]
role = "Clerk"
arguments = "n: int"
do = "total = total + n"

[invariants.POSITIVE]
rule = "amounts are positive"
each = "cases as c"
check = "require !has(c.amount) || c.amount > 0 else reject 'case ' + c.key + ' is of nothing'"
)toml";

TEST(BoundRuleFile, SaysToWhomItsRowsBelong) {
  const auto module = rules::makeRuleModule(kRules, "desks.domain.toml").value();
  auto state = module->create({}, day(0)).value();
  Evaluation out;
  for (const char* action :
       {R"({"type":"Put","case":"c1","desk":"north","n":1})", R"({"type":"Put","case":"c2","desk":"south","n":2})",
        R"({"type":"Note","case":"c2","text":"of-south"})", R"({"type":"Add","n":5})"})
    module->evaluate(*state, "Clerk", *actionOf(*module, action), day(1), out);
  const std::string north = sliceOf(*module, *state, "Clerk", "north");
  EXPECT_EQ(north, R"({"amount":{"c1":1},"clock":"1970-01-02T00:00:00Z","desk":{"c1":"north"}})");
  EXPECT_THAT(sliceOf(*module, *state, "Clerk", "south"), HasSubstr("of-south"));
  const auto within = [&](const char* action) {
    return boundSlicesOf(*module)->staysWithin(*state, *actionOf(*module, action), day(2), "north");
  };
  EXPECT_TRUE(within(R"({"type":"Note","case":"c1","text":"t"})"));
  EXPECT_FALSE(within(R"({"type":"Note","case":"c2","text":"t"})"));
  EXPECT_FALSE(within(R"({"type":"Put","case":"c1","desk":"south","n":1})"));
  EXPECT_TRUE(within(R"({"type":"Put","case":"c3","desk":"north","n":1})"));
  EXPECT_FALSE(within(R"({"type":"Add","n":1})")) << "a field of the whole";
}

TEST(BoundRuleFile, WrongWordsNameTheirPlace) {
  std::string wrong = kRules;
  wrong.replace(wrong.find("[row.desk]"), 10, "row.amount");
  const auto module = rules::makeRuleModule(wrong, "desks.domain.toml");
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(module.error().message, testing::AllOf(HasSubstr("line 13"), HasSubstr("belongs of cases")));
  std::string unknown = kRules;
  unknown.replace(unknown.find("cases = \"[row"), 5, "casse");
  EXPECT_FALSE(rules::makeRuleModule(unknown, "desks.domain.toml").ok());
}

}  // namespace
}  // namespace witan::domains::bound_slice_test
