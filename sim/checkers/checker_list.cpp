#include "sim/checkers/checker.h"

namespace witan::sim {

using MakeChecker = std::unique_ptr<Checker>(Cluster&);
MakeChecker makeRestartChecker, makeFenceChecker, makeEtcdChecker, makePutOffChecker, makeConvergenceChecker,
    makeWriteChecker, makeCopiesChecker, makeLedgerChecker, makeRequestChecker, makeConfirmationChecker,
    makeAgentChecker, makeEffectChecker, makeConfinementChecker, makeAlarmChecker, makeTakeoverChecker,
    makeReturnChecker, makeRowsChecker, makeConflictChecker, makeGraphChecker, makeLieChecker, makeRetentionChecker,
    makePromptChecker, makeMemoryChecker, makeOverdueChecker, makeAbsurdChecker, makePeopleChecker, makeKeepersChecker,
    makeRestraintChecker, makeLateUpdateChecker, makeOverlayChecker, makeEpisodeChecker, makeRunEndChecker,
    makeCutChecker;

std::vector<std::unique_ptr<Checker>> makeCheckers(Cluster& cluster) {
  std::vector<std::unique_ptr<Checker>> all;
  for (MakeChecker* make : {makeRestartChecker,     makeFenceChecker,        makeEtcdChecker,     makePutOffChecker,
                            makeConvergenceChecker, makeWriteChecker,        makeCopiesChecker,   makeLedgerChecker,
                            makeRequestChecker,     makeConfirmationChecker, makeAgentChecker,    makeEffectChecker,
                            makeConfinementChecker, makeAlarmChecker,        makeTakeoverChecker, makeReturnChecker,
                            makeRowsChecker,        makeConflictChecker,     makeGraphChecker,    makeLieChecker,
                            makeRetentionChecker,   makePromptChecker,       makeMemoryChecker,   makeOverdueChecker,
                            makeAbsurdChecker,      makePeopleChecker,       makeKeepersChecker,  makeRestraintChecker,
                            makeLateUpdateChecker,  makeOverlayChecker,      makeEpisodeChecker,  makeRunEndChecker,
                            makeCutChecker})
    all.push_back(make(cluster));
  return all;
}

std::optional<node::PeerAdvertisement> Checker::standingIn(Seat& at, std::uint32_t peer, std::string_view frame) const {
  if (c_.isLiar(peer) || c_.etcd()) return std::nullopt;
  const replication::SyncSession* session = at.replica().session(ClusterSetup::deviceName(peer));
  return session == nullptr || !session->full() ? std::nullopt : standingIn(frame);
}

std::optional<node::PeerAdvertisement> Checker::standingIn(std::string_view frame) {
  constexpr auto kStanding = static_cast<std::uint8_t>(node::AdjudicationFrame::standing);
  if (frame.size() <= replication::kFrameHeaderBytes || static_cast<std::uint8_t>(frame[4]) != kStanding)
    return std::nullopt;
  node::PeerAdvertisement standing;
  if (!readMessage(frame.substr(replication::kFrameHeaderBytes), standing, "frame").ok()) return std::nullopt;
  return standing;
}

Result<PartitionLog> logAt(Seat& at, const std::string& id) {
  kernel::Ledger& ledger = at.replica().host(id)->ledger();
  std::vector<std::string> batches;
  for (std::uint64_t n = 0; n < ledger.batches(); ++n) {
    WITAN_TRY(batch, ledger.batch(n));
    batches.push_back(std::move(batch));
  }
  return readLog(batches);
}

}  // namespace witan::sim
