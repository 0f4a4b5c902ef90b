#include "replica/copy_pruning.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/mutant.h"
#include "kernel/record/entry.h"
#include "replica/copy_release.h"
#include "store/prefix_store.h"

namespace witan::node {

namespace {

constexpr std::int64_t kPruneLookMs = 60'000;    // as often as positions are told
constexpr std::int64_t kTryAgainMs = 3'600'000;  // where an open question keeps all: each look reads the log
constexpr std::int64_t kAskAgainMs = 10'000;     // another device, if the one that was asked says nothing
constexpr std::size_t kPastBytes = 1 << 20;      // of one answer; one batch goes whatever its size
constexpr std::size_t kMostPast = 4096;          // batches of one answer
constexpr std::int64_t kMicrosOfDay = 86'400'000'000;

store::PrefixStore rowsOf(const ReplicaState& state, std::string_view partition) {
  return {state.stores.ledgers, concat("p/", partition, "/")};
}

// It may be opened again: nothing is lost by that.
bool isStill(const PartitionHost& host) {
  return host.durableBatches() == host.ledger().batches() && host.showsLog() && host.waiting() == 0;
}

}  // namespace

bool CopyPruning::keepsAll(const PartitionHost& host) const {
  return state_.keepsAll || state_.placement.keepsWhole(state_.device(), host.id()) ||
         isOwners(state_, *ownership_, host);
}

std::uint64_t CopyPruning::keptElsewhere(const PartitionHost& host) {
  const auto& keepers = state_.placement.whole(host.id());
  std::uint64_t batches = keepers.size() < kLeastCopies ? 0 : host.durableBatches();
  for (const std::string& keeper : keepers) {
    Peer* const peer = state_.member(keeper);
    const PeerPartition link = peer == nullptr ? PeerPartition() : peer->partitions[host.id()];
    const bool keeps = link.keeps >= state_.placement.version() && link.first == 0 && !link.follower.diverged();
    batches = std::min(batches, keeps ? link.shares : 0);
  }
  return mutated("pruneAlone") ? host.durableBatches() : batches;
}

std::uint64_t CopyPruning::leastToGo(const PartitionHost& host) const {
  return host.firstEntry() - 1 + std::max<std::uint64_t>(state_.config.pruneEvery, 1);
}

bool CopyPruning::isDue(PartitionHost& host, const kernel::Retention& keep, Time now) const {
  const std::uint64_t last = leastToGo(host);
  if (last + std::max<std::uint64_t>(keep.entries, 1) > host.entries()) return false;
  if (keep.days == 0) return true;
  const auto bytes = host.ledger().entryBytes(last);
  const auto entry = bytes.ok() ? kernel::readEntry(*bytes) : Result<kernel::Entry>(bytes.error());
  return entry.ok() && entry->time.micros <= now.micros - static_cast<std::int64_t>(keep.days) * kMicrosOfDay;
}

Result<bool> CopyPruning::prune(PartitionHost& host, Now now) {
  const DomainRetention& of = *state_.placement.retention(host.id());
  const kernel::Retention keep{of.entries > 1 && mutated("pruneOneMore") ? of.entries - 1 : of.entries, of.days};
  if (!isStill(host) || state_.config.heads == nullptr || state_.partitions.stopped(host.id()) ||
      state_.partitions.refused(host.id()) != nullptr || !isDue(host, keep, now.wall))
    return false;
  const std::uint64_t elsewhere = keptElsewhere(host);
  std::int64_t& notBefore = notBeforeMs_[host.id()];
  if (elsewhere <= host.ledger().batchOf(leastToGo(host)) || now.ms < notBefore) return false;
  store::PrefixStore rows = rowsOf(state_, host.id());
  WITAN_TRY(report, kernel::pruneLog(rows, host.module(), state_.config.heads->key(), keep, now.wall,
                                     {.ofCluster = true, .batches = elsewhere}));
  notBefore = report.pruned == report.before ? now.ms + kTryAgainMs : 0;
  if (report.pruned == report.before) return false;
  ++state_.counters.copiesPruned;
  state_.notice("pruned", host.id(), concat("entries 1 to ", report.pruned, " of ", report.entries));
  return true;
}

Result<bool> CopyPruning::fetch(PartitionHost& host, Now now) {
  const auto [at, begun] = fetches_.try_emplace(host.id());
  Fetch& fetch = at->second;
  store::PrefixStore rows = rowsOf(state_, host.id());
  if (begun) WITAN_SET(fetch.next, kernel::firstMissing(rows, host.first()));
  if (fetch.next == host.first()) {
    if (!isStill(host)) return false;
    WITAN_DO(kernel::makeWhole(rows));
    fetches_.erase(at);
    state_.notice("wholeAgain", host.id(), concat("all ", host.ledger().batches(), " batches"));
    return true;
  }
  if (fetch.askedMs != 0 && now.ms < fetch.askedMs + kAskAgainMs && state_.member(fetch.from) != nullptr) return false;
  std::vector<Peer*> can;
  for (auto& [name, peer] : state_.peers) {
    const auto link = peer.partitions.find(host.id());
    if (peer.full() && peer.keeper && link != peer.partitions.end() && link->second.follower.known() &&
        !link->second.follower.diverged() && link->second.first <= fetch.next &&
        link->second.follower.batches() >= host.first())
      can.push_back(&peer);
  }
  if (can.empty() || mutated("neverFetch")) return false;
  const auto next = std::ranges::find_if(can, [&](const Peer* peer) { return peer->device > fetch.from; });
  Peer& peer = next == can.end() ? *can.front() : **next;
  fetch.from = peer.device, fetch.askedMs = std::max<std::int64_t>(now.ms, 1);
  state_.say(peer, AskPast{host.id(), fetch.next, host.first()});
  return false;
}

Result<std::vector<std::string>> CopyPruning::round(Now now) {
  std::vector<std::string> changed;
  asked_.answerEach(state_, [this](Peer& peer, const AskPast& asked) { answer(peer, asked); });
  if (now.ms < nextMs_) return changed;
  nextMs_ = std::numeric_limits<std::int64_t>::max();
  std::erase_if(fetches_, [&](const auto& one) {
    const PartitionHost* host = state_.partitions.find(one.first);
    return host == nullptr || host->first() == 0 || !keepsAll(*host);
  });
  for (const auto& [id, host] : state_.partitions.hosts()) {
    const bool whole = keepsAll(*host);
    if (whole && host->first() == 0 && state_.placement.retention(id) == nullptr) continue;
    nextMs_ = std::min(nextMs_, now.ms + (whole && host->first() > 0 ? kAskAgainMs : kPruneLookMs));
    if (!changed.empty() || !state_.partitions.usable(id) || (whole && host->first() == 0)) continue;
    WITAN_TRY(other, whole ? fetch(*host, now) : prune(*host, now));
    if (other) changed.push_back(id);
  }
  if (!changed.empty()) nextMs_ = now.ms;
  return changed;
}

void CopyPruning::onAsked(const Peer& peer, AskPast asked) {
  if (peer.keeper && state_.partitions.find(asked.partition) != nullptr) asked_.take(peer.device, std::move(asked));
}

void CopyPruning::answer(Peer& peer, const AskPast& asked) {
  PartitionHost* const mine = state_.partitions.find(asked.partition);
  if (mine == nullptr || !state_.partitions.usable(mine->id()) || asked.from < mine->first()) return;
  Past past{mine->id(), asked.from, {}};
  std::size_t bytes = 0;
  const std::uint64_t end = std::min(asked.to, mine->durableBatches());
  for (std::uint64_t n = asked.from; n < end && past.batches.size() < kMostPast; ++n) {
    const auto value = mine->ledger().batch(n);
    if (!value.ok()) return;  // the store fails: drain() meets it too
    bytes += value->size();
    if (!past.batches.empty() && bytes > kPastBytes) break;  // one alone may be as large as a frame
    past.batches.push_back({{value->begin(), value->end()}, state_.seals.find(mine->id(), n)});
  }
  if (!past.batches.empty()) state_.say(peer, past);
}

Status CopyPruning::checkPast(const PartitionHost& host, std::uint64_t number, std::string_view value) const {
  const auto before = host.chain().after(number), after = host.chain().after(number + 1);
  if (!before || !after) return unavailable(concat("the digest of batch ", number, " is not here"));
  if (value.size() < kernel::kBatchHeader || chained(*before, value) != *after)
    return invalid(concat("batch ", number, " is not the one that was pruned"));
  const store::PrefixStore rows = rowsOf(state_, host.id());
  std::uint64_t seq = host.ledger().firstSeqOf(number);
  WITAN_TRY(info, kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
              if (record.kind != kernel::RecordKind::entry) return okStatus();
              if (seq >= host.firstEntry()) return invalid("an entry too many");
              WITAN_TRY(leaf, kernel::prunedLeaf(rows, seq++));
              return leaf == record.leaf ? okStatus() : invalid(concat("entry ", seq - 1, " has another hash"));
            }));
  return info.torn ? invalid(concat("batch ", number, " is cut short")) : okStatus();
}

void CopyPruning::onPast(const std::string& from, Peer& peer, const Past& past) {
  const auto at = fetches_.find(past.partition);
  PartitionHost* const mine = state_.partitions.find(past.partition);
  if (at == fetches_.end() || mine == nullptr || !state_.partitions.usable(mine->id())) return;
  Fetch& fetch = at->second;
  if (fetch.askedMs == 0 || fetch.from != from || past.from != fetch.next) return;  // late, or never asked
  if (past.batches.size() > mine->first() - fetch.next)
    return state_.cutOff(from, peer, invalid("more batches than were asked for"));
  store::WriteBatch rows;
  for (const PastBatch& one : past.batches) {
    const Status good = checkPast(*mine, fetch.next, asView(one.value));
    if (!good.ok()) {
      ++state_.counters.pastRefused;
      state_.local->note({"badEntries", from, concat(mine->id(), ": ", good.error().message)});
      fetch.askedMs = 0;  // the next one is asked
      break;
    }
    rows.put(kernel::batchKey(fetch.next++), asView(one.value));
  }
  store::PrefixStore(state_.stores.ledgers, concat("p/", mine->id(), "/")).append(rows, state_.writes.copies());
  if (fetch.askedMs != 0) fetch.askedMs = 0, fetch.from.clear();
  hurry();
}

}  // namespace witan::node
