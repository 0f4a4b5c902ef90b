#include "sim/checkers.h"

namespace witan::sim {

namespace {

constexpr CheckerInfo kCheckers[] = {
    // --- at every moment
    {"confinement", "No byte of a scope, or of a ledger, reaches a device that may not have it."},
    {"bounded-memory", "A device holds back only so much: its inbox, its queues and its buffers stay within bounds."},
    {"store", "What a device wrote it can read again, until its disk fails."},
    {"bit-rot", "A device whose log has a changed bit notices when it starts, or when it verifies the ledger."},
    {"restart",
     "A device whose disk is whole starts as the one it was: its name as an owner, the later epochs it had heard of."},
    {"copies",
     "A copy of a ledger, decided, followed or read, holds the state of each entity that the others hold, and knows "
     "which invariants are violated in it."},
    {"need-to-know",
     "What agents send outside holds nothing but what the policy lets out, where somebody has confirmed that it may."},
    // --- when everything has come to rest
    {"liveness",
     "Once faults have ended, everything that is pending is done within settleSeconds; and who owns a partition never "
     "puts off what its own people ask of it."},
    {"convergence", "Devices that share a scope hold the same versions of the same records."},
    {"no-write-lost",
     "What was durable on a disk that was not lost is still there, or was overwritten by somebody who had seen it."},
    {"no-write-back", "What somebody had seen and wrote over, or removed, is nowhere any more."},
    {"alarms",
     "While all disks are whole no device notices equal vectors with unequal contents, one dot with two bodies, or a "
     "counter used twice."},
    {"no-request-lost", "What a device took on durably was answered, or is refused for a reason that is told."},
    {"agents-apart", "The journal holds nothing of what agents keep for themselves."},
    {"runs",
     "What should wake an agent does, once among devices that see each other; no run begins after its end or while the "
     "agent is paused, and each that began ends."},
    {"operations",
     "Each is one of its run's plan, is carried out once by a device, and has an effect if and only if it has an "
     "outcome; of several plans for a run one stands."},
    {"sagas", "Each ends, or is put aside for a person; what is undone is undone once."},
    {"ledger-rules",
     "Every ledger, decided again from its beginning, gives what was recorded; all copies are one log."},
    {"fences",
     "No epoch has two owners, nothing of an epoch that was over stands in the log, a log in etcd never has a gap, and "
     "who knows that an epoch is over neither decides nor takes anything more in it."},
    {"no-decision-lost",
     "What somebody was told is decided stands in the log, or was set aside and reported; etcd lets go of nothing that "
     "too few disks hold."},
    {"answers", "What clients were told is what stands in the ledger, in an order that fits who asked when."},
    {"linearizability", "One order of all operations, which real time allows, explains every answer."},
    // --- about the run itself
    {"determinism", "The same plan gives the same run, step by step."},
    {"assertion", "No assertion of the code that is simulated fails."},
    {"crash", "The code that is simulated does not crash."},
    {"hang", "A run ends."},
    {"scenario", "Every seed of a scenario draws options that can be simulated."},
};

}  // namespace

std::span<const CheckerInfo> checkers() { return kCheckers; }

std::string_view checkerPromise(std::string_view name) {
  for (const CheckerInfo& checker : kCheckers)
    if (checker.name == name) return checker.promise;
  return {};
}

}  // namespace witan::sim
