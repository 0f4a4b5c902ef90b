#include "replica/ownership/etcd_engine.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/mutant.h"

namespace witan::node {

namespace {

constexpr std::int64_t kHeldMs = 10'000;
constexpr std::int64_t kAgainMs = 500;  // after something did not work out
constexpr std::int64_t kLookMs = 50;
constexpr std::int64_t kGapMs = 2'000;     // until etcd is asked again for what peers must give
constexpr std::int64_t kSpreadMs = 1'000;  // devices try for a free partition within so long, not all at once
constexpr std::size_t kReadBatches = 8;    // a batch has 1 MiB or so: an answer must fit in memory
constexpr std::size_t kOpsPerTxn = 100;    // etcd takes 128
constexpr std::size_t kSharers = 32;       // batches of one transaction: three comparisons and two look-ups each
constexpr std::size_t kSharedBytes = 256 * 1024;
constexpr std::uint64_t kTrimAtOnce = 16;

std::string padded(std::uint64_t n) {
  std::string hex(16, '0');
  for (std::size_t i = 16; n > 0; n >>= 4) hex[--i] = "0123456789abcdef"[n & 15];
  return hex;
}

std::uint64_t numberOf(std::string_view text, int base) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

EtcdOp rangeOp(std::string key, std::string end = {}, std::size_t limit = 0) {
  return {EtcdAct::range, {std::move(key), std::move(end)}, "", 0, limit};
}
EtcdOp putOp(std::string key, std::string value, std::uint64_t lease = 0) {
  return {EtcdAct::put, {std::move(key), ""}, std::move(value), lease, 0};
}

const EtcdKeyValue* firstOf(const EtcdAnswer& answer, std::size_t result) {
  return answer.results.size() > result && !answer.results[result].empty() ? &answer.results[result].front() : nullptr;
}

}  // namespace

EtcdEngine::EtcdEngine(EtcdOptions options, std::string cluster, std::string owner, std::string device,
                       const std::vector<std::string>& partitions, EtcdCopies& copies)
    : options_(options),
      cluster_("witan/" + std::move(cluster)),
      owner_(std::move(owner)),
      device_(std::move(device)),
      copies_(copies) {
  for (const std::string& id : partitions) partitions_[id];
}

std::string EtcdEngine::logKey(const std::string& partition, std::uint64_t n) const {
  return cluster_ + "/log/" + partition + "/" + padded(n);
}

// How long this device lets others go first: the same for it always, different from device to device.
std::int64_t EtcdEngine::patience(const std::string& partition) const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : device_ + "|" + partition) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return static_cast<std::int64_t>((hash >> 32) % kSpreadMs);
}

// --- asking

std::uint64_t EtcdEngine::ask(Purpose purpose, const std::string& partition, EtcdRequest request, std::int64_t nowMs) {
  request.id = nextId_++;
  Asked& asked = asked_[request.id];
  asked = {purpose, partition, nowMs + options_.answerMs, 0, request.id, {}};
  if (const auto at = partitions_.find(partition); at != partitions_.end()) asked.token = at->second.token;
  out_.push_back(std::move(request));
  return out_.back().id;
}

bool EtcdEngine::asking(Purpose purpose, std::string_view partition) const {
  return std::any_of(asked_.begin(), asked_.end(), [&](const auto& entry) {
    return entry.second.purpose == purpose && entry.second.partition == partition;
  });
}

std::vector<EtcdRequest> EtcdEngine::take(std::int64_t nowMs) {
  sendCommits(nowMs);
  return std::exchange(out_, {});
}

// --- the connection

void EtcdEngine::connected(std::int64_t nowMs) {
  disconnected();
  ++counters_.connections;
  connected_ = true;
  heardMs_ = nowMs;
  advanceAll(nowMs);
}

// What was asked may have been done or not, and may be done later.
void EtcdEngine::disconnected() {
  connected_ = watching_ = false;
  asked_.clear();
  out_.clear();
  watch_ = 0;
  for (auto& [id, partition] : partitions_) {
    if (partition.stage == Stage::campaigning) partition.stage = Stage::following;
    for (Commit& commit : partition.commits) commit.asked = 0;
  }
}

void EtcdEngine::sync(std::int64_t nowMs) {
  EtcdRequest request;
  for (const std::string_view kind : {"/owner/", "/trim/", "/held/"}) {
    const std::string prefix = cluster_ + std::string(kind);
    request.then.push_back(rangeOp(prefix, etcdPrefixEnd(prefix)));
  }
  watching_ = false;
  ask(Purpose::sync, {}, std::move(request), nowMs);
}

void EtcdEngine::onSync(const EtcdAnswer& answer, std::int64_t nowMs) {
  if (answer.error != EtcdError::none || answer.results.size() != 3) return;
  std::map<std::string_view, const EtcdKeyValue*> held;
  for (const EtcdKeyValue& key : answer.results[0]) held[key.key] = &key;
  for (auto& [id, partition] : partitions_) {
    const auto at = held.find(ownerKey(id));
    onHolder(id, partition, at == held.end() ? nullptr : at->second, answer.revision, nowMs);
    partition.behind = true;
    partition.held.clear();
  }
  for (std::size_t n : {1u, 2u})
    for (const EtcdKeyValue& key : answer.results[n]) onKey(key, false, answer.revision, nowMs);
  EtcdRequest request;
  request.call = EtcdCall::watch;
  request.keys = {cluster_ + "/", etcdPrefixEnd(cluster_ + "/")};
  request.from = answer.revision + 1;
  watch_ = ask(Purpose::watch, {}, std::move(request), nowMs);
  watching_ = true;
  heldMs_ = nowMs;
}

// --- events

void EtcdEngine::received(const EtcdAnswer& answer, std::int64_t nowMs) {
  const auto at = asked_.find(answer.id);
  if (at == asked_.end()) return;  // too late: it has been asked again
  if (answer.error != EtcdError::unavailable) heardMs_ = nowMs;
  if (answer.id == watch_) {
    onChanges(answer, nowMs);
    return advanceAll(nowMs);
  }
  const Asked asked = at->second;
  asked_.erase(at);
  const auto found = partitions_.find(asked.partition);
  if (answer.error == EtcdError::unavailable) {
    againMs_ = nowMs + kAgainMs;
    onUnanswered(asked, nowMs);
    return setTimer(nowMs);
  }
  switch (asked.purpose) {
    case Purpose::sync: onSync(answer, nowMs); break;
    case Purpose::grant:
      lease_ = answer.lease;
      keepAliveMs_ = nowMs + options_.ttlMs / 3;
      break;
    case Purpose::keepAlive:
      keepAliveMs_ = nowMs + options_.ttlMs / 3;
      if (answer.error != EtcdError::none) ++counters_.leasesLost, lease_ = 0;
      break;
    case Purpose::campaign: onCampaign(found->first, found->second, answer, nowMs); break;
    case Purpose::read: onRead(found->first, found->second, answer, asked.token, nowMs); break;
    case Purpose::commit: onCommit(asked, answer, nowMs); break;
    case Purpose::trim:
      if (answer.succeeded) ++counters_.trims;
      break;
    default: break;
  }
  advanceAll(nowMs);
}

void EtcdEngine::tick(std::int64_t nowMs) {
  if (nowMs < nextMs_) return;
  std::vector<Asked> late;
  std::erase_if(asked_, [&](const auto& entry) {
    const bool isLate = entry.first != watch_ && entry.second.byMs <= nowMs;
    if (isLate) late.push_back(entry.second);
    return isLate;
  });
  for (const Asked& asked : late) onUnanswered(asked, nowMs);
  advanceAll(nowMs);
}

void EtcdEngine::onUnanswered(const Asked& asked, std::int64_t nowMs) {
  const auto at = partitions_.find(asked.partition);
  if (asked.purpose == Purpose::held)
    for (auto& [id, partition] : partitions_) partition.held.erase(device_);
  if (asked.purpose == Purpose::commit) return onSilence(asked, nowMs);
  if (at == partitions_.end()) return;
  Partition& partition = at->second;
  if (asked.purpose == Purpose::campaign && partition.stage == Stage::campaigning) {
    partition.stage = Stage::following;  // if it was done, the watch says so
    partition.notBeforeMs = nowMs + kAgainMs;
  }
}

// Batches that are in the log or not, or will be: the same transaction again tells.
void EtcdEngine::onSilence(const Asked& asked, std::int64_t nowMs) {
  for (const std::string& id : asked.commit) {
    Partition& partition = partitions_.find(id)->second;
    for (std::size_t i = 0; i < partition.commits.size(); ++i) {
      if (partition.commits[i].asked != asked.id) continue;
      ++counters_.askedAgain;
      partition.commits[i].asked = 0;
      if (mutated("trustUnknown")) onHeld(partition, i);
    }
    settle(id, partition, nowMs);
  }
}

void EtcdEngine::setTimer(std::int64_t nowMs) {
  nextMs_ = nowMs + kHeldMs;
  const auto notAfter = [&](std::int64_t ms) { nextMs_ = std::min(nextMs_, std::max({ms, againMs_, nowMs + 1})); };
  for (const auto& [id, asked] : asked_)
    if (id != watch_) notAfter(asked.byMs);
  if (!connected_) return;
  if (!watching_ && !asking(Purpose::sync)) notAfter(nowMs);
  if (!asking(Purpose::grant)) notAfter(lease_ == 0 ? nowMs : keepAliveMs_);
  if (!watching_) return;
  notAfter(heldMs_);
  for (const auto& [id, partition] : partitions_)
    if (waits(id, partition)) notAfter(std::max(partition.notBeforeMs, nowMs + kLookMs));
}

std::int64_t EtcdEngine::nextTickMs() const { return nextMs_; }

// For its time to come; what it waits to be answered has times of its own.
bool EtcdEngine::waits(const std::string& id, const Partition& partition) const {
  if (!partition.commits.empty()) return nextToSend(partition) < partition.commits.size();
  if (partition.behind && partition.stage <= Stage::recovering) return !asking(Purpose::read, id);
  if (partition.stage != Stage::following) return false;
  return partition.holder.empty() ? lease_ != 0 : partition.holder == owner_ && !asking(Purpose::release, id);
}

void EtcdEngine::advanceAll(std::int64_t nowMs) {
  if (nowMs < againMs_) return setTimer(nowMs);
  if (connected_ && !watching_ && !asking(Purpose::sync)) sync(nowMs);
  if (connected_ && lease_ == 0 && !asking(Purpose::grant)) {
    EtcdRequest request;
    request.call = EtcdCall::grant;
    request.ttlMs = options_.ttlMs;
    ask(Purpose::grant, {}, std::move(request), nowMs);
  }
  if (connected_ && lease_ != 0 && nowMs >= keepAliveMs_ && !asking(Purpose::keepAlive)) {
    EtcdRequest request;
    request.call = EtcdCall::keepAlive;
    request.lease = lease_;
    ask(Purpose::keepAlive, {}, std::move(request), nowMs);
    keepAliveMs_ = nowMs + options_.ttlMs / 3;
  }
  for (auto& [id, partition] : partitions_) advance(id, partition, nowMs);
  if (watching_ && nowMs >= heldMs_) report(nowMs);
  setTimer(nowMs);
}

// What a partition wants next.
void EtcdEngine::advance(const std::string& id, Partition& partition, std::int64_t nowMs) {
  if (!watching_ || nowMs < partition.notBeforeMs) return;
  if (!partition.commits.empty()) return;  // take() sends them
  if (partition.behind && partition.stage <= Stage::recovering) {
    if (!asking(Purpose::read, id)) read(id, nowMs);
    return;
  }
  if (partition.stage != Stage::following) return;
  if (partition.holder.empty()) return campaign(id, partition, nowMs);
  if (partition.holder != owner_) return;
  // A campaign whose answer was lost. Under a spent token something that was discarded may yet come to etcd.
  if (lease_ != 0 && partition.holderLease == lease_ && partition.holderCreated != partition.spent) {
    partition.token = partition.holderCreated;
    partition.stage = Stage::recovering;
    partition.behind = true;
    return read(id, nowMs);
  }
  giveBack(id, partition.holderCreated, nowMs);  // what a former life of this device held
}

// --- owners

void EtcdEngine::onHolder(const std::string& id, Partition& partition, const EtcdKeyValue* key, std::uint64_t revision,
                          std::int64_t nowMs) {
  if (revision <= partition.holderAt) return;  // older than what is known
  const bool wasFree = partition.holder.empty();
  partition.holderAt = revision;
  partition.holder = key == nullptr ? std::string() : key->value;
  partition.holderCreated = key == nullptr ? 0 : key->created;
  partition.holderLease = key == nullptr ? 0 : key->lease;
  if (key == nullptr && !wasFree && partition.commits.empty()) partition.notBeforeMs = nowMs + patience(id);
  if (partition.stage < Stage::recovering || partition.holderCreated == partition.token) return;
  if (!partition.commits.empty())
    partition.gone = true;  // which batches are in the log is another question
  else
    lose(id, partition, false, nowMs);
}

void EtcdEngine::campaign(const std::string& id, Partition& partition, std::int64_t nowMs) {
  if (lease_ == 0) return;
  EtcdRequest request;
  request.compares = {{ownerKey(id), 0}};
  request.then = {putOp(ownerKey(id), owner_, lease_)};
  request.otherwise = {rangeOp(ownerKey(id))};
  partition.stage = Stage::campaigning;
  ask(Purpose::campaign, id, std::move(request), nowMs);
}

void EtcdEngine::onCampaign(const std::string& id, Partition& partition, const EtcdAnswer& answer, std::int64_t nowMs) {
  if (partition.stage != Stage::campaigning) return;
  partition.stage = Stage::following;
  if (answer.error == EtcdError::noLease) {
    ++counters_.leasesLost;
    lease_ = 0;
    return;
  }
  if (!answer.succeeded) return onHolder(id, partition, firstOf(answer, 0), answer.revision, nowMs);
  partition.token = partition.holderCreated = partition.holderAt = answer.revision;
  partition.holder = owner_;
  partition.holderLease = lease_;
  partition.stage = Stage::recovering;
  partition.behind = true;
}

void EtcdEngine::giveBack(const std::string& id, std::uint64_t created, std::int64_t nowMs) {
  if (asking(Purpose::release, id)) return;
  EtcdRequest request;
  request.compares = {{ownerKey(id), created}};
  request.then = {{EtcdAct::remove, {ownerKey(id), ""}, "", 0, 0}};
  ask(Purpose::release, id, std::move(request), nowMs);
}

bool EtcdEngine::serves(std::string_view partition) const {
  const auto at = partitions_.find(partition);
  return at != partitions_.end() && at->second.stage == Stage::serving && !at->second.gone && at->second.tooLarge == 0;
}

// --- the log

void EtcdEngine::read(const std::string& id, std::int64_t nowMs) {
  EtcdRequest request;
  const std::string log = cluster_ + "/log/" + id + "/";
  request.then = {rangeOp(trimKey(id)), rangeOp(logKey(id, copies_.batches(id)), etcdPrefixEnd(log), kReadBatches)};
  ask(Purpose::read, id, std::move(request), nowMs);
}

void EtcdEngine::onRead(const std::string& id, Partition& partition, const EtcdAnswer& answer, std::uint64_t token,
                        std::int64_t nowMs) {
  if (answer.error != EtcdError::none || answer.results.size() != 2) return;
  if (const EtcdKeyValue* mark = firstOf(answer, 0)) partition.trimmed = numberOf(mark->value, 10);
  const std::vector<EtcdKeyValue>& batches = answer.results[1];
  for (const EtcdKeyValue& batch : batches)
    onBatch(id, partition, numberOf(std::string_view(batch.key).substr(batch.key.size() - 16), 16), batch.value, nowMs);
  const std::uint64_t have = copies_.batches(id);
  partition.behind = batches.size() == kReadBatches || partition.seen > have || partition.trimmed > have;
  if (partition.trimmed > have) {
    ++counters_.gaps;
    partition.notBeforeMs = nowMs + kGapMs;
    if (partition.stage == Stage::recovering) {  // others can serve it, this device can not
      partition.stage = Stage::following;
      giveBack(id, partition.token, nowMs);
    }
    return;
  }
  if (partition.stage != Stage::recovering) return;
  if (token != partition.token || partition.behind || !batches.empty()) {
    partition.behind = true;  // until nothing comes any more
    return;
  }
  partition.stage = Stage::beginning;
  copies_.onGranted(id);
}

void EtcdEngine::onBatch(const std::string& id, Partition& partition, std::uint64_t n, const std::string& value,
                         std::int64_t nowMs) {
  partition.seen = std::max(partition.seen, n + 1);
  if (partition.stage >= Stage::beginning) return;
  if (n == copies_.batches(id)) {
    if (copies_.follow(id, value))
      ++counters_.batchesRead;
    else
      partition.notBeforeMs = nowMs + kAgainMs;
  }
  partition.behind = partition.behind || partition.seen > copies_.batches(id);
}

bool EtcdEngine::needsPeers(std::string_view id) const {
  const auto at = partitions_.find(id);
  return !watching_ || (at != partitions_.end() && at->second.trimmed > copies_.batches(at->first));
}

// --- commits

void EtcdEngine::commit(const std::string& id, std::uint64_t n, std::string value, std::int64_t nowMs) {
  Partition& partition = partitions_.find(id)->second;
  WITAN_CHECK(partition.stage == Stage::serving || (partition.stage == Stage::beginning && partition.commits.empty()),
              "a commit of the owner; its epoch begins with one alone");
  if (partition.commits.empty()) partition.notBeforeMs = nowMs;
  partition.commits.push_back({n, std::move(value)});
  setTimer(nowMs);
}

std::size_t EtcdEngine::committing(std::string_view id) const {
  const auto at = partitions_.find(id);
  return at == partitions_.end() ? 0 : at->second.commits.size();
}

std::size_t EtcdEngine::transactions() const {
  return static_cast<std::size_t>(std::count_if(
      asked_.begin(), asked_.end(), [](const auto& entry) { return entry.second.purpose == Purpose::commit; }));
}

// Which commit is to be sent; their number: none. Behind one that waits for its predecessor all wait.
std::size_t EtcdEngine::nextToSend(const Partition& partition) {
  const std::deque<Commit>& commits = partition.commits;
  for (std::size_t i = 0; i < commits.size(); ++i) {
    if (commits[i].asked != 0 || commits[i].there) continue;
    return commits[i].refused && i > 0 ? commits.size() : i;
  }
  return commits.size();
}

// The first's predecessor is known to be there; etcd may have let go of it by now.
void EtcdEngine::addCommit(const std::string& id, const Partition& partition, const Commit& commit,
                           EtcdRequest& request) const {
  const std::string key = logKey(id, commit.n);
  request.otherwise.push_back(rangeOp(ownerKey(id)));
  request.otherwise.push_back(rangeOp(key));
  if (!commit.value.empty()) request.then.push_back(putOp(key, commit.value));
  if (mutated("noEtcdCompare")) return;
  request.compares.push_back({ownerKey(id), partition.token});
  if (commit.value.empty()) return;
  request.compares.push_back({key, 0});
  if (&commit != &partition.commits.front() && !mutated("noPredecessor"))
    request.compares.push_back({logKey(id, commit.n - 1), 0, true});
}

// Each transaction takes the next batch of every partition that has one, within bounds.
void EtcdEngine::sendCommits(std::int64_t nowMs) {
  if (!watching_ || nowMs < againMs_) return;
  for (bool more = true; more;) {
    more = false;
    EtcdRequest request;
    std::vector<std::string> sharers;
    std::vector<Commit*> sent;
    std::size_t bytes = 0;
    for (auto& [id, partition] : partitions_) {
      const std::size_t next = nowMs < partition.notBeforeMs ? partition.commits.size() : nextToSend(partition);
      if (next == partition.commits.size()) continue;
      Commit* const commit = &partition.commits[next];
      more = true;
      const bool full = sharers.size() == kSharers || bytes + commit->value.size() > kSharedBytes || commit->alone;
      if (!sharers.empty() && full) continue;
      addCommit(id, partition, *commit, request);
      sharers.push_back(id);
      sent.push_back(commit);
      bytes += commit->alone ? kSharedBytes : commit->value.size();
    }
    if (!more) break;
    const std::uint64_t asked = ask(Purpose::commit, {}, std::move(request), nowMs);
    for (Commit* commit : sent) commit->asked = asked;
    asked_[asked].commit = std::move(sharers);
  }
  setTimer(nowMs);
}

void EtcdEngine::onCommit(const Asked& asked, const EtcdAnswer& answer, std::int64_t nowMs) {
  for (std::size_t k = 0; k < asked.commit.size(); ++k) {
    const std::string& id = asked.commit[k];
    Partition& partition = partitions_.find(id)->second;
    std::size_t which = 0;
    while (which < partition.commits.size() && partition.commits[which].asked != asked.id) ++which;
    if (which == partition.commits.size()) continue;  // the partition was lost meanwhile
    partition.commits[which].asked = 0;
    bool lost = false;
    if (answer.error == EtcdError::tooLarge)
      tooLarge(partition, which, asked.commit.size() > 1);
    else if (answer.error == EtcdError::none && answer.succeeded)
      onHeld(partition, which);
    else if (answer.error == EtcdError::none)
      lost = onNotHeld(partition, which, firstOf(answer, 2 * k), firstOf(answer, 2 * k + 1));
    if (lost) lose(id, partition, true, nowMs);
    settle(id, partition, nowMs);
  }
}

// In the log; and so are those before it, for its predecessor was there. (What wrote nothing is before it too: the
// token was this device's when the batch was put, so it was when that was asked.)
void EtcdEngine::onHeld(Partition& partition, std::size_t upTo) {
  const std::size_t from = partition.commits[upTo].value.empty() ? upTo : 0;
  for (std::size_t i = from; i <= upTo; ++i) partition.commits[i].there = true;
}

// The transaction did not hold, perhaps because of another partition's batch. True: this batch, which is the first, is
// not in the log and never will be: the token of a key that is gone never comes back, and another batch n stays.
bool EtcdEngine::onNotHeld(Partition& partition, std::size_t which, const EtcdKeyValue* owner,
                           const EtcdKeyValue* batch) {
  Commit& commit = partition.commits[which];
  if (owner == nullptr || owner->created != partition.token) partition.gone = true;
  // An earlier try may have done it: the batch is there, and only its owner puts a batch.
  if (batch != nullptr && !commit.value.empty() && batch->value == commit.value) {
    ++counters_.foundCommitted;
    onHeld(partition, which);
    return false;
  }
  if (which == 0) return partition.gone || (batch != nullptr && !commit.value.empty());
  if (batch == nullptr && !commit.value.empty() && !partition.gone) ++counters_.outOfOrder;
  commit.refused = true;
  if (mutated("passOver")) onHeld(partition, which);
  return false;
}

void EtcdEngine::tooLarge(Partition& partition, std::size_t which, bool shared) {
  if (shared || partition.commits[which].value.empty()) {
    partition.commits[which].alone = true;
    return;
  }
  const std::size_t bytes = partition.commits[which].value.size();
  ++counters_.tooLarge;
  if (which + 1 < partition.commits.size()) partition.spent = partition.token;  // those behind it may be under way
  partition.commits.erase(partition.commits.begin() + static_cast<std::ptrdiff_t>(which), partition.commits.end());
  partition.tooLarge = bytes;  // told when those before it are known to be there
}

void EtcdEngine::settle(const std::string& id, Partition& partition, std::int64_t nowMs) {
  while (!partition.commits.empty() && partition.commits.front().there) done(id, partition);
  if (!partition.commits.empty()) return;
  const std::size_t bytes = std::exchange(partition.tooLarge, 0);
  if (partition.gone || (bytes > 0 && partition.stage == Stage::beginning))
    return lose(id, partition, bytes > 0, nowMs);
  if (bytes == 0) return;
  copies_.onTooLarge(id, bytes);
  if (partition.spent == partition.token) lose(id, partition, true, nowMs);
}

void EtcdEngine::done(const std::string& id, Partition& partition) {
  const Commit& commit = partition.commits.front();
  if (!commit.value.empty()) partition.seen = std::max(partition.seen, commit.n + 1);
  partition.commits.pop_front();
  if (partition.stage == Stage::beginning) {
    partition.stage = Stage::serving;
    ++counters_.granted;
  }
  copies_.onCommitted(id);
}

void EtcdEngine::lose(const std::string& id, Partition& partition, bool discard, std::int64_t nowMs) {
  const bool wasOwner = partition.stage >= Stage::beginning;
  if (discard) {
    counters_.discarded += partition.commits.size();
    partition.spent = partition.token;
  }
  partition.stage = Stage::following;
  partition.commits.clear();
  partition.gone = false;
  partition.tooLarge = 0;
  partition.token = 0;
  partition.behind = true;
  partition.notBeforeMs = nowMs + patience(id);
  if (!wasOwner) return;
  ++counters_.lost;
  copies_.onLost(id, discard);
}

// --- what others do

void EtcdEngine::onChanges(const EtcdAnswer& answer, std::int64_t nowMs) {
  if (answer.error != EtcdError::none) {  // compacted away: from the beginning
    ++counters_.compacted;
    asked_.erase(watch_);
    watch_ = 0;
    watching_ = false;
    return;
  }
  for (const EtcdChange& change : answer.changes) onKey(change.at, change.removed, change.at.modified, nowMs);
}

void EtcdEngine::onKey(const EtcdKeyValue& at, bool removed, std::uint64_t revision, std::int64_t nowMs) {
  std::string_view rest = at.key;
  if (!rest.starts_with(cluster_ + "/")) return;
  rest.remove_prefix(cluster_.size() + 1);
  const std::string_view kind = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(rest.size(), kind.size() + 1));
  const auto domainEnd = rest.find('/');
  const auto end = domainEnd == std::string_view::npos ? domainEnd : rest.find('/', domainEnd + 1);
  const auto found = partitions_.find(rest.substr(0, end));
  if (found == partitions_.end()) return;
  Partition& partition = found->second;
  const std::string_view last = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  if (kind == "owner") return onHolder(found->first, partition, removed ? nullptr : &at, revision, nowMs);
  if (removed) return;
  if (kind == "trim") partition.trimmed = std::max(partition.trimmed, numberOf(at.value, 10));
  if (kind == "held") partition.held[std::string(last)] = numberOf(at.value, 10);
  if (kind == "log") onBatch(found->first, partition, numberOf(last, 16), at.value, nowMs);
}

// Says what this device has on its disk, and lets go of what enough devices have.
void EtcdEngine::report(std::int64_t nowMs) {
  heldMs_ = nowMs + kHeldMs;
  EtcdRequest request;
  for (auto& [id, partition] : partitions_) {
    const std::uint64_t durable = copies_.durableBatches(id);
    const auto known = partition.held.find(device_);
    if (known == partition.held.end() ? durable > 0 : known->second != durable) {
      partition.held[device_] = durable;
      request.then.push_back(putOp(cluster_ + "/held/" + id + "/" + device_, std::to_string(durable)));
    }
    if (request.then.size() == kOpsPerTxn) ask(Purpose::held, {}, std::exchange(request, {}), nowMs);
    if (partition.stage == Stage::serving && !asking(Purpose::trim, id)) trim(id, partition, nowMs);
  }
  if (!request.then.empty()) ask(Purpose::held, {}, std::move(request), nowMs);
}

void EtcdEngine::trim(const std::string& id, Partition& partition, std::int64_t nowMs) {
  std::vector<std::uint64_t> held;
  for (const auto& [device, batches] : partition.held) held.push_back(batches);
  const std::uint64_t mine = copies_.durableBatches(id);
  if (held.size() < options_.copies || mine <= options_.keepBatches) return;
  std::sort(held.rbegin(), held.rend());
  const std::uint64_t enough = held[mutated("letGoEarly") ? 0 : options_.copies - 1];
  const std::uint64_t keep = mine - options_.keepBatches;
  const std::uint64_t until = mutated("trimTooFar") ? std::max(enough, keep) : std::min(enough, keep);
  if (until < partition.trimmed + kTrimAtOnce) return;
  EtcdRequest request;
  request.compares = {{ownerKey(id), partition.token}};
  request.then = {putOp(trimKey(id), std::to_string(until)),
                  {EtcdAct::remove, {logKey(id, 0), logKey(id, until)}, "", 0, 0}};
  ask(Purpose::trim, id, std::move(request), nowMs);
}

bool EtcdEngine::quiet() const {
  if (!watching_) return false;
  return std::all_of(partitions_.begin(), partitions_.end(), [](const auto& entry) {
    const Partition& p = entry.second;
    return p.commits.empty() &&
           (p.stage == Stage::serving || (p.stage == Stage::following && !p.behind && !p.holder.empty()));
  });
}

}  // namespace witan::node
