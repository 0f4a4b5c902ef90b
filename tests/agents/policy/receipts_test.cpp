// Confirmations as records: one layout for schema and struct, golden bytes, what is refused.
#include <gtest/gtest.h>

#include "base/identity.h"
#include "replication/records/receipt.capnp.h"
#include "tests/agents/policy/example.h"
#include "tests/same_layout.h"

namespace witan::agents {
namespace {

using replication::checkRecord;
using replication::decodeRecord;
using replication::encodeRecord;

PrivacyReceipt sample() {
  const ModelName model{"cloud.example", "large-2"};
  return confirm(testing::examplePolicy(), "journal-summariser", &model, "cloud-llm", "dr.supervising",
                 1'767'225'600'000);
}

TEST(PrivacyReceipts, SchemaAndStructHaveOneLayout) {
  layout::expectSameLayout<replication::wire::PrivacyReceipt, PrivacyReceipt>();
}

TEST(PrivacyReceipts, ReadBack) {
  const auto bytes = encodeRecord(sample());
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  const auto again = decodeRecord<PrivacyReceipt>(*bytes);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, sample());
  for (std::size_t size = 0; size < bytes->size(); ++size)
    EXPECT_FALSE(decodeRecord<PrivacyReceipt>(std::string_view(*bytes).substr(0, size)).ok()) << size;
  EXPECT_FALSE(decodeRecord<PrivacyReceipt>(std::string(20'000, '\0')).ok());
}

TEST(PrivacyReceipts, AreRefusedIfTheySayTooLittle) {
  const auto refused = [](const std::function<void(PrivacyReceipt&)>& change) {
    PrivacyReceipt receipt = sample();
    change(receipt);
    EXPECT_FALSE(checkRecord(receipt).ok());
    EXPECT_FALSE(encodeRecord(receipt).ok());
  };
  refused([](PrivacyReceipt& r) { r.agentId.clear(); });
  refused([](PrivacyReceipt& r) { r.agentId = "a|b"; });
  refused([](PrivacyReceipt& r) { r.provider.clear(); });
  refused([](PrivacyReceipt& r) { r.model.clear(); });
  refused([](PrivacyReceipt& r) { r.model = std::string(kMaxIdBytes + 1, 'm'); });
  refused([](PrivacyReceipt& r) { r.boundary.clear(); });
  refused([](PrivacyReceipt& r) { r.policyName.clear(); });
  refused([](PrivacyReceipt& r) { r.policyVersion = 0; });
  refused([](PrivacyReceipt& r) { r.policyDigest = {}; });
  refused([](PrivacyReceipt& r) { r.confirmedBy.clear(); });
  refused([](PrivacyReceipt& r) { r.confirmedAtMs = -1; });
}

}  // namespace
}  // namespace witan::agents
