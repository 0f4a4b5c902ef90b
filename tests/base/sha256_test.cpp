#include "base/sha256.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/bytes.h"

namespace witan::sha256_test {
namespace {

// FIPS 180-4 examples and NIST's million 'a'.
TEST(Sha256, Vectors) {
  EXPECT_EQ(toHex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(toHex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesAndReuse) {
  Sha256 context;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(context.update("a").update("").update("bc").finish(), sha256("abc"));
  }
  context.update("forgotten");
  EXPECT_EQ(context.reset().update("abc").finish(), sha256("abc"));
}

TEST(Sha256, MovesWithItsState) {
  Sha256 from;
  from.update("ab");
  Sha256 to = std::move(from);
  EXPECT_EQ(to.update("c").finish(), sha256("abc"));
  Sha256 assigned;
  assigned = std::move(to);
  EXPECT_EQ(assigned.update("abc").finish(), sha256("abc"));
}

TEST(Sha256, ThreadsDoNotShareAContext) {
  const Hash expected = sha256("abc");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) wrong += sha256("abc") != expected;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace witan::sha256_test
