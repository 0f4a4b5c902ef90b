// PrunedCluster: devices "a" to "e", which all have a copy of the partition "budget/0"; two of them keep every entry,
// the others the newest five. For tests; a test's own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kernel/ledger/ledger_verify.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test {

inline constexpr std::uint64_t kKept = 5;

class PrunedCluster : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(device('a').replica().bootstrap(at(0)).ok());
    ASSERT_TRUE(device('a').replica().submit(beginning(), at(0)).ok());
    connectAll("abcde");
    cluster.run();
  }
  void connectAll(const std::string& who) {
    for (const char one : who)
      for (const char other : who)
        if (other < one) cluster.connect(device(other), device(one));
  }
  Device& device(char name) { return cluster.of(std::string(1, name)); }
  Placement placement() const {
    std::vector<LedgerMember> of;
    for (const char name : members) of.push_back({std::string(1, name), ""});
    std::vector<DomainRetention> retention;
    if (keeps) retention.push_back({"budget", whole, kKept, 0});
    std::vector<DomainCopies> few;
    if (copies > 0) few.push_back({"budget", copies});
    return {of, few, version, retention};
  }
  void roster(const std::string& next, const std::string& who = "abcde") {
    members = next, ++version;
    for (const char name : who) device(name).replica().rosterChanged();
  }
  void pass(std::int64_t seconds = 200, const std::string& who = "abcde") {
    for (std::int64_t n = 0; n < seconds; n += 5) {
      for (const char name : who) device(name).passTime(5'000);
      cluster.run();
    }
  }
  void spendSome(int n) {
    for (int i = 0; i < n; ++i) {
      device(owner()).submit(spend("op-" + std::to_string(++spent), 1));
      cluster.run();
    }
  }
  char owner() {
    for (char name = 'a'; name <= 'e'; ++name)
      if (PartitionHost* host = device(name).replica().host(kPartition);
          host != nullptr && device(name).replica().owns(*host))
        return name;
    return '?';
  }
  std::string wholeOnes() const {
    std::string names;
    const Placement now = placement();
    for (const std::string& name : now.whole(kPartition)) names += name;
    return names;
  }
  // Copies that lack entries.
  std::string pruned(const std::string& who = "abcde") {
    std::string names;
    for (const char name : who)
      if (device(name).host().first() > 0) names += name;
    return names;
  }
  static std::string without(std::string from, const std::string& taken) {
    std::erase_if(from, [&](char name) { return taken.find(name) != std::string::npos; });
    return from;
  }
  // A device that prunes.
  char pruner() { return without("abcde", wholeOnes() + owner()).front(); }
  // A whole one that does not own.
  char keeper() { return without(wholeOnes(), std::string(1, owner())).front(); }
  void cutOff(char away) {
    for (const char name : without("abcde", std::string(1, away)))
      cluster.cut(device(std::min(name, away)), device(std::max(name, away)));
  }
  void join(char back) {
    for (const char name : without("abcde", std::string(1, back))) cluster.connect(device(name), device(back));
    cluster.run();
  }
  static bool is(const TestCluster::Frame& frame, AdjudicationFrame type) {
    return isAdjudication(frame.bytes) && typeOf(frame.bytes) == type;
  }
  static bool isPast(const TestCluster::Frame& frame) { return is(frame, AdjudicationFrame::past); }
  template <class T>
  void handAltered(const TestCluster::Frame& frame, const std::function<void(T&)>& alter) {
    T message;
    EXPECT_TRUE(readMessage(std::string_view(frame.bytes).substr(replication::kFrameHeaderBytes), message, "m").ok());
    alter(message);
    std::string bytes;
    WordWriter words;
    appendFrame(bytes, words, message);
    cluster.hand({frame.from, frame.to, bytes});
  }
  kernel::VerifyReport verify(char name) {
    kernel::VerifyOptions options{.replay = &budget()};
    options.ofCluster = true;
    return kernel::verifyLedger(device(name).host().rows(), options).value();
  }
  void expectOneLog(const std::string& who = "abcde") {
    const PartitionHost& host = device(owner()).host();
    for (const char name : who) {
      EXPECT_EQ(device(name).host().durableBatches(), host.durableBatches()) << name;
      EXPECT_EQ(device(name).host().chain().last(), host.chain().last()) << name;
      EXPECT_EQ(device(name).host().partition().tree().root(), host.partition().tree().root()) << name;
      const kernel::VerifyReport report = verify(name);
      EXPECT_EQ(report.problem, "") << name;
      EXPECT_EQ(report.prunedEntries, device(name).host().firstEntry() - 1) << name;
    }
  }

  std::string members = "abcde";
  bool keeps = true;
  std::uint64_t whole = 2, version = 1, copies = 0;  // 0: all have one
  int spent = 0;
  std::function<void(ReplicaConfig&)> more;  // of each device at its next start
  TestCluster cluster{5, [this](std::size_t, ReplicaConfig& config) {
                        config.placement = [this] { return placement(); };
                        config.pruneEvery = 4;
                        if (more) more(config);
                      }};
};

}  // namespace witan::node::test
