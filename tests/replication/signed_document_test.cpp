// Policies and rosters: only what the admin signed counts.
#include "replication/records/signed_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"

namespace witan::replication::signed_document_test {
namespace {

const SigningKey kAdmin = *SigningKey::fromSeed(std::string(32, 'a'));
const SigningKey kOther = *SigningKey::fromSeed(std::string(32, 'b'));

SignedDocumentBody draft(std::uint64_t version, std::string content = "{}") {
  return {DocumentKind::policy, "sharing", version, std::move(content), {}};
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

TEST(SignedDocument, VersionsBeginWithOne) { EXPECT_FALSE(sign(draft(0), kAdmin).ok()); }

}  // namespace
}  // namespace witan::replication::signed_document_test
