#include "replica/head_exchange.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/mutant.h"
#include "kernel/record/fork_proof.h"
#include "replica/core/entry_evidence.h"
#include "replication/writer.h"
#include "rules/domain/versions.h"

namespace witan::node {

namespace {

constexpr std::string_view kHeadRows = "k/";
constexpr std::string_view kProofRows = "v/";
constexpr std::int64_t kSearchMs = 60'000;  // the whole log is read no more often than this for one partition
constexpr std::int64_t kRetryMs = 10'000;

struct HeadRow {
  std::string latest;
  std::string witnessed;
  WITAN_MEMBERS(HeadRow, latest, witnessed)
};

HeadMemory::Signed signedOf(const LogHead& head) {
  return {head.log.epoch, head.checkpoint.size, head.checkpoint.root};
}

std::string ownerOf(const LogHead& head) { return std::string(replication::deviceOf(head.log.epoch.owner)); }

}  // namespace

Status HeadExchange::open() {
  if (!state_.config.heads) return okStatus();
  WITAN_TRY(text, state_.config.heads->remembered());
  WITAN_SET(memory_, HeadMemory::parse(state_.config.replication.cluster, text));
  WITAN_DO(load());
  if (text.empty()) WITAN_DO(checkUnsigned());
  for (const auto& [id, host] : state_.partitions.hosts()) {
    checkMemory(*host, logs_[id]);
    if (logs_[id].latest) noteRules(*host, *logs_[id].latest);
  }
  return okStatus();
}

// Rows are derived: what does not open any more is asked for again.
Status HeadExchange::load() {
  const auto opened = [&](const std::string& note) -> std::optional<LogHead> {
    auto head = openHead(state_.config.replication.cluster, note, *state_.config.heads);
    return head.ok() ? *std::move(head) : std::nullopt;
  };
  WITAN_DO(state_.stores.ledgers.scan(kHeadRows, {}, [&](std::string_view key, std::string_view value) {
    HeadRow row;
    if (!readMessage(value, row, "head").ok()) return true;
    Log& log = logs_[std::string(key.substr(kHeadRows.size()))];
    log.latest = opened(row.latest);
    log.witnessed = opened(row.witnessed);
    return true;
  }));
  return state_.stores.ledgers.scan(kProofRows, {}, [&](std::string_view key, std::string_view value) {
    proofs_.emplace(key.substr(kProofRows.size()), value);
    return true;
  });
}

bool HeadExchange::signedHere(const LogHead& head) const {
  return ownerOf(head) == state_.device() || head.cosigners.contains(state_.device());
}

// The memory is written before the first row that shows a signature of this device.
Status HeadExchange::checkUnsigned() const {
  const auto mine = [&](const auto& head) { return head && signedHere(*head); };
  for (const auto& [id, log] : logs_)
    if (mine(log.latest) || mine(log.witnessed))
      return corrupt(concat("this device signed heads of ", id,
                            ", and what it signed last is not known: ", kSignedHeadsFile, " is missing"),
                     kSignedHeadsRemedy);
  return okStatus();
}

// The disk went back behind what this device has signed: it must not decide anew what others have its word for.
void HeadExchange::checkMemory(PartitionHost& host, Log& log) {
  const HeadMemory::Signed* last = memory_.find(host.id());
  if (last == nullptr || extendsRemembered(host, log) || last->epoch.owner != state_.ownerName) return;
  // Its log was cut for a later epoch, whose entries a full disk did not take: this device decides nothing there.
  if (state_.owners.latestEpoch(host.id()) > last->epoch.number) return;
  stopDeciding(host, concat("this device signed a log of ", last->size, " entries in epoch ", last->epoch.number,
                            ", here are ", host.entries(), " that it does not begin with"));
}

void HeadExchange::stopDeciding(const PartitionHost& host, std::string_view why) {
  if (!state_.partitions.stopDeciding(host, state_.writes.pending())) return;
  ++state_.counters.wentBack;
  state_.followDirty = true;
  const std::string what = concat(host.id(), ": ", why);
  state_.local->note({"wentBack", state_.device(), what});
  state_.notice("wentBack", host.id(), what);
}

bool HeadExchange::extendsRemembered(const PartitionHost& host, Log& log) const {
  if (log.extends) return *log.extends;
  const HeadMemory::Signed* last = memory_.find(host.id());
  if (last == nullptr || last->epoch < host.epoch()) return *(log.extends = true);
  if (last->epoch != host.epoch() || last->size > host.entries()) return false;
  const auto root = host.ledger().rootOf(last->size);
  return *(log.extends = root.ok() && *root == last->root);
}

std::optional<HeadMemory::Signed> HeadExchange::contradicted(const PartitionHost& host) const {
  const HeadMemory::Signed* last = memory_.find(host.id());
  if (state_.partitions.released(host.id()) > host.ledger().batches()) return std::nullopt;  // others have it
  // A later epoch may go on from before what was signed.
  if (last == nullptr || last->epoch < host.epoch() || state_.owners.latestEpoch(host.id()) > last->epoch.number)
    return std::nullopt;
  if (last->epoch != host.epoch() || last->size > host.entries()) return *last;
  const auto root = host.ledger().rootOf(last->size);
  return root.ok() && *root == last->root ? std::nullopt : std::optional(*last);
}

const HeadExchange::Heads* HeadExchange::find(std::string_view partition) const {
  const auto at = logs_.find(partition);
  return at == logs_.end() || !at->second.latest ? nullptr : &at->second;
}

Result<std::optional<LogHead>> HeadExchange::opened(std::string_view note) const {
  if (note.size() > kMaxHeadBytes) return invalid("head: too long");
  if (!state_.config.heads) return std::optional<LogHead>();
  return openHead(state_.config.replication.cluster, note, *state_.config.heads);
}

std::vector<std::string> HeadExchange::verifierKeysOf(const LogHead& head) const {
  std::vector<std::string> texts;
  const auto add = [&](const std::string& device, kernel::NoteKeyType type) {
    for (const PublicKey& key : state_.config.heads->keysOf(device))
      if (auto made = kernel::makeNoteVerifier(keyNameOf(state_.config.replication.cluster, device), key, type);
          made.ok())
        texts.push_back(kernel::verifierKeyText(*made));
  };
  add(ownerOf(head), kernel::NoteKeyType::signature);
  for (const std::string& device : head.cosigners) add(device, kernel::NoteKeyType::cosignature);
  return texts;
}

void HeadExchange::greet(Peer& peer) const {
  if (!peer.keeper || !state_.config.heads) return;
  for (const auto& [id, log] : logs_) {
    if (log.witnessed) peer.news.heads.push_back(log.witnessed->note);
    if (log.latest && (!log.witnessed || log.witnessed->text != log.latest->text))
      peer.news.heads.push_back(log.latest->note);
  }
  for (const auto& [origin, proof] : proofs_) peer.news.proofs.push_back(proof);
  for (const auto& [what, file] : state_.evidence.files())
    if (file.size() <= kMaxToldEvidence) peer.news.proofs.push_back(file);
  peer.newsDue = true;
}

void HeadExchange::tell(const std::string& note) const {
  for (auto& [name, peer] : state_.peers)
    if (peer.greeted && peer.keeper) peer.news.heads.push_back(note), peer.newsDue = true;
}

void HeadExchange::onReopened(const std::string& partition, bool longer) {
  const auto at = logs_.find(partition);
  if (at == logs_.end()) return;
  at->second.extends.reset();
  at->second.entries = at->second.epochs = 0;
  if (!longer) at->second.ahead.reset();
}

// --- signing

std::optional<LogHead> HeadExchange::headOf(const PartitionHost& host) const {
  const LogPosition position = host.position();
  if (position.epochs.empty() || position.entries == 0) return std::nullopt;
  const bool durable = host.ahead() || host.durableBatches() == position.batches;
  if (!durable) return std::nullopt;
  LogHead head;
  head.log = {host.id(), {position.epochs.back().number, position.epochs.back().owner}};
  head.checkpoint = {originOf(state_.config.replication.cluster, head.log), position.entries, position.root,
                     host.ledger().format().checkpointLines()};
  auto text = kernel::checkpointText(head.checkpoint);
  // A device's id may be no part of a key's name; such a device signs nothing.
  if (!text.ok() || !kernel::isKeyName(head.checkpoint.origin) ||
      logOfOrigin(state_.config.replication.cluster, head.checkpoint.origin) != head.log)
    return std::nullopt;
  head.text = *std::move(text);
  return head;
}

void HeadExchange::look(PartitionHost& host, Log& log, Now now, std::vector<Due>& due) {
  const std::uint64_t entries = host.entries(), epochs = host.partition().epochs().size();
  if (entries != log.entries || epochs != log.epochs) {
    if (log.changedMs < 0) log.changedMs = now.ms;
    log.entries = entries, log.epochs = epochs;
    if (log.ahead && log.ahead->checkpoint.size <= entries) {
      LogHead head = *std::exchange(log.ahead, std::nullopt);
      const Agreement agreement = compare(host, log, head, false, now);
      take(host, log, std::move(head), agreement);
    }
  }
  if (log.cosign && log.latest) due.push_back({&host, &log, *log.latest, false});
  if (log.changedMs < 0) return;
  const bool many = log.latest && log.latest->checkpoint.size + kSignHeadEntries <= entries;
  if (now.ms < log.changedMs + (beat_ ? kSignHeadMs / 2 : kSignHeadMs) && !many && !hurry_) {
    nextMs_ = std::min(nextMs_, log.changedMs + kSignHeadMs);
    return;
  }
  if (!ownership_->owns(host)) {
    log.changedMs = -1;
    return;
  }
  auto head = headOf(host);
  if (!head) return;  // the sync that it waits for has a time of its own
  log.changedMs = -1;
  if (log.latest && log.latest->text == head->text) return;
  due.push_back({&host, &log, *std::move(head), true});
}

void HeadExchange::round(Now now) {
  if (!state_.config.heads) return;
  nextMs_ = std::numeric_limits<std::int64_t>::max();
  std::vector<Due> due;
  // What is nearly due goes with what is: each time costs a sync of the memory here and on each device that cosigns.
  beat_ = std::ranges::any_of(logs_, [&](const auto& one) {
    return one.second.changedMs >= 0 && now.ms >= one.second.changedMs + kSignHeadMs;
  });
  for (const auto& [id, host] : state_.partitions.hosts())
    if (state_.partitions.usable(id)) look(*host, logs_[id], now, due);
  std::erase_if(due, [&](const Due& one) {
    const bool good = extendsRemembered(*one.host, *one.log) && memory_.permits(one.host->id(), signedOf(one.head));
    if (!good) one.log->cosign = false;
    return !good;
  });
  if (due.empty()) return;
  HeadMemory next = memory_;
  for (const Due& one : due) next.note(one.host->id(), signedOf(one.head));
  if (!remember(std::move(next))) {
    for (const Due& one : due)
      if (one.own) one.log->changedMs = now.ms + kRetryMs - kSignHeadMs;
    nextMs_ = std::min(nextMs_, now.ms + kRetryMs);
    return;
  }
  const kernel::NoteSigner signer{keyNameOf(state_.config.replication.cluster, state_.device()),
                                  state_.config.heads->key()};
  for (Due& one : due) {
    if (one.own) {
      auto note = kernel::signNote(one.head.text, {&signer, 1});
      if (!note.ok()) continue;
      one.head.note = *std::move(note);
      ++state_.counters.headsSigned;
    } else {
      one.head.note += kernel::cosignatureLine(one.head.text, signer, now.wall);
      one.head.cosigners.insert(state_.device());
      ++state_.counters.headsCosigned;
    }
    tell(one.head.note);
    adopt(*one.host, *one.log, std::move(one.head));
  }
}

bool HeadExchange::remember(HeadMemory next) {
  const Status kept = state_.config.heads->remember(next.text(state_.config.replication.cluster));
  if (!kept.ok()) {
    if (!std::exchange(memoryFails_, true)) state_.notice("headsNotSigned", "", kept.error().message);
    return false;
  }
  memoryFails_ = false;
  memory_ = std::move(next);
  return true;
}

// A device whose disk was lost hears from others what it had signed: from then on it keeps to that.
bool HeadExchange::recall(const std::string& partition, const Log& log) {
  for (const auto* head : {&log.latest, &log.witnessed}) {
    if (!*head || !signedHere(**head)) continue;
    const HeadMemory::Signed* last = memory_.find(partition);
    const HeadMemory::Signed told = signedOf(**head);
    const bool known = last != nullptr && last->epoch == told.epoch && last->size >= told.size;
    if (known || !memory_.permits(partition, told)) continue;
    HeadMemory next = memory_;
    next.note(partition, told);
    if (!remember(std::move(next))) return false;
  }
  return true;
}

// --- heads of others

void HeadExchange::received(const std::string& from, Peer& peer, const std::vector<std::string>& heads,
                            const std::vector<std::string>& proofs, Now now) {
  if (!state_.config.heads || peer.cut || !peer.keeper || !peer.farewell.empty()) return;
  if (heads.size() > 2 * kMaxPartitions || proofs.size() > kMaxForkProofs + kMaxEvidence)
    return state_.cutOff(from, peer, invalid("too many heads or proofs"));
  for (const std::string& note : heads)
    if (const Status good = onHead(from, note, now); !good.ok()) return state_.cutOff(from, peer, good.error());
  for (const std::string& proof : proofs)
    if (const Status good = onEvidence(proof); !good.ok()) return state_.cutOff(from, peer, good.error());
  if (!heads.empty() && !state_.unlawful.empty()) completeEvidence();
}

Status HeadExchange::onHead(const std::string& from, std::string_view note, Now now) {
  // Each peer tells the same ones.
  const auto is = [&](const auto& one) { return one.second.latest && one.second.latest->note == note; };
  if (std::ranges::any_of(logs_, is)) return okStatus();
  WITAN_TRY(head, opened(note));
  if (!head) return okStatus();
  PartitionHost* host = state_.partitions.find(head->log.partition);
  if (host == nullptr || !state_.partitions.usable(host->id())) return okStatus();
  Log& log = logs_[host->id()];
  const Agreement agreement = compare(*host, log, *head, from != ownerOf(*head), now);
  take(*host, log, *std::move(head), agreement);
  return okStatus();
}

// `search`: the root of an old head is worth reading the log.
HeadExchange::Agreement HeadExchange::compare(const PartitionHost& host, Log& log, const LogHead& head, bool search,
                                              Now now) const {
  // Under another version of a rule file the log is the same, and other lines say what it means.
  const bool compiled = host.module().ruleText().empty();
  for (const auto* known : {&log.latest, &log.witnessed})
    if (*known && (*known)->log == head.log && (*known)->checkpoint.size == head.checkpoint.size) {
      const kernel::Checkpoint& before = (*known)->checkpoint;
      const bool same = compiled ? before == head.checkpoint : before.root == head.checkpoint.root;
      return same ? Agreement::agrees : Agreement::differs;
    }
  const auto& epochs = host.partition().epochs();
  const auto at = std::ranges::find(epochs, head.log.epoch, kernel::epochOf);
  if (at == epochs.end()) return Agreement::unknown;
  const std::uint64_t end = at + 1 == epochs.end() ? host.entries() : (at + 1)->entries;
  if (head.checkpoint.size > end) return Agreement::unknown;
  if (compiled && !host.ledger().format().agreesWith(head.checkpoint, "").ok()) return Agreement::differs;
  if (const auto root = host.recentRoot(head.checkpoint.size))
    return *root == head.checkpoint.root ? Agreement::agrees : Agreement::differs;
  if (!search || (log.searchedMs >= 0 && now.ms < log.searchedMs + kSearchMs)) return Agreement::unknown;
  log.searchedMs = now.ms;
  const auto root = host.ledger().rootOf(head.checkpoint.size);
  if (!root.ok()) return Agreement::unknown;
  return *root == head.checkpoint.root ? Agreement::agrees : Agreement::differs;
}

void HeadExchange::take(const PartitionHost& host, Log& log, LogHead head, Agreement agreement) {
  if (agreement == Agreement::differs) return onDifference(host, log, std::move(head));
  if (agreement == Agreement::unknown) {
    const bool newer = head.log.epoch >= host.epoch() && head.checkpoint.size > host.entries();
    const bool contradicts = newer && log.ahead && log.ahead->log == head.log &&
                             log.ahead->checkpoint.size == head.checkpoint.size &&
                             log.ahead->checkpoint.root != head.checkpoint.root;
    if (contradicts && !mutated("ignoreHeads")) return prove(host, head, *log.ahead);
    // One of an epoch that nobody has claimed displaces none.
    const auto claimed = [&](const LogHead& one) {
      return one.log.epoch == host.epoch() || state_.owners.find(host.id(), one.log.epoch) != nullptr;
    };
    if (newer && (!log.ahead || (claimed(head) == claimed(*log.ahead) ? head.newerThan(*log.ahead) : claimed(head))))
      log.ahead = std::move(head);
    return;
  }
  adopt(host, log, std::move(head));
}

// It agrees with this copy.
void HeadExchange::adopt(const PartitionHost& host, Log& log, LogHead head) {
  for (const auto* known : {&log.latest, &log.witnessed}) {
    if (!*known || (*known)->text != head.text) continue;
    if (auto joined = kernel::withSignaturesOf((*known)->note, head.note); joined.ok()) head.note = *std::move(joined);
    head.cosigners.insert((*known)->cosigners.begin(), (*known)->cosigners.end());
  }
  const bool fresh = !log.latest || head.newerThan(*log.latest);
  const bool same = log.latest && log.latest->text == head.text;
  noteRules(host, head);
  if (same && head.note == log.latest->note) return;
  const bool witness = !head.cosigners.empty() && (!log.witnessed || !log.witnessed->newerThan(head));
  if (witness) log.witnessed = head;
  if (fresh || same) {
    log.latest = head;
    log.cosign = ownerOf(head) != state_.device() && !head.cosigners.contains(state_.device()) &&
                 head.log.epoch == host.epoch() && !state_.partitions.refuses(host.id(), head.log.epoch);
  }
  if (fresh || same || witness) save(host.id(), log);
  if (!log.odd || log.odd->log != head.log || log.odd->checkpoint.size > head.checkpoint.size) return;
  const LogHead odd = *std::exchange(log.odd, std::nullopt);
  prove(host, odd, head);
}

void HeadExchange::noteRules(const PartitionHost& host, const LogHead& head) const {
  if (rules::versionOf(host.module()) == 1 || head.log.epoch != host.epoch() ||
      !namesRules(head.checkpoint, host.ledger().format()))
    return;
  const auto known = state_.namedRules.find(host.id());
  if (known == state_.namedRules.end() || known->second.log != head.log ||
      head.checkpoint.size < known->second.checkpoint.size)
    state_.namedRules.insert_or_assign(host.id(), head);
}

void HeadExchange::save(const std::string& partition, const Log& log) {
  if (!recall(partition, log)) return;
  WordWriter words;
  const HeadRow row{log.latest ? log.latest->note : "", log.witnessed ? log.witnessed->note : ""};
  state_.writes.forFollowed().put(std::string(kHeadRows) + partition, words.message(row));
}

// --- heads that contradict each other

void HeadExchange::onDifference(const PartitionHost& host, Log& log, LogHead head) {
  if (proofs_.contains(head.checkpoint.origin) || mutated("ignoreHeads")) return;
  if (log.odd && log.odd->log == head.log) {  // reported once; the smaller one is the sooner proven
    if (log.odd->newerThan(head)) log.odd = std::move(head);
    return;
  }
  ++state_.counters.headsRefused;
  const std::string what = concat(host.id(), ": ", ownerOf(head), " signed a head of ", head.checkpoint.size,
                                  " entries in epoch ", head.log.epoch.number, " that is not the head of this copy");
  state_.local->note({"headDiffers", ownerOf(head), what});
  state_.notice("headDiffers", host.id(), what);
  const bool comparable = log.latest && log.latest->log == head.log;
  if (comparable && log.latest->checkpoint.size >= head.checkpoint.size) return prove(host, head, *log.latest);
  log.odd = std::move(head);
}

// `other` is of the size of `one`, or agrees with this copy and is larger.
void HeadExchange::prove(const PartitionHost& host, const LogHead& one, const LogHead& other) {
  const std::uint64_t small = one.checkpoint.size, large = other.checkpoint.size;
  kernel::ForkProof proof;
  proof.first = one.note, proof.second = other.note;
  proof.root = toHex(other.checkpoint.root);
  if (small < large) {
    auto tree = host.ledger().treeOf(large);
    if (!tree.ok()) return;
    const auto root = kernel::rootAt(small, *tree);
    const auto path = kernel::consistencyProof(small, large, *tree);
    if (!root.ok() || !path.ok()) return;
    proof.root = toHex(*root);
    for (const Hash& hash : *path) proof.path.push_back(toHex(hash));
  }
  for (const PublicKey& key : state_.config.heads->keysOf(ownerOf(one))) {
    const auto verifier = kernel::makeNoteVerifier(keyNameOf(state_.config.replication.cluster, ownerOf(one)), key);
    if (!verifier.ok()) continue;
    proof.key = kernel::verifierKeyText(*verifier);
    if (const std::string text = toJson(proof); kernel::verifyForkProof(text).ok()) {
      (void)onProof(text);
      return;
    }
  }
}

// Of any kind. One that speaks of rules which are not here says nothing to this device.
Status HeadExchange::onEvidence(std::string_view text) {
  auto proven = verifyEvidence(text, state_.rules());
  if (!proven.ok() && proven.error().code == ErrorCode::notFound) return okStatus();
  if (!proven.ok()) return proven.error();
  if (proven->kind == "fork") return onProof(text);
  state_.takeEvidence(*proven, text);
  return okStatus();
}

// A head of the epoch names the rules by which its owner decides: those of a file only if it covers the batch.
void HeadExchange::completeEvidence() {
  for (auto at = state_.unlawful.begin(); at != state_.unlawful.end();) {
    const auto log = logs_.find(at->second.partition);
    const PartitionHost* host = state_.partitions.find(at->second.partition);
    const bool versions = host != nullptr && !host->module().ruleText().empty();
    const auto mayCover = [&](const LogHead& head) {
      return !versions ||
             (head.checkpoint.size > host->partition().size() && (!at->second.head || *at->second.head != head.note));
    };
    BatchSeal seal;
    const auto bytes = fromBase64(at->second.seal);
    const LogHead* named = nullptr;
    if (log != logs_.end() && bytes.ok() && readMessage(*bytes, seal, "seal").ok())
      for (const auto* head : {&log->second.latest, &log->second.ahead, &log->second.odd})
        if (*head && (*head)->log.epoch == seal.epoch() && mayCover(**head)) named = &**head;
    if (named == nullptr) {
      ++at;
      continue;
    }
    at->second.head = named->note;
    const std::string file = state_.provenBy(replication::deviceOf(seal.owner), at->second);
    if (!file.empty()) state_.takeEvidence(*verifyEvidence(file, state_.rules()), file, at->first);
    at = file.empty() && versions ? std::next(at) : state_.unlawful.erase(at);
  }
}

Status HeadExchange::onProof(std::string_view text) {
  WITAN_TRY(proven, kernel::verifyForkProof(text));
  const std::string& cluster = state_.config.replication.cluster;
  const auto log = logOfOrigin(cluster, proven.origin);
  const std::string device = deviceOfKeyName(cluster, proven.signer.name);
  if (!log) return invalid("evidence: of no log of this cluster");
  const auto keys = state_.config.heads->keysOf(device);
  if (std::ranges::find(keys, proven.signer.publicKey) == keys.end()) return okStatus();
  PartitionHost* host = state_.partitions.find(log->partition);
  const bool current = host != nullptr && host->epoch() == log->epoch;
  const auto ofDevice = [&](const auto& one) {
    const auto other = logOfOrigin(cluster, one.first);
    return other && replication::deviceOf(other->epoch.owner) == device;
  };
  if (proofs_.contains(proven.origin)) return okStatus();
  if (!current && (proofs_.size() >= kMaxForkProofs ||
                   std::ranges::count_if(proofs_, ofDevice) >= std::ptrdiff_t{kMaxForkProofsOfOne}))
    return okStatus();
  proofs_.emplace(proven.origin, text);
  state_.writes.pending().put(std::string(kProofRows) + proven.origin, text);
  ++state_.counters.forksProven;
  state_.local->note({"forkProven", device, proven.what});
  state_.notice("forkProven", log->partition, proven.what);
  for (auto& [name, peer] : state_.peers)
    if (peer.greeted && peer.keeper) peer.news.proofs.emplace_back(text), peer.newsDue = true;
  if (!current) return okStatus();
  logs_[host->id()].cosign = false;
  state_.followDirty = state_.expedite = true;
  if (log->epoch.owner == state_.ownerName)
    (void)state_.partitions.stopDeciding(*host, state_.writes.pending());
  else
    state_.partitions.refuse(host->id(), {log->epoch, host->ledger().batches()}, text, state_.writes.pending());
  return okStatus();
}

}  // namespace witan::node
