// The rules of a cluster in which a device lies: each has a case in which it fires, and one in which it must not.
#include "sim/check/liar_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/record/fork_proof.h"
#include "kernel/record/statement.h"
#include "replica/core/log_head.h"
#include "sim/device.h"
#include "sim/run.h"
#include "sim/scenario.h"

namespace witan::sim::test::liar_rules_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kCluster = ClusterSetup::kCluster;

const SigningKey& keyOf(std::uint32_t device) { return ClusterSetup::keyOf(device); }

TEST(LiarRules, NobodyHonestIsAccused) {
  const std::vector<Accusation> all{{"device-1", "forkProven", "device-2", "two heads"},
                                    {"device-1", "fork", "device-3", "who brought it"},
                                    {"device-1", "surplus", "device-0", "no accusation"}};
  EXPECT_EQ(falselyAccused(all, "device-2", {}), "");
  EXPECT_THAT(falselyAccused(all, "device-3", {}), HasSubstr("reports forkProven of device-2, which does not lie"));
  EXPECT_EQ(falselyAccused(all, "device-3", {"device-2"}), "") << "its memory went back with its disk";
}

// Two heads of one size that a device signed for the log of `owner`.
std::string forkFile(std::uint32_t signer, std::uint32_t owner) {
  const kernel::NoteSigner by{node::keyNameOf(kCluster, ClusterSetup::deviceName(signer)), keyOf(signer)};
  const auto head = [&](std::string_view root) {
    kernel::Checkpoint checkpoint;
    checkpoint.origin = node::originOf(kCluster, {"budget/0", {3, ClusterSetup::deviceName(owner) + "@00000001"}});
    checkpoint.size = 5, checkpoint.root = sha256(root);
    return *kernel::signNote(*kernel::checkpointText(checkpoint), {&by, 1});
  };
  kernel::ForkProof proof;
  proof.key = kernel::verifierKeyText(*kernel::makeNoteVerifier(by.name, keyOf(signer).publicKey()));
  proof.first = head("one"), proof.second = head("other");
  proof.root = toHex(sha256("other"));
  return toJson(proof);
}

TEST(LiarRules, EvidenceHoldsAndNamesTheLiarByItsKey) {
  const std::string file = forkFile(2, 2);
  const PublicKey key = keyOf(2).publicKey();
  EXPECT_EQ(wrongEvidence(file, kCluster, "device-2", key, {}), "");
  EXPECT_THAT(wrongEvidence(file, kCluster, "device-1", keyOf(1).publicKey(), {}), HasSubstr("names device-2"));
  EXPECT_EQ(wrongEvidence(file, kCluster, "device-1", keyOf(1).publicKey(), {"device-2"}), "");
  EXPECT_THAT(wrongEvidence(file, kCluster, "device-2", keyOf(1).publicKey(), {}), HasSubstr("not that of device-2"));
  EXPECT_THAT(wrongEvidence(forkFile(2, 1), kCluster, "device-2", key, {}), HasSubstr("signs no heads of this log"));
  std::string broken = file;
  broken[broken.find("\\n5\\n") + 2] = '6';
  EXPECT_THAT(wrongEvidence(broken, kCluster, "device-2", key, {}), HasSubstr("proves nothing"));
}

TEST(LiarRules, ALogIsCutForALaterEpochAlone) {
  const kernel::Epoch had{3, "device-1@00000001"}, later{4, "device-0@00000001"};
  EXPECT_EQ(cutInVain("device-0", "budget/0", had, later), "");
  EXPECT_THAT(cutInVain("device-0", "budget/0", had, had), HasSubstr("knows of no later epoch"));
  EXPECT_THAT(cutInVain("device-0", "budget/0", later, had), HasSubstr("gives up batches of budget/0"));
  EXPECT_THAT(cutInVain("device-0", "budget/0", had, std::nullopt), HasSubstr("knows of no later epoch"));
}

TEST(LiarRules, ALogWentBackIfItsDiskDid) {
  const Accusation notice{"device-1", "wentBack", "budget/0", "device-2"};
  EXPECT_EQ(wrongSetback(notice, true), "");
  EXPECT_THAT(wrongSetback(notice, false), HasSubstr("went back, as device-2 says; its disk did not"));
  EXPECT_EQ(wrongSetback({"device-1", "surplus", "budget/0", "device-2"}, false), "");
}

TEST(LiarRules, NobodyHoldsARowThatIsALie) {
  EXPECT_EQ(heldLie("device-0", std::vector<std::string>{"link-1"}), "");
  EXPECT_THAT(heldLie("device-0", std::vector<std::string>{"link-1", concat(kRowLie, 7)}), HasSubstr("never wrote"));
}

TEST(LiarRules, AFalseAnswerIsNotBelieved) {
  const std::vector<Told> lies{{1, "op-1", "a lie"}};
  EXPECT_EQ(believedLie(lies, {}), "");
  EXPECT_EQ(believedLie(lies, std::vector<Told>{{1, "op-1", "approved"}, {2, "op-1", "a lie"}}), "");
  EXPECT_THAT(believedLie(lies, std::vector<Told>{{1, "op-1", "a lie"}}), HasSubstr("device-1 believes the answer"));
}

TEST(LiarRules, WhatCameOfALieIsProven) {
  const std::vector<LieEffect> effects{{"fork", "device-1", "budget/0", {3, "device-2@00000001"}}};
  const auto proven = provenBy(kCluster, forkFile(2, 2));
  ASSERT_TRUE(proven);
  EXPECT_EQ(unproven(effects, {{*proven}}), "");
  EXPECT_THAT(unproven(effects, {}), HasSubstr("device-1 took in a lie (fork) about budget/0"));
  const std::vector<LieEffect> other{{"fork", "device-1", "budget/0", {4, "device-2@00000001"}}};
  EXPECT_THAT(unproven(other, {{*proven}}), HasSubstr("nobody has evidence"));
  EXPECT_FALSE(provenBy(kCluster, "{}"));
}

// A log of one entry in an epoch with proofs, in the name of `device`, signed by `signer`.
PartitionLog logOf(std::uint32_t device, std::uint32_t signer) {
  PartitionLog log;
  kernel::EpochRecord epoch;
  epoch.number = 1, epoch.format = kernel::kSignedFormat;
  log.epochs = {epoch};
  LedgerLine& line = log.lines.emplace_back();
  line.entry.seq = 1, line.entry.entity = "e", line.entry.operationId = "op-1";
  line.entry.device = ClusterSetup::deviceName(device);
  WordWriter words;
  const auto view = kernel::readEntryView(words.message(line.entry));
  const Hash leaf = kernel::requestLeaf(kernel::statementOf(kCluster, "budget", *view));
  line.entry.proof = kernel::packProof(kernel::signLeaves(kCluster, {&leaf, 1}, keyOf(signer)).front());
  return log;
}

TEST(LiarRules, EachEntryIsSignedByItsDevice) {
  const auto keys = [](std::string_view device) {
    return std::vector{keyOf(ClusterSetup::deviceIndex(device)).publicKey()};
  };
  PartitionLog log = logOf(1, 1);
  EXPECT_EQ(unprovenEntry(kCluster, "budget", log, keys), "");
  EXPECT_THAT(unprovenEntry(kCluster, "budget", logOf(1, 2), keys), HasSubstr("bears no good signature of device-1"));
  log.lines.front().entry.operationId = "op-2";
  EXPECT_THAT(unprovenEntry(kCluster, "budget", log, keys), HasSubstr("bears no good signature"));
  log.lines.front().entry.proof.clear();
  EXPECT_THAT(unprovenEntry(kCluster, "budget", log, keys), HasSubstr("bears no signature of device-1"));
  log.epochs.front().format = 0;
  EXPECT_EQ(unprovenEntry(kCluster, "budget", log, keys), "") << "an epoch from before there were proofs";
}

TEST(LiarRules, TheLiarIsNeverTheOnlyOneThatKeepsLedgers) {
  ClusterOptions cluster;
  EXPECT_FALSE(liarOf(cluster));
  cluster.liar = 1, cluster.ledgerReplicas = 1;
  EXPECT_EQ(liarOf(cluster), 1u);
  cluster.ledgerReplicas = 2;
  EXPECT_EQ(liarOf(cluster), 0u);
  cluster.liar = 7;
  EXPECT_EQ(liarOf(cluster), 1u);
  cluster.devices = 1;
  EXPECT_FALSE(liarOf(cluster));
}

// Each kind of lie is told, an owner's too, and the run passes.
TEST(LiarRules, EachLieIsTold) {
  std::set<std::string> told;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const RunResult result = run(*drawPlan(*builtinScenario("liar"), seed));
    ASSERT_FALSE(result.failure) << "seed " << seed << ": " << result.failure->checker << ": "
                                 << result.failure->reason;
    for (const auto& [name, count] : result.probes)
      if (name.starts_with("lie: ")) told.insert(name);
  }
  EXPECT_GE(told.size(), enumNames<Lie>().size() - 1) << "a false answer needs a request that just waits";
}

}  // namespace
}  // namespace witan::sim::test::liar_rules_test
