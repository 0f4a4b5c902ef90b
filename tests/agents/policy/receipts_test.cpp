// Confirmations as records: one layout for schema and struct, golden bytes, what is refused. PolicyScope of forks: the
// theorem of seed 004 section 9.
#include "agents/policy/receipts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agents/policy/policy_scope.h"
#include "base/identity.h"
#include "replication/records/receipt.capnp.h"
#include "tests/agents/policy/example.h"
#include "tests/same_layout.h"

namespace witan::agents::receipts_test {
namespace {

using replication::checkRecord;
using replication::decodeRecord;
using replication::encodeRecord;

PrivacyReceipt sample() {
  const ModelName model{"cloud.example", "large-2"};
  return confirm(test::examplePolicy(), "journal-summariser", &model, "cloud-llm", "dr.supervising", 1'767'225'600'000);
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
    ReceiptBook book;
    EXPECT_FALSE(book.add(receipt).ok());
    EXPECT_EQ(book.size(), 0u);
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

TEST(PrivacyReceipts, TheSameAgainChangesNothing) {
  ReceiptBook book;
  ASSERT_TRUE(book.add(sample()).ok());
  PrivacyReceipt later = sample();
  later.confirmedAtMs += 1;
  ASSERT_TRUE(book.add(later).ok());
  EXPECT_EQ(book.size(), 1u);
}

// ---- 004: C(e') and Lambda(e') of a fork are subsets ----

std::vector<std::string> arbitraryWords() {
  return *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("a", "b", "c", "d"));
}
PolicyScope arbitraryScope() { return {arbitraryWords(), arbitraryWords(), arbitraryWords(), arbitraryWords()}; }

RC_GTEST_PROP(CapabilityMonotonicity, AForkHoldsNothingThatItsParentDoesNot, ()) {
  const PolicyScope parent = arbitraryScope(), wanted = arbitraryScope();
  const auto child = narrowScope(parent, wanted);
  RC_ASSERT(child.ok() == covers(parent, wanted));
  if (!child.ok()) return;
  RC_ASSERT(covers(parent, *child) && covers(*child, wanted));
  const auto grandchild = narrowScope(*child, parent);
  RC_ASSERT(grandchild.ok() == covers(*child, parent));
}

TEST(CapabilityMonotonicity, WideningIsRefusedByName) {
  const PolicyScope parent{{"read"}, {"llm"}, {"journal:a"}, {"device"}};
  for (const auto& [wanted, name] :
       std::vector<std::pair<PolicyScope, std::string>>{{{{"read", "write"}, {}, {}, {}}, "\"write\" among its tools"},
                                                        {{{}, {"cloud"}, {}, {}}, "\"cloud\" among its boundaries"},
                                                        {{{}, {}, {"journal:b"}, {}}, "\"journal:b\" among its scopes"},
                                                        {{{}, {}, {}, {"device", "us"}}, "\"us\" among its locales"}}) {
    const auto child = narrowScope(parent, wanted);
    ASSERT_FALSE(child.ok());
    EXPECT_EQ(child.error().code, ErrorCode::unauthorised);
    EXPECT_NE(child.error().message.find(name), std::string::npos) << child.error().message;
  }
  EXPECT_TRUE(narrowScope(parent, {}).ok());
  EXPECT_EQ(*narrowScope(parent, parent), parent);
}

// What a sub-episode may do, its parent might have done: under one policy, for every way of narrowing.
RC_GTEST_PROP(CapabilityMonotonicity, AForkIsAllowedNothingThatItsParentIsNot, ()) {
  test::Example example;
  PolicyScope parent = example.held, child;
  forEachMember<PolicyScope>([&](auto member, auto) {
    auto& held = parent.*member.pointer;
    std::erase_if(held, [](const std::string&) { return *rc::gen::inRange(0, 6) == 0; });
    for (const std::string& word : held)
      if (*rc::gen::inRange(0, 6) != 0) (child.*member.pointer).push_back(word);
  });
  child = narrowScope(parent, child).value();
  example.request.held = &child;
  const bool mayChild = example.check().mayRun();
  example.request.held = &parent;
  RC_ASSERT(!mayChild || example.check().mayRun());
}

TEST(CapabilityMonotonicity, WithoutAGrantNothingIsHeld) {
  EXPECT_EQ(grantedScope(test::examplePolicy(), "stranger", "health"), PolicyScope{});
  EXPECT_EQ(grantedScope(test::examplePolicy(), "udt-lab", "calendar"), PolicyScope{});
  EXPECT_EQ(grantedScope(test::examplePolicy(), "udt-lab", "health").locales,
            (std::vector<std::string>{"device", "eu"}));
}

}  // namespace
}  // namespace witan::agents::receipts_test
