#include "replication/space_sync.h"

#include <algorithm>

#include "base/check.h"
#include "base/identity.h"
#include "base/mutant.h"
#include "replication/incarnation.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

constexpr std::size_t kSealHeadBytes = 112;
constexpr std::size_t kCountsInFrame = 1024;
// A commit up to the version of the row before it: what most live updates end with.
constexpr std::uint8_t kCommitOfRow = 11;

std::string dotText(const Space& space, WriterIndex writer, Seq seq) {
  return concat(space.writers().name(writer), ":", seq);
}

}  // namespace

std::uint64_t WriterNumbers::numberOf(WriterIndex writer, bool& fresh) {
  if (writer >= numbers_.size()) numbers_.resize(writer + 1);
  fresh = !numbers_[writer];
  if (fresh) add(writer);
  return *numbers_[writer];
}

void WriterNumbers::add(WriterIndex writer) {
  if (writer >= numbers_.size()) numbers_.resize(writer + 1);
  numbers_[writer] = writers_.size();
  writers_.push_back(writer);
}

// --- agreeing

SpaceSync::Summary SpaceSync::summarise(const FingerprintKey& key) {
  Summary summary;
  std::string names;
  DenseWriter name(names), counter(summary.vector);
  summarised_.clear();
  for (const auto& [text, index] : space_.writers().byName()) {
    name.text(text);
    // A retired writer has no entry in the vector: who agrees on the hash has what is said here.
    const bool retired = space_.retired(index);
    name.varint(retired ? space_.vector().at(index) + 1 : 0);
    if (retired) continue;
    counter.varint(space_.vector().at(index));
    summarised_.push_back(index);
  }
  summary.writersHash = key.hash64(names);
  return summary;
}

Status SpaceSync::agree(std::string_view positional) {
  DenseReader from(positional);
  VersionVector claim;
  for (const WriterIndex writer : summarised_) {
    claim.raise(writer, from.count(kMaxSeq));
    out_.add(writer);
    in_.add(writer);
  }
  WITAN_DO(from.finish("the vector in SPACES"));
  // Both have everything of a retired writer, or the lists would differ.
  for (WriterIndex w = 0; w < space_.writers().size(); ++w)
    if (space_.retired(w)) claim.raise(w, space_.vector().at(w));
  WITAN_DO(checkClaim(claim));
  known_ = sent_ = peerClock_ = claim;
  agreed_ = true;
  return okStatus();
}

std::string SpaceSync::writersRows() {
  std::string rows;
  for (const auto& [name, index] : space_.writers().byName()) announce(rows, index);
  return rows + wholeClock();
}

Status SpaceSync::acceptWriters(std::string_view rows) {
  if (agreed_) return invalid("WRITERS came twice, or without need");
  WITAN_TRY(applied, readClockRows(rows));
  if (!applied.clock) return invalid("WRITERS without a vector");
  WITAN_DO(checkClaim(*applied.clock));
  known_ = peerClock_ = *applied.clock;
  sent_.join(*applied.clock);  // a resume token may have raised it already
  agreed_ = true;
  return okStatus();
}

// Counters that a peer's vector cannot honestly show. What it says of this device's own commits counts where it need
// not be proven; else the proof comes before the peer's first commit (applyCount()).
Status SpaceSync::checkClaim(const VersionVector& claim) {
  const WriterIndex self = space_.self();
  if (claim.at(self) > space_.vector().at(self) && !space_.unproven(self, claim.at(self))) WITAN_DO(ownClaim_(claim));
  for (WriterIndex w = 0; w < claim.end(); ++w) {
    const Seq here = space_.vector().at(w);
    if (claim.at(w) <= here || claim.at(w) - here <= kMaxCounterJump) continue;
    violation_ = {concat("it shows ", dotText(space_, w, claim.at(w)), ", ", claim.at(w) - here,
                         " commits beyond anything known of that writer"),
                  true};
    return invalid(violation_->what);
  }
  return okStatus();
}

// Checks the counters of context_: what the author of the version in row_ had seen. A context that covers commits to
// come would bar them from this key for ever.
Status SpaceSync::checkSeen(WriterIndex writer) {
  seen_.assign(1, writer);
  for (const ContextEntry& e : context_) {
    if (e.seq == 0) return invalid(row_.key + ": counter 0 in a context");
    seen_.push_back(e.writer);
    if (!mutated("anyContext")) WITAN_DO(checkCounter(e.writer, e.seq));
  }
  std::ranges::sort(seen_);
  if (std::ranges::adjacent_find(seen_) != seen_.end())
    return invalid(row_.key + ": a context names a writer twice, or the version's own");
  return okStatus();
}

Status SpaceSync::checkCounter(WriterIndex writer, Seq seq) {
  const Seq here = space_.vector().at(writer);
  if (seq <= here) return okStatus();
  if (space_.unproven(writer, seq))
    return refuse(false, writer, "what it says of " + dotText(space_, writer, seq), false);
  if (writer != space_.self() && seq - here <= kMaxCounterJump) return okStatus();
  VersionVector claim;
  claim.raise(writer, seq);
  return checkClaim(claim);
}

// --- sending

std::uint64_t SpaceSync::announce(std::string& rows, WriterIndex writer) {
  bool fresh = false;
  const std::uint64_t number = out_.numberOf(writer, fresh);
  if (fresh) appendWriterRow(rows, space_.writers().name(writer));
  return number;
}

Result<bool> SpaceSync::nextRows(std::string& rows, std::string& resume, std::size_t budget) {
  if (!agreed_ || space_.changes() == sentChanges_) return false;
  if (space_.outOfOrder() != seenOutOfOrder_) {
    sent_ = known_;  // something may have come in below where the walk has been
    seenOutOfOrder_ = space_.outOfOrder();
  }
  resume.clear();
  space_.walked();
  row_.seq = 0;
  WITAN_DO(space_.sealOwn());
  bool finished = appendCounts(rows);
  if (finished) {
    WITAN_SET(finished, walk(rows, budget));
  }
  putSeals(rows);
  if (!finished && !mutated("commitEarly")) {
    resume = token();
    return true;
  }
  sentChanges_ = space_.changes();
  std::string commit = clockRows(known_, space_.vector()), ofRow;
  const std::pair<std::uint64_t, Seq> last(row_.writer, row_.seq);
  appendClockRow(ofRow, RowTag::commit, {&last, 1});
  if (aliases_ && row_.seq > 0 && commit == ofRow) commit.assign(1, static_cast<char>(kCommitOfRow));
  rows += commit;
  known_.join(space_.vector());
  full_ = false;
  return !rows.empty();
}

// Appends what is held above `sent`. False when the budget ended it; then a whole commit was appended last.
Result<bool> SpaceSync::walk(std::string& rows, std::size_t budget) {
  for (const auto& [name, writer] : space_.writers().byName()) {
    RecordTable::Origin& held = space_.table().origin(writer);
    const Seq from = std::max(known_.at(writer), sent_.at(writer));
    auto at = held.upper_bound(from, SeqOrder{});
    while (at != held.end()) {
      if (rows.size() + sealBytes_ >= budget && at->seq > sent_.at(writer)) return false;
      WITAN_TRY(body, space_.bodyOf(*at));
      appendVersion(rows, *at, body, true);
      sent_.raise(writer, at->seq);
      ++at;
    }
  }
  return true;
}

void SpaceSync::appendVersion(std::string& rows, const Held& held, std::string_view body, bool allowDelta) {
  row_.writer = announce(rows, held.writer);
  row_.context.clear();
  for (const ContextEntry& e : held.context()) row_.context.emplace_back(announce(rows, e.writer), e.seq);
  row_.kind = held.record->kind;
  row_.key = held.record->key();
  row_.seq = held.seq;
  row_.tombstone = held.tombstone;
  row_.base = 0;
  row_.body = body;
  row_.alias.reset();
  std::string delta;
  if (allowDelta && !full_ && held.base() > 0 && known_.covers(held.writer, held.base())) {
    space_.schemas().appendDelta(delta, body, held.changed());
    if (delta.size() < body.size()) {
      row_.base = held.base();
      row_.body = delta;
    }
    shortenKey(rows, *held.record);
  }
  appendProof(held);
  appendVersionRow(rows, row_);
}

// Of the key in row_. Two keys of one alias take it from each other, and are as long as without.
void SpaceSync::shortenKey(std::string& rows, const Record& record) {
  if (!aliases_) return;
  const auto alias = static_cast<std::uint8_t>(record.hash);
  KeyAlias& known = outAliases_[alias];
  if (known.kind != row_.kind || known.key != row_.key) {
    known = {row_.kind, row_.key};
    return;
  }
  if (!std::exchange(known.given, true)) appendAliasRow(rows, alias, row_.kind, row_.key);
  row_.alias = alias;
}

// Of the seal in this frame, which is to have this leaf.
std::uint64_t SpaceSync::sealNumber(const RowSeal& seal, std::uint32_t leaf) {
  // Versions of a seal mostly follow each other.
  const auto known =
      std::find_if(sentSeals_.rbegin(), sentSeals_.rend(), [&](const SentSeal& sent) { return sent.seal == &seal; });
  const std::size_t number =
      known != sentSeals_.rend() ? static_cast<std::size_t>(sentSeals_.rend() - known) - 1 : sentSeals_.size();
  if (known == sentSeals_.rend()) sentSeals_.push_back({&seal, {}}), sealBytes_ += kSealHeadBytes;
  sentSeals_[number].leaves.push_back(leaf);
  sealBytes_ += sizeof(Hash);
  return number;
}

void SpaceSync::appendProof(const Held& held) {
  row_.sealed = held.seal != nullptr;
  row_.whole.reset();
  if (!row_.sealed) return;
  row_.seal = sealNumber(*held.seal, held.leaf);
  row_.leaf = held.leaf;
  if (held.whole() != nullptr) row_.whole = *held.whole();
}

// Before anything names them: the counters that the peer may not know, with their proofs. False: there are more.
bool SpaceSync::appendCounts(std::string& rows) {
  std::size_t counts = 0;
  for (WriterIndex w = 0; w < space_.writers().size(); ++w) {
    const RowSeal* seal = space_.seals().counting(w);
    if (seal == nullptr || seal->count->seq <= std::max(known_.at(w), told_.at(w))) continue;
    if (++counts > kCountsInFrame) return false;
    const std::uint64_t number = announce(rows, w);
    appendCountRow(rows, number, seal->count->seq, sealNumber(*seal, seal->count->leaf), seal->count->leaf);
    told_.raise(w, seal->count->seq);
  }
  return true;
}

void SpaceSync::putSeals(std::string& rows) {
  std::string seals;
  for (SentSeal& sent : sentSeals_)
    appendSealRow(seals, sent.seal->first, space_.seals().forLeaves(*sent.seal, std::move(sent.leaves)));
  if (!seals.empty()) rows.insert(0, seals);
  sentSeals_.clear(), sealBytes_ = 0;
}

std::string SpaceSync::wholeClock() {
  const std::string rows = clockRows({}, space_.vector());
  if (!rows.empty()) return rows;
  std::string none;
  appendClockRow(none, RowTag::commit, {});
  return none;
}

std::string SpaceSync::clockRows(const VersionVector& since, const VersionVector& now) {
  std::string rows;
  std::vector<std::pair<std::uint64_t, Seq>> entries;
  for (WriterIndex w = 0; w < now.end(); ++w)
    if (now.at(w) > since.at(w)) entries.emplace_back(announce(rows, w), now.at(w));
  if (!entries.empty()) appendClockRow(rows, RowTag::commit, entries);
  return rows;
}

VectorClock SpaceSync::named(const VersionVector& vector) const { return withNames(vector, space_.writers()); }

Status SpaceSync::versionRows(std::string& rows, const Held& held) {
  WITAN_DO(space_.sealOwn());
  WITAN_TRY(body, space_.bodyOf(held));
  while (!appendCounts(rows)) continue;
  appendVersion(rows, held, body, false);
  return okStatus();
}

// The resume token of a later session: writer, walk position, and how often versions had arrived out of order.
std::string SpaceSync::token() const {
  std::string out;
  DenseWriter to(out);
  to.text(space_.selfName());
  to.varint(space_.outOfOrder());
  to.varint(sent_.end());
  for (WriterIndex w = 0; w < sent_.end(); ++w) to.varint(sent_.at(w));
  return out;
}

void SpaceSync::resume(std::string_view token) {
  DenseReader from(token);
  const std::string_view self = from.text(kMaxIdBytes);
  const std::uint64_t outOfOrder = from.varint();
  const std::uint64_t n = from.count(space_.writers().size());
  VersionVector sent;
  for (std::uint64_t w = 0; w < n && from.ok(); ++w) sent.raise(static_cast<WriterIndex>(w), from.varint());
  if (!from.finish("a resume token").ok() || self != space_.selfName()) return;
  if (outOfOrder != space_.outOfOrder() && !mutated("trustOldToken")) return;
  sent_.join(sent);
  seenOutOfOrder_ = space_.outOfOrder();
}

Status SpaceSync::restart(std::string_view rows, std::uint16_t attempt) {
  WITAN_TRY(applied, readClockRows(rows));
  if (!applied.clock) return invalid("RETRY without a vector");
  WITAN_DO(checkClaim(*applied.clock));
  known_ = sent_ = *applied.clock;
  attempt_ = attempt;
  full_ = true;
  sentChanges_ = ~std::uint64_t{0};
  return okStatus();
}

Status SpaceSync::peerHas(const VersionVector& vector) {
  WITAN_DO(checkClaim(vector));
  peerClock_.join(vector);
  known_.join(vector);
  sent_.join(vector);
  return okStatus();
}

// --- receiving

Result<Applied> SpaceSync::apply(std::string_view rows, std::uint16_t attempt, Gate gate, const Before& before) {
  Applied applied;
  DenseReader from(rows);
  bool hasVersions = false;
  arrivingSeals_.clear();
  // It is the sender's own vector.
  const auto commit = [&](const VersionVector& clock) -> Status {
    WITAN_DO(peerHas(clock));
    if (attempt != expected_ || broken_ || gate == Gate::open) return okStatus();
    WITAN_DO(checkProven(clock));
    applied.fresh = !clock.le(space_.vector());
    applied.repeated = hasVersions && !applied.fresh;
    if (unchecked_.end() > 0 || takesOver(clock)) {
      unchecked_.join(clock);
      return okStatus();
    }
    space_.advance(clock);
    applied.committed = true;
    return okStatus();
  };
  while (from.ok() && !from.atEnd()) {
    const std::uint8_t number = from.byte();
    const auto tag = static_cast<RowTag>(number);
    const bool isLive = tag == RowTag::alias || tag == RowTag::update || number == kCommitOfRow;
    if (isLive && !(aliases_ && gate == Gate::closed))
      return invalid(concat("an alias where none was agreed, at byte ", from.position()));
    if (number == kCommitOfRow) {
      if (!hasVersions) return invalid("a commit of the row before it, which is none");
      VersionVector clock;
      clock.raise(in_.writerOf(row_.writer), row_.seq);
      WITAN_DO(commit(clock));
      continue;
    }
    switch (tag) {
      case RowTag::writer: WITAN_DO(applyWriter(from)); break;
      case RowTag::seal: WITAN_DO(applySeal(from)); break;
      case RowTag::count: WITAN_DO(applyCount(from)); break;
      case RowTag::alias: WITAN_DO(applyAlias(from)); break;
      case RowTag::version:
      case RowTag::update:
        WITAN_DO(applyVersion(tag, from, gate, before, applied));
        hasVersions = true;
        break;
      case RowTag::commit: {
        WITAN_TRY(clock, readVector(from));
        WITAN_DO(commit(clock));
        break;
      }
      default: return invalid(concat("a row of unknown tag at byte ", from.position()));
    }
  }
  WITAN_DO(from.finish("rows"));
  applied.forged = space_.takeForged();
  if (broken_) {
    broken_ = false;
    applied.retry = true;
    ++expected_;
  }
  return applied;
}

bool SpaceSync::takesOver(const VersionVector& clock) const {
  if (mutated("trustNewcomers")) return false;
  for (WriterIndex w = 0; w < forgotten_.end(); ++w)
    if (std::min(forgotten_.at(w), clock.at(w)) > space_.vector().at(w)) return true;
  return false;
}

void SpaceSync::checked(const VersionVector& upTo) {
  space_.advance(upTo);
  if (unchecked_.le(upTo)) unchecked_ = {};
}

Result<Applied> SpaceSync::readClockRows(std::string_view rows) {
  Applied applied;
  DenseReader from(rows);
  while (from.ok() && !from.atEnd()) {
    switch (static_cast<RowTag>(from.byte())) {
      case RowTag::writer: WITAN_DO(applyWriter(from)); break;
      case RowTag::commit: {
        WITAN_SET(applied.clock, readVector(from));
        break;
      }
      case RowTag::deviceAck: {
        std::string device = from.idText(kMaxIdBytes);
        WITAN_TRY(clock, readVector(from));
        applied.deviceAcks.push_back({std::move(device), {}, std::move(clock)});
        break;
      }
      case RowTag::alike: WITAN_DO(readAlike(from, applied)); break;
      case RowTag::acks: WITAN_DO(readAcks(from, applied)); break;
      default: return invalid(concat("a row that is neither writer nor vector at byte ", from.position()));
    }
  }
  WITAN_DO(from.finish("rows"));
  return applied;
}

Status SpaceSync::applyWriter(DenseReader& from) {
  const std::string name = from.idText(kMaxIdBytes);
  WITAN_DO(from.status("a writer's row"));
  if (in_.size() >= kMaxWriters) return invalid(concat("more than ", kMaxWriters, " writers"));
  WITAN_TRY(index, space_.intern(name));
  if (in_.has(index)) return invalid("writer " + name + " is announced twice: a frame came again, or out of its place");
  in_.add(index);
  return okStatus();
}

Status SpaceSync::applyAlias(DenseReader& from) {
  KeyAlias& named = inAliases_[from.byte()];
  named.kind = static_cast<Kind>(from.byte());
  named.key = from.idText(kMaxIdBytes);
  return from.status("an alias's row");
}

Status SpaceSync::readRow(RowTag tag, DenseReader& from) {
  if (tag == RowTag::version) {
    readVersionRow(from, row_);
    return from.status("a version's row");
  }
  const std::uint8_t alias = from.byte();
  const auto named = inAliases_.find(alias);
  if (named == inAliases_.end()) return invalid(concat("an update of alias ", alias, ", never given"));
  row_.kind = named->second.kind, row_.key = named->second.key;
  readUpdateRow(from, row_);
  return from.status("an update's row");
}

Status SpaceSync::applySeal(DenseReader& from) {
  ArrivingSeal& seal = arrivingSeals_.emplace_back();
  seal.first = from.count(kMaxSeq);
  seal.bytes = from.text(kMaxSealBytes);
  return from.status("a seal's row");
}

// Of the version in row_.
Result<RowProof> SpaceSync::proofOfRow() {
  if (!row_.sealed) return RowProof{};
  if (row_.seal >= arrivingSeals_.size()) return invalid(concat(row_.key, ": seal ", row_.seal, " did not come"));
  return RowProof{&arrivingSeals_[row_.seal], static_cast<std::uint32_t>(row_.leaf),
                  row_.whole ? &*row_.whole : nullptr};
}

// A peer says how many commits a writer has made. Of this device's own it may know more than is here: then this store
// went back.
Status SpaceSync::applyCount(DenseReader& from) {
  const std::uint64_t number = from.varint();
  const Seq count = from.count(kMaxSeq);
  const std::uint64_t seal = from.varint();
  const auto leaf = static_cast<std::uint32_t>(from.count(kMaxSealLeaves));
  WITAN_DO(from.status("a counter's row"));
  if (number >= in_.size()) return invalid(concat("a counter names writer ", number, ", never announced"));
  const WriterIndex writer = in_.writerOf(number);
  const std::string what = "that there is " + dotText(space_, writer, count);
  if (seal >= arrivingSeals_.size()) return invalid(concat(what, ": seal ", seal, " did not come"));
  const ProofVerdict verdict = space_.count(arrivingSeals_[seal], leaf, writer, count);
  if (verdict != ProofVerdict::proven) return refuse(verdict == ProofVerdict::keyUnknown, writer, what, true);
  VersionVector claim;
  claim.raise(writer, count);
  return checkClaim(claim);
}

// A vector that covers commits to come would bar these here, and wherever this device passes it on.
Status SpaceSync::checkProven(const VersionVector& clock) {
  for (WriterIndex w = 0; w < clock.end(); ++w)
    if (space_.unproven(w, clock.at(w)))
      return refuse(false, w, "a vector that covers " + dotText(space_, w, clock.at(w)), false);
  return okStatus();
}

// Of the version in row_, which does not prove who wrote it, or of which the peer has not said that there is one.
Status SpaceSync::refuseRow(Arrival arrival, WriterIndex writer) {
  std::string what =
      concat(space_.schemas().traits(row_.kind).name, " ", row_.key, ", ", dotText(space_, writer, row_.seq));
  if (arrival != Arrival::keyUnknown && arrival != Arrival::unproven)
    return invalid(what + ": it came before the proof that there is such a commit");
  return refuse(arrival == Arrival::keyUnknown, writer, what, row_.sealed);
}

Status SpaceSync::refuse(bool keyUnknown, WriterIndex writer, const std::string& what, bool sealed) {
  const std::string_view device = deviceOf(space_.writers().name(writer));
  if (keyUnknown)
    return unavailable(concat(what, ": no key of ", device, " that is known here sealed it"),
                       "it waits for the roster");
  // Who sends a bad seal lies, for an honest device looks at it first. It may not have known that there must be one.
  violation_ = {concat(what, sealed ? ", bears a seal that is none of " : ", bears no seal of ", device), sealed,
                "forgedRow"};
  return invalid(violation_->what);
}

Result<VersionVector> SpaceSync::readVector(DenseReader& from) {
  readClock(from, row_.context);
  WITAN_DO(from.status("a vector's row"));
  VersionVector vector;
  for (const auto& [number, seq] : row_.context) {
    if (number >= in_.size()) return invalid(concat("a vector names writer ", number, ", never announced"));
    vector.raise(in_.writerOf(number), seq);
  }
  return vector;
}

// One dot, two contents: somebody restored or copied a store and nothing else noticed.
Status SpaceSync::settle(const Incoming& incoming, Applied& applied) {
  const std::string what = concat("EQUIVOCATION: two contents of ", dotText(space_, incoming.writer, incoming.seq),
                                  " for ", space_.schemas().traits(incoming.kind).name, " ", incoming.key);
  applied.incidents.emplace_back(deviceOf(space_.writers().name(incoming.writer)), what);
  if (incoming.writer == space_.self()) WITAN_DO(newWriter_(what, true));
  if (!adoptEvents_ || !space_.schemas().traits(incoming.kind).event) {
    const Status settled = space_.settle(incoming);
    if (settled.ok() || settled.error().code != ErrorCode::conflict) return settled;
    // A writer's later version stands for all that it wrote there before, which the one to be committed had not seen.
    WITAN_DO(newWriter_(settled.error().message, false));
    return space_.settle(incoming);
  }
  const Record& record = *space_.table().find(incoming.kind, incoming.key);
  space_.drop(*record.versions.front());  // its dot is its key
  return space_.receive(incoming, Gate::open) == Arrival::inserted ? okStatus() : invalid(what);
}

// A version that the peer sent: its key, its kind's database, its body (a field delta is checked when it is applied).
Status SpaceSync::checkRow(const std::string& writer) const {
  const KindTraits& traits = space_.schemas().traits(row_.kind);
  const std::string kind(traits.name);
  WITAN_DO(validateId("key", row_.key));
  if (!(database_ == DatabaseName::journal ? traits.journal : traits.agents) && !mutated("linkInJournal"))
    return invalid(kind + " records do not live in the " + toString(database_) + " database");
  if (traits.event && row_.key != concat(writer, ":", row_.seq))
    return invalid(kind + " " + row_.key + " is not keyed by its dot");
  if (row_.tombstone && !traits.removable) return invalid(kind + " " + row_.key + " cannot be taken away");
  if (!traits.register_ && !row_.tombstone && !row_.context.empty())
    return invalid(kind + " " + row_.key + " cannot replace anything");
  if (row_.tombstone) return okStatus();
  if (row_.base > 0)
    return traits.deltas ? okStatus() : invalid(kind + " " + row_.key + ": the kind has no field deltas");
  if (Status status = space_.schemas().check(row_.kind, row_.body, writer); !status.ok())
    return invalid(kind + " " + row_.key + ": " + status.error().message);
  return okStatus();
}

// A device without the key could only take copies away. Who passes its rows on did not look at them.
Status SpaceSync::checkSealedRow(const std::string& writer) {
  if (row_.kind != kSealedCopyKind) return invalid(row_.key + ": a record among sealed copies that is none");
  if (!copiesOnly_ || !copiesOnly_(deviceOf(writer))) return okStatus();
  violation_ = {concat(row_.key, ": ", deviceOf(writer), " keeps copies only, and writes none"), true, "badCopy"};
  return invalid(violation_->what);
}

Status SpaceSync::applyVersion(RowTag tag, DenseReader& from, Gate gate, const Before& before, Applied& applied) {
  WITAN_DO(readRow(tag, from));
  context_.clear();
  for (const auto& [number, seq] : row_.context) {
    if (number >= in_.size()) return invalid(concat(row_.key, ": writer ", number, " was never announced"));
    context_.push_back({in_.writerOf(number), seq});
  }
  if (row_.writer >= in_.size()) return invalid(concat(row_.key, ": writer ", row_.writer, " was never announced"));
  const WriterIndex writer = in_.writerOf(row_.writer);
  WITAN_DO(checkRow(space_.writers().name(writer)));
  if (statementsOnly_ && row_.kind != kStatementKind)
    return invalid(row_.key + ": a record among the statements about membership, which every device gets");
  if (sealedOnly_) WITAN_DO(checkSealedRow(space_.writers().name(writer)));
  WITAN_DO(checkSeen(writer));
  WITAN_TRY(proof, proofOfRow());
  const Incoming incoming{row_.kind, row_.key,  writer,    row_.seq, row_.tombstone,
                          &context_, row_.body, row_.base, proof};
  if (space_.unproven(writer, row_.seq))
    return refuseRow(row_.base > 0 ? Arrival::inserted : space_.prove(incoming, row_.body), writer);
  WITAN_DO(checkCounter(writer, row_.seq));
  if (before) before(incoming);
  const Arrival arrival = space_.receive(incoming, gate);
  if (arrival == Arrival::inserted || arrival == Arrival::equivocation) space_.brought(this, writer, row_.seq);
  switch (arrival) {
    case Arrival::keyUnknown:
    case Arrival::unproven: return refuseRow(arrival, writer);
    case Arrival::baseMissing: broken_ = broken_ || !mutated("ignoreMissingBase"); break;
    case Arrival::malformed: return invalid(row_.key + ": a field delta that is none");
    case Arrival::equivocation: WITAN_DO(settle(incoming, applied)); break;
    default: break;
  }
  if (mutated("advanceEarly")) {
    VersionVector early;
    early.raise(writer, row_.seq);
    space_.advance(early);
  }
  return okStatus();
}

}  // namespace witan::replication
