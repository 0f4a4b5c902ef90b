#include "replica/log_divergence.h"

#include "base/mutant.h"

namespace witan::node {

void LogDivergence::onFork(const std::string& from, const PartitionHost& host, FollowerProgress& follower) {
  if (mutated("ignoreFork")) return;
  if (host.epoch().owner == state_.ownerName) stopDeciding(host);
  if (!follower.diverge()) return;
  ++state_.counters.forks;
  state_.local->note({"fork", from, host.id() + ": another log of epoch " + std::to_string(host.epoch().number)});
  state_.notice("fork", host.id(), from);
}

void LogDivergence::onRolledBack(const std::string& from, const PartitionHost& host, std::uint64_t theirBatches) {
  if (mutated("goOnBehind")) return;
  ++state_.counters.wentBack;
  stopDeciding(host);
  state_.local->note({"wentBack", from,
                      host.id() + ": " + from + " has " + std::to_string(theirBatches) +
                          " batches of this device's own epoch, here are " + std::to_string(host.ledger().batches())});
  state_.notice("wentBack", host.id(), from);
}

void LogDivergence::stopDeciding(const PartitionHost& host) {
  if (state_.partitions.stopDeciding(host, state_.writes.pending())) state_.followDirty = true;
}

void LogDivergence::truncate(const std::string& from, PartitionHost& host, std::uint64_t keep) {
  auto surplus = host.truncateDivergent(keep, state_.writes.pending());
  if (!surplus) {
    state_.local->note({"surplus", from, host.id() + ": " + surplus.error().message});
    return;
  }
  state_.counters.surplusEntries += surplus->entries;
  const bool mine = host.epoch().owner == state_.ownerName;
  if (surplus->entries > 0 && !mutated("dropSurplusSilently")) {
    std::string what = host.id() + ": " + std::to_string(surplus->entries) + " entries of epoch " +
                       std::to_string(host.epoch().number) + " of " + host.epoch().owner +
                       (mine ? ", which this device decided," : "") +
                       " are not in the log of the epoch after it; they are kept aside:";
    for (const std::string& operation : surplus->operations) what += " " + operation;
    if (surplus->operations.size() < surplus->entries) what += " ...";
    state_.local->note({"surplus", from, what});
    state_.notice("surplus", host.id(), what);
  }
  state_.partitions.permitDeciding(host.id(), state_.writes.pending());
}

}  // namespace witan::node
