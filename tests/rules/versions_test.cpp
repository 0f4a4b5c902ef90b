// Later versions of a rule file: what was decided stays, what is new counts for entities that were moved on, and what
// would decide otherwise is refused.
#include "rules/domain/versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "kernel/ledger/ledger_verify.h"
#include "kernel/ledger/ledger_versions.h"
#include "node/data_dir/store_dir.h"
#include "node/events/rule_check.h"
#include "rules/domain/rule_module.h"
#include "tests/node/scratch.h"

namespace witan::node::versions_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kFirst = R"(domain = "desk"
counselors = ["head"]
[policy]
limit = 10
[tables.asks]
amount = "int"
[processes.Ask]
role = "Staff"
arguments = "key: string, amount: int"
do = '''asks[key].amount = amount'''
[invariants.LIMIT]
rule = "an ask stays within the limit"
each = "asks as a"
check = '''require a.amount <= policy.limit else reject 'too much' '''
)";

// With a log, a field, a process and an invariant more.
std::string second() {
  std::string text = kFirst;
  text.replace(text.find("counselors"), 0, "version = 2\n");
  return text + R"([fields]
least = "int = 1 + 1"
[tables.notes]
note = "string"
[processes.Note]
role = "Staff"
arguments = "key: string, note: string"
do = '''
notes[key].note = note
'''
[invariants.LEAST]
rule = "an ask is no trifle"
each = "asks as a"
check = '''
require a.amount >= .least else reject 'a trifle' // as of now
'''
[since]
2 = ["least", "Note", "LEAST"]
)";
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  WITAN_CHECK(text.find(from) != std::string::npos, from);
  return text.replace(text.find(from), from.size(), to);
}

fs::path fileOf(const test::Scratch& scratch, const char* name, const std::string& text) {
  const fs::path path = scratch / concat(name, ".domain.toml");
  std::ofstream(path) << text;
  return path;
}

std::string proposed(StoreDir& at, const char* entity, const char* role, const std::string& action) {
  kernel::Partition& partition = at.ledger->partition();
  const auto parsed = partition.module().parseAction(parseJson(action).value()).value();
  const kernel::Decision decision =
      partition.propose({entity, role, concat("op-", partition.size()), "device", "", parsed.get(), kSampleStart});
  return concat(enumName(decision.outcome), " ", decision.invariant, " ", decision.message);
}

TEST(RuleVersions, WhatWasDecidedStaysAndWhatIsNewCountsForWhoWasMovedOn) {
  const test::Scratch scratch;
  const fs::path dir = scratch / "ledger", first = fileOf(scratch, "first", kFirst),
                 later = fileOf(scratch, "second", second());
  {
    auto opened = openStoreDir({dir, true, first.string()});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ASSERT_EQ(opened->ledger->partition().init("old", {}, kSampleStart).outcome, kernel::Outcome::initialised);
    EXPECT_THAT(proposed(*opened, "old", "Staff", R"({"type":"Ask","key":"a","amount":1})"), HasSubstr("approved"));
    EXPECT_THAT(proposed(*opened, "old", "Staff", R"({"type":"Ask","key":"b","amount":11})"),
                HasSubstr("rejected LIMIT"));
    ASSERT_TRUE(opened->ledger->commit().ok());
    ASSERT_TRUE(signHead(*opened, kSampleStart).ok());
  }
  {
    auto opened = openStoreDir({dir, true, later.string()});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ASSERT_EQ(opened->ledger->partition().init("new", {}, kSampleStart).outcome, kernel::Outcome::initialised);
    // The old entity is under the first version still.
    EXPECT_THAT(proposed(*opened, "old", "Staff", R"({"type":"Ask","key":"c","amount":1})"), HasSubstr("approved"));
    EXPECT_THAT(proposed(*opened, "old", "Staff", R"({"type":"Note","key":"c","note":"x"})"),
                HasSubstr("the entity is of version 1 of the rules, and Note came with 2"));
    EXPECT_THAT(proposed(*opened, "new", "Staff", R"({"type":"Ask","key":"c","amount":1})"),
                HasSubstr("rejected LEAST"));
    EXPECT_THAT(proposed(*opened, "new", "Upgrade", R"({"type":"UpgradeRules"})"), HasSubstr("is of version 2"));
    // It moves on when its state is lawful under the second.
    EXPECT_THAT(proposed(*opened, "old", "Upgrade", R"({"type":"UpgradeRules"})"), HasSubstr("rejected LEAST"));
    for (const char* key : {"a", "c"})
      EXPECT_THAT(proposed(*opened, "old", "Staff", concat(R"({"type":"Ask","amount":5,"key":")", key, "\"}")),
                  HasSubstr("approved"));
    EXPECT_THAT(proposed(*opened, "old", "Upgrade", R"({"type":"UpgradeRules"})"), HasSubstr("approved"));
    EXPECT_THAT(proposed(*opened, "old", "Staff", R"({"type":"Ask","key":"d","amount":1})"),
                HasSubstr("rejected LEAST"));
    EXPECT_THAT(proposed(*opened, "old", "Staff", R"({"type":"Note","key":"d","note":"x"})"), HasSubstr("approved"));
    ASSERT_TRUE(opened->ledger->commit().ok());
  }
  {
    auto opened = openStoreDir({dir});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    kernel::VerifyOptions options;
    options.replay = opened->module.get();
    const auto report = kernel::verifyLedger(*opened->store, options);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->ok()) << report->problem;
    EXPECT_EQ(report->entries, 12u);
    EXPECT_EQ(kernel::earlierFormats(*opened->store)->size(), 1u);
    EXPECT_EQ(opened->ledger->format().rules, second());
    // As on a device that joined after the upgrade: it has no format from before.
    store::WriteBatch joined;
    ASSERT_TRUE(opened->store
                    ->scan("format/", {},
                           [&](std::string_view key, std::string_view) {
                             joined.erase(key);
                             return true;
                           })
                    .ok());
    joined.erase(kernel::checkpointKey(2));
    ASSERT_TRUE(opened->store->write(joined).ok());
    ASSERT_EQ(kernel::earlierFormats(*opened->store)->size(), 0u);
    EXPECT_EQ(kernel::verifyLedger(*opened->store, options)->problem, "");
  }
  EXPECT_THAT(openStoreDir({dir, true, first.string()}).error().message, HasSubstr("another policy or version"));
}

// What stands for pruned entries was written under the first version, and is read under the second.
TEST(RuleVersions, APrunedLedgerGoesOnUnderALaterOne) {
  const test::Scratch scratch;
  const fs::path dir = scratch / "ledger", first = fileOf(scratch, "first", kFirst),
                 later = fileOf(scratch, "second", second());
  const auto prune = [&](const fs::path& file, std::uint64_t pruned) {
    auto opened = openStoreDir({dir, true, file.string()});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const auto report = pruneStore(*opened, {1, 0}, kSampleStart);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->pruned, pruned);
  };
  const auto propose = [&](const fs::path& file, const char* role, const std::string& action, const char* what) {
    auto opened = openStoreDir({dir, true, file.string()});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_THAT(proposed(*opened, "old", role, action), HasSubstr(what));
    ASSERT_TRUE(opened->ledger->commit().ok());
  };
  {
    auto opened = openStoreDir({dir, true, first.string()});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ASSERT_EQ(opened->ledger->partition().init("old", {}, kSampleStart).outcome, kernel::Outcome::initialised);
    ASSERT_TRUE(opened->ledger->commit().ok());
  }
  propose(first, "Staff", R"({"type":"Ask","key":"a","amount":1})", "approved");
  propose(first, "Staff", R"({"type":"Ask","key":"b","amount":2})", "approved");
  prune(first, 1);
  propose(later, "Staff", R"({"type":"Ask","key":"c","amount":1})", "approved");
  prune(later, 2);
  for (const char* key : {"a", "c"})
    propose(later, "Staff", concat(R"({"type":"Ask","amount":5,"key":")", key, "\"}"), "approved");
  propose(later, "Upgrade", R"({"type":"UpgradeRules"})", "approved");
  propose(later, "Staff", R"({"type":"Ask","key":"d","amount":1})", "rejected LEAST");
  prune(later, 6);
  auto opened = openStoreDir({dir});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto report = kernel::verifyLedger(*opened->store, {opened->module.get(), std::nullopt});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->problem, "");
  EXPECT_EQ(report->entries, 7u);
  EXPECT_EQ(report->prunedEntries, 6u);
}

// A third one: what moved entities on to the second did that, and no more, whoever looks at it under the third.
TEST(RuleVersions, WhatMovedOnToAVersionBetweenComesOutTheSame) {
  const test::Scratch scratch;
  const fs::path dir = scratch / "ledger", first = fileOf(scratch, "first", kFirst),
                 between = fileOf(scratch, "second", second()),
                 last = fileOf(
                     scratch, "third",
                     with(with(second(), "version = 2", "version = 3"), "least = ", "most = \"int = 9\"\nleast = ") +
                         "3 = [\"most\"]\n");
  const auto under = [&](const fs::path& file, const auto& act) {
    auto opened = openStoreDir({dir, true, file.string()});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    act(*opened);
    ASSERT_TRUE(opened->ledger->commit().ok());
    kernel::VerifyOptions options;
    options.replay = opened->module.get();
    EXPECT_EQ(kernel::verifyLedger(*opened->store, options)->problem, "") << file;
  };
  constexpr const char* kUpgrade = R"({"type":"UpgradeRules"})";
  under(first, [](StoreDir& at) {
    for (const char* entity : {"a", "b"})
      ASSERT_EQ(at.ledger->partition().init(entity, {}, kSampleStart).outcome, kernel::Outcome::initialised);
  });
  under(between, [&](StoreDir& at) {
    EXPECT_THAT(proposed(at, "a", "Upgrade", kUpgrade), HasSubstr("approved"));
    EXPECT_THAT(proposed(at, "a", "Upgrade", kUpgrade), HasSubstr("is of version 2"));
  });
  under(last, [&](StoreDir& at) {
    EXPECT_THAT(proposed(at, "b", "Upgrade", kUpgrade), HasSubstr("approved"));
    EXPECT_EQ(rules::versionOf(*at.module, *at.ledger->partition().state("a")), 2);
    EXPECT_THAT(proposed(at, "a", "Upgrade", kUpgrade), HasSubstr("approved"));
    EXPECT_EQ(rules::versionOf(*at.module, *at.ledger->partition().state("a")), 3);
    EXPECT_THAT(proposed(at, "a", "Upgrade", kUpgrade), HasSubstr("is of version 3"));
  });
}

// A person answers under the third what was put to one under the second.
TEST(RuleVersions, AnAnswerMovesOnToTheVersionOfItsTime) {
  const test::Scratch scratch;
  const std::string escalates = with(second(), "else reject 'a trifle' // as of now", "else escalate 'a trifle' ");
  const fs::path dir = scratch / "ledger", first = fileOf(scratch, "first", kFirst),
                 between = fileOf(scratch, "second", escalates),
                 last = fileOf(
                     scratch, "third",
                     with(with(escalates, "version = 2", "version = 3"), "least = ", "most = \"int = 9\"\nleast = ") +
                         "3 = [\"most\"]\n");
  const auto under = [&](const fs::path& file, const auto& act) {
    auto opened = openStoreDir({dir, true, file.string()});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    act(*opened);
    ASSERT_TRUE(opened->ledger->commit().ok());
    kernel::VerifyOptions options;
    options.replay = opened->module.get();
    EXPECT_EQ(kernel::verifyLedger(*opened->store, options)->problem, "") << file;
  };
  under(first, [](StoreDir& at) {
    ASSERT_EQ(at.ledger->partition().init("a", {}, kSampleStart).outcome, kernel::Outcome::initialised);
    EXPECT_THAT(proposed(at, "a", "Staff", R"({"type":"Ask","key":"a","amount":1})"), HasSubstr("approved"));
  });
  under(between, [](StoreDir& at) {
    EXPECT_THAT(proposed(at, "a", "Upgrade", R"({"type":"UpgradeRules"})"), HasSubstr("escalated LEAST"));
  });
  under(last, [](StoreDir& at) {
    const json::object edit = parseJson(R"({"amount":{"a":5}})").value().get_object();
    const kernel::Decision answer = at.ledger->partition().decide({.entity = "a",
                                                                   .counselor = "head",
                                                                   .operationId = "answer",
                                                                   .commit = true,
                                                                   .edit = &edit,
                                                                   .at = kSampleStart,
                                                                   .device = "device"});
    EXPECT_EQ(answer.outcome, kernel::Outcome::cCommitted) << answer.message;
    EXPECT_EQ(rules::versionOf(*at.module, *at.ledger->partition().state("a")), 3);
  });
}

// A copy that has only the later file follows what began under the earlier one, and finds out what did not.
TEST(RuleVersions, ABeginningOfAnEarlierVersionIsCheckedUnderThatVersion) {
  const std::vector<std::uint8_t> proof{1};
  const auto first = rules::makeRuleModule(kFirst, "first").value(),
             later = rules::makeRuleModule(second(), "second").value();
  for (const auto& [under, whose] : {std::pair(first.get(), "old"), std::pair(later.get(), "new")}) {
    kernel::Partition log(*under);
    log.beginEpoch({1, "a@00000001"}, kernel::EpochCause::founding, kSampleStart, "", "", kernel::kSignedBeginnings);
    const std::string epoch = log.takeBatch().value;
    ASSERT_EQ(log.begin(whose, {}, kSampleStart, false, {"init", "b", "", proof}).outcome,
              kernel::Outcome::initialised);
    const std::string begun = log.takeBatch().value;
    kernel::Partition copy(*later);
    ASSERT_TRUE(copy.fold(epoch, kernel::Fold::checked).ok());
    const auto folded = copy.fold(begun, kernel::Fold::checked);
    EXPECT_TRUE(folded.ok()) << whose << ": " << folded.error().message;
  }
  for (const char* fields : {R"({"least":7})", R"({"rulesVersion":1})", R"({"rulesVersion":2})"}) {
    const json::object given = parseJson(fields).value().get_object();
    const auto old = later->readState(parseJson(R"({"clock":"2026-03-23T00:00:00Z"})").value().get_object());
    ASSERT_TRUE(old.ok()) << old.error().message;
    EXPECT_FALSE(later->createAs(**old, given, kSampleStart).ok()) << "version 1 has no " << fields;
  }
  EXPECT_FALSE(later->create(parseJson(R"({"rulesVersion":1})").value().get_object(), kSampleStart).ok());
  EXPECT_TRUE(later->create(parseJson(R"({"least":7})").value().get_object(), kSampleStart).ok());
}

// A rule that rejects comes last too: what breaks it and one that escalates is a person's to answer, who sees both.
TEST(RuleVersions, ARuleThatRejectsMayComeBehindOneThatEscalates) {
  const std::string first = std::string(kFirst) + R"([invariants.DEAR]
rule = "a person answers for what is dear"
each = "asks as a"
check = '''require a.amount <= 5 || waived('DEAR', a.key) else escalate 'dear' '''
)";
  constexpr const char* kEven = R"([invariants.EVEN]
rule = "an ask is even"
each = "asks as a"
check = '''require a.amount % 2 == 0 else reject 'odd' '''
)";
  const auto moduleOf = [](const std::string& text) { return *rules::makeRuleModule(text, "desk.domain.toml"); };
  EXPECT_THAT(mayInstall(*moduleOf(first + kEven)).error().message,
              HasSubstr("EVEN rejects but stands after DEAR, which escalates"));
  const auto later = moduleOf(concat("version = 2\n", first, kEven, "[since]\n2 = [\"EVEN\"]\n"));
  EXPECT_TRUE(mayInstall(*later).ok());
  EXPECT_TRUE(rules::continuesRules(first, {}, *later).ok());
  const auto results =
      checkScenarios(*later, R"({"at":"2026-05-04T08:00:00Z","entity":"e","init":{},"expect":"initialised"}
{"at":"2026-05-04T08:00:01Z","entity":"e","role":"Staff","action":{"type":"Ask","key":"a","amount":3},"expect":"rejected:EVEN"}
{"at":"2026-05-04T08:00:02Z","entity":"e","role":"Staff","action":{"type":"Ask","key":"a","amount":7},"expect":"escalated:DEAR"}
{"at":"2026-05-04T08:00:03Z","entity":"e","counselor":"head","decision":"commit","edit":{"waivers":{"add":[["DEAR","a"]]}},"expect":"cCommitted:UNSAFE[EVEN]"}
{"at":"2026-05-04T08:00:04Z","entity":"f","init":{},"expect":"initialised"}
{"at":"2026-05-04T08:00:04Z","entity":"f","role":"Staff","action":{"type":"Ask","key":"a","amount":8},"expect":"escalated:DEAR"}
{"at":"2026-05-04T08:00:05Z","entity":"f","counselor":"head","decision":"commit","edit":{"waivers":{"add":[["DEAR","a"]]}},"expect":"cCommitted:safe"}
)",
                     "the test");
  EXPECT_EQ(results.front().failure, "");
  EXPECT_EQ(results.front().checked, 7u);
}

TEST(RuleVersions, WhatDecidesOtherwiseIsRefused) {
  const auto words = [](const std::string& newer, const std::string& older = kFirst) {
    auto module = rules::makeRuleModule(newer, "new.domain.toml");
    if (!module.ok()) return module.error().message;
    const Status continues = rules::continuesRules(older, {}, **module);
    return continues.ok() ? std::string("continues") : continues.error().message;
  };
  EXPECT_EQ(words(second()), "continues");
  EXPECT_EQ(words(concat("# a note\n", kFirst)), "continues");
  EXPECT_THAT(words(kFirst, second()), HasSubstr("it is version 1, after 2"));
  EXPECT_THAT(words(with(kFirst, "limit = 10", "limit = 20")), HasSubstr("policy.limit is another"));
  EXPECT_THAT(words(with(kFirst, "[\"head\"]", "[\"tail\"]")), HasSubstr("the counselor head is gone"));
  EXPECT_THAT(words(with(kFirst, "amount = \"int\"", "amount = \"int\"\nby = \"string\"")), HasSubstr("continues"));
  EXPECT_THAT(words(with(second(), "= amount'", "= amount + 1'")), HasSubstr("the process Ask is another"));
  EXPECT_THAT(words(with(second(), "<= policy.limit", "< policy.limit")), HasSubstr("the invariant LIMIT is another"));
  EXPECT_THAT(words(with(second(), "\"Note\", ", "")),
              HasSubstr("the process Note is new, and [since] does not name it"));
  EXPECT_THAT(words(with(second(), ", \"LEAST\"", "")), HasSubstr("the invariant LEAST is new"));
  EXPECT_THAT(words(with(second(), "\"LEAST\"", "\"MOST\"")),
              HasSubstr("there is no field, process or invariant \"MOST\""));
  EXPECT_THAT(words(with(second(), "2 = [", "3 = [")), HasSubstr("\"3\" is no version from 2 to 2"));
  EXPECT_THAT(words(with(second(), "version = 2", "version = 0")), HasSubstr("expected a version"));
}

}  // namespace
}  // namespace witan::node::versions_test
