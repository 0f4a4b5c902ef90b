// What persons sign of the inbox: approvals, retries and choices, in one form; unsigned words in the name of a person
// with a key count for nothing.
#include "node/inbox/inbox_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/operations/agent_records.h"
#include "node/operations/journal.h"
#include "node/operations/versions.h"
#include "node/operations/why.h"
#include "tests/agents/clerk.h"
#include "tests/node/scratch.h"

namespace witan::node::inbox_answers_test {
namespace {

using namespace agents::test;
using namespace replication;
using agents::ToolCall;
using operations::OperationContext;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

class InboxAnswers : public ::testing::Test {
 protected:
  InboxAnswers() {
    a = clerkOn("a", "mail it");
    a->gate = &gate;
    Roster roster;
    roster.cluster = clusterIdOf(admin.publicKey());
    roster.version = 1;
    const SigningKey device = *createKey(dir, KeyName::device);
    scratch.write("cluster.key", std::string(64, 'a'));
    RosterDevice desk;
    desk.device = deviceIdOf(device.publicKey());
    desk.name = "desk", desk.keys = {toHex(device.publicKey())}, desk.roles = {"ledger", "*"};
    roster.devices.push_back(desk);
    const std::vector<std::string> roles{"budget.counselor"};
    EXPECT_TRUE(addPerson(roster, "ann", ann.publicKey(), roles, Time{1'000'000}).ok());
    EXPECT_TRUE(addPerson(roster, "bob", bob.publicKey(), roles, Time{1'000'000}).ok());
    EXPECT_TRUE(revokePerson(roster, "bob", "he left").ok());
    EXPECT_TRUE(writeClusterFile(dir, {toHex(admin.publicKey()), 1, "a"}).ok());
    const auto document = signRoster(roster, admin);
    EXPECT_TRUE(document.ok()) << document.error().message;
    EXPECT_TRUE(RosterStore::create(dir, admin.publicKey(), *document).ok());
  }
  OperationContext context() {
    return {dir,        a->device().replica(),       Time{a->ms * 1000}, [] { return okStatus(); }, nullptr,
            &a->host(), {{"da116a24da116a24", "n2"}}};
  }
  // The effect that waits for a person.
  operations::ApprovalRow asks() {
    EXPECT_TRUE(a->open().ok());
    a->host().setDevices({"a"}, {}, a->now());
    EXPECT_TRUE(a->enter("r1", "request", "1").ok());
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(a->round().ok());
    OperationContext now = context();
    const auto all = operations::listApprovals(now, {});
    EXPECT_THAT(all->approvals, SizeIs(1));
    return all->approvals.at(0);
  }
  template <class Request>
  std::string signature(const char* path, const Request& request, const SigningKey& key) {
    InboxAnswer answer = inboxAnswerOf(path, parseJson(toJson(request))->get_object()).value();
    answer.cluster = clusterIdOf(admin.publicKey());
    return toHex(key.publicKey()) + toHex(key.sign(inboxAnswerText(answer)));
  }
  operations::Why why(const std::string& subject) {
    OperationContext now = context();
    auto made = operations::why(now, {subject, {}});
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? *made : operations::Why{};
  }

  const test::Scratch scratch;
  const std::filesystem::path dir = scratch / "";
  const AskingGate gate;
  const SigningKey admin = *SigningKey::fromSeed(std::string(32, 3)), ann = *SigningKey::fromSeed(std::string(32, 1)),
                   bob = *SigningKey::fromSeed(std::string(32, 2));
  std::unique_ptr<HostRig> a;
};

TEST_F(InboxAnswers, WhoHasAKeySignsAnApprovalAndTheChainShowsIt) {
  const operations::ApprovalRow asked = asks();
  OperationContext now = context();
  operations::ApprovalAnswerRequest request{asked.operation, asked.digest, "ann", std::string("it is right"), {}, {}};
  EXPECT_EQ(operations::approve(now, request).error().code, ErrorCode::unauthorised) << "unsigned";
  for (const char* namesake : {"Ann", "ANN"}) {
    operations::ApprovalAnswerRequest other = request;
    other.by = namesake;
    EXPECT_EQ(operations::approve(now, other).error().code, ErrorCode::unauthorised) << namesake;
  }
  request.signature = signature("/v1/approval/approve", request, bob);
  EXPECT_EQ(operations::approve(now, request).error().code, ErrorCode::unauthorised) << "another's key";
  request.signature.reset();
  request.signature = signature("/v1/approval/deny", request, ann);
  EXPECT_EQ(operations::approve(now, request).error().code, ErrorCode::unauthorised) << "a signature of the contrary";
  request.signature.reset();
  request.signature = signature("/v1/approval/approve", request, ann);
  operations::ApprovalAnswerRequest changed = request;
  changed.reason = std::string("another one");
  EXPECT_EQ(operations::approve(now, changed).error().code, ErrorCode::unauthorised) << "another reason";
  ASSERT_TRUE(operations::approve(now, request).ok());
  ASSERT_TRUE(a->settle().ok());
  EXPECT_THAT(a->calls, SizeIs(2)) << "the look and the mail";
  const operations::Why chain = why(asked.operation);
  const auto approval = std::ranges::find(chain.links, operations::WhyKind::approval, &operations::WhyLink::kind);
  ASSERT_NE(approval, chain.links.end());
  InboxAnswer kept;
  ASSERT_TRUE(readJson(approval->detail.at("answer"), kept, "the answer").ok());
  EXPECT_TRUE(isSignedWell(kept));
  EXPECT_EQ(kept.reason, "it is right");
  for (std::string InboxAnswer::*member : {&InboxAnswer::cluster, &InboxAnswer::item, &InboxAnswer::by,
                                           &InboxAnswer::choice, &InboxAnswer::reason, &InboxAnswer::shown}) {
    InboxAnswer other = kept;
    other.*member = other.*member == kept.shown ? toHex(sha256("other")) : "other";
    EXPECT_FALSE(isSignedWell(other)) << other.*member;
  }
}

// Who was revoked answers no more, nor does another one in that name.
TEST_F(InboxAnswers, ARevokedPersonIsNamedAsTheCause) {
  const operations::ApprovalRow asked = asks();
  OperationContext now = context();
  const auto refused = operations::approve(now, {asked.operation, asked.digest, "bob", {}, {}, {}});
  EXPECT_EQ(refused.error().code, ErrorCode::unauthorised);
  EXPECT_THAT(refused.error().message, HasSubstr("was revoked"));
  EXPECT_TRUE(operations::approve(now, {asked.operation, asked.digest, "eve", {}, {}, {}}).ok()) << "who has no key";
}

TEST_F(InboxAnswers, ADeviceAnswersUnderNoneOfItsNames) {
  const operations::ApprovalRow asked = asks();
  OperationContext now = context();
  for (const char* by : {"a", "n2", "da116a24", "da116a24da116a24", "da116a24@ce5d4382"})
    EXPECT_EQ(operations::approve(now, {asked.operation, asked.digest, by, {}, {}, {}}).error().code,
              ErrorCode::invalidInput)
        << by;
}

// A signed retry is of what the person saw, and of no later failure.
TEST_F(InboxAnswers, ASignedRetryCountsOnce) {
  a->gate = nullptr;
  a->options.onceTools = {"mail.send"};
  bool answers = false;
  a->tool = [&](const ToolCall&) -> Result<witan::saga::Outcome> {
    if (answers) return witan::saga::Outcome{};
    return Error{ErrorCode::unavailable, "no connection", ""};
  };
  ASSERT_TRUE(a->open().ok());
  a->host().setDevices({"a"}, {}, a->now());
  ASSERT_TRUE(a->enter("r1", "request", "1").ok());
  ASSERT_TRUE(a->settle().ok());
  OperationContext now = context();
  const auto sagas = operations::listSagas(now, {});
  ASSERT_THAT(sagas->sagas, SizeIs(1));
  const operations::SagaLine line = sagas->sagas.front();
  operations::SagaRepairRequest request{line.operation, "ann", line.updatedAtMs, {}};
  EXPECT_EQ(operations::retrySaga(now, request).error().code, ErrorCode::unauthorised);
  request.signature = signature("/v1/saga/retry", request, ann);
  ASSERT_TRUE(operations::retrySaga(now, request).ok());
  ASSERT_TRUE(a->settle().ok());
  OperationContext later = context();
  EXPECT_EQ(operations::retrySaga(later, request).error().code, ErrorCode::conflict) << "it was tried since";
  answers = true;
  request.updatedAtMs = operations::showSaga(later, {line.operation})->updatedAtMs;
  EXPECT_EQ(operations::retrySaga(later, request).error().code, ErrorCode::unauthorised)
      << "the signature is of others";
  request.signature.reset();
  request.signature = signature("/v1/saga/retry", request, ann);
  ASSERT_TRUE(operations::retrySaga(later, request).ok());
  ASSERT_TRUE(a->settle().ok());
  const operations::Why chain = why(line.operation);
  EXPECT_EQ(std::ranges::count_if(chain.links,
                                  [](const operations::WhyLink& one) {
                                    return one.kind == operations::WhyKind::person && one.id == "ann" &&
                                           one.detail.is_object() && one.detail.get_object().contains("answer");
                                  }),
            2);
}

TEST_F(InboxAnswers, AChoiceBetweenVersionsIsSigned) {
  auto b = clerkOn("b", "yes");
  a->gate = nullptr;
  ASSERT_TRUE(a->open().ok() && b->open().ok());
  ASSERT_TRUE(a->enter("plot/1", "plot", R"("beans")").ok());
  ASSERT_TRUE(b->enter("plot/1", "plot", R"("peas")").ok());
  replication::test::Link link(a->device(), b->device());
  link.run();
  OperationContext now = context();
  const auto shown = operations::getJournal(now, {"plot/1", {}});
  ASSERT_TRUE(shown.ok() && shown->conflict);
  operations::JournalResolveRequest request{.id = "plot/1"};
  request.choose = operations::dotWords(shown->siblings[0].dot);
  request.seen = std::vector<std::string>{*request.choose, operations::dotWords(shown->siblings[1].dot)};
  request.author = std::string("ann");
  const auto unsignedChoice = operations::resolveJournal(now, request);
  EXPECT_EQ(unsignedChoice.error().code, ErrorCode::unauthorised) << unsignedChoice.error().message;
  request.signature = signature("/v1/journal/resolve", request, ann);
  ASSERT_TRUE(operations::resolveJournal(now, request).ok());
  const operations::Why chain = why("plot/1");
  const auto person = std::ranges::find(chain.links, operations::WhyKind::person, &operations::WhyLink::kind);
  ASSERT_NE(person, chain.links.end());
  InboxAnswer kept;
  ASSERT_TRUE(person->detail.is_object());
  ASSERT_TRUE(readJson(person->detail.at("answer"), kept, "the answer").ok());
  EXPECT_TRUE(isSignedWell(kept));
}

TEST(InboxAnswer, OnlyTheNewestAreKept) {
  auto a = clerkOn("a", "yes");
  ASSERT_TRUE(a->open().ok());
  LocalReplica& replica = a->device().replica();
  std::vector<Write> writes;
  const auto keyed = [](std::size_t i) { return concat(kAnswerKeys, toHex(sha256(std::to_string(i))), ":x"); };
  for (std::size_t i = 0; i < kMaxInboxAnswers; ++i) {
    InboxAnswer one{"home", "form:box/1", "ann", "accept", "", json::object(), "", "", Time{std::int64_t(i) + 1}, ""};
    writes.push_back(
        {Kind::artefact, keyed(i), *encodeRecord(ArtefactBody{canonicalJson(*parseJson(toJson(one)))}), false});
    if (writes.size() < 1'000) continue;
    ASSERT_TRUE(replica.commit(DatabaseName::agents, "main", writes).ok());
    writes.clear();
  }
  const std::string place = placeOfItem("form:box/2");
  const InboxAnswer next{"home", "form:box/2", "ann", "accept", "", json::object(), "", "", Time{1'000'000}, ""};
  ASSERT_TRUE(keepInboxAnswer(replica, "main", place, next).ok());
  EXPECT_THAT(inboxAnswersAt(a->device().agents(), place), SizeIs(1));
  EXPECT_THAT(inboxAnswersAt(a->device().agents(), toHex(sha256("0"))), IsEmpty()) << "the oldest";
  EXPECT_THAT(inboxAnswersAt(a->device().agents(), toHex(sha256("1"))), SizeIs(1));
}

}  // namespace
}  // namespace witan::node::inbox_answers_test
