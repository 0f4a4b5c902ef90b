// Human fields and the freeze by key (F22, F23): what an escalation freezes, what goes on, and what stays the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domains/registry.h"
#include "kernel/partition.h"
#include "rules/domain/rule_module.h"

namespace witan::rules {
namespace {

using testing::HasSubstr;
using namespace kernel;

constexpr const char* kCases = R"toml(domain = "cases"
title = "Cases of one desk"
counselors = ["chief", "deputy"]
human = ["ok"]
instances = ["amount"]

[tables.cases]
amount = "int"
group = "string"
ok = "tuple(by: string, at: timestamp, why: string)"

[tables.groups]
lead = "string"

[logs]
notes = "record(case: string, text: string)"

[fields]
closed = "int = 0"

[processes.Put]
role = "Clerk"
arguments = "case: string, n: int"
do = '''
cases[case].amount = n;
if has(cases[case].ok) { cases[case].ok = null; }
'''

[processes.Join]
role = "Clerk"
arguments = "case: string, group: string"
do = "cases[case].group = group"

[processes.Lead]
role = "Clerk"
arguments = "group: string, case: string"
do = "groups[group].lead = case"

[processes.Note]
role = "Clerk"
arguments = "case: string, text: string"
do = "append notes = {'case': case, 'text': text}"

[processes.Close]
role = "Clerk"
arguments = "n: int"
do = "closed = closed + n"

[processes.Approve]
reads = ["amount"]
writes = ["ok"]

[invariants.POSITIVE]
rule = "amounts are positive"
each = "cases as c"
check = "require !has(c.amount) || c.amount > 0 else reject 'case ' + c.key + ' is of nothing'"

[invariants.LARGE]
rule = "a person approves what is large, and says why"
each = "cases as c"
check = '''
require !has(c.amount) || c.amount <= 100 || (has(c.ok) && c.ok.why.trim() != '')
  else escalate 'case ' + c.key + ' is large'
'''
)toml";

class Freeze : public testing::Test {
 protected:
  Freeze() {
    auto made = makeRuleModule(kCases, "cases.domain.toml", {}, {});
    EXPECT_TRUE(made.ok()) << made.error().message;
    module = *std::move(made);
    start({});
  }
  void start(PartitionOptions options) {
    partition = std::make_unique<Partition>(*module, options);
    ASSERT_EQ(partition->init("d", {}, Time{0}).outcome, Outcome::initialised);
  }
  std::string propose(const std::string& action, std::int64_t at = 10) {
    const ActionPtr decoded = module->parseAction(parseJson(action).value()).value();
    const std::string id = "op-" + std::to_string(++operations);
    return wording(partition->propose(
        {.entity = "d", .role = "Clerk", .operationId = id, .action = decoded.get(), .at = Time{at}}));
  }
  std::string put(const std::string& name, int n, std::int64_t at = 10) {
    return propose(R"({"type":"Put","case":")" + name + R"(","n":)" + std::to_string(n) + "}", at);
  }
  std::string decide(const std::string& edit, std::int64_t at = 20, bool commit = true,
                     std::string_view who = "chief") {
    const json::object fields = parseJson(edit).value().as_object();
    const std::string id = "decision-" + std::to_string(++operations);
    return wording(partition->decide(
        {.entity = "d", .counselor = who, .operationId = id, .commit = commit, .edit = &fields, .at = Time{at}}));
  }
  static std::string wording(const Decision& d) {
    std::string text(enumName(d.outcome));
    if (d.outcome == Outcome::cCommitted) return text + (d.safe.value_or(false) ? ":safe" : ":unsafe");
    return d.outcome == Outcome::refused ? text + ": " + d.message : text;
  }
  std::string state(const Partition& of) const {
    std::string text;
    module->writeState(text, *of.state("d"));
    return text;
  }

  std::unique_ptr<DomainModule> module;
  std::unique_ptr<Partition> partition;
  int operations = 0;
};

TEST_F(Freeze, F22_OnlyWhatTheQuestionTouchesIsFrozen) {
  ASSERT_EQ(put("A", 500), "escalated");
  EXPECT_EQ(put("B", 5), "approved");
  EXPECT_EQ(put("B", -5), "rejected");
  EXPECT_EQ(put("A", 1), "frozen");
  EXPECT_EQ(propose(R"({"type":"Note","case":"A","text":"x"})"), "frozen") << "it is about A";
  EXPECT_EQ(propose(R"({"type":"Note","case":"B","text":"x"})"), "approved");
  EXPECT_EQ(put("C", 900), "frozen") << "one question at a time";
  EXPECT_EQ(propose(R"({"type":"Close","n":1})"), "frozen") << "what is the entity's is every case's";
  EXPECT_EQ(decide(R"({"ok":{"A":"agreed"}})"), "cCommitted:safe");
  EXPECT_EQ(put("C", 900, 30), "escalated");
  partition->checkInvariants();
}

TEST_F(Freeze, F22_ARowThatNamesWhatIsFrozenIsFrozenToo) {
  ASSERT_EQ(put("A", 5), "approved");
  ASSERT_EQ(put("B", 5), "approved");
  ASSERT_EQ(propose(R"({"type":"Lead","group":"G","case":"A"})"), "approved");
  ASSERT_EQ(put("A", 500), "escalated");
  EXPECT_EQ(propose(R"({"type":"Lead","group":"G","case":"B"})"), "frozen") << "G names A";
  EXPECT_EQ(propose(R"({"type":"Join","case":"B","group":"G"})"), "frozen") << "B would name G, which names A";
  EXPECT_EQ(propose(R"({"type":"Lead","group":"H","case":"B"})"), "approved");
  EXPECT_EQ(propose(R"({"type":"Join","case":"B","group":"H"})"), "approved");
}

// The same answers whether the log was decided here or read.
TEST_F(Freeze, F22_AFoldFreezesTheSame) {
  ASSERT_EQ(put("A", 500), "escalated");
  ASSERT_EQ(put("B", 5), "approved");
  const std::string log = partition->takeBatch().value;
  for (const Fold how : {Fold::trusted, Fold::checked}) {
    Partition other(*module);
    ASSERT_TRUE(other.fold(log, how).ok());
    EXPECT_EQ(state(other), state(*partition));
    const ActionPtr a = module->parseAction(parseJson(R"({"type":"Put","case":"A","n":1})").value()).value();
    const ActionPtr b = module->parseAction(parseJson(R"({"type":"Put","case":"B","n":1})").value()).value();
    EXPECT_TRUE(other.holds("d", *a, Time{20}));
    EXPECT_FALSE(other.holds("d", *b, Time{20}));
    other.checkInvariants();
  }
  ASSERT_EQ(decide(R"({"ok":{"A":"agreed"}})"), "cCommitted:safe");
  Partition whole(*module);
  ASSERT_TRUE(whole.fold(log, Fold::checked).ok());
  ASSERT_TRUE(whole.fold(partition->takeBatch().value, Fold::checked).ok());
  EXPECT_EQ(state(whole), state(*partition));
}

// An owner that decides what is frozen is found out by whoever makes the decisions again.
TEST_F(Freeze, F22_ADecisionOnAFrozenKeyIsUnlawful) {
  ASSERT_EQ(put("A", 500), "escalated");
  const std::string asked = partition->takeBatch().value;
  Partition liar(*module);
  ASSERT_EQ(liar.init("d", {}, Time{0}).outcome, Outcome::initialised);
  const ActionPtr small = module->parseAction(parseJson(R"({"type":"Put","case":"A","n":1})").value()).value();
  // The same entry in a ledger in which nothing waits: its bytes say nothing of a question.
  DecisionCheck check(*module);
  const EntityPtr entity = module->create({}, Time{0}).value();
  const ActionPtr waiting = module->parseAction(parseJson(R"({"type":"Put","case":"A","n":500})").value()).value();
  std::string action;
  module->writeAction(action, *small);
  EntryView entry;
  entry.tag = kernel::Tag::approved;
  entry.role = "Clerk";
  entry.action = action;
  entry.time = Time{10};
  const RunBindings none;
  const auto found = check.check(*entity, waiting.get(), none, entry);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("touches what waits for a counselor"));
}

// Whatever else was decided meanwhile, the candidate that the counselor commits writes what it would have written when
// it was shown (FINDINGS, F22): over the domains that freeze by key.
TEST(FreezeByKey, F22_TheCandidateStaysWhatItWas) {
  for (const std::string_view name : {"verification", "disclosure"}) {
    const auto module = domains::makeDomain(name).value();
    ASSERT_TRUE(module->signature().freezesByKey()) << name;
    std::uint64_t meanwhile = 0, compared = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      SeededRandom random(seed);
      Time now{parseTime("2026-01-01T00:00:00Z").value()};
      Partition partition(*module);
      const auto init = parseJson(module->sampleInit(random, now)).value().as_object();
      if (partition.init("e", init, now).outcome != Outcome::initialised) continue;
      EntityPtr shown;
      for (int step = 0; step < 150; ++step) {
        now.micros += static_cast<std::int64_t>(random.below(3 * 86'400)) * kMicrosPerSecond;
        const std::string id = "op-" + std::to_string(step);
        const auto pending = partition.pending("e");
        if (pending && random.below(6) == 0) {
          const ActionPtr action = module->parseAction(parseJson(pending->action).value()).value();
          const auto writesOn = [&](const EntityState& state) {
            Evaluation out;
            const EntityPtr copy = module->clone(state);
            const Status made = module->counselorCommit(*copy, CommitBase::candidate, action.get(), {}, "", now, out);
            json::value writes = made.ok() ? parseJson(out.writes).value() : json::value(made.error().message);
            if (writes.is_object())
              for (const char* log : {"repro.log", "commit.log", "resolve.log"}) writes.get_object().erase(log);
            return canonicalJson(writes);
          };
          EXPECT_EQ(writesOn(*shown), writesOn(*partition.state("e"))) << name << " seed " << seed << " step " << step;
          ++compared;
          const std::string edit =
              module->sampleEdit(*partition.state("e"), *action, module->signature().counselors.front(), random, now);
          const json::object fields = parseJson(edit).value().as_object();
          partition.decide({.entity = "e",
                            .counselor = module->signature().counselors.front(),
                            .operationId = id,
                            .commit = random.below(2) == 0,
                            .edit = &fields,
                            .at = now});
          continue;
        }
        const ActionPtr action = module->sample(*partition.state("e"), random, now);
        const EntityPtr before = module->clone(*partition.state("e"));
        const Decision made = partition.propose({.entity = "e",
                                                 .role = module->signature().processes[action->process].role,
                                                 .operationId = id,
                                                 .action = action.get(),
                                                 .at = now});
        if (made.outcome == Outcome::escalated) shown = module->clone(*before);
        meanwhile += pending.has_value() && made.outcome == Outcome::approved;
      }
      partition.checkInvariants();
    }
    EXPECT_GT(compared, 5) << name;
    EXPECT_GT(meanwhile, 20) << name;
  }
}

// ---- F23: human fields

TEST_F(Freeze, F23_TheKernelSignsWhatAPersonWrites) {
  ASSERT_EQ(put("A", 500), "escalated");
  EXPECT_THAT(decide(R"({"ok":{"A":["agent.x","1999-01-01T00:00:00Z","agreed"]}})"), HasSubstr("names another person"));
  EXPECT_THAT(decide(R"({"ok":{"A":["a","b"]}})"), HasSubstr("expected 1 values"));
  EXPECT_EQ(decide(R"({"ok":{"A":["deputy","1999-01-01T00:00:00Z","agreed"]}})", 20, true, "deputy"),
            "cCommitted:safe");
  EXPECT_THAT(state(*partition), HasSubstr(R"("ok":{"A":["deputy","1970-01-01T00:00:00.00002Z","agreed"]})"));
  ASSERT_EQ(put("A", 600, 30), "escalated") << "the process emptied it";
  EXPECT_EQ(decide(R"({"ok":{"A":[" "]}})", 40), "cCommitted:unsafe") << "a blank reason is none";
}

TEST_F(Freeze, F23_NobodyElseFillsIt) {
  EXPECT_EQ(
      partition
          ->init("e", parseJson(R"({"ok":{"A":["chief","2026-01-01T00:00:00Z","x"]}})").value().as_object(), Time{0})
          .outcome,
      Outcome::refused);
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kCases;
    text.replace(text.find(from), from.size(), to);
    const auto made = makeRuleModule(text, "c", {}, {});
    return made.ok() ? std::string("ok") : made.error().message;
  };
  EXPECT_THAT(with("cases[case].ok = null;", "cases[case].ok = ['chief', now, 'x'];"),
              HasSubstr("only a counselor's edit fills ok"));
  EXPECT_THAT(with("ok = \"tuple(by: string, at: timestamp, why: string)\"", "ok = \"tuple(by: string, why: string)\""),
              HasSubstr("a human field has a type tuple"));
  EXPECT_THAT(with("human = [\"ok\"]", "human = [\"closed\"]"), HasSubstr("only a column"));
  EXPECT_THAT(with("instances = [\"amount\"]", "instances = [\"notes\"]"), HasSubstr("expected a column"));
}

// ---- until when a question waits stands in the ledger

TEST_F(Freeze, TheLimitOfAQuestionBindsWhoeverOpensTheLedgerLater) {
  start({.pendingTtlMicros = 1000});
  ASSERT_EQ(put("A", 500), "escalated");
  Partition later(*module);  // with no limit of its own
  ASSERT_TRUE(later.fold(partition->takeBatch().value).ok());
  EXPECT_EQ(later.pending("d")->expires, Time{1010});
  const json::object edit = parseJson(R"({"ok":{"A":"agreed"}})").value().as_object();
  const Decision late = later.decide(
      {.entity = "d", .counselor = "chief", .operationId = "late", .commit = true, .edit = &edit, .at = Time{1010}});
  EXPECT_EQ(late.outcome, Outcome::refused);
  EXPECT_THAT(late.message, HasSubstr("the time for a decision on entry 1 was over"));
  EXPECT_EQ(later.expire(Time{1010}).size(), 1u);
  EXPECT_FALSE(later.frozen("d"));
  EXPECT_EQ(later.size(), 2u);
}

}  // namespace
}  // namespace witan::rules
