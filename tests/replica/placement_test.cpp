// Who keeps which copies: evenly, of each site one before a second, with little that moves, and the same everywhere.
#include "replica/core/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/concat.h"
#include "base/seams.h"
#include "replica/core/partition_host.h"

namespace witan::node {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kPartitions = 256;

// Of `sites` sites; 0: of none.
std::vector<LedgerMember> membersOf(std::size_t number, std::size_t sites = 0) {
  std::vector<LedgerMember> members;
  for (std::size_t n = 0; n < number; ++n)
    members.push_back({concat("device-", n), sites == 0 ? std::string() : concat("site-", n % sites)});
  return members;
}

std::map<std::string, std::vector<std::string>> all(const Placement& placement) {
  std::map<std::string, std::vector<std::string>> kept;
  for (std::uint32_t n = 0; n < kPartitions; ++n) {
    const std::string id = partitionId("budget", n);
    kept[id] = placement.keepers(id);
  }
  return kept;
}

std::vector<std::string> without(const std::vector<std::string>& from, const std::vector<std::string>& taken) {
  std::vector<std::string> left;
  std::ranges::set_difference(from, taken, std::back_inserter(left));
  return left;
}

TEST(Placement, SmallClustersKeepEverythingEverywhere) {
  const Placement unsaid, small(membersOf(3), {{"budget", 3}});
  for (const Placement& placement : {unsaid, small}) {
    EXPECT_FALSE(placement.partial("budget/0"));
    EXPECT_TRUE(placement.keeps("device-9", "budget/0"));
    EXPECT_THAT(placement.keepers("budget/0"), IsEmpty());
  }
}

// Who chose its name so that it is a keeper is one by chance alone, once its lot is drawn.
TEST(Placement, ANameMakesNobodyAKeeper) {
  std::vector<LedgerMember> members = membersOf(9);
  const Placement before(members, {{"budget", 3}});
  const auto chosen = std::ranges::find(members, before.keepers("budget/0").front(), &LedgerMember::device);
  int kept = 0;
  for (int n = 0; n < 300; ++n) {
    chosen->lot = std::to_string(n);
    kept += Placement(members, {{"budget", 3}}).keeps(chosen->device, "budget/0") ? 1 : 0;
  }
  EXPECT_GT(kept, 60);
  EXPECT_LT(kept, 140);
}

TEST(Placement, IsOfTheDomainsThatAreNamed) {
  const Placement placement(membersOf(5), {{"budget", 3}});
  EXPECT_TRUE(placement.partial("budget/7"));
  EXPECT_FALSE(placement.partial("udt/7"));
  EXPECT_TRUE(placement.keeps("device-0", "udt/7"));
}

TEST(Placement, KeepsNoFewerThanTwoCopies) {
  EXPECT_THAT(Placement(membersOf(5), {{"budget", 0}}).keepers("budget/0"), SizeIs(2));
  EXPECT_THAT(Placement(membersOf(5), {{"budget", 1}}).keepers("budget/0"), SizeIs(2));
}

TEST(Placement, GivesEachPartitionItsCopiesAndEachMemberItsShare) {
  std::map<std::string, std::size_t> load;
  for (const auto& [id, keepers] : all(Placement(membersOf(12), {{"budget", 3}}))) {
    EXPECT_THAT(keepers, SizeIs(3));
    EXPECT_EQ(std::set(keepers.begin(), keepers.end()).size(), 3u);
    for (const std::string& device : keepers) ++load[device];
  }
  ASSERT_EQ(load.size(), 12u);
  for (const auto& [device, kept] : load) {  // 64 on average; the deviation is 7
    EXPECT_GE(kept, 64u - 4 * 7) << device;
    EXPECT_LE(kept, 64u + 4 * 7) << device;
  }
}

TEST(Placement, IsTheSameInWhateverOrderTheMembersCome) {
  std::vector<LedgerMember> members = membersOf(9, 3);
  const auto first = all(Placement(members, {{"budget", 3}, {"udt", 4}}));
  SeededRandom random(7);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random.below(i)]);
    EXPECT_EQ(all(Placement(members, {{"udt", 4}, {"budget", 3}})), first);
  }
}

// Devices of all builds agree: this is a format.
TEST(Placement, IsThisOne) {
  const Placement placement(membersOf(6, 2), {{"budget", 3}});
  EXPECT_THAT(placement.keepers("budget/0"), ElementsAre("device-1", "device-2", "device-5"));
  EXPECT_THAT(placement.keepers("budget/1"), ElementsAre("device-0", "device-1", "device-2"));
}

TEST(Placement, TakesOneOfEachSiteBeforeASecondOfAny) {
  for (const std::size_t sites : {2u, 3u, 4u, 5u})
    for (const std::uint64_t copies : {2u, 3u, 4u, 6u}) {
      const auto kept = all(Placement(membersOf(20, sites), {{"budget", copies}}));
      for (const auto& [id, keepers] : kept) {
        std::map<std::size_t, std::size_t> ofSite;
        for (const std::string& device : keepers) ++ofSite[std::stoul(device.substr(7)) % sites];
        EXPECT_EQ(ofSite.size(), std::min<std::size_t>(sites, copies)) << id;
        const auto [least, most] =
            std::ranges::minmax_element(ofSite, {}, &std::pair<const std::size_t, std::size_t>::second);
        EXPECT_LE(most->second - least->second, 1u) << id;
      }
    }
}

// A site may have fewer devices than its turn: the others make up for it.
TEST(Placement, MakesUpForASmallSite) {
  std::vector<LedgerMember> members = membersOf(8, 1);
  members.push_back({"lonely", "attic"});
  for (const auto& [id, keepers] : all(Placement(members, {{"budget", 4}}))) {
    EXPECT_THAT(keepers, SizeIs(4));
    EXPECT_TRUE(std::ranges::binary_search(keepers, "lonely")) << id;
  }
}

TEST(Placement, MovesOnlyWhatALeavingMemberHad) {
  for (const std::size_t sites : {0u, 3u, 5u}) {
    const std::vector<LedgerMember> members = membersOf(15, sites);
    const auto before = all(Placement(members, {{"budget", 4}}));
    for (std::size_t n = 0; n < members.size(); ++n) {
      std::vector<LedgerMember> rest = members;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(n));
      for (const auto& [id, now] : all(Placement(rest, {{"budget", 4}}))) {
        const bool had = std::ranges::binary_search(before.at(id), members[n].device);
        EXPECT_THAT(without(now, before.at(id)), SizeIs(had ? 1 : 0)) << id;
        if (had) {
          EXPECT_THAT(without(before.at(id), now), ElementsAre(members[n].device)) << id;
        }
      }
    }
  }
}

TEST(Placement, MovesOnlyWhatAnotherMemberGets) {
  for (const std::size_t sites : {0u, 4u}) {
    const auto before = all(Placement(membersOf(11, sites), {{"budget", 3}}));
    std::size_t moved = 0;
    for (const auto& [id, now] : all(Placement(membersOf(12, sites), {{"budget", 3}}))) {
      const auto came = without(now, before.at(id));
      EXPECT_THAT(came, SizeIs(::testing::Le(1)));
      EXPECT_THAT(came, Each("device-11"));
      EXPECT_EQ(without(before.at(id), now).size(), came.size());
      moved += came.size();
    }
    EXPECT_LE(moved, 2 * kPartitions * 3 / 12);  // on average one in twelve
    EXPECT_GE(moved, kPartitions * 3 / 12 / 2);
  }
}

TEST(Placement, AnotherNumberOfCopiesKeepsThoseThatAreThere) {
  const auto three = all(Placement(membersOf(10, 3), {{"budget", 3}}));
  for (const auto& [id, five] : all(Placement(membersOf(10, 3), {{"budget", 5}})))
    EXPECT_THAT(without(three.at(id), five), IsEmpty()) << id;
}

}  // namespace
}  // namespace witan::node
