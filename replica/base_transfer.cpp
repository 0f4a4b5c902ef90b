#include "replica/base_transfer.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mutant.h"
#include "kernel/ledger/pruned_log.h"
#include "kernel/ledger/snapshot.h"
#include "replica/core/log_head.h"
#include "replica/core/owner_proofs.h"
#include "replication/space_rows.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::string_view kBegunRows = "n/";       // + partition + "/": what a copy that begins has so far
constexpr std::int64_t kChooseMs = 3'000;           // for peers to say what they have
constexpr std::int64_t kQuestionMs = 10'000;        // then it is asked again
constexpr int kMostTries = 8, kMostBeginnings = 3;  // of one question; of one copy
constexpr std::int64_t kFoldMs = 60'000;            // between two foldings of one partition
constexpr std::int64_t kStaleMs = 600'000;          // an older one is made again
constexpr std::size_t kAnswerBytes = 1 << 20;       // of one answer; one row goes whatever its size
constexpr std::size_t kRowsOfAnswer = 8192;         // of one answer
constexpr std::uint64_t kSpareBytes = 1 << 20;
constexpr std::uint64_t kMostBytesAnEntry = 64;  // of hashes, and of a batch
constexpr std::int64_t kWholeMs = 600'000;       // of one beginning, and beside it
constexpr std::uint64_t kLeastBytesMs = 100;     // a millisecond for so many bytes
constexpr std::int64_t kMostMs = 86'400'000;
constexpr std::uint64_t kMostFolded = std::uint64_t{1} << 40;  // batches, entries and bytes
constexpr std::size_t kMostRow = 16 << 20;                     // a frame holds no more
constexpr std::uint64_t kLeavesOfTile = 256;

// Of the rows of a copy: what stands for its pruned entries, in the order of their keys.
std::vector<std::string> prefixesOf(std::uint64_t base) { return {concat("b", bigEndian(base)), "h", "pruned", "t"}; }

// Behind the letter of a numbered row.
std::uint64_t rowNumber(std::string_view key) { return replication::rows::bigEndian(key.substr(1)); }

}  // namespace

store::PrefixStore BaseTransfer::rowsOf(std::string_view place, std::string_view partition) const {
  return {state_.stores.ledgers, concat(place, partition, "/")};
}

Status BaseTransfer::open() { return store::eraseUnder(state_.stores.ledgers, kBegunRows); }

bool BaseTransfer::quiet() const {
  return std::ranges::none_of(begun_, [](const auto& one) { return one.second.sinceMs != 0; });
}

// --- the device that is asked

bool BaseTransfer::mayAsk(const Peer& peer, std::string_view partition) const {
  return peer.keeper && state_.config.heads != nullptr && state_.placement.keeps(peer.device, partition) &&
         state_.partitions.find(partition) != nullptr;
}

void BaseTransfer::onAskFolded(const Peer& peer, const AskFolded& asked) {
  if (mayAsk(peer, asked.partition)) questions_[asked.partition][peer.device] = asked.least;
}

void BaseTransfer::onAskBase(const Peer& peer, AskBase asked) {
  if (mayAsk(peer, asked.partition) && asked.after.size() <= store::kMaxKeyBytes)
    asked_.take(peer.device, std::move(asked));
}

void BaseTransfer::answer(Peer& peer, const AskBase& asked) {
  const PartitionHost* const mine = state_.partitions.find(asked.partition);
  if (mine == nullptr || !state_.partitions.usable(mine->id())) return;
  Base base{mine->id(), mine->first(), {}, false};
  const std::string_view after = asView(asked.after);
  std::size_t bytes = 0;
  bool large = false, full = mine->first() == 0 || asked.batches != mine->first();
  if (full) return state_.say(peer, base);
  for (const std::string& prefix : prefixesOf(base.batches)) {
    if (full || after > concat(prefix, "\xff")) continue;
    const std::string from = after.starts_with(prefix) ? std::string(after) : prefix;
    const Status read = mine->rows().scan(prefix, from, [&](std::string_view key, std::string_view value) {
      if (key <= after || (key.starts_with('h') && rowNumber(key) > base.batches)) return true;
      bytes += key.size() + value.size();
      large = large || value.size() > kMostRow;
      full = !base.rows.empty() && (bytes > kAnswerBytes || base.rows.size() == kRowsOfAnswer);
      if (!full) base.rows.push_back({{key.begin(), key.end()}, {value.begin(), value.end()}});
      return !full;
    });
    if (!read.ok()) return;  // the store fails: drain() meets it too
  }
  base.last = !full;
  if (large) base = {mine->id(), 0, {}, false};  // of an earlier version of this program: its next base serves
  state_.say(peer, base);
}

// One partition a round: it may take long.
void BaseTransfer::answerFolded(Now now) {
  bool folded = false;
  for (auto at = questions_.begin(); at != questions_.end();) {
    auto& [id, asking] = *at;
    const PartitionHost* const mine = state_.partitions.find(id);
    const bool shows = mine != nullptr && state_.partitions.usable(id) && mine->showsLog() && mine->first() == 0 &&
                       mine->durableBatches() == mine->ledger().batches();
    if (!shows) {
      at = questions_.erase(at);
      continue;
    }
    Folding& known = foldings_[id];
    if (!known.note.empty() && mine->chain().after(known.batches) != known.chain) known = {};  // the log has parted
    const std::uint64_t batches = mine->ledger().batches();
    const auto serves = [&](const auto& one) { return one.second <= known.batches || one.second > batches; };
    const bool old = known.note.empty() || now.ms > known.ms + kStaleMs || !std::ranges::all_of(asking, serves);
    if (old && !folded && (known.ms == 0 || now.ms >= known.ms + kFoldMs)) {
      folded = true;
      const auto log = foldLog(*mine);
      auto note = !log.ok() ? Result<std::string>(log.error())
                            : signFolded(*log, mine->partition().tree().root(), mine->ledger().format().origin,
                                         state_.config.heads->key());
      known = {log.ok() ? log->batches : 0, mine->chain().last(), std::max<std::int64_t>(now.ms, 1),
               note.ok() ? *std::move(note) : std::string()};
    }
    for (const auto& [device, least] : asking)
      if (Peer* const peer = state_.member(device); peer != nullptr && !known.note.empty() && least <= known.batches)
        state_.say(*peer, Folded{id, known.note});
    at = questions_.erase(at);  // those without an answer ask again
  }
}

// --- the copy that begins

bool BaseTransfer::mayBegin(const PartitionHost& host) const {
  const std::string& id = host.id();
  const std::string owner = state_.ownerDevice(id);
  const bool whole = state_.keepsAll || state_.placement.keepsWhole(state_.device(), id) || ownership_->owns(host) ||
                     owner == state_.device() || state_.isSuccessor(id);
  return host.ledger().batches() == 0 && state_.provesOwners() && state_.placement.retention(id) != nullptr && !whole &&
         state_.placement.keeps(state_.device(), id) && state_.partitions.usable(id) &&
         !state_.partitions.stopped(id) && state_.partitions.refused(id) == nullptr;
}

void BaseTransfer::watch() {
  if (!state_.followDirty) return;
  nextMs_ = 0;
  std::erase_if(givenUp_, [&](const std::string& id) {
    const PartitionHost* host = state_.partitions.find(id);
    return host == nullptr || host->ledger().batches() > 0;
  });
  for (const auto& [id, host] : state_.partitions.hosts())
    if (!givenUp_.contains(id) && !begun_.contains(id) && mayBegin(*host))
      begun_.try_emplace(id), state_.beginning.insert(id);
}

Status BaseTransfer::end(const std::string& id) {
  const bool rows = begun_[id].step > Step::askOwner;
  begun_.erase(id);
  state_.beginning.erase(id);
  state_.followDirty = true;
  if (!rows || mutated("keepBegun")) return okStatus();
  return store::eraseUnder(state_.stores.ledgers, concat(kBegunRows, id, "/"));
}

Result<std::vector<std::string>> BaseTransfer::round(Now now) {
  std::vector<std::string> complete;
  if (!rows_.empty()) WITAN_DO(state_.stores.ledgers.write(rows_));  // no sync: a restart begins anew
  rows_.clear();
  asked_.answerEach(state_, [this](Peer& peer, const AskBase& asked) { answer(peer, asked); });
  answerFolded(now);
  watch();
  if (now.ms < nextMs_) return complete;
  nextMs_ = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> all;
  for (const auto& [id, one] : begun_) all.push_back(id);
  for (const std::string& id : all) {
    Beginning& one = begun_[id];
    PartitionHost* const host = state_.partitions.find(id);
    if (host != nullptr && mayBegin(*host)) {
      WITAN_TRY(done, step(id, one, *host, now));
      if (!done && one.wrong.empty()) continue;
      done ? complete.push_back(id) : giveUp(id, one);
    }
    WITAN_DO(end(id));
  }
  return complete;
}

void BaseTransfer::giveUp(const std::string& id, const Beginning& one) {
  givenUp_.insert(id);
  if (one.step == Step::choose) return;  // there is no such pair of devices
  ++state_.counters.basesRefused;
  const OwnershipRecord* const claim = state_.owners.find(id);
  if (one.differs && claim != nullptr && claim->epoch() == one.epoch)  // else a seizure explains it
    state_.local->note({"baseDiffers", one.from, concat(id, ": ", one.wrong)});
  state_.notice("baseRefused", id, concat(one.wrong, "; the whole log is taken instead"));
}

void BaseTransfer::choose(Beginning& one, const PartitionHost& host, Now now) {
  const std::string owner = state_.ownerDevice(host.id());
  const OwnershipRecord* const claim = state_.owners.find(host.id());
  const Peer* const says = owner.empty() || claim == nullptr ? nullptr : state_.member(owner);
  const auto known = [&](const Peer& peer, auto link) {
    return peer.full() && peer.keeper && link != peer.partitions.end() && link->second.follower.known();
  };
  const bool whole = says != nullptr && known(*says, says->partitions.find(host.id())) &&
                     says->partitions.find(host.id())->second.first == 0;
  std::string from;
  for (const auto& [name, peer] : state_.peers) {
    const auto link = peer.partitions.find(host.id());
    if (!known(peer, link)) continue;
    if (one.sinceMs == 0) one.sinceMs = std::max<std::int64_t>(now.ms, 1);
    if (name == owner || link->second.first == 0 || link->second.follower.diverged()) continue;
    if (claim == nullptr || link->second.follower.epoch() != claim->epoch()) continue;  // its log may end otherwise
    if (from.empty() || name > one.from) from = name, one.base = link->second.first;
    if (name > one.from) break;  // another one than before
  }
  if (whole && !from.empty()) {
    one.from = from, one.owner = owner, one.epoch = claim->epoch();
    one.step = Step::askOwner, one.askedMs = 0, one.tries = 0;
  } else if (one.sinceMs != 0) {
    if (now.ms >= one.sinceMs + kChooseMs) one.wrong = "no two devices have what a copy can begin with";
    nextMs_ = std::min(nextMs_, one.sinceMs + kChooseMs);
  }
}

bool BaseTransfer::mayAskAgain(Beginning& one, std::string_view device, Now now) {
  const bool open = one.askedMs != 0 && now.ms < one.askedMs + kQuestionMs;
  if (!open && ++one.tries > kMostTries) one.wrong = concat(device, " does not answer");
  if (!open) one.askedMs = std::max<std::int64_t>(now.ms, 1);
  nextMs_ = std::min(nextMs_, one.askedMs + kQuestionMs);
  return !open && one.wrong.empty();
}

Status BaseTransfer::startAgain(const std::string& id, Beginning& one) {
  Beginning next{.sinceMs = one.sinceMs, .from = one.from, .begun = one.begun + 1};
  if (next.begun == kMostBeginnings) next.wrong = "what it begins with changed too often", next.step = one.step;
  one = std::move(next);
  nextMs_ = 0;
  return store::eraseUnder(state_.stores.ledgers, concat(kBegunRows, id, "/"));
}

// Whether everything is here, and proven.
Result<bool> BaseTransfer::step(const std::string& id, Beginning& one, PartitionHost& host, Now now) {
  if (one.step == Step::choose) choose(one, host, now);
  if (one.step == Step::choose || !one.wrong.empty()) return false;
  Peer* const from = state_.member(one.from);
  Peer* const owner = state_.member(one.owner);
  const OwnershipRecord* const claim = state_.owners.find(id);
  const bool same = from != nullptr && owner != nullptr && claim != nullptr && claim->epoch() == one.epoch;
  if (!same || (one.copy && from->partitions[id].first > one.copy->ledger().batches())) {
    WITAN_DO(startAgain(id, one));
    return false;
  }
  const auto forBytes = static_cast<std::int64_t>(mostBytes(one) / kLeastBytesMs);
  if (now.ms >= one.sinceMs + kWholeMs + std::min(forBytes, kMostMs)) {
    one.wrong = "it takes too long";
    return false;
  }
  if (one.step == Step::askOwner) {
    if (mayAskAgain(one, one.owner, now)) state_.say(*owner, AskFolded{id, one.base});
    return false;
  }
  if (one.step == Step::rows && one.complete) {
    auto opened = openBegun(id, one, host);
    if (!opened.ok()) {
      one.wrong = concat("the base of ", one.from, " does not open here: ", opened.error().message);
      return false;
    }
    one.copy = *std::move(opened);
    one.step = Step::batches, one.askedMs = 0, one.tries = 0;
  }
  if (one.step == Step::rows) {
    if (mayAskAgain(one, one.from, now)) state_.say(*from, AskBase{id, one.base, {one.after.begin(), one.after.end()}});
    return false;
  }
  std::vector<PartitionHost::Release> none;
  one.copy->confirmed(none);
  const std::uint64_t here = one.copy->ledger().batches();
  if (here < one.said.batches) {
    if (mayAskAgain(one, one.from, now)) state_.say(*from, AskPast{id, here, one.said.batches});
    return false;
  }
  const auto log = foldLog(*one.copy);
  if ((!log.ok() || log->digest != one.said.digest) && !mutated("anyBase")) {
    one.wrong = concat("the base of ", one.from, " and the log of ", one.owner, " do not add up to the same after ",
                       here, " batches", log.ok() ? "" : ": " + log.error().message);
    one.differs = log.ok();
    return false;
  }
  const Status placed = place(id, one, now);
  if (!placed.ok() && placed.error().code == ErrorCode::ioFailed) return placed.error();
  if (!placed.ok()) {
    one.wrong = concat("the base of ", one.from, " is no beginning of a log: ", placed.error().message);
    return false;
  }
  ++state_.counters.copiesBegun;
  state_.notice("copyBegun", id,
                concat("with batch ", one.base, " of the copy of ", one.from, "; ", one.owner,
                       " has signed what the first ", here, " add up to"));
  return true;
}

Result<std::unique_ptr<PartitionHost>> BaseTransfer::openBegun(const std::string& id, Beginning& one,
                                                               const PartitionHost& host) const {
  store::PrefixStore rows = rowsOf(kBegunRows, id);
  WITAN_TRY(pruned, kernel::prunedLog(rows));
  if (!pruned || pruned->batches != one.base || pruned->entries > one.said.entries)
    return corrupt("it is not of the batches that were asked for");
  const std::string& origin = host.ledger().format().origin;
  const std::vector<PublicKey> keys = state_.config.heads->keysOf(one.from);
  if (keys.empty()) return corrupt("no key of the device is known");
  WITAN_TRY(root, kernel::prunedRoot(rows, *pruned));
  WITAN_DO(kernel::checkPrunedState(rows, *pruned, root, origin, std::nullopt, keys));
  one.pruned = *std::move(pruned);
  return PartitionHost::open(
      state_.stores.ledgers, host.module(),
      {id, origin, state_.config.pendingTtlMicros, state_.config.heads != nullptr, std::string(kBegunRows)});
}

void BaseTransfer::onFolded(const std::string& from, const Folded& folded) {
  const auto at = begun_.find(folded.partition);
  const PartitionHost* const host = state_.partitions.find(folded.partition);
  if (at == begun_.end() || host == nullptr || at->second.step != Step::askOwner || at->second.owner != from) return;
  Beginning& one = at->second;
  auto said = openFolded(folded.note, host->ledger().format().origin, state_.config.heads->keysOf(from));
  nextMs_ = 0;
  if (!said.ok()) {
    one.wrong = concat("what ", from, " says of its log is not signed: ", said.error().message);
  } else if (std::max({said->batches, said->entries, said->bytes}) > kMostFolded) {
    one.wrong = concat("what ", from, " says of its log is more than there can be");
  } else if (said->batches >= one.base) {  // else it has not folded it again yet
    one.said = *std::move(said);
    one.step = Step::rows, one.askedMs = 0, one.tries = 0;
    store::WriteBatch format;  // the rules of this device: what came is read by them
    if (const auto row = host->rows().get("format"); row.ok() && *row) format.put("format", **row);
    rowsOf(kBegunRows, folded.partition).append(format, rows_);
  }
}

// Of the rows of a base.
std::uint64_t BaseTransfer::mostBytes(const Beginning& one) const {
  return 2 * one.said.bytes + kSpareBytes + kMostBytesAnEntry * (one.base + one.said.entries);
}

// Whether a key is one of a base.
bool BaseTransfer::fits(const Beginning& one, std::string_view key) const {
  if (key <= one.after || key.size() > store::kMaxKeyBytes / 2) return false;
  const std::string state = prefixesOf(one.base).front();
  if (key == "pruned" || key.starts_with(state))
    return key == "pruned" || kernel::isSnapshotKey(key.substr(state.size()));
  if (key.size() != 1 + sizeof(std::uint64_t)) return false;
  const std::uint64_t number = rowNumber(key);
  return key[0] == 'h' ? number > 0 && number <= one.base : key[0] == 't' && number <= one.said.entries / kLeavesOfTile;
}

void BaseTransfer::onBase(const std::string& from, const Base& base) {
  const auto at = begun_.find(base.partition);
  if (at == begun_.end() || at->second.step != Step::rows || at->second.from != from || at->second.askedMs == 0) return;
  Beginning& one = at->second;
  nextMs_ = 0;
  if (base.batches != one.base) {  // it has pruned more meanwhile
    one.wrong = startAgain(base.partition, one).ok() ? one.wrong : "the store fails";
    return;
  }
  store::WriteBatch rows;
  for (const BaseRow& row : base.rows) {
    const std::string_view key = asView(row.key);
    one.bytes += row.key.size() + row.value.size();
    if (!fits(one, key) || one.bytes > mostBytes(one)) {
      one.wrong = concat("what ", from, " sends is no base of ", one.base, " batches");
      return;
    }
    one.after = key;
    rows.put(key, asView(row.value));
  }
  if (base.rows.empty() && !base.last) one.wrong = concat(from, " sends nothing");
  rowsOf(kBegunRows, base.partition).append(rows, rows_);
  one.complete = base.last;
  one.askedMs = 0, one.tries = 0;
}

bool BaseTransfer::onPast(const std::string& from, const Past& past) {
  const auto at = begun_.find(past.partition);
  if (at == begun_.end()) return false;
  Beginning& one = at->second;
  const bool asked = one.step == Step::batches && one.from == from && one.askedMs != 0;
  if (!asked || past.from != one.copy->ledger().batches()) return true;  // late, or never asked
  if (past.batches.empty() || past.batches.size() > one.said.batches - past.from)
    one.wrong = concat(from, " sends other batches than those that were asked for");
  for (const PastBatch& batch : past.batches)
    if (one.wrong.empty()) takeBatch(one, past.partition, batch);
  one.askedMs = 0, one.tries = 0;
  nextMs_ = 0;
  return true;
}

// The seal serves others later; what the owner has signed covers the batch.
void BaseTransfer::takeBatch(Beginning& one, const std::string& id, const PastBatch& batch) {
  const std::uint64_t number = one.copy->ledger().batches();
  const std::string_view value = asView(batch.value);
  if (const Status folded = one.copy->follow(value, rows_); !folded.ok()) {
    one.wrong = concat("with the base of ", one.from, " batch ", number, " is not lawful: ", folded.error().message);
    one.differs = true;
    return;
  }
  BatchSeal seal;
  if (batch.seal.empty() || !readMessage(asView(batch.seal), seal, "seal").ok()) return;
  const bool fits = seal.batches == number + 1 && seal.chain == one.copy->chain().last() &&
                    seal.epoch() == one.copy->epoch() && seal.value == sha256(value);
  if (fits && holdsSeal(state_.config.replication.cluster, id, seal,
                        state_.config.heads->keysOf(replication::deviceOf(seal.owner)), state_.signatures))
    state_.seals.keep(id, number, batch.seal, rows_);
}

// The row "pruned" makes it a log, which then grows from its first batch on.
Status BaseTransfer::place(const std::string& id, const Beginning& one, Now now) {
  const store::PrefixStore from = rowsOf(kBegunRows, id);
  store::PrefixStore to = rowsOf("p/", id);
  for (const std::string_view prefix : {"b", "h", "t"}) WITAN_DO(store::copyUnder(from, prefix, to));
  WITAN_DO(kernel::beginPruned(to, one.pruned, {one.pruned.note, one.said.note}, state_.config.heads->key(), now.wall));
  WITAN_DO(store::copyUnder(from, "l", to));
  return to.sync();
}

}  // namespace witan::node
