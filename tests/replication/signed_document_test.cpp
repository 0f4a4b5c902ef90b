// Policies and rosters: only what the admin signed counts, the highest version first.
#include "replication/records/signed_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "tests/replication/record_history.h"

namespace witan::replication::signed_document_test {
namespace {

const SigningKey kAdmin = *SigningKey::fromSeed(std::string(32, 'a'));
const SigningKey kOther = *SigningKey::fromSeed(std::string(32, 'b'));

SignedDocumentBody draft(std::uint64_t version, std::string content = "{}") {
  return {DocumentKind::policy, "sharing", version, std::move(content), {}};
}
Version versionOf(Dot dot, const SignedDocumentBody& document) {
  return {dot, {{dot.host, dot.counter}}, *encodeRecord(document), false};
}
SignedDocumentView viewOf(const std::vector<Version>& versions) {
  return documentViewOf(DocumentKind::policy, "sharing", kAdmin.publicKey(), versions);
}

std::vector<Version> someHistory() {
  return test::generatedHistory(6, [](const std::vector<Version>&) {
    const auto& key = test::uniform(0, 4) == 0 ? kOther : kAdmin;
    return *encodeRecord(
        *sign(draft(test::uniform<std::uint64_t>(1, 4), *rc::gen::element<std::string>("1", "2", "3")), key));
  });
}

RC_GTEST_PROP(SignedDocument, ViewIndependentOfPermutation, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    RC_ASSERT(viewOf(test::shuffled(all)) == viewOf(all));
  });
}

RC_GTEST_PROP(SignedDocument, TheHighestSignedVersionCountsAndOfTwoTheSmallerDigest, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    const auto view = viewOf(all);
    std::size_t signedOnes = 0;
    for (const Version& v : all) {
      const auto document = *decodeRecord<SignedDocumentBody>(v.body);
      if (!verify(document, kAdmin.publicKey()).ok()) continue;
      ++signedOnes;
      RC_ASSERT(view.current.has_value());
      RC_ASSERT(document.version <= view.current->document.version);
      if (document.version == view.current->document.version)
        RC_ASSERT(view.current->digest <= documentDigest(document));
    }
    for (const SignedVersion& c : view.conflicts) {
      RC_ASSERT(c.document.version == view.current->document.version);
      RC_ASSERT(c.document.content != view.current->document.content);
    }
    RC_ASSERT((view.current ? 1 : 0) + view.conflicts.size() + view.superseded.size() == signedOnes);
    RC_ASSERT(view.unreadable.size() == all.size() - signedOnes);
  });
}

// Anything changed after signing, or signed by anybody else, is refused with the document's name.
TEST(SignedDocument, OnlyTheAdminsExactDocumentVerifies) {
  const auto document = *sign(draft(3, R"({"share":false})"), kAdmin);
  EXPECT_TRUE(verify(document, kAdmin.publicKey()).ok());
  const auto refused = verify(document, kOther.publicKey());
  EXPECT_EQ(refused.error().code, ErrorCode::unauthorised);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("policy \"sharing\" version 3"));

  const auto changed = [&](auto change) {
    auto copy = document;
    change(copy);
    return verify(copy, kAdmin.publicKey()).ok();
  };
  EXPECT_TRUE(changed([](auto&) {}));
  EXPECT_FALSE(changed([](auto& d) { d.kind = DocumentKind::roster; }));
  EXPECT_FALSE(changed([](auto& d) { d.name = "other"; }));
  EXPECT_FALSE(changed([](auto& d) { d.version = 4; }));
  EXPECT_FALSE(changed([](auto& d) { d.content = R"({"share":true})"; }));
  for (std::size_t i = 0; i < 64; ++i) EXPECT_FALSE(changed([&](auto& d) { d.signature[i] ^= 1; }));
}

// The signed bytes are a promise to every device that will ever verify them.
TEST(SignedDocument, SignedBytesAreGolden) {
  const std::string bytes = signedBytes(draft(1, R"({"a":1})"));
  EXPECT_EQ(bytes.substr(0, 25), "witan signed document v1\n");
  EXPECT_EQ(toHex(asBytes(bytes.substr(25))),
            "0000000002000200000000000000000001000000000000000500000042000000050000004200000073686172696e6700"
            "7b2261223a317d00");
  EXPECT_EQ(signedBytes(*sign(draft(1, R"({"a":1})"), kAdmin)), bytes);
}

TEST(SignedDocument, OneVersionTwiceIsReportedUntilAHigherOneSettlesIt) {
  const auto x = versionOf({"A", 1}, *sign(draft(2, "1"), kAdmin));
  const auto y = versionOf({"B", 1}, *sign(draft(2, "2"), kAdmin));
  const auto both = viewOf({x, y});
  EXPECT_EQ(both.conflicts.size(), 1u);
  EXPECT_LT(both.current->digest, both.conflicts[0].digest);
  const Error late = mayPublish(both, draft(2)).error();
  EXPECT_EQ(late.code, ErrorCode::conflict);
  EXPECT_EQ(late.hint, "use version 3");
  EXPECT_TRUE(mayPublish(both, draft(3)).ok());
  const auto settled = viewOf({x, y, versionOf({"A", 2}, *sign(draft(3), kAdmin))});
  EXPECT_TRUE(settled.conflicts.empty());
  EXPECT_EQ(settled.superseded.size(), 2u);
}

TEST(SignedDocument, UnsignedOnesCountForNothing) {
  const auto good = versionOf({"A", 1}, *sign(draft(1), kAdmin));
  const auto forged = versionOf({"B", 1}, *sign(draft(9), kOther));
  auto other = draft(5);
  other.name = "elsewhere";
  const auto view = viewOf({forged, good, versionOf({"C", 1}, *sign(other, kAdmin)), {{"D", 1}, {}, "", true}});
  EXPECT_EQ(view.current->document.version, 1u);
  EXPECT_EQ(view.unreadable.size(), 3u);
  EXPECT_FALSE(sign(draft(0), kAdmin).ok());
  EXPECT_TRUE(mayPublish({}, draft(1)).ok());
}

}  // namespace
}  // namespace witan::replication::signed_document_test
