// Counselors with keys: an answer counts with the person's signature of exactly what was shown, and no copy takes
// another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/ledger/ledger_verify.h"
#include "kernel/record/statement.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/messages.h"
#include "tests/replica/person_keys.h"

namespace witan::node::test::persons_test {
namespace {

using kernel::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const kernel::DomainModule& moderation() {
  static const std::unique_ptr<kernel::DomainModule> module = *domains::makeDomain("moderation");
  return *module;
}
const std::string& counselor() { return moderation().signature().counselors.front(); }
SigningKey keyOfPerson() { return PersonKeys::keyOfPerson(); }

// Device a owns the only partition; the entity "post" is frozen.
class Persons : public ::testing::Test {
 protected:
  Persons() {
    EXPECT_TRUE(a_.replica().bootstrap(at(a_.ms)).ok());
    cluster_.connect(a_, b_);
    a_.submit(initRequest(moderation(), "post", "begin", json::object{}));
    propose("label", R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"r"})");
    propose("notice", R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"f","clause":"c","redress":"r"})");
    propose("ban", R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"i","evidence":["L1"]})");
    cluster_.run();
  }
  void propose(const std::string& id, const std::string& action) {
    const json::value parsed = *parseJson(action);
    const auto& signature = moderation().signature();
    const std::string role = signature.processes[(*moderation().parseAction(parsed))->process].role;
    a_.submit(*proposalRequest(moderation(), "post", role, id, parsed));
  }
  PartitionHost& host(Device& device) { return *device.replica().host("moderation/0"); }
  kernel::PendingView pending() { return host(a_).partition().queue().at(0); }
  Request answerOf(const std::string& id) {
    Request answer;
    answer.kind = RequestKind::reject;
    answer.domain = "moderation";
    answer.entity = "post";
    answer.operationId = id;
    answer.counselor = counselor();
    answer.reason = "no";
    answer.pendingDigest = pending().digest;
    return answer;
  }
  // What the key signs of the answer.
  static std::vector<std::uint8_t> signedWith(const SigningKey& key, const Request& answer) {
    kernel::Statement statement{"test", "moderation", "reject", answer.entity};
    statement.counselor = answer.counselor, statement.reason = answer.reason;
    statement.shown = answer.pendingDigest;
    const Signature signature = key.sign(kernel::answerText(statement));
    const PublicKey person = key.publicKey();
    std::vector<std::uint8_t> bytes(person.begin(), person.end());
    bytes.insert(bytes.end(), signature.begin(), signature.end());
    return bytes;
  }
  const Answer& ask(Device& device, Request request) {
    const std::string id = request.operationId;
    device.submit(std::move(request));
    cluster_.run();
    static const Answer none;
    return device.answered(id) == nullptr ? none : *device.answered(id);
  }
  std::vector<std::shared_ptr<PersonKeys>> keys_{std::make_shared<PersonKeys>("a", counselor()),
                                                 std::make_shared<PersonKeys>("b", counselor())};
  TestCluster cluster_{2, [this](std::size_t n, ReplicaConfig& config) {
                         config.domains = {&moderation()};
                         config.heads = keys_[n];
                         config.signedAnswers = n == 1;  // the owner's own setting binds no copy
                       }};
  Device &a_ = cluster_.a(), &b_ = cluster_.b();
};

TEST_F(Persons, AnAnswerNeedsTheSignatureOfThePerson) {
  EXPECT_THAT(ask(b_, answerOf("unsigned")).message, HasSubstr("bears no signature of " + counselor()));
  Request other = answerOf("another-key");
  other.signature = signedWith(keyOfDevice("b"), other);
  EXPECT_THAT(ask(b_, other).message, HasSubstr("is not one by which " + counselor() + " may answer"));
  other = answerOf("another-reason");
  other.signature = signedWith(keyOfPerson(), other);
  other.reason = "yes";
  EXPECT_THAT(ask(b_, other).message, HasSubstr("is not of this answer"));
  other = answerOf("another-question");
  other.pendingDigest = sha256("shown");
  other.signature = signedWith(keyOfPerson(), other);
  other.pendingDigest = pending().digest;
  EXPECT_THAT(ask(a_, other).message, HasSubstr("is not of this answer"));
  EXPECT_EQ(host(a_).partition().queue().size(), 1u);

  Request answer = answerOf("answer");
  const Hash shown = answer.pendingDigest;
  answer.signature = signedWith(keyOfPerson(), answer);
  EXPECT_EQ(ask(b_, answer).outcome, Outcome::cRejected);
  for (Device* device : {&a_, &b_}) {
    const auto entry = kernel::readEntry(*host(*device).ledger().entryBytes(host(*device).partition().size()));
    EXPECT_EQ(entry->signature, answer.signature);
    EXPECT_THAT(entry->shown, ::testing::ElementsAreArray(shown));
    EXPECT_EQ(entry->device, "b") << "that passed it on";
    EXPECT_EQ(kernel::verifyLedger(host(*device).rows(), {&moderation(), std::nullopt})->problem, "");
  }
}

// Attack 8: the owner lets anybody answer.
TEST_F(Persons, AnAnswerThatNobodyGaveIsRefusedByEveryCopy) {
  const std::uint64_t before = host(b_).partition().size();
  keys_[0]->lax = true;
  EXPECT_EQ(ask(a_, answerOf("answer")).outcome, Outcome::cRejected);
  EXPECT_EQ(host(b_).partition().size(), before);
  EXPECT_THAT(accusedBy(b_), ElementsAre("unsigned a"));
}

TEST_F(Persons, SoIsOneWithAForgedSignature) {
  const std::uint64_t before = host(b_).partition().size();
  Request answer = answerOf("answer");
  auto forged = signedWith(keyOfPerson(), answer);
  forged.back() ^= 1;
  answer.device = "a";
  answer.signature = forged;
  a_.replica().sign({&answer, 1});
  kernel::CounselorDecision decision;
  decision.entity = answer.entity, decision.counselor = answer.counselor, decision.operationId = answer.operationId;
  decision.reason = answer.reason, decision.pendingDigest = answer.pendingDigest, decision.at = at(1).wall;
  decision.device = answer.device, decision.signature = answer.signature, decision.proof = answer.proof;
  ASSERT_EQ(host(a_).ledger().partition().decide(decision).outcome, Outcome::cRejected);
  cluster_.run();
  EXPECT_EQ(host(b_).partition().size(), before);
  EXPECT_THAT(accusedBy(b_), ElementsAre("forgedName a"));
  ASSERT_EQ(b_.replica().evidence().size(), 1u);
  EXPECT_TRUE(verifyEvidence(b_.replica().evidence().begin()->second).ok());
}

}  // namespace
}  // namespace witan::node::test::persons_test
