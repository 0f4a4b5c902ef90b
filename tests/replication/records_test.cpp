// The bodies of replicated records: replication/records/records.capnp, compiled by Cap'n Proto's compiler, against the
// layout of the C++ structs; what is refused; golden bytes, so that the format cannot change by accident.
#include "replication/records/records.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "base/capnp_codec.h"
#include "replication/records/records.capnp.h"
#include "tests/same_layout.h"

namespace witan::replication::records_test {
namespace {

std::string hexOf(std::string_view bytes) { return toHex(asBytes(bytes)); }

using witan::layout::expectSameLayout;

TEST(Records, SchemaAndStructsHaveOneLayout) {
  expectSameLayout<wire::DotEntry, DotEntry>();
  expectSameLayout<wire::BatchBody, BatchBody>();
  expectSameLayout<wire::BatchChange, BatchChange>();
  expectSameLayout<wire::BatchToken, BatchToken>();
  expectSameLayout<wire::MessageBody, MessageBody>();
  expectSameLayout<wire::LinkBody, LinkBody>();
  expectSameLayout<wire::WakeRunBody, WakeRunBody>();
  expectSameLayout<wire::PlanBody, PlanBody>();
  expectSameLayout<wire::PlanAction, PlanAction>();
  expectSameLayout<wire::SummaryBody, SummaryBody>();
  expectSameLayout<wire::JournalBody, JournalBody>();
  expectSameLayout<wire::OperationBody, OperationBody>();
  expectSameLayout<wire::UndoStep, UndoStep>();
  expectSameLayout<wire::ApprovalBody, ApprovalBody>();
  expectSameLayout<wire::SignedDocumentBody, SignedDocumentBody>();
  expectSameLayout<wire::SealedCopyBody, SealedCopyBody>();
}

Hash hashOf(std::uint8_t byte) {
  Hash hash;
  hash.fill(byte);
  return hash;
}

BatchBody sampleBatch() {
  return {"batch-7",
          {{"journalEntity", "task-1", ChangeOrigin::local}, {"journalEntity", "task-2", ChangeOrigin::sync}},
          {{TokenClass::subtypeToken, "task", "done"}, {TokenClass::entityId, std::nullopt, "task-1"}},
          {{"hostB", 4}},
          "cursor"};
}
MessageBody sampleMessage() {
  return {"m2", "agent-1", "thread-1", MessageKind::toolResult, {"m1", "m0"}, "wörter", 1767225600000, hashOf(7)};
}
LinkBody sampleLink() { return {"l1", "agent-1", "m2", "m1", "parent"}; }
WakeRunBody sampleRun() {
  return {hashOf(1), "agent-1", WakeReason::timer, "timer-1", WakeStatus::failedTerminal, 5, 9, "no network"};
}
PlanBody samplePlan() {
  return {hashOf(1), "agent-1", {{"journal.setStatus", R"({"a":1,"b":"x"})", {"category:work"}, {"task-1"}}}};
}
SummaryBody sampleSummary() { return {"agent-1", "thread-1", "m1", "m9", "summarizer-1", "All is well.", 1}; }
JournalBody sampleJournal() {
  return {"task", R"({"title":"Buy milk"})", 3, "person-1", 1767225600000, hashOf(2), {{"hostA", 1}, {"hostB", 2}}};
}
SignedDocumentBody sampleDocument() {
  return {DocumentKind::roster, "devices", 2, "{}", std::vector<std::uint8_t>(64, 9)};
}

template <class Body>
void expectRoundTrip(const Body& body) {
  auto bytes = encodeRecord(body);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  auto back = decodeRecord<Body>(*bytes);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, body);
}

TEST(Records, RoundTrip) {
  expectRoundTrip(sampleBatch());
  expectRoundTrip(sampleMessage());
  expectRoundTrip(sampleLink());
  expectRoundTrip(sampleRun());
  expectRoundTrip(samplePlan());
  expectRoundTrip(sampleSummary());
  expectRoundTrip(sampleJournal());
  expectRoundTrip(sampleDocument());
}

// The bytes of every body, so that the format cannot change by accident: versions are fingerprinted and kept for years.
TEST(Records, GoldenBytes) {
  const auto golden = [](const auto& body) {
    const std::string bytes = *encodeRecord(body);
    return std::to_string(bytes.size()) + " " + toHex(sha256(bytes)).substr(0, 32);
  };
  EXPECT_EQ(hexOf(*encodeRecord(sampleLink())),
            "0000000000000500110000001a0000001100000042000000110000001a000000110000001a000000110000003a000000"
            "6c310000000000006167656e742d31006d320000000000006d31000000000000706172656e740000");
  EXPECT_EQ(golden(sampleBatch()), "280 bcb4e83906dacc0cf6920c367a5df030");
  EXPECT_EQ(golden(sampleMessage()), "176 5af9bdca1b52dce901b576890ac55879");
  EXPECT_EQ(golden(sampleRun()), "128 6ad05cbf59812ae6e3b952a64464f23a");
  EXPECT_EQ(golden(samplePlan()), "192 1eb24d47ec16b0f9961e6b000720353c");
  EXPECT_EQ(golden(sampleSummary()), "136 e4a625737869c6c468a5d328f239366c");
  EXPECT_EQ(golden(sampleJournal()), "200 c0cb871fe93d95f9521d9f4df39684a6");
  EXPECT_EQ(golden(sampleDocument()), "128 1bf671c5809e4ef9350a68ada1b0ab7f");
}

// As Cap'n Proto's own builder and canonicaliser write the same message.
TEST(Records, BytesEqualTheLibrarysCanonicalForm) {
  const JournalBody body = sampleJournal();
  capnp::MallocMessageBuilder message;
  auto to = message.initRoot<wire::JournalBody>();
  to.setType(body.type.c_str());
  to.setPayload(body.payload.c_str());
  to.setLamport(body.lamport);
  to.setAuthor(body.author.c_str());
  to.setEditedAtMs(body.editedAtMs);
  to.setOperationId(kj::ArrayPtr<const kj::byte>(body.operationId->data(), 32));
  auto list = to.initResolves(2);
  for (unsigned i = 0; i < 2; ++i) {
    list[i].setHost(body.resolves[i].host.c_str());
    list[i].setCounter(body.resolves[i].counter);
  }
  const auto words = capnp::canonicalize(to.asReader());
  const auto bytes = words.asBytes();
  EXPECT_EQ(hexOf(*encodeRecord(body)), hexOf({reinterpret_cast<const char*>(bytes.begin()), bytes.size()}));
}

// Cut anywhere, or with any one byte changed, it is read or refused, never more; what is read obeys the limits.
template <class Body>
void expectSafeWhenDamaged(const Body& body) {
  const std::string bytes = *encodeRecord(body);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    if (auto read = decodeRecord<Body>(std::string_view(bytes).substr(0, cut)); read.ok()) {
      EXPECT_TRUE(checkRecord(*read).ok());
    }
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      if (auto read = decodeRecord<Body>(damaged); read.ok()) {
        EXPECT_TRUE(checkRecord(*read).ok());
      }
    }
}

TEST(Records, DamagedBytesAreRefusedOrReadWithinLimits) {
  expectSafeWhenDamaged(sampleBatch());
  expectSafeWhenDamaged(sampleMessage());
  expectSafeWhenDamaged(sampleLink());
  expectSafeWhenDamaged(sampleRun());
  expectSafeWhenDamaged(samplePlan());
  expectSafeWhenDamaged(sampleSummary());
  expectSafeWhenDamaged(sampleJournal());
  expectSafeWhenDamaged(sampleDocument());
}

template <class Body>
std::string refusal(const Body& body) {
  auto bytes = encodeRecord(body);
  return bytes.ok() ? "accepted" : bytes.error().message;
}

TEST(Records, RefusedWithTheMemberNamed) {
  BatchBody batch = sampleBatch();
  batch.changes.clear();
  EXPECT_THAT(refusal(batch), testing::HasSubstr("changes: none"));
  batch = sampleBatch();
  batch.changes[0].payloadId = "a|b";
  EXPECT_THAT(refusal(batch), testing::HasSubstr("payloadId"));
  batch = sampleBatch();
  batch.tokens[0].tokenNamespace.reset();
  EXPECT_THAT(refusal(batch), testing::HasSubstr("amespace"));
  batch = sampleBatch();
  batch.deps[0].counter = 0;
  EXPECT_THAT(refusal(batch), testing::HasSubstr("deps: counter 0"));

  MessageBody message = sampleMessage();
  message.parents.assign(kMaxRecordList + 1, "m1");
  EXPECT_THAT(refusal(message), testing::HasSubstr("parents: 65537 elements"));
  message = sampleMessage();
  message.content = "\xff";
  EXPECT_THAT(refusal(message), testing::HasSubstr("content: not UTF-8"));
  message.content.assign(kMaxRecordBytes, 'x');
  EXPECT_THAT(refusal(message), testing::HasSubstr("a record of"));

  WakeRunBody run = sampleRun();
  run.runKey = Hash{};
  EXPECT_THAT(refusal(run), testing::HasSubstr("runKey: missing"));
  run = sampleRun();
  run.finishedAtMs = -1;
  EXPECT_THAT(refusal(run), testing::HasSubstr("finishedAtMs"));

  PlanBody plan = samplePlan();
  plan.actions[0].arguments = R"({"b":1,"a":2})";
  EXPECT_THAT(refusal(plan), testing::HasSubstr("arguments: not canonical JSON"));
  SummaryBody summary = sampleSummary();
  summary.rank = 0;
  EXPECT_THAT(refusal(summary), testing::HasSubstr("rank: 0"));
  JournalBody journal = sampleJournal();
  journal.payload = "{";
  EXPECT_THAT(refusal(journal), testing::HasSubstr("payload: "));
  journal = sampleJournal();
  journal.lamport = 0;
  EXPECT_THAT(refusal(journal), testing::HasSubstr("lamport"));
  SignedDocumentBody document = sampleDocument();
  document.signature.pop_back();
  EXPECT_THAT(refusal(document), testing::HasSubstr("signature: 63 bytes"));
  EXPECT_FALSE(decodeRecord<LinkBody>(std::string(kMaxRecordBytes + 8, '\0')).ok());
  EXPECT_FALSE(decodeRecord<LinkBody>("").ok());
}

// A newer device appends a field: an older one reads what it knows.
struct LinkOfTomorrow {
  std::string id, agentId, from, to, relation, strength;
  WITAN_MEMBERS(LinkOfTomorrow, id, agentId, from, to, relation, strength)
};
struct MessageOfTomorrow {
  std::string id, agentId, threadId;
  MessageKind kind = MessageKind::user;
  std::vector<std::string> parents;
  std::string content;
  std::int64_t createdAtMs = 0;
  std::optional<Hash> operationId;
  std::uint64_t weight = 0;
  WITAN_MEMBERS(MessageOfTomorrow, id, agentId, threadId, kind, parents, content, createdAtMs, operationId, weight)
};

TEST(Records, VersionSkewOldReadsNewAndNewReadsOld) {
  WordWriter writer;
  const std::string link(writer.message(LinkOfTomorrow{"l1", "agent-1", "m2", "m1", "parent", "strong"}));
  EXPECT_EQ(*decodeRecord<LinkBody>(link), sampleLink());
  LinkOfTomorrow tomorrow;
  ASSERT_TRUE(readMessage(*encodeRecord(sampleLink()), tomorrow, "link").ok());
  EXPECT_EQ(tomorrow.relation, "parent");
  EXPECT_EQ(tomorrow.strength, "");

  const MessageBody m = sampleMessage();
  const std::string message(writer.message(
      MessageOfTomorrow{m.id, m.agentId, m.threadId, m.kind, m.parents, m.content, m.createdAtMs, m.operationId, 9}));
  EXPECT_EQ(*decodeRecord<MessageBody>(message), m);
}

TEST(Records, MaximalVersionsAreThoseNobodySaw) {
  const std::vector<Version> versions{{{"B", 1}, {{"B", 1}}, "b1", false},
                                      {{"A", 2}, {{"A", 2}, {"B", 1}}, "a2", false},
                                      {{"C", 1}, {{"C", 1}}, "c1", false}};
  const auto maximal = maximalVersions(versions);
  ASSERT_EQ(maximal.size(), 2u);
  EXPECT_EQ(maximal[0]->body, "a2");
  EXPECT_EQ(maximal[1]->body, "c1");
}

}  // namespace
}  // namespace witan::replication::records_test
