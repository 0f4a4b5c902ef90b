// What waits for people, as an index that changes with the records.
#include "node/inbox/inbox_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "agents/memory/compactor.h"
#include "agents/wake/host_choice.h"
#include "base/bytes.h"
#include "base/crypto.h"
#include "net/http_server.h"
#include "node/inbox/inbox_hooks.h"
#include "node/inbox/seen_items.h"
#include "node/operations/agent_records.h"
#include "node/operations/memory.h"
#include "node/operations/why.h"
#include "replication/incidents.h"
#include "replication/records/agent_state.h"
#include "tests/agents/clerk.h"
#include "tests/node/scratch.h"

namespace witan::node::inbox_index_test {
namespace {

using namespace agents::test;
using namespace replication;
using agents::ToolCall;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::string> idsOf(const InboxIndex& index, InboxKind kind) {
  std::vector<std::string> ids;
  for (const InboxPlace& place : index.of(kind)) ids.push_back(place.id);
  return ids;
}

void exchange(HostRig& a, HostRig& b) {
  replication::test::Link link(a.device(), b.device());
  link.run();
}

operations::OperationContext contextOf(HostRig& rig, const std::filesystem::path& dir) {
  return {dir, rig.device().replica(), Time{rig.ms * 1000}, [] { return okStatus(); }, nullptr, &rig.host(), {}};
}

std::vector<operations::WhyLink> whyIs(HostRig& rig, const std::string& subject) {
  const std::filesystem::path dir;
  operations::OperationContext context = contextOf(rig, dir);
  auto why = operations::why(context, {subject, {}});
  EXPECT_TRUE(why.ok()) << why.error().message;
  return why.ok() && !why->links.empty() ? why->links : std::vector<operations::WhyLink>(1);
}

bool among(const std::vector<operations::WhyLink>& links, operations::WhyKind kind) {
  return std::ranges::any_of(links, [&](const operations::WhyLink& one) { return one.kind == kind; });
}

// Each mail waits for a person.
class AskingGate final : public agents::episode::Gate {
 public:
  agents::episode::GateVerdict judge(const agents::episode::GateRequest& request) const override {
    using agents::episode::GateKind;
    if (request.tool->name != "mail.send" || request.approved != nullptr) return {GateKind::allow, "", "", {}, {}};
    return {GateKind::requireHuman, "", "", *request.arguments, sha256(canonicalJson(*request.arguments))};
  }
  std::string epoch() const override { return "asking"; }
};

TEST(InboxIndex, PeoplesConflictsAreListedUntilTheyAreSettled) {
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "yes");
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  InboxIndex index(a->device().replica(), "main");
  ASSERT_TRUE(a->enter("plot/1", "plot", R"("beans")").ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  ASSERT_TRUE(b->enter("plot/1", "plot", R"("peas")").ok());
  exchange(*a, *b);
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::conflict), ElementsAre("conflict:plot/1"));
  EXPECT_THAT(index.takeNew(), SizeIs(1));
  EXPECT_EQ(index.find("conflict:plot/1")->atMs, a->ms);
  Space& journal = a->device().journal();
  const JournalView view = journalViewIn(journal, "plot/1").value();
  auto body = journalResolution(view, {"plot", R"("both")", "ann", a->ms, std::nullopt},
                                {view.siblings[0].dot, view.siblings[1].dot});
  const std::array change{JournalChange{"plot/1", *body, "", ChangeOrigin::local}};
  ASSERT_TRUE(a->device().replica().commit(DatabaseName::journal, "main", *journalWrites(journal, change)).ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::conflict), IsEmpty());
  EXPECT_THAT(index.takeGone(), ElementsAre("conflict:plot/1"));
  EXPECT_EQ(index.find("conflict:plot/1"), nullptr);
}

// What agents alone wrote is settled by them; a person is asked where nobody has the agent any more.
TEST(InboxIndex, AgentsConflictsAreListedOnlyWhereNobodySettlesThem) {
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "no");
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  for (HostRig* rig : {a.get(), b.get()}) rig->host().setDevices({"a", "b"}, {}, rig->now());
  const auto put = [](HostRig& rig, const char* payload) {
    Space& journal = rig.device().journal();
    const OperationId operation{sha256(payload)};
    auto body = journalEdit(journalViewIn(journal, "done/1").value(), {"done", payload, "clerk", rig.ms, operation});
    const std::array change{JournalChange{"done/1", *body, "", ChangeOrigin::local}};
    ASSERT_TRUE(rig.device().replica().commit(DatabaseName::journal, "main", *journalWrites(journal, change)).ok());
    rig.device().flush();
  };
  put(*a, R"("yes")");
  put(*b, R"("no")");
  exchange(*a, *b);
  InboxIndex index(a->device().replica(), "main");
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::conflict), IsEmpty());
  for (HostRig* rig : {a.get(), b.get()}) {
    auto gone = agents::unhostingAllBut(rig->device().agents(), rig->device().name(), {});
    ASSERT_TRUE(rig->device().replica().commit(DatabaseName::agents, "main", *gone).ok());
    rig->device().flush();
  }
  exchange(*a, *b);
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::conflict), ElementsAre("conflict:done/1"));
}

// Also where the device that asks cannot be reached.
TEST(InboxIndex, WhatADestroyedAgentAskedIsListedNowhere) {
  const AskingGate gate;
  auto a = clerkOn("a", "mail it"), b = clerkOn("b", "mail it");
  a->gate = &gate;
  ASSERT_TRUE(a->open().ok());
  a->host().setDevices({"a"}, {}, a->now());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(a->round().ok());
  exchange(*a, *b);
  InboxIndex index(b->device().replica(), "main");
  ASSERT_TRUE(index.look(nullptr).ok());
  ASSERT_THAT(idsOf(index, InboxKind::approval), SizeIs(1));
  AgentState state;
  state.lifecycle = Lifecycle::destroyed;
  const Write write{Kind::agentState, "clerk", encodeAgentState(state, b->device().replica().writer()), false};
  ASSERT_TRUE(b->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  ASSERT_TRUE(index.look(nullptr).ok());
  EXPECT_THAT(idsOf(index, InboxKind::approval), IsEmpty());
  EXPECT_THAT(index.takeGone(), SizeIs(1));
  InboxIndex anew(b->device().replica(), "main");
  ASSERT_TRUE(anew.look(nullptr).ok());
  EXPECT_THAT(idsOf(anew, InboxKind::approval), IsEmpty());
  exchange(*a, *b);
  ASSERT_TRUE(a->settle(60'000).ok());
  exchange(*a, *b);
  Space& records = b->device().agents();
  for (const std::string& key : records.keys(Kind::approval))
    EXPECT_EQ(approvalViewOf(*OperationId::parse(key), *records.versions(Kind::approval, key)).shown->body.verdict,
              ApprovalVerdict::denied);
  for (const std::string& key : records.keys(Kind::approval)) {
    const auto why = whyIs(*a, key);
    EXPECT_EQ(why.back().detail.at("state"), "denied");
    EXPECT_THAT(why.back().what, ::testing::HasSubstr("agent clerk is destroyed"));
  }
}

TEST(InboxIndex, QuestionsAreListedUntilTheyAreAnswered) {
  const AskingGate gate;
  auto a = clerkOn("a", "mail it");
  a->gate = &gate;
  ASSERT_TRUE(a->open().ok());
  a->host().setDevices({"a"}, {}, a->now());
  InboxIndex index(a->device().replica(), "main");
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(a->round().ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  ASSERT_THAT(idsOf(index, InboxKind::approval), ElementsAre(StartsWith("approval:")));
  const std::string key = InboxIndex::partsOf(idsOf(index, InboxKind::approval).front())->second;
  Space& records = a->device().agents();
  const auto waiting = whyIs(*a, key);
  EXPECT_TRUE(among(waiting, operations::WhyKind::approval) && among(waiting, operations::WhyKind::plan));
  EXPECT_EQ(waiting.back().kind, operations::WhyKind::operation);
  EXPECT_EQ(waiting.back().detail.at("state"), "waiting");
  const auto row = operations::approvalOf(records, key).value();
  EXPECT_EQ(row->untilMs, row->atMs + a->options.approvalTtlMs);
  const ApprovalView view = approvalViewOf(*OperationId::parse(key), *records.versions(Kind::approval, key));
  auto body = answerTo(view, view.shown->body.digest, ApprovalVerdict::approved, "ann", "", a->ms);
  const Write write{Kind::approval, key, *encodeRecord(*body), false};
  ASSERT_TRUE(a->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::approval), IsEmpty());
  ASSERT_TRUE(a->settle().ok());
  EXPECT_THAT(a->calls, SizeIs(2));
}

// One that failed too often, and one of which nobody can say whether it was done.
TEST(InboxIndex, OperationsThatStoppedAreListedUntilAPersonSaysMore) {
  auto a = clerkOn("a", "mail it");
  a->options.onceTools = {"mail.send"};
  bool answers = false;
  a->tool = [&](const ToolCall&) -> Result<witan::saga::Outcome> {
    if (answers) return witan::saga::Outcome{};
    return Error{ErrorCode::unavailable, "no connection", ""};
  };
  ASSERT_TRUE(a->open().ok());
  a->host().setDevices({"a"}, {}, a->now());
  InboxIndex index(a->device().replica(), "main");
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  ASSERT_TRUE(a->settle().ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  ASSERT_THAT(idsOf(index, InboxKind::operation), SizeIs(1));
  // Without agents at work the same is there.
  InboxIndex atRest(a->device().replica(), "main");
  ASSERT_TRUE(atRest.look(nullptr).ok());
  EXPECT_EQ(idsOf(atRest, InboxKind::operation), idsOf(index, InboxKind::operation));
  a->mute = true;
  ASSERT_TRUE(a->enter("r2", "request", "1").ok());
  a->options.callTimeoutMs = 1'000;
  ASSERT_TRUE(a->settle().ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  ASSERT_THAT(idsOf(index, InboxKind::operation), SizeIs(1)) << "the look of the second never came back";
  a->mute = false, answers = true;
  const std::string key = InboxIndex::partsOf(idsOf(index, InboxKind::operation).front())->second;
  ASSERT_TRUE(a->host().sagas().retry(*OperationId::parse(key), a->now()).ok());
  ASSERT_TRUE(a->settle().ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::operation), IsEmpty());
}

TEST(InboxIndex, AnUncertainOperationIsListed) {
  auto a = clerkOn("a", "mail it");
  a->options.onceTools = {"mail.send"};
  a->options.callTimeoutMs = 1'000;
  a->tool = [&](const ToolCall&) -> Result<witan::saga::Outcome> { return Error{ErrorCode::unavailable, "lost", ""}; };
  ASSERT_TRUE(a->open().ok());
  a->host().setDevices({"a"}, {}, a->now());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  for (int i = 0; i < 50 && a->calls.size() < 2; ++i) {
    a->mute = a->calls.size() == 1;
    ASSERT_TRUE(a->round().ok());
  }
  ASSERT_TRUE(a->settle().ok());
  InboxIndex index(a->device().replica(), "main");
  ASSERT_TRUE(index.look(&a->host()).ok());
  ASSERT_THAT(idsOf(index, InboxKind::operation), SizeIs(1));
  const std::string key = InboxIndex::partsOf(idsOf(index, InboxKind::operation).front())->second;
  const witan::saga::SagaRow row = a->host().sagas().rows().find(*OperationId::parse(key)).value();
  EXPECT_THAT(row.lastError, StartsWith("uncertain: "));
  // Who has it tried all the same stands with it, also when it has ended.
  const std::filesystem::path dir;
  operations::OperationContext context = contextOf(*a, dir);
  EXPECT_EQ(operations::retrySaga(context, {key, "a"}).error().code, ErrorCode::invalidInput) << "the device";
  ASSERT_TRUE(operations::retrySaga(context, {key, "ann"}).ok());
  a->mute = false;
  a->tool = [](const ToolCall&) -> Result<witan::saga::Outcome> { return witan::saga::Outcome{}; };
  ASSERT_TRUE(a->settle().ok());
  const auto line = operations::showSaga(context, {key});
  ASSERT_TRUE(line.ok() && line->repairs) << line.error().message;
  ASSERT_THAT(*line->repairs, SizeIs(1));
  EXPECT_EQ(line->repairs->front().by, "ann");
  EXPECT_EQ(line->repairs->front().kind, operations::RepairKind::retry);
  EXPECT_THAT(line->repairs->front().before, StartsWith("uncertain: "));
  const auto why = whyIs(*a, key);
  EXPECT_EQ(why.back().detail.at("outcome"), "applied");
  EXPECT_TRUE(std::ranges::any_of(why, [](const operations::WhyLink& one) {
    return one.kind == operations::WhyKind::person && one.id == "ann" && one.what.find("uncertain: ") != one.what.npos;
  }));
}

TEST(InboxIndex, AnIncidentKeepsItsId) {
  auto a = clerkOn("a", "yes");
  ASSERT_TRUE(a->open().ok());
  InboxIndex index(a->device().replica(), "main");
  a->device().replica().note({"fork", "b", "two logs of one epoch"});
  ASSERT_TRUE(index.look(&a->host()).ok());
  const std::vector<std::string> before = idsOf(index, InboxKind::incident);
  ASSERT_THAT(before, SizeIs(1));
  a->device().replica().note({"absurd", "a", "sorts before it"});
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::incident), ::testing::IsSupersetOf(before));
  EXPECT_THAT(idsOf(index, InboxKind::incident), SizeIs(2));
}

// What a person has seen comes no more, also to hooks; what happens anew does.
TEST(InboxIndex, AnIncidentThatWasSeenGoes) {
  auto a = clerkOn("a", "yes");
  ASSERT_TRUE(a->open().ok());
  LocalReplica& replica = a->device().replica();
  Database& rows = replica.database(DatabaseName::agents);
  InboxIndex index(replica, "main");
  replica.note({"fork", "b", "two logs of one epoch"});
  ASSERT_TRUE(index.look(&a->host()).ok());
  const std::vector<std::string> before = idsOf(index, InboxKind::incident);
  ASSERT_THAT(before, SizeIs(1));
  const std::string key = InboxIndex::partsOf(before.front())->second;
  ASSERT_TRUE(index.seen(before.front(), {"ann", Time{a->ms * 1000}}).ok());
  EXPECT_EQ(index.seen(before.front(), {"ann", {}}).error().code, ErrorCode::notFound) << "it is gone";
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::incident), IsEmpty());
  EXPECT_EQ(index.takeGone(), before);
  EXPECT_THAT(*replica.incidents(), SizeIs(1)) << "it stands where it stood";
  EXPECT_EQ(seenItems(rows, InboxKind::incident)->at(key).by, "ann");
  InboxIndex anew(replica, "main");
  ASSERT_TRUE(anew.look(&a->host()).ok());
  EXPECT_THAT(anew.takeNew(), IsEmpty());
  endIncidents(replica, "fork", "b", "two logs");
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(*seenItems(rows, InboxKind::incident), IsEmpty());
}

// A run that went on without an effect, as no person answered, tells so.
TEST(InboxIndex, AQuestionThatExpiredIsListedUntilAPersonHasSeenIt) {
  const AskingGate gate;
  auto a = clerkOn("a", "mail it");
  a->gate = &gate;
  ASSERT_TRUE(a->open().ok());
  a->host().setDevices({"a"}, {}, a->now());
  LocalReplica& replica = a->device().replica();
  InboxIndex index(replica, "main");
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(a->round().ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  ASSERT_THAT(idsOf(index, InboxKind::approval), SizeIs(1));
  EXPECT_THAT(idsOf(index, InboxKind::expired), IsEmpty());
  EXPECT_EQ(index.seen(idsOf(index, InboxKind::approval).front(), {"ann", {}}).error().code, ErrorCode::invalidInput);
  EXPECT_THAT(index.takeNew(), SizeIs(1));
  a->ms += a->options.approvalTtlMs;
  ASSERT_TRUE(a->settle().ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::approval), IsEmpty());
  const std::vector<std::string> expired = idsOf(index, InboxKind::expired);
  ASSERT_THAT(expired, SizeIs(1));
  EXPECT_THAT(index.takeNew(), ElementsAre(*index.find(expired.front())));
  InboxIndex second(replica, "main");
  ASSERT_TRUE(second.look(&a->host()).ok());
  EXPECT_EQ(idsOf(second, InboxKind::expired), expired);
  ASSERT_TRUE(index.seen(expired.front(), {"ann", Time{a->ms * 1000}}).ok());
  InboxIndex anew(replica, "main");
  for (InboxIndex* one : {&index, &anew}) {
    ASSERT_TRUE(one->look(&a->host()).ok());
    EXPECT_THAT(idsOf(*one, InboxKind::expired), IsEmpty());
  }
  EXPECT_THAT(index.takeGone(), ::testing::Contains(expired.front()));
  const std::string key = InboxIndex::partsOf(expired.front())->second;
  const Database& rows = replica.database(DatabaseName::agents);
  EXPECT_EQ(seenItems(rows, InboxKind::expired)->at(key).by, "ann");
}

TEST(InboxIndex, WhatADestroyedAgentAskedInVainIsNotListed) {
  const AskingGate gate;
  auto a = clerkOn("a", "mail it");
  a->gate = &gate;
  ASSERT_TRUE(a->open().ok());
  a->host().setDevices({"a"}, {}, a->now());
  InboxIndex index(a->device().replica(), "main");
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(a->round().ok());
  a->ms += a->options.approvalTtlMs;
  ASSERT_TRUE(a->settle().ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  ASSERT_THAT(idsOf(index, InboxKind::expired), SizeIs(1));
  AgentState state;
  state.lifecycle = Lifecycle::destroyed;
  const Write write{Kind::agentState, "clerk", encodeAgentState(state, a->device().replica().writer()), false};
  ASSERT_TRUE(a->device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::expired), IsEmpty());
}

// --- what memories are folded to

class Model final : public agents::Summariser {
 public:
  explicit Model(Result<std::string> says) : says_(std::move(says)) {}
  std::string version() const override { return "model-1"; }
  Result<std::string> summarise(const agents::SummaryRequest&) const override { return says_; }

 private:
  const Result<std::string> says_;
};

// More than is kept: the beginning is folded.
void remember(HostRig& rig) {
  std::vector<std::string> parents;
  for (int i = 1; i <= 10; ++i) {
    const std::string id = concat("m", i);
    const Write write{Kind::message, id,
                      *encodeRecord(MessageBody{
                          id, "clerk", "main", MessageKind::thought, parents, std::string(8'000, 'a'), rig.ms, {}}),
                      false};
    ASSERT_TRUE(rig.device().replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    parents = {id};
  }
  rig.device().flush();
}

void fold(HostRig& rig, const Model& model) {
  agents::Compactor& memory = rig.host().memory();
  ASSERT_EQ(*memory.plan("clerk", "main", model, rig.now()), agents::Planned::job);
  for (int i = 0; i < 5 && memory.nextMs(); ++i) {
    rig.ms += 3'600'000;
    ASSERT_TRUE(memory.run(model, rig.now()).ok());
  }
  rig.device().flush();
}

TEST(InboxIndex, AFoldThatFailedIsListedUntilItIsTriedAgain) {
  auto a = clerkOn("a", "yes");
  ASSERT_TRUE(a->open().ok());
  InboxIndex index(a->device().replica(), "main");
  ASSERT_NO_FATAL_FAILURE(remember(*a));
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::fold), IsEmpty());
  ASSERT_NO_FATAL_FAILURE(fold(*a, Model(Error{ErrorCode::unavailable, "the model is away", ""})));
  ASSERT_TRUE(index.look(&a->host()).ok());
  const std::vector<std::string> failed = idsOf(index, InboxKind::fold);
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(index.find(failed.front())->atMs, a->ms) << "when it failed for good";
  EXPECT_THAT(index.takeNew(), SizeIs(1));
  EXPECT_EQ(index.seen(failed.front(), {"ann", {}}).error().code, ErrorCode::invalidInput) << "it is to be tried again";
  // Without agents at work the same is there.
  InboxIndex atRest(a->device().replica(), "main");
  ASSERT_TRUE(atRest.look(nullptr).ok());
  EXPECT_EQ(idsOf(atRest, InboxKind::fold), failed);
  const std::string key = InboxIndex::partsOf(failed.front())->second;
  const std::filesystem::path dir;
  operations::OperationContext context = contextOf(*a, dir);
  EXPECT_EQ((*operations::foldOf(context, {key, {}}))->status, "failed");
  ASSERT_TRUE(operations::retryFold(context, {key, {}}).ok());
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::fold), IsEmpty());
  EXPECT_EQ(index.takeGone(), failed);
  EXPECT_FALSE(*operations::foldOf(context, {key, {}}));
}

TEST(InboxIndex, ADivergentFoldIsListedUntilAPersonHasSeenIt) {
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "yes");
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  ASSERT_NO_FATAL_FAILURE(remember(*a));
  exchange(*a, *b);
  InboxIndex index(a->device().replica(), "main");
  ASSERT_NO_FATAL_FAILURE(fold(*a, Model(std::string("what a's model says"))));
  ASSERT_NO_FATAL_FAILURE(fold(*b, Model(std::string("what b's model says"))));
  ASSERT_TRUE(index.look(&a->host()).ok());
  EXPECT_THAT(idsOf(index, InboxKind::fold), IsEmpty());
  exchange(*a, *b);
  ASSERT_TRUE(index.look(&a->host()).ok());
  const std::vector<std::string> divergent = idsOf(index, InboxKind::fold);
  ASSERT_THAT(divergent, SizeIs(1));
  const std::filesystem::path dir;
  operations::OperationContext context = contextOf(*a, dir);
  EXPECT_EQ((*operations::foldOf(context, {InboxIndex::partsOf(divergent.front())->second, {}}))->texts, 2u);
  ASSERT_TRUE(index.seen(divergent.front(), {"ann", Time{a->ms * 1000}}).ok());
  InboxIndex anew(a->device().replica(), "main");
  for (InboxIndex* one : {&index, &anew}) {
    ASSERT_TRUE(one->look(&a->host()).ok());
    EXPECT_THAT(idsOf(*one, InboxKind::fold), IsEmpty());
  }
}

// A thousand at once, or as many as $INBOX_ITEMS says; how long a look takes stands in the test's properties.
TEST(InboxIndex, AThousandConflictsAtOnceAreListedAndOneMoreIsFound) {
  const char* asked = std::getenv("INBOX_ITEMS");
  const int items = asked == nullptr ? 1'000 : std::atoi(asked);
  auto a = clerkOn("a", "yes"), b = clerkOn("b", "yes");
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  const auto fill = [&](HostRig& rig, const char* payload) {
    for (int from = 0; from < items; from += 1'000) {
      std::vector<Write> writes;
      for (int i = from; i < std::min(items, from + 1'000); ++i) {
        JournalBody body{"plot", payload, 1, "ann", rig.ms + i, std::nullopt, {}};
        writes.push_back({Kind::journal, concat("plot/", i), *encodeRecord(body), false});
      }
      ASSERT_TRUE(rig.device().replica().commit(DatabaseName::journal, "main", writes).ok());
      rig.device().flush();
    }
  };
  fill(*a, "1"), fill(*b, "2");
  exchange(*a, *b);
  InboxIndex index(a->device().replica(), "main");
  const auto look = [&](const char* what) {
    const auto before = std::chrono::steady_clock::now();
    ASSERT_TRUE(index.look(&a->host()).ok());
    const auto took = std::chrono::steady_clock::now() - before;
    RecordProperty(what, std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(took).count()) + " us");
  };
  look("first_look");
  EXPECT_EQ(index.of(InboxKind::conflict).size(), static_cast<std::size_t>(items));
  EXPECT_EQ(index.of(InboxKind::conflict).begin()->id, "conflict:plot/0") << "the oldest first";
  look("look_without_news");
  ASSERT_TRUE(a->enter("one", "plot", "1").ok());
  ASSERT_TRUE(b->enter("one", "plot", "2").ok());
  exchange(*a, *b);
  look("look_with_one_more");
  EXPECT_EQ(index.of(InboxKind::conflict).size(), static_cast<std::size_t>(items) + 1);
}

// --- who is told of what waits

// A webhook that refuses the first time.
struct Pager {
  Pager()
      : server(loop, {}, [this](const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
          requests.push_back(request);
          reply->answer({requests.size() == 1 ? 503 : 204, "text/plain", {}, ""});
        }) {
    address = *server.listen("127.0.0.1:0");
  }
  std::unique_ptr<InboxHooks> open(HostRig& rig, std::vector<HookConfig> hooks) {
    auto made = InboxHooks::open({loop, log, rig.device().replica().database(DatabaseName::agents), "desk", [] {}},
                                 hooks, secrets);
    EXPECT_TRUE(made.ok());
    return made.ok() ? *std::move(made) : nullptr;
  }
  net::Loop loop;
  Log log{LogLevel::error, false, [] { return Time{}; }, [](std::string_view) {}};
  agents::SecureStore secrets;
  std::vector<net::HttpRequest> requests;
  net::HttpServer server;
  std::string address;
};
const InboxPlace kWaits{1'774'252'800'000, "approval:abc"};

// As often as it takes, and not again, also after a restart. Nothing of the item but what it is called.
TEST(InboxHooks, AWebhookIsToldUnderASignatureUntilItTakesIt) {
  auto rig = clerkOn("a", "yes");
  Pager pager;
  ASSERT_TRUE(pager.secrets.set("pager-key", Secret::copyOf("a key of the pager")).ok());
  HookConfig hook{.name = "pager", .place = "", .url = "http://" + pager.address + "/witan", .secret = "pager-key"};
  auto hooks = pager.open(*rig, {hook});
  ASSERT_NE(hooks, nullptr);
  hooks->come(kWaits);
  const auto isTold = [&](const std::string& id) {
    const auto row = rig->device().replica().database(DatabaseName::agents).meta("inbox/told/pager/" + id);
    return row.ok() && row->has_value();
  };
  ASSERT_TRUE(pager.loop.runUntil([&] { return isTold("approval:abc"); }, 30'000));
  ASSERT_THAT(pager.requests, SizeIs(2));
  for (const net::HttpRequest& told : pager.requests) {
    EXPECT_EQ(told.method, "POST");
    EXPECT_EQ(told.path, "/witan");
    EXPECT_EQ(told.body, R"({"at":"2026-03-23T08:00:00Z","device":"desk","id":"approval:abc","kind":"approval"})");
    EXPECT_EQ(told.headers.at("witan-item"), "approval:abc");
    EXPECT_EQ(told.headers.at("witan-signature"), "sha256=" + toHex(hmacSha256("a key of the pager", told.body)));
  }
  hooks.reset();
  hooks = pager.open(*rig, {hook});
  hooks->come(kWaits);
  hooks->come({0, "incident:x"});
  ASSERT_TRUE(pager.loop.runUntil([&] { return isTold("incident:x"); }, 30'000));
  ASSERT_THAT(pager.requests, SizeIs(3));
  EXPECT_EQ(pager.requests[2].headers.at("witan-item"), "incident:x") << "the other one was told before the restart";
  hook.secret = "lost-key";
  EXPECT_FALSE(
      InboxHooks::open({pager.loop, pager.log, rig->device().replica().database(DatabaseName::agents), "desk", [] {}},
                       {hook}, pager.secrets)
          .ok());
}

TEST(InboxHooks, AMailGoesThroughSendmail) {
  const test::Scratch scratch;
  const std::string mail = scratch / "mail";
  scratch.write("sendmail", "#!/bin/sh\necho \"$@\" > " + mail + ".part\ncat >> " + mail + ".part\nmv " + mail +
                                ".part " + mail + "\n");
  std::filesystem::permissions(scratch / "sendmail", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", ((scratch / ".") + ":" + path).c_str(), 1);
  auto rig = clerkOn("a", "yes");
  Pager pager;
  const auto hooks =
      pager.open(*rig, {{.name = "desk", .place = "", .mail = "desk@example.org", .kinds = {"approval"}}});
  ASSERT_NE(hooks, nullptr);
  hooks->come({0, "incident:x"});
  hooks->come(kWaits);
  EXPECT_TRUE(pager.loop.runUntil([&] { return std::filesystem::exists(mail); }, 30'000));
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(scratch.read("mail"),
            "-t -i\nTo: desk@example.org\nSubject: [witan] approval waits on desk\n"
            "Content-Type: text/plain; charset=utf-8\n\n"
            "approval:abc waits for a person on desk since 2026-03-23T08:00:00Z.\n"
            "witan inbox 'approval:abc' shows it, and takes the answer.\n");
}

TEST(InboxIndex, IdsHaveAKindAndAKey) {
  EXPECT_EQ(InboxIndex::partsOf("conflict:a:b"), (std::pair(InboxKind::conflict, std::string("a:b"))));
  EXPECT_EQ(InboxIndex::partsOf("conflict"), std::nullopt);
  EXPECT_EQ(InboxIndex::partsOf("nonsense:a"), std::nullopt);
}

}  // namespace
}  // namespace witan::node::inbox_index_test
