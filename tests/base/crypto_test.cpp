#include "base/crypto.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/signature_memory.h"

namespace witan::crypto_test {
namespace {

struct Ed25519Vector {
  const char* seed;
  const char* publicKey;
  const char* message;
  const char* signature;
};

// RFC 8032 section 7.1, tests 1, 2, 3 and SHA(abc).
const Ed25519Vector kVectors[] = {{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                                   "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                                   "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61"
                                   "e39701cf9b46bd25bf5f0595bbe2465514"
                                   "1438e7a100b"},
                                  {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                                   "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                                   "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458"
                                   "f3613d0f11d8c387b2eaeb4302aeeb00d2"
                                   "91612bb0c00"},
                                  {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                                   "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                                   "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae6"
                                   "7f760984dc6594a7c15e9716ed28dc027b"
                                   "eceea1ec40a"},
                                  {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
                                   "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
                                   "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836b"
                                   "a3c23a3feebbd454d4423643ce80e2a9ac"
                                   "94fa54ca49f",
                                   "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdf"
                                   "bc7c66431e0303dca179c138ac17ad9bef"
                                   "1177331a704"}};

std::string bytes(const char* hex) { return *fromHex(hex); }

TEST(Crypto, Rfc8032Vectors) {
  for (const Ed25519Vector& v : kVectors) {
    const SigningKey key = *SigningKey::fromSeed(bytes(v.seed));
    EXPECT_EQ(toHex(key.publicKey()), v.publicKey);
    EXPECT_EQ(toHex(key.sign(bytes(v.message))), v.signature);
    EXPECT_EQ(toHex(asBytes(key.seed())), v.seed);
    EXPECT_TRUE(verifySignature(bytes(v.publicKey), bytes(v.message), bytes(v.signature)));
  }
}

TEST(Crypto, AnyFlippedBitIsRefused) {
  SeededRandom random(1);
  const SigningKey key = SigningKey::generate(random);
  const PublicKey publicKey = key.publicKey();
  const std::string message = "message";
  const Signature signature = key.sign(message);
  ASSERT_TRUE(verifySignature(publicKey, message, signature));
  for (std::size_t bit = 0; bit < 512; bit += 7) {
    Signature wrong = signature;
    wrong[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_FALSE(verifySignature(publicKey, message, wrong)) << bit;
  }
  for (std::size_t bit = 0; bit < 256; bit += 7) {
    PublicKey wrong = publicKey;
    wrong[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_FALSE(verifySignature(wrong, message, signature)) << bit;
  }
  EXPECT_FALSE(verifySignature(publicKey, "messagf", signature));
}

TEST(Crypto, AMemoryChangesNoAnswer) {
  SeededRandom random(1);
  const SigningKey key = SigningKey::generate(random), other = SigningKey::generate(random);
  const Signature before = key.sign("before");
  const SignatureMemory memory;
  const Signature signature = key.sign("message");
  Signature wrong = signature;
  wrong[5] ^= 1;
  for (int time = 0; time < 2; ++time) {
    EXPECT_TRUE(verifySignature(key.publicKey(), "before", before));
    EXPECT_TRUE(verifySignature(key.publicKey(), "message", signature));
    EXPECT_FALSE(verifySignature(key.publicKey(), "message", wrong));
    EXPECT_FALSE(verifySignature(key.publicKey(), "messagf", signature));
    EXPECT_FALSE(verifySignature(other.publicKey(), "message", signature));
  }
}

TEST(Crypto, WrongSizesAreRefused) {
  SeededRandom random(1);
  const SigningKey key = SigningKey::generate(random);
  const Signature signature = key.sign("m");
  EXPECT_FALSE(verifySignature(asView(key.publicKey()).substr(1), "m", asView(signature)));
  EXPECT_FALSE(verifySignature(asView(key.publicKey()), "m", asView(signature).substr(1)));
  EXPECT_FALSE(verifySignature("", "m", ""));
  EXPECT_EQ(SigningKey::fromSeed("short").error().message, "an Ed25519 seed has 32 bytes, not 5");
}

// RFC 8032 section 5.1.7 step 1: S must be below the group order, else S + L would be a second valid signature.
TEST(Crypto, MalleatedSignatureIsRefused) {
  const std::string order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");  // little-endian
  SeededRandom random(2);
  const SigningKey key = SigningKey::generate(random);
  Signature signature = key.sign("m");
  int carry = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    carry += signature[32 + i] + static_cast<unsigned char>(order[i]);
    signature[32 + i] = static_cast<std::uint8_t>(carry);
    carry >>= 8;
  }
  EXPECT_FALSE(verifySignature(key.publicKey(), "m", signature));
}

TEST(Crypto, KeysAreValues) {
  SeededRandom random(3);
  SigningKey key = SigningKey::generate(random);
  const SigningKey copy = key;
  key = SigningKey::generate(random);
  EXPECT_NE(key.publicKey(), copy.publicKey());
  EXPECT_TRUE(verifySignature(copy.publicKey(), "m", copy.sign("m")));
}

// RFC 4231 test cases 1, 2, 6 (a key longer than the block).
TEST(Crypto, HmacVectors) {
  EXPECT_EQ(toHex(hmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(toHex(hmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(toHex(hmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace witan::crypto_test
