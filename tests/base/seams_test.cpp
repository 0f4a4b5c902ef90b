#include "base/seams.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace witan::seams_test {
namespace {

// splitmix64(0) gives the state, xoshiro256** the words: the published reference implementations.
TEST(Seams, SeededRandomIsXoshiro256StarStar) {
  SeededRandom random(0);
  EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.next(), 0xbf6e1f784956452au);
  EXPECT_EQ(random.next(), 0x1a5f849d4933e6e0u);
  EXPECT_EQ(random.next(), 0x6aa594f1262d2d2cu);
}

TEST(Seams, TheSameSeedGivesTheSameBytes) {
  SeededRandom one(42);
  SeededRandom two(42);
  SeededRandom other(43);
  std::vector<std::uint8_t> a(100), b(100), c(100);
  one.fill(a);
  two.fill(b);
  other.fill(c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(Seams, BelowStaysBelowAndReachesAll) {
  SeededRandom random(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(6));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(random.below(1), 0u);
}

// A generator that gives the words it is told.
class ScriptedRandom final : public Random {
 public:
  explicit ScriptedRandom(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  void fill(std::span<std::uint8_t> out) override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(words_.at(next_) >> (8 * i));
    ++next_;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t next_ = 0;
};

TEST(Seams, BelowThrowsAwayTheDrawsThatWouldBias) {
  // 2^64 mod 3 is 1, so the draw 0 is refused.
  ScriptedRandom random({0, 5});
  EXPECT_EQ(random.below(3), 2u);
}

TEST(SeamsDeathTest, BelowZeroIsABug) {
  SeededRandom random(1);
  EXPECT_DEATH(random.below(0), "there is a number below the bound");
}

TEST(Seams, SystemRandomFills) {
  SystemRandom random;
  EXPECT_NE(random.next(), random.next());
  random.fill({});
}

TEST(Seams, Clocks) {
  ManualClock manual({5});
  manual.advance(7);
  EXPECT_EQ(manual.now(), Time{12});
  manual.set({3});
  EXPECT_EQ(manual.now(), Time{3});
  SystemClock system;
  EXPECT_GT(system.now(), *parseTime("2025-01-01T00:00:00Z"));
}

}  // namespace
}  // namespace witan::seams_test
