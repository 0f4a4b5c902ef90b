#include "base/sha256.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/bytes.h"

namespace witan::sha3_test {
namespace {

// FIPS 202 with NIST's examples (0, 24 and 1600 bits).
TEST(Sha3, Vectors) {
  EXPECT_EQ(toHex(sha3_256("")), "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
  EXPECT_EQ(toHex(sha3_256("abc")), "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
  EXPECT_EQ(toHex(sha3_256(std::string(200, '\xa3'))),
            "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787");
}

TEST(Sha3, AnyThread) {
  const Hash here = sha3_256("abc");
  Hash there{};
  std::thread([&] { there = sha3_256("abc"); }).join();
  EXPECT_EQ(here, there);
  EXPECT_EQ(sha3_256("abc"), here) << "the context starts over";
}

}  // namespace
}  // namespace witan::sha3_test
