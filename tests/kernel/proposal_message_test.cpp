// Proposals on the wire, and the hints and reuse that batches rest on.
#include "kernel/proposal_message.h"

#include <gtest/gtest.h>

#include <capnp/schema-parser.h>

#include "kernel/partition.h"
#include "kernel/proposal.capnp.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::proposal_message_test {
namespace {

class ProposalMessageTest : public testing::Test {
 protected:
  std::string actionBytes(std::string_view json) {
    return module->encodeAction(*module->parseAction(parseJson(json).value()).value());
  }
  // The words of a proposal to earn 5, aligned.
  std::vector<std::uint64_t> words(std::string_view type = "Earn", std::string_view role = "Treasurer") {
    const std::string action = actionBytes(R"({"type":"Earn","n":5})");
    const std::string bytes = writeProposalMessage(
        {"c", role, "op-1", "d", "a", type, {reinterpret_cast<const std::uint8_t*>(action.data()), action.size()}});
    return alignedWords(bytes).value();
  }
  static std::string_view view(const std::vector<std::uint64_t>& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * 8};
  }

  std::unique_ptr<DomainModule> module = chest::module();
};

TEST_F(ProposalMessageTest, ReadsWhatWasWritten) {
  const auto bytes = words();
  const auto message = readProposalMessage(view(bytes));
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->entity, "c");
  EXPECT_EQ(message->role, "Treasurer");
  EXPECT_EQ(message->operationId, "op-1");
  EXPECT_EQ(message->device, "d");
  EXPECT_EQ(message->agent, "a");
  const auto action = actionOf(*module, *message);
  ASSERT_TRUE(action.ok());
  std::string json;
  module->writeAction(json, **action);
  EXPECT_EQ(json, R"({"n":5,"type":"Earn"})");
}

TEST_F(ProposalMessageTest, TheSchemaReadsItToo) {
  const auto bytes = words();
  FlatMessage message(view(bytes));
  const auto root = message.root().getAs<wire::Proposal>();
  EXPECT_EQ(std::string(root.getEntity().cStr()), "c");
  EXPECT_EQ(std::string(root.getActionType().cStr()), "Earn");
  EXPECT_EQ(root.getAction().size() % 8, 0u);
}

TEST_F(ProposalMessageTest, RefusesWhatItCannotRead) {
  const auto refusal = [&](std::string_view bytes) { return readProposalMessage(bytes).error().message; };
  const auto good = words();
  EXPECT_EQ(refusal(view(good).substr(0, 13)), "a proposal of 13 bytes (not whole 8-byte words)");
  EXPECT_FALSE(readProposalMessage(view(good).substr(0, 16)).ok());
  EXPECT_FALSE(readProposalMessage({}).ok());
  const std::vector<std::uint64_t> large(kProposalMax / 8 + 1);
  EXPECT_EQ(refusal(view(large)), "a proposal of 1048584 bytes, at most 1048576 are allowed");
}

TEST_F(ProposalMessageTest, NamesTheMemberThatIsWrong) {
  ProposalMessage message{"c", "Treasurer", "op-\xff", "d", "a", "Earn", {}};
  const auto bytes = alignedWords(writeProposalMessage(message)).value();
  EXPECT_EQ(readProposalMessage(view(bytes)).error().message, "proposal.operationId: not UTF-8");
}

TEST_F(ProposalMessageTest, RefusesActionsThatTheDomainCannotRead) {
  const auto unknown = words("Bury");
  EXPECT_FALSE(actionOf(*module, readProposalMessage(view(unknown)).value()).ok());
  ProposalMessage message{"c", "Treasurer", "op-1", "d", "a", "Earn", {}};
  EXPECT_EQ(actionOf(*module, message).error().message, "proposal.action: 0 bytes (not whole 8-byte words)");
}

// One flipped byte anywhere: read or refused, never a crash.
TEST_F(ProposalMessageTest, SurvivesEveryFlippedByte) {
  const auto good = words();
  for (std::size_t i = 0; i < good.size() * 8; ++i) {
    auto bad = good;
    reinterpret_cast<unsigned char*>(bad.data())[i] ^= 0x55;
    if (const auto message = readProposalMessage(view(bad)); message.ok()) (void)actionOf(*module, *message);
  }
}

TEST_F(ProposalMessageTest, ExpectedEntitiesMayBeUnknownAndChangeNothing) {
  Partition partition(*module);
  ASSERT_EQ(partition.init("c", {}, Time{0}).outcome, Outcome::initialised);
  const Hash before = *partition.stateDigest("c");
  const std::array<std::string_view, 3> entities{"c", "nobody", "c"};
  partition.expect(entities);
  partition.expect({});
  EXPECT_EQ(*partition.stateDigest("c"), before);
}

TEST(LogBatchReuse, KeepsOnlyTheMemory) {
  const auto batchOf = [](LogBatch& batch) {
    batch.reset(1);
    batch.add(RecordKind::entry, "payload.", leafHash("payload."));
    return batch.take();
  };
  LogBatch fresh, reusing;
  const std::string expected = batchOf(fresh);
  reusing.reuse(std::string(10'000, 'x'));
  EXPECT_TRUE(reusing.empty());
  EXPECT_EQ(batchOf(reusing), expected);
  // An open batch is never lost to it.
  reusing.reset(1);
  reusing.add(RecordKind::entry, "payload.", leafHash("payload."));
  reusing.reuse(std::string(1'000'000, 'y'));
  EXPECT_EQ(reusing.take(), expected);
}

}  // namespace
}  // namespace witan::kernel::proposal_message_test
