// The job of a run that folds its agent's memory (agents/host/host_memory.cpp): the same summary is the same run, on
// each device. Nobody else's wake has its space.
#pragma once

#include "agents/memory/compactor.h"
#include "agents/wake/wake_job.h"

namespace witan::agents {

inline Result<WakeJob> foldJob(const FoldJob& job) {
  return ledgerJob(job.agentId, kFoldSubject, {"memory", job.threadId, "fold", "", toHex(job.summaryId)});
}

inline bool isFold(const WakeJob& job) { return job.subject == kFoldSubject && job.space == "ledger/memory"; }

}  // namespace witan::agents
