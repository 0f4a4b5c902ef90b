#include "base/public_key.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace witan::public_key_test {
namespace {

PublicKey keyOf(std::string_view hex) { return hashFromHex(hex).value(); }

// All encodings of the eight points whose order divides 8, those that RFC 8032 does not decode among them.
constexpr const char* kSmallOrder[] = {
    "0100000000000000000000000000000000000000000000000000000000000000",  // order 1
    "0100000000000000000000000000000000000000000000000000000000000080",  // the same, of a sign that 0 has not
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  // the same, y + p
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  // order 2
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "0000000000000000000000000000000000000000000000000000000000000000",  // order 4
    "0000000000000000000000000000000000000000000000000000000000000080",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",  // order 8
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"};

TEST(PublicKey, OfSmallOrderIsRefused) {
  for (const char* hex : kSmallOrder) {
    const Status checked = checkPublicKey("key", keyOf(hex));
    ASSERT_FALSE(checked.ok()) << hex;
    EXPECT_EQ(checked.error().code, ErrorCode::invalidInput) << hex;
    EXPECT_TRUE(isWeakKey(keyOf(hex))) << hex;
  }
}

// Under the neutral point the signature (neutral point, 0) holds for every message.
TEST(PublicKey, NoSignatureHoldsUnderOneOfSmallOrder) {
  Signature forged{1};
  for (const char* hex : kSmallOrder) {
    for (const char* message : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"})
      EXPECT_FALSE(verifySignature(keyOf(hex), message, forged)) << hex << message;
  }
}

TEST(PublicKey, ThatIsNoPointOrNotCanonicalIsRefused) {
  for (const char* hex : {"0200000000000000000000000000000000000000000000000000000000000000",
                          "0700000000000000000000000000000000000000000000000000000000000080",
                          "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
                          "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"})
    EXPECT_FALSE(checkPublicKey("key", keyOf(hex)).ok()) << hex;
  // Their neighbours are points.
  for (const char* hex : {"0300000000000000000000000000000000000000000000000000000000000000",
                          "0600000000000000000000000000000000000000000000000000000000000080"})
    EXPECT_TRUE(checkPublicKey("key", keyOf(hex)).ok()) << hex;
}

TEST(PublicKey, EachThatAProgramMadeIsTaken) {
  SeededRandom random(17);
  for (int n = 0; n < 500; ++n) {
    const PublicKey key = SigningKey::generate(random).publicKey();
    EXPECT_TRUE(checkPublicKey("key", key).ok()) << toHex(key);
    EXPECT_FALSE(isWeakKey(key));
  }
}

}  // namespace
}  // namespace witan::public_key_test
