// A replica whose partitions etcd gives, against the model of etcd: what becomes of requests, whatever etcd does.
#include "replica/ownership/etcd_ownership.h"

#include <gmock/gmock.h>

#include "tests/sim/etcd_owner.h"

namespace witan::sim::etcd_owner_test {
namespace {

using kernel::Outcome;
using ::testing::HasSubstr;

TEST(EtcdOwner, WhatIsAskedHereIsDecidedWithoutARowInTheOutbox) {
  Owner owner;
  owner.submit(owner.spend("one"));
  EXPECT_FALSE(owner.replica().outbox().all().at("one").saved);
  owner.talk();
  EXPECT_EQ(owner.replica().outbox().size(), 0u);
  ASSERT_NE(owner.answered("one"), nullptr);
  EXPECT_EQ(owner.answered("one")->outcome, Outcome::approved);
}

TEST(EtcdOwner, WhatEtcdDoesNotAnswerSoonIsTakenOnDurably) {
  Owner owner;
  owner.submit(owner.spend("one"));
  (void)owner.drain();  // to etcd, which says nothing
  EXPECT_FALSE(owner.replica().outbox().all().at("one").saved);
  owner.ms += 300;
  (void)owner.drain();
  EXPECT_TRUE(owner.replica().outbox().all().at("one").saved);
  owner.losePower();
  EXPECT_EQ(owner.replica().outbox().size(), 1u);
  owner.pass(20'000);
  ASSERT_NE(owner.answered("one"), nullptr);
  EXPECT_EQ(owner.replica().outbox().size(), 0u);
}

TEST(EtcdOwner, OneOperationIdIsOneRequest) {
  Owner owner;
  owner.submit(owner.spend("one"));
  owner.submit(owner.spend("one"));
  const Status other = owner.replica().submit(owner.spend("one", "another"), at(owner.ms));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  owner.talk();
  EXPECT_EQ(owner.replica().host("budget/0")->partition().size(), 1u);
}

TEST(EtcdOwner, BatchesAreUnderWayWhileOthersAreDecided) {
  EtcdOptions options;
  options.pipeline = options.transactions = 3;
  Owner owner(options);
  std::vector<EtcdRequest> requests;
  for (const char* id : {"1", "2", "3", "4"}) {
    owner.submit(owner.spend(id));
    for (EtcdRequest& request : owner.drain()) requests.push_back(std::move(request));
  }
  ASSERT_EQ(requests.size(), 3u) << "the fourth waits";
  for (std::size_t i = 3; i-- > 0;)  // the last one first
    owner.replica().etcdReceived(owner.etcd.apply(requests[i], owner.ms * 1000), at(owner.ms));
  owner.talk();
  for (const char* id : {"1", "2", "3", "4"}) EXPECT_NE(owner.answered(id), nullptr) << id;
  EXPECT_GT(owner.replica().counters().etcd.outOfOrder, 0u);
  EXPECT_EQ(owner.replica().host("budget/0")->partition().size(), 4u);
}

// Two small transactions at a time take etcd longer than one after the other; of many requests the rest is decided, and
// travels, while etcd works at the first.
TEST(EtcdOwner, SomeGoTogetherInTurnsAndManyGoByHalves) {
  Owner owner;
  int made = 0;
  const auto submit = [&](int count) {
    for (int i = 0; i < count; ++i) owner.submit(owner.spend("op-" + std::to_string(made++)));
  };
  const auto carryAll = [&](const std::vector<EtcdRequest>& requests) {
    for (const EtcdRequest& request : requests) owner.carry(request);
  };
  submit(40);
  const std::vector<EtcdRequest> first = owner.drain();
  ASSERT_EQ(first.size(), 1u);
  submit(80);
  EXPECT_EQ(owner.drain().size(), 0u) << "they wait for the answer";
  carryAll(first);
  const std::vector<EtcdRequest> second = owner.drain();
  EXPECT_EQ(second.size(), 1u) << "all that waited";
  carryAll(second);
  EXPECT_EQ(owner.host().partition().size(), 120u);
  submit(600);
  std::vector<EtcdRequest> halves = owner.drain();
  EXPECT_EQ(owner.host().partition().size(), 420u);
  for (EtcdRequest& request : owner.drain()) halves.push_back(std::move(request));
  EXPECT_EQ(halves.size(), 2u);
  EXPECT_EQ(owner.host().partition().size(), 720u);
  carryAll(halves);
  owner.talk();
  for (int i = 0; i < made; ++i) EXPECT_EQ(owner.answersTo("op-" + std::to_string(i)), 1u) << i;
}

TEST(EtcdOwner, AnEntryLargerThanEtcdTakesIsRefusedAndHoldsNothingUp) {
  EtcdOptions options;
  options.maxBatchBytes = 500;
  Owner owner(options);
  for (const bool first : {true, false}) {  // with others under way, and alone
    const std::string n = first ? "1" : "2";
    owner.submit(owner.spend("before" + n));
    owner.submit(owner.spend("large" + n, std::string(250, 'x') + n + std::string(4, 'y')));
    owner.submit(owner.spend("after" + n));
    owner.pass(70'000);
    ASSERT_NE(owner.answered("large" + n), nullptr);
    EXPECT_EQ(owner.answered("large" + n)->outcome, Outcome::refused);
    EXPECT_THAT(owner.answered("large" + n)->message, HasSubstr("etcd takes a batch of at most 500"));
    for (const char* id : {"before", "large", "after"})
      EXPECT_EQ(owner.answersTo(id + n), 1u) << id << ": what was undone is told to nobody";
    for (const std::string& id : {"before" + n, "after" + n}) {
      ASSERT_NE(owner.answered(id), nullptr) << id;
      EXPECT_EQ(owner.answered(id)->outcome, Outcome::approved) << id;
    }
  }
  EXPECT_EQ(owner.replica().host("budget/0")->partition().size(), 4u);
  EXPECT_EQ(owner.replica().counters().etcd.tooLarge, 0u) << "etcd was not asked";
}

// What was undone is decided anew in the next round, and that is at once.
TEST(EtcdOwner, ACopyThatIsOpenedAgainWaitsForNoTime) {
  EtcdOptions options;
  options.maxBatchBytes = 500;
  Owner owner(options);
  owner.submit(owner.spend("large", std::string(250, 'x')));
  owner.submit(owner.spend("after"));
  owner.talk();
  ASSERT_NE(owner.answered("large"), nullptr);
  EXPECT_EQ(owner.answered("large")->outcome, Outcome::refused);
  ASSERT_NE(owner.answered("after"), nullptr);
}

// Also between the answer that grants it and the round that would begin its epoch.
TEST(EtcdOwner, APartitionMayBeLostAtAnyMoment) {
  for (std::size_t moment = 0; moment < 12; ++moment) {
    SCOPED_TRACE(moment);
    Owner owner;
    owner.takeAway();
    std::size_t answers = 0;
    for (int round = 0; round < 600 && answers <= moment; ++round, owner.ms += 100)
      for (const EtcdRequest& request : owner.drain()) {
        owner.carry(request);
        if (answers++ == moment) owner.takeAway();
      }
    ASSERT_GT(answers, moment);
    owner.pass(60'000);
    owner.submit(owner.spend("spend"));
    owner.pass(3'000);
    EXPECT_TRUE(owner.replica().owns(owner.host()));
    ASSERT_NE(owner.answered("spend"), nullptr);
    EXPECT_EQ(owner.answered("spend")->outcome, Outcome::approved);
  }
}

TEST(EtcdOwner, ARequestLargerThanEtcdTakesIsRefusedAtTheDoor) {
  EtcdOptions options;
  options.maxBatchBytes = 500;
  Owner owner(options);
  Request large = owner.spend("large");
  large.reason = std::string(800, 'x');
  const Status accepted = owner.replica().submit(std::move(large), at(owner.ms));
  ASSERT_FALSE(accepted.ok());
  EXPECT_EQ(accepted.error().code, ErrorCode::invalidInput);
  EXPECT_THAT(accepted.error().message, HasSubstr("at most 500"));
}

// More of them than a batch holds are due at once.
TEST(EtcdOwner, ProposalsWhoseTimeIsUpExpireInBatchesThatEtcdTakes) {
  Owner::Setup setup;
  setup.etcd.maxBatchBytes = 4'000;
  setup.domains = {"moderation"};
  setup.pendingTtlMicros = 60'000'000;
  Owner owner(setup);
  constexpr int kEntities = 20;
  for (int i = 0; i < kEntities; ++i) {
    const std::string entity = "user-" + std::to_string(i);
    owner.submit(initRequest(owner.module(), entity, entity, json::object{}));
    owner.propose(entity, "label",
                  R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"r"})");
    owner.propose(entity, "notice",
                  R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"f","clause":"c","redress":"r"})");
    owner.propose(entity, "ban",
                  R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"i","evidence":["L1"]})");
    ASSERT_NE(owner.answered(entity + "ban"), nullptr);
    ASSERT_EQ(owner.answered(entity + "ban")->outcome, Outcome::escalated) << owner.answered(entity + "ban")->message;
  }
  const std::uint64_t batches = owner.host().position().batches;
  owner.ms += 120'000;  // nothing was asked of it meanwhile
  for (int round = 0; round < 200 && !owner.host().partition().queue().empty(); ++round) {
    owner.ms += 100;
    for (const EtcdRequest& request : owner.drain()) {
      for (const EtcdOp& op : request.then) EXPECT_LE(op.value.size(), 4'000u);
      owner.carry(request);
    }
  }
  EXPECT_TRUE(owner.host().partition().queue().empty());
  EXPECT_GT(owner.host().position().batches, batches + 1);
}

// Others may fill the outbox meanwhile, but for the place of what was taken.
TEST(EtcdOwner, WhatWasTakenFindsItsPlaceInTheOutbox) {
  Owner owner;
  owner.submit(owner.spend("one"));
  (void)owner.drain();  // to etcd, which says nothing
  for (std::size_t i = 0; i + 1 < kMaxOutbox; ++i)
    ASSERT_TRUE(owner.replica().enqueue(owner.spend("other-" + std::to_string(i)), at(owner.ms)).ok());
  for (const Status& late : {owner.replica().enqueue(owner.spend("late"), at(owner.ms)),
                             owner.replica().submit(owner.spend("later"), at(owner.ms))}) {
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  }
  owner.ms += 300;
  (void)owner.drain();
  EXPECT_EQ(owner.replica().outbox().size(), kMaxOutbox);
  EXPECT_TRUE(owner.replica().outbox().all().at("one").saved);
  EXPECT_EQ(owner.answersTo("one"), 0u) << "it is on its way";
}

Owner::Setup expiring() {
  Owner::Setup setup;
  setup.domains = {"moderation"};
  setup.pendingTtlMicros = 60'000'000;
  return setup;
}

// A proposal that waits for a counselor; its expiry repeats the item.
std::string banOf(const std::string& item) {
  return R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":")" + item + R"(","evidence":["L1"]})";
}
void escalate(Owner& owner, const std::string& entity, const std::string& item) {
  owner.submit(initRequest(owner.module(), entity, entity, json::object{}));
  owner.propose(entity, "label",
                R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"r"})");
  owner.propose(entity, "notice",
                R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"f","clause":"c","redress":"r"})");
  owner.propose(entity, "ban", banOf(item));
  ASSERT_NE(owner.answered(entity + "ban"), nullptr);
  ASSERT_EQ(owner.answered(entity + "ban")->outcome, Outcome::escalated) << owner.answered(entity + "ban")->message;
}

// One whose expiry etcd does not take any more is passed over, and nobody waits behind it.
TEST(EtcdOwner, AnExpiryThatIsTooLargeHoldsUpNoOther) {
  Owner owner(expiring());
  escalate(owner, "first", std::string(4'000, 'i'));
  for (const char* entity : {"second", "third"}) escalate(owner, entity, "i");
  owner.serverTakes = 2'500;  // its operator has lowered that
  owner.ms += 120'000;
  owner.pass(30'000);
  const auto pending = owner.host().partition().queue();
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_EQ(pending[0].entity, "first");
  EXPECT_TRUE(std::any_of(owner.notices.begin(), owner.notices.end(), [](const Notice& notice) {
    return notice.kind == "tooLarge" && notice.what.starts_with("the expiry of entry ");
  }));
  // Later ones need no batch each.
  owner.serverTakes = ~std::size_t{0};
  for (const char* entity : {"fourth", "fifth"}) escalate(owner, entity, "i");
  const std::uint64_t batches = owner.host().position().batches;
  owner.ms += 120'000;
  owner.pass(30'000);
  EXPECT_EQ(owner.host().partition().queue().size(), 1u);
  EXPECT_EQ(owner.host().position().batches, batches + 1) << "both in one";
}

// Neither a counselor, whose time is up, nor anybody else can go past it.
TEST(EtcdOwner, WhoAsksBehindAnExpiryThatIsTooLargeIsToldSo) {
  Owner owner(expiring());
  escalate(owner, "first", std::string(4'000, 'i'));
  const kernel::PendingView pending = *owner.host().partition().pending("first");
  owner.serverTakes = 2'500;
  owner.ms += 120'000;
  owner.pass(30'000);
  const std::uint64_t refused = owner.replica().counters().etcd.tooLarge;
  Request answer;
  answer.kind = RequestKind::commit;
  answer.domain = "moderation";
  answer.entity = "first";
  answer.operationId = "answer";
  answer.counselor = owner.module().signature().counselors.front();
  answer.escalation = pending.seq;
  answer.pendingDigest = pending.digest;
  owner.submit(answer);
  owner.pass(500);
  owner.propose("first", "more", banOf("j"));
  for (const char* id : {"answer", "firstmore"}) {
    ASSERT_NE(owner.answered(id), nullptr) << id;
    EXPECT_EQ(owner.answered(id)->outcome, Outcome::refused);
    EXPECT_THAT(owner.answered(id)->message,
                HasSubstr("\"first\" is frozen: the expiry of entry " + std::to_string(pending.seq) + " takes "));
    EXPECT_THAT(owner.answered(id)->message, HasSubstr("(its --max-request-bytes); raise that"));
  }
  EXPECT_EQ(owner.replica().counters().etcd.tooLarge, refused);
  // What was done before is answered as it was.
  owner.propose("first", "ban", banOf(std::string(4'000, 'i')));
  EXPECT_EQ(owner.answers.back().operationId, "firstban");
  EXPECT_EQ(owner.answers.back().outcome, Outcome::duplicate);
  EXPECT_EQ(owner.answers.back().recorded, Outcome::escalated);
  EXPECT_TRUE(owner.host().partition().frozen("first"));
}

TEST(EtcdOwner, AnExpiryThatWasTooLargeIsTriedAgainNowAndThen) {
  Owner owner(expiring());
  escalate(owner, "first", std::string(4'000, 'i'));
  owner.serverTakes = 2'500;
  owner.ms += 120'000;
  owner.pass(30'000);
  const std::uint64_t refused = owner.replica().counters().etcd.tooLarge;
  owner.pass(25 * 60'000);
  EXPECT_EQ(owner.replica().counters().etcd.tooLarge, refused + 2) << "every ten minutes";
  EXPECT_TRUE(owner.host().partition().frozen("first"));
  owner.serverTakes = ~std::size_t{0};
  owner.pass(11 * 60'000);
  EXPECT_FALSE(owner.host().partition().frozen("first"));
  EXPECT_EQ(owner.replica().counters().etcd.tooLarge, refused + 2);
}

// Etcd is slow, so whoever asks is told that the request waits in the outbox. Then it turns out that its entity is
// frozen.
TEST(EtcdOwner, WhatIsSaidToWaitOutlastsAFreeze) {
  for (const bool said : {false, true}) {
    Owner owner(expiring());
    escalate(owner, "first", "i");
    ASSERT_TRUE(owner.host().partition().frozen("first"));
    std::vector<EtcdRequest> slow;
    const auto drain = [&] {
      for (EtcdRequest& request : owner.drain()) slow.push_back(std::move(request));
    };
    for (const char* entity : {"x1", "x2"}) {
      owner.submit(initRequest(owner.module(), entity, entity, json::object{}));
      drain();
    }
    const json::value ban = *parseJson(banOf("j"));
    const std::size_t process = (*owner.module().parseAction(ban))->process;
    owner.submit(
        *proposalRequest(owner.module(), "first", owner.module().signature().processes[process].role, "late", ban));
    for (int i = 0; i < 12; ++i) owner.ms += 100, drain();
    ASSERT_TRUE(owner.replica().outbox().all().at("late").saved);
    if (said) owner.replica().retainAcrossFreeze("late");
    for (const EtcdRequest& request : slow) owner.carry(request);
    owner.pass(500);
    EXPECT_EQ(owner.replica().outbox().all().contains("late"), said);
    EXPECT_EQ(owner.answered("late") == nullptr, said) << "whoever still waits is told of the freeze";
  }
}

TEST(EtcdOwner, ALimitThatEtcdHasNoMoreIsForgotten) {
  Owner owner(expiring());
  escalate(owner, "first", "i");
  escalate(owner, "second", "i");
  owner.ms += 120'000;
  owner.pass(1'000);
  owner.serverTakes = 2'500;
  const std::string large = banOf(std::string(4'000, 'i'));
  owner.propose("first", "large", large);
  owner.pass(70'000);
  ASSERT_NE(owner.answered("firstlarge"), nullptr);
  EXPECT_EQ(owner.answered("firstlarge")->outcome, Outcome::refused);
  EXPECT_THAT(owner.answered("firstlarge")->message, HasSubstr("raise that: larger ones are tried again"));
  owner.serverTakes = ~std::size_t{0};
  owner.pass(11 * 60'000);
  owner.propose("first", "again", large);
  ASSERT_NE(owner.answered("firstagain"), nullptr);
  EXPECT_EQ(owner.answered("firstagain")->outcome, Outcome::escalated) << owner.answered("firstagain")->message;
  owner.propose("second", "too", large);
  ASSERT_NE(owner.answered("secondtoo"), nullptr);
  EXPECT_EQ(owner.answered("secondtoo")->outcome, Outcome::escalated);
}

// An operator may have lowered its limit.
// As a build that knows no packed batches meets one, or this one a form that nobody has thought of yet: it says which
// partition, decides nothing there, and takes nothing of it for a batch.
TEST(EtcdOwner, ABatchOfAFormThatIsNotKnownIsNotMisread) {
  Owner owner;
  const std::uint64_t before = owner.host().position().batches;
  const std::size_t incidents = owner.replica().data().incidents()->size();
  EtcdRequest other;  // another owner's, after which this device is to recover the log
  char key[40];
  std::snprintf(key, sizeof key, "witan/c/log/budget/0/%016llx", static_cast<unsigned long long>(before));
  other.then = {{EtcdAct::put, {key, ""}, std::string("WZST\1\0\0\0packed", 14), 0, 0},
                {EtcdAct::remove, {"witan/c/owner/budget/0", ""}, "", 0, 0}};
  ASSERT_TRUE(owner.etcd.apply(other, owner.ms * 1000).succeeded);
  owner.pass(30'000);
  EXPECT_FALSE(owner.replica().owns(owner.host()));
  EXPECT_EQ(owner.host().position().batches, before);
  const auto told = *owner.replica().data().incidents();
  ASSERT_GT(told.size(), incidents);
  EXPECT_EQ(told.back().kind, "badEntries");
  EXPECT_THAT(told.back().what, HasSubstr("budget/0: "));
  owner.submit(owner.spend("meanwhile"));
  owner.pass(5'000);
  EXPECT_EQ(owner.answered("meanwhile"), nullptr);
}

TEST(EtcdOwner, ALimitThatEtcdHasIsLearned) {
  Owner owner;
  owner.serverTakes = 1'200;
  for (int i = 0; i < 30; ++i) owner.submit(owner.spend("op-" + std::to_string(i)));
  owner.pass(600'000);
  for (int i = 0; i < 30; ++i) {
    ASSERT_NE(owner.answered("op-" + std::to_string(i)), nullptr) << i;
    EXPECT_EQ(owner.answered("op-" + std::to_string(i))->outcome, Outcome::approved);
  }
  EXPECT_GT(owner.replica().counters().etcd.tooLarge, 0u);
  EXPECT_EQ(owner.replica().host("budget/0")->partition().size(), 30u);
}

}  // namespace
}  // namespace witan::sim::etcd_owner_test
