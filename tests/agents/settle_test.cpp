// Entries that only agents wrote, on several devices at once: they settle themselves. And wakes that an agent missed
// while its device ran without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/host/device_gate.h"
#include "agents/host/record_audit.h"
#include "agents/wake/agent_conflict.h"
#include "domains/agents.h"
#include "saga/saga_rows.h"
#include "tests/agents/clerk.h"

namespace witan::agents::settle_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

const char* const kDigest = "digest/2026-03-23";

// Writes the last request down; knows nothing of conflicts.
class Marker final : public EntryAgent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{.id = "marker",
                                 .version = "1",
                                 .what = "marks the last request",
                                 .category = "office",
                                 .subscriptions = {onEntries("request")},
                                 .capabilities = {{"journal.read"}, {"journal.put"}}};
    return kSpec;
  }

 protected:
  bool concerns(const Entry& entry) const override { return entry.type == "request"; }
  Result<Actions> plan(const Entry& entry, const Entries&) const override {
    return Actions{action("journal.put", {{"id", "last"}, {"type", "mark"}, {"payload", entry.id}}, {"last"})};
  }
};
const Marker kMarker;

struct Two {
  explicit Two(const Agent& agent, const episode::Gate* gate = nullptr) : a("a", {&agent}), b("b", {&agent}) {
    a.gate = b.gate = gate;
    EXPECT_TRUE(a.open().ok() && b.open().ok());
    cut();
  }
  void cut() { meet(false); }
  void meet(bool live) {
    a.host().setDevices({"a", "b"}, live ? std::set<std::string>{"b"} : std::set<std::string>{}, a.now());
    b.host().setDevices({"a", "b"}, live ? std::set<std::string>{"a"} : std::set<std::string>{}, b.now());
  }
  void exchange() {
    replication::test::Link link(a.device(), b.device());
    link.run();
  }
  void together(int rounds = 80) {
    meet(true);
    for (int i = 0; i < rounds; ++i) {
      exchange();
      ASSERT_TRUE(a.round().ok() && b.round().ok());
      a.ms += 500, b.ms += 500;
    }
  }
  void apart(const std::string& type) {
    ASSERT_TRUE(a.enter(type + "1", type, R"("beans")").ok());
    ASSERT_TRUE(b.enter(type + "2", type, R"("peas")").ok());
    ASSERT_TRUE(a.settle().ok() && b.settle().ok());
  }
  JournalView view(const std::string& id) { return journalViewIn(a.device().journal(), id).value(); }
  void expectEqual() {
    EXPECT_EQ(a.device().journal().digest(), b.device().journal().digest());
    EXPECT_EQ(a.device().agents().digest(), b.device().agents().digest());
    EXPECT_TRUE(a.host().quiet() && b.host().quiet());
    EXPECT_THAT(a.runs(), Each(Pair(::testing::_, WakeStatus::completed)));
  }

  HostRig a, b;
};

// What it could not use is said beside what came of the rest.
TEST(EntryAgents, AnEntryThatCannotBeUsedIsToldWithTheResults) {
  class Picky final : public EntryAgent {
   public:
    const AgentSpec& spec() const override { return kMarker.spec(); }

   protected:
    bool concerns(const Entry&) const override { return true; }
    Result<Actions> plan(const Entry& entry, const Entries&) const override {
      if (entry.payload.empty()) return invalid("nothing in it");
      return Actions{action("journal.put", {{"id", "last"}}, {"last"})};
    }
  };
  const Picky picky;
  json::array changes, seen;
  for (const char* id : {"good", "bad"}) {
    changes.push_back(json::object{{"id", id}, {"type", kJournalPayload}});
    json::object entry{{"id", id}, {"type", "request"}, {"payload", json::object()}};
    if (*id == 'g') entry["payload"] = json::object{{"n", 1}};
    seen.push_back(json::object{{"ok", true}, {"content", std::move(entry)}});
  }
  Turn turn = picky.step(nullptr, {InputKind::wake, json::object{{"changes", std::move(changes)}}});
  turn = picky.step(turn.sigma, {InputKind::observation, std::move(seen)});
  ASSERT_TRUE(std::holds_alternative<Actions>(turn.output));
  const json::object applied{{"tool", "journal.put"}, {"outcome", "applied"}};
  turn = picky.step(turn.sigma, {InputKind::results, json::array{applied}});
  const auto* finish = std::get_if<Finish>(&turn.output);
  ASSERT_NE(finish, nullptr);
  EXPECT_TRUE(finish->failed);
  EXPECT_THAT(finish->answer, HasSubstr("left alone: bad"));
}

TEST(Settle, TheAgentMakesItAnewOfWhatBothWrote) {
  Two two(*domains::findAgent("journal-summariser"));
  two.apart("note");
  two.exchange();
  ASSERT_TRUE(two.view(kDigest).inConflict());
  two.together();
  EXPECT_FALSE(two.view(kDigest).inConflict());
  EXPECT_THAT(two.a.shown(kDigest), HasSubstr(R"("lines":["beans","peas"])"));
  EXPECT_EQ(two.a.shown(kDigest), two.b.shown(kDigest));
  two.expectEqual();
}

// Before anybody settles it.
TEST(Settle, TheNextWriteOfAnAgentIsNotLostToTheConflict) {
  Two two(*domains::findAgent("journal-summariser"));
  two.apart("note");
  two.exchange();
  ASSERT_TRUE(two.a.enter("note3", "note", R"("maize")").ok());
  for (int i = 0; i < 20; ++i, two.a.ms += 100) ASSERT_TRUE(two.a.round().ok());
  EXPECT_THAT(two.a.shown(kDigest), HasSubstr("maize"));
  two.together();
  EXPECT_FALSE(two.view(kDigest).inConflict());
  EXPECT_THAT(two.a.shown(kDigest), HasSubstr(R"("lines":["beans","peas","maize"])"));
  two.expectEqual();
}

TEST(Settle, OfAnAgentThatKnowsNothingOfConflictsWhatReadersSeeStands) {
  Two two(kMarker);
  two.apart("request");
  two.exchange();
  const std::string shown = two.a.shown("last");
  ASSERT_TRUE(two.view("last").inConflict());
  two.together();
  EXPECT_FALSE(two.view("last").inConflict());
  EXPECT_EQ(two.a.shown("last"), shown);
  EXPECT_THAT(two.a.runs(), SizeIs(3));  // one a request, and one that settles
  two.expectEqual();
}

// Stamps 25 entries for each request.
class Stamper final : public EntryAgent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{.id = "stamper",
                                 .version = "1",
                                 .what = "stamps entries",
                                 .category = "office",
                                 .subscriptions = {onEntries("request")},
                                 .capabilities = {{"journal.read"}, {"journal.put"}},
                                 .budget = {.steps = 1'000}};
    return kSpec;
  }

 protected:
  bool concerns(const Entry& entry) const override { return entry.type == "request"; }
  Result<Actions> plan(const Entry& entry, const Entries&) const override {
    Actions actions;
    for (int i = 0; i < 25; ++i) {
      const std::string id = concat("stamp/", entry.id.substr(1), "/", i);
      actions.push_back(action("journal.put", {{"id", id}, {"type", "stamp"}, {"payload", entry.id}}, {id}));
    }
    return actions;
  }
};

// The queue takes few at a time; the others wait outside, and none is forgotten.
TEST(Settle, AThousandConflictsAtOnceAreAllSettled) {
  const Stamper stamper;
  Two two(stamper);
  for (HostRig* rig : {&two.a, &two.b}) {
    for (int part = 0; part < 40; ++part)
      ASSERT_TRUE(rig->enter(concat(rig == &two.a ? "a" : "b", part), "request", "1").ok());
    ASSERT_TRUE(rig->settle().ok());
  }
  two.exchange();
  const auto conflicts = [&] {
    std::size_t n = 0;
    for (const std::string& id : two.a.device().journal().keys(Kind::journal)) n += two.view(id).inConflict() ? 1 : 0;
    return n;
  };
  ASSERT_EQ(conflicts(), 1'000u);
  two.meet(true);
  for (int n = 0; n < 400 && conflicts() > 0; ++n, two.a.ms += 500, two.b.ms += 500) {
    two.exchange();
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(two.a.round().ok() && two.b.round().ok());
  }
  two.together();
  EXPECT_EQ(conflicts(), 0u);
  EXPECT_THAT(two.a.runs(), SizeIs(80 + 1'000));
  two.expectEqual();
}

// Ordinary policies know what agents put down, and nothing of versions.
TEST(Settle, NoPolicyHasToAllowTheNamesOfVersions) {
  const DeviceGate gate(Monitor::compile(parsePolicyToml(R"(
name = "office"
version = 1
[[boundary]]
name = "journal"
locales = ["device"]
operation = [{name = "read", allow = ["id"]}, {name = "put", allow = ["id", "type", "payload"]}]
[[grant]]
agent = "marker"
category = "office"
locales = ["device"]
tools = ["journal.read", "journal.put"]
boundaries = ["journal"]
)",
                                                         "p.toml")
                                             .value())
                            .value());
  Two two(kMarker, &gate);
  two.apart("request");
  two.exchange();
  ASSERT_TRUE(two.view("last").inConflict());
  two.together();
  EXPECT_FALSE(two.view("last").inConflict());
  two.expectEqual();
}

TEST(Settle, APersonIsAskedForWhatAPersonWrote) {
  Two two(kMarker);
  ASSERT_TRUE(two.a.enter("last", "mark", R"("by hand")").ok());
  ASSERT_TRUE(two.b.enter("request2", "request", R"("peas")").ok());
  ASSERT_TRUE(two.a.settle().ok() && two.b.settle().ok());
  two.together();
  const JournalView view = two.view("last");
  EXPECT_TRUE(view.inConflict());
  EXPECT_EQ(settlerOf(two.a.device().replica(), "main", two.a.device().journal(), view).value(), std::nullopt);
  EXPECT_THAT(two.a.runs(), SizeIs(1));
}

// A person has chosen between plan and effect.
TEST(Settle, LongVersionsStayOutOfTheAgentsInput) {
  const auto versionsIn = [](std::size_t bytes) {
    JournalView view;
    for (std::uint64_t n = 1; n <= 2; ++n) {
      JournalBody body{.type = "note", .payload = '"' + std::string(bytes - 2, 'x') + '"', .lamport = n};
      body.author = concat("agent-", n);
      view.siblings.push_back({{"device", n}, body});
    }
    view.siblings.push_back({{"device", 3}, std::nullopt});
    const WakeJob job = *conflictJob("marker", "main", "note/1", view);
    const json::object conflict = parseJson(job.input, {.bytes = 1 << 20})->at("conflict").as_object();
    EXPECT_EQ(canonicalJson(conflict.at("settles")), R"(["device:1","device:2","device:3"])");
    return conflict.contains("versions") ? conflict.at("versions") : json::value();
  };
  const json::value all = versionsIn(32 * 1024);
  ASSERT_THAT(all.as_array(), SizeIs(3));
  EXPECT_EQ(all.at(1).at("author"), "agent-2");
  EXPECT_TRUE(all.at(2).is_null());  // a deletion
  EXPECT_TRUE(versionsIn(32 * 1024 + 1).is_null());
}

TEST(Settle, WhatWasSettledMeanwhileStays) {
  Two two(kMarker);
  two.apart("request");
  two.exchange();
  HostRig& a = two.a;
  const std::uint64_t planned = a.host().counters().plans;
  two.b.host().setDevices({"b"}, {}, two.b.now());
  a.host().setDevices({"a"}, {}, a.now());
  for (int i = 0; i < 100 && a.host().counters().plans == planned; ++i) {
    a.ms += 500;
    ASSERT_TRUE(a.host().work(a.now()).ok());
    if (a.host().counters().plans > planned) break;
    ASSERT_TRUE(a.round().ok());
  }
  ASSERT_EQ(a.host().counters().plans, planned + 1);
  const JournalView view = two.view("last");
  std::vector<Dot> dots;
  for (const Sibling& one : view.siblings) dots.push_back(one.dot);
  auto body = journalResolution(view, {"mark", R"("by hand")", "ann", a.ms, std::nullopt}, dots);
  ASSERT_TRUE(body.ok());
  const std::array change{JournalChange{"last", *std::move(body), "", ChangeOrigin::local}};
  auto writes = journalWrites(a.device().journal(), change);
  ASSERT_TRUE(a.device().replica().commit(DatabaseName::journal, "main", *writes).ok());
  ASSERT_TRUE(a.settle().ok());
  EXPECT_EQ(a.shown("last"), R"("by hand")");
  EXPECT_FALSE(two.view("last").inConflict());
}

TEST(MissedWakes, AnAgentHearsOfWhatCameWhileItWasNotHere) {
  HostRig rig("a", {&kMarker});
  ASSERT_TRUE(rig.open().ok());
  rig.host().setDevices({"a"}, {}, rig.now());
  ASSERT_TRUE(rig.enter("n1", "note", R"("beans")").ok());
  ASSERT_TRUE(rig.settle().ok());
  ASSERT_THAT(rig.runs(), SizeIs(0));
  const auto startWith = [&](std::vector<const Agent*> agents) {
    rig.crash(1000);
    rig.agents = std::move(agents);
    ASSERT_TRUE(rig.open().ok());
    rig.host().setDevices({"a"}, {}, rig.now());
    ASSERT_TRUE(rig.settle().ok());
  };
  const Agent* summariser = domains::findAgent("journal-summariser");
  startWith({summariser});
  EXPECT_THAT(rig.runs(), SizeIs(1));
  EXPECT_THAT(rig.shown(kDigest), HasSubstr("beans"));
  // What each missed, and nothing twice.
  ASSERT_TRUE(rig.enter("r1", "request", R"("oil")").ok());
  ASSERT_TRUE(rig.settle().ok());
  startWith({&kMarker});
  EXPECT_EQ(rig.shown("last"), R"("r1")");
  ASSERT_TRUE(rig.enter("n2", "note", R"("peas")").ok());
  ASSERT_TRUE(rig.settle().ok());
  startWith({&kMarker, summariser});
  EXPECT_THAT(rig.shown(kDigest), HasSubstr("peas"));
  EXPECT_THAT(rig.runs(), SizeIs(3));
  startWith({&kMarker, summariser});
  EXPECT_THAT(rig.runs(), SizeIs(3));
}

// However full the queue is, and wherever the power goes.
TEST(MissedWakes, NoneIsLostToACrash) {
  for (std::uint64_t n = 0;; ++n) {
    HostRig rig("a", {&kMarker});
    rig.options.wake.limits.perAgent = 2;
    ASSERT_TRUE(rig.open().ok());
    rig.host().setDevices({"a"}, {}, rig.now());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(rig.enter(concat("n", i), "note", R"("beans")").ok());
    ASSERT_TRUE(rig.settle().ok());
    rig.crash(1000);
    rig.agents = {domains::findAgent("journal-summariser")};
    rig.device().agentStore().crashAt(n, store::Moment::after);
    const bool whole = rig.open().ok() && (rig.host().setDevices({"a"}, {}, rig.now()), rig.settle().ok());
    if (!whole) {
      rig.crash();
      ASSERT_TRUE(rig.open().ok());
      rig.host().setDevices({"a"}, {}, rig.now());
      ASSERT_TRUE(rig.settle().ok());
    }
    ASSERT_THAT(rig.runs(), SizeIs(5)) << "died at write " << n;
    if (whole) {
      EXPECT_GT(n, 10u);
      return;
    }
  }
}

// What two devices that were cut off did once each is in order; an effect without its outcome is not, nor a run without
// an end.
TEST(RecordAudit, IsSilentInOrderAndFiresForWhatIsHalfDone) {
  Two two(kMarker);
  two.apart("request");
  two.together();
  EXPECT_THAT(auditRecords(two.a.device().replica(), "main")->problems, ::testing::IsEmpty());
  HostRig rig("c", {&kMarker});
  ASSERT_TRUE(rig.open().ok());
  const auto write = [&](DatabaseName database, Write one) {
    ASSERT_TRUE(rig.device().replica().commit(database, "main", {&one, 1}).ok());
  };
  OperationBody body{sha256("operation"),       sha256("run"), "marker", "journal.put",
                     OperationOutcome::applied, "1",           {},       {}};
  const auto record = [&](const char* result) {
    body.result = result;
    return Write{Kind::operation, toHex(body.operationId), encodeRecord(body).value(), false};
  };
  write(DatabaseName::journal, record("1"));
  WakeRunBody run{sha256("run"), "marker", WakeReason::subscription, "entries:request", WakeStatus::started, 1, 0, ""};
  write(DatabaseName::agents, {Kind::wakeRun, toHex(run.runKey), encodeRecord(run).value(), false});
  const RecordAudit audit = auditRecords(rig.device().replica(), "main").value();
  EXPECT_THAT(audit.problems, ::testing::UnorderedElementsAre(HasSubstr("and no outcome"), HasSubstr("has no end")));
  EXPECT_EQ(audit.journalEffects, 1u);
  EXPECT_EQ(audit.runs, 1u);
}

// Its row says so, also after a restart.
TEST(Sagas, AProposalThatWaitsForACounselorIsShownToWait) {
  class Asker final : public EntryAgent {
   public:
    const AgentSpec& spec() const override {
      static const AgentSpec kSpec{.id = "asker",
                                   .version = "1",
                                   .what = "proposes",
                                   .category = "office",
                                   .subscriptions = {onEntries("request")},
                                   .capabilities = {{"journal.read"}, {"propose"}}};
      return kSpec;
    }

   protected:
    bool concerns(const Entry& entry) const override { return entry.type == "request"; }
    Result<Actions> plan(const Entry&, const Entries&) const override {
      return Actions{proposal("budget", "B", "Dept", {{"type", "Spend"}})};
    }
  };
  const Asker asker;
  HostRig rig("a", {&asker});
  ASSERT_TRUE(rig.open().ok());
  rig.host().setDevices({"a"}, {}, rig.now());
  ASSERT_TRUE(rig.enter("r1", "request", R"("oil")").ok());
  HostEffects out;
  for (int i = 0; i < 20 && out.proposals.empty(); ++i) {
    ASSERT_TRUE(rig.host().work(rig.now()).ok() && rig.device().replica().flush().ok());
    rig.host().journalDurable(rig.now());
    ASSERT_TRUE(rig.host().agentsDurable(rig.now(), out).ok());
  }
  ASSERT_THAT(out.proposals, SizeIs(1));
  const OperationId operation = out.proposals.front().operation;
  rig.host().waits(operation, "a counselor decides on B first");
  ASSERT_TRUE(rig.settle().ok());
  const auto row = [&] {
    return saga::SagaRows(rig.device().replica().database(DatabaseName::agents), 0).open(operation).value().value();
  };
  EXPECT_EQ(row().status, saga::SagaStatus::waiting);
  EXPECT_EQ(row().lastError, "a counselor decides on B first");
  EXPECT_EQ(rig.runs().begin()->second, WakeStatus::completed);
  rig.crash();
  ASSERT_TRUE(rig.open().ok());
  EXPECT_EQ(row().phase, saga::SagaPhase::applying);
}

}  // namespace
}  // namespace witan::agents::settle_test
