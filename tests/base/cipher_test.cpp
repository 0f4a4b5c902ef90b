// AES-256-GCM and scrypt against published vectors; Secret keeps to itself.
#include "base/crypto.h"

#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>

#include "base/bytes.h"

namespace witan::cipher_test {
namespace {

std::string hex(std::string_view text) { return fromHex(text).value(); }

// McGrew, Viega: "The Galois/Counter Mode of Operation", test case 16.
const std::string kKey = hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
const std::string kNonce = hex("cafebabefacedbaddecaf888");
const std::string kAssociated = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
const std::string kPlain = hex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
    "ba637b39");
const std::string kSealed = hex(
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0a"
    "bcc9f66276fc6ece0f4e1768cddf8853bb2d551b");

TEST(Cipher, AesGcmVector) {
  EXPECT_EQ(toHex(asBytes(aesGcmSeal(kKey, kNonce, kAssociated, kPlain))), toHex(asBytes(kSealed)));
  const auto opened = aesGcmOpen(kKey, kNonce, kAssociated, kSealed);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->reveal(), kPlain);
}

// Test cases 13 of the same: no text, no associated data.
TEST(Cipher, AesGcmOfNothing) {
  const std::string key(32, '\0'), nonce(12, '\0'), tag = hex("530f8afbc74536b9a963b4f1c4cb738b");
  EXPECT_EQ(aesGcmSeal(key, nonce, "", ""), tag);
  ASSERT_TRUE(aesGcmOpen(key, nonce, "", tag));
  EXPECT_TRUE(aesGcmOpen(key, nonce, "", tag)->empty());
  EXPECT_FALSE(aesGcmOpen(key, nonce, "a", tag));
}

TEST(Cipher, AesGcmNoticesEveryChange) {
  const auto turned = [](std::string text, std::size_t at) {
    text[at] = static_cast<char>(text[at] ^ 1);
    return text;
  };
  for (std::size_t i = 0; i < kSealed.size(); ++i)
    EXPECT_FALSE(aesGcmOpen(kKey, kNonce, kAssociated, turned(kSealed, i))) << i;
  for (std::size_t i = 0; i < kSealed.size(); ++i)
    EXPECT_FALSE(aesGcmOpen(kKey, kNonce, kAssociated, std::string_view(kSealed).substr(0, i))) << i;
  for (std::size_t i = 0; i < kAssociated.size(); ++i)
    EXPECT_FALSE(aesGcmOpen(kKey, kNonce, turned(kAssociated, i), kSealed)) << i;
  EXPECT_FALSE(aesGcmOpen(turned(kKey, 31), kNonce, kAssociated, kSealed));
  EXPECT_FALSE(aesGcmOpen(kKey, turned(kNonce, 0), kAssociated, kSealed));
}

// RFC 7914 section 12, the first 32 bytes.
TEST(Cipher, ScryptVectors) {
  const auto key = [](std::string_view passphrase, std::string_view salt, ScryptCost cost) {
    Secret made = scryptKey(Secret::copyOf(passphrase), salt, cost);
    return toHex(made.bytes());
  };
  EXPECT_EQ(key("password", "NaCl", {10, 8, 16}), "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162");
  EXPECT_EQ(key("pleaseletmein", "SodiumChloride", {14, 8, 1}),
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2");
}

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
template <class T>
concept Comparable = requires(const T& value) {
  value == value;
};

TEST(Secret, CantBePrintedCopiedOrTurnedIntoText) {
  static_assert(Printable<std::string> && !Printable<Secret>);
  static_assert(Comparable<std::string> && !Comparable<Secret>);
  static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);
  static_assert(!std::is_convertible_v<Secret, std::string> && !std::is_convertible_v<Secret, std::string_view>);
  static_assert(!std::is_constructible_v<std::string, Secret> && !std::is_constructible_v<std::string_view, Secret>);
  static_assert(!std::is_convertible_v<std::string, Secret>, "none is made by accident");
}

TEST(Secret, TakesAndWipesWhatItWasMadeFrom) {
  std::string text = "a passphrase that is longer than the small buffer of a string";
  const char* data = text.data();
  const std::size_t capacity = text.capacity();
  const Secret secret = Secret::take(text);
  EXPECT_TRUE(text.empty());
  ASSERT_EQ(text.capacity(), capacity) << "the buffer is still there to look at";
  EXPECT_EQ(std::string_view(data, 10), std::string_view("\0\0\0\0\0\0\0\0\0\0", 10));
  EXPECT_TRUE(secret.sameAs("a passphrase that is longer than the small buffer of a string"));
  EXPECT_FALSE(secret.sameAs("a passphrase that is longer than the small buffer of a strinG"));
  EXPECT_FALSE(secret.sameAs("a"));
}

TEST(Secret, MovesAndLeavesNothing) {
  Secret one = Secret::copyOf("one"), two = Secret::copyOf("two");
  two = std::move(one);
  EXPECT_EQ(two.reveal(), "one");
  EXPECT_TRUE(one.empty());  // NOLINT: what is left is looked at on purpose
  Secret three(std::move(two));
  EXPECT_EQ(three.reveal(), "one");
  EXPECT_TRUE(two.empty());  // NOLINT
}

}  // namespace
}  // namespace witan::cipher_test
