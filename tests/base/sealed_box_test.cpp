#include "base/sealed_box.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/seams.h"

namespace witan::sealed_box_test {
namespace {

SigningKey keyOf(char seed) { return *SigningKey::fromSeed(std::string(32, seed)); }

std::string boxFor(const SigningKey& key, std::string_view about, std::string_view plain) {
  SystemRandom random;
  const auto box = sealBox(key.publicKey(), about, plain, random);
  EXPECT_TRUE(box.ok()) << box.error().message;
  return box.ok() ? *box : std::string();
}

TEST(SealedBox, OpensForItsKeyOnly) {
  for (int seed = 1; seed < 40; ++seed) {
    const SigningKey to = keyOf(static_cast<char>(seed));
    const std::string box = boxFor(to, "about", "what is in it");
    EXPECT_EQ(box.size(), kBoxOverhead + 13);
    const auto opened = openBox(to, "about", box);
    ASSERT_TRUE(opened.has_value()) << seed;
    EXPECT_EQ(opened->reveal(), "what is in it");
    EXPECT_FALSE(openBox(keyOf('x'), "about", box).has_value());
    EXPECT_FALSE(openBox(to, "about else", box).has_value());
  }
}

TEST(SealedBox, AnythingElseIsNone) {
  const SigningKey to = keyOf('a');
  const std::string box = boxFor(to, "", "text");
  EXPECT_NE(box, boxFor(to, "", "text"));
  for (std::size_t n = 0; n < box.size(); ++n) {
    EXPECT_FALSE(openBox(to, "", std::string_view(box).substr(0, n)).has_value()) << n;
    std::string other = box;
    other[n] = static_cast<char>(other[n] ^ 1);
    EXPECT_FALSE(openBox(to, "", other).has_value()) << n;
  }
  EXPECT_FALSE(openBox(to, "", std::string(64, '\0')).has_value());  // a point of small order
}

TEST(SealedBox, WhatIsNoKeyIsRefused) {
  SystemRandom random;
  PublicKey one{};
  one.front() = 1;  // y = 1 has no counterpart
  EXPECT_FALSE(sealBox(one, "", "text", random).ok());
  PublicKey large;
  large.fill(0xff);
  EXPECT_FALSE(sealBox(large, "", "text", random).ok());
}

// Reckoned with Python's cryptography from the header's words.
TEST(SealedBox, KeepsItsForm) {
  const SigningKey to =
      *SigningKey::fromSeed(*fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"));
  class Fixed final : public Random {
   public:
    void fill(std::span<std::uint8_t> out) override { std::fill(out.begin(), out.end(), std::uint8_t{7}); }
  } fixed;
  const std::string box = *sealBox(to.publicKey(), "about", "text", fixed);
  EXPECT_EQ(toHex(asBytes(box)),
            "13be4feaeaf204c7fd3358fc9c00721881d174278128227ec674f37f7fe97b6d7cc257b0c321d3b1c6de2b4dd65bc9580449322d");
}

}  // namespace
}  // namespace witan::sealed_box_test
