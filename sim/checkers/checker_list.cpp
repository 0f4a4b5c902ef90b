#include "sim/checkers/checker.h"

namespace witan::sim {

using MakeChecker = std::unique_ptr<Checker>(Cluster&);
MakeChecker makeRestartChecker, makeFenceChecker, makeEtcdChecker, makePutOffChecker, makeConvergenceChecker,
    makeWriteChecker, makeCopiesChecker, makeLedgerChecker, makeRequestChecker, makeConfirmationChecker,
    makeAgentChecker, makeEffectChecker, makeConfinementChecker, makeAlarmChecker, makeTakeoverChecker,
    makeReturnChecker, makeRowsChecker, makeConflictChecker, makeGraphChecker, makeLieChecker, makeRetentionChecker;

std::vector<std::unique_ptr<Checker>> makeCheckers(Cluster& cluster) {
  std::vector<std::unique_ptr<Checker>> all;
  for (MakeChecker* make :
       {makeRestartChecker,  makeFenceChecker,  makeEtcdChecker,        makePutOffChecker,  makeConvergenceChecker,
        makeWriteChecker,    makeCopiesChecker, makeLedgerChecker,      makeRequestChecker, makeConfirmationChecker,
        makeAgentChecker,    makeEffectChecker, makeConfinementChecker, makeAlarmChecker,   makeTakeoverChecker,
        makeReturnChecker,   makeRowsChecker,   makeConflictChecker,    makeGraphChecker,   makeLieChecker,
        makeRetentionChecker})
    all.push_back(make(cluster));
  return all;
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
