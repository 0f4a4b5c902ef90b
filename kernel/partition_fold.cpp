// Folding recorded batches back into a partition: recovery after a restart, and followers of an owner.
#include "base/bytes.h"
#include "base/mutant.h"
#include "kernel/partition_instance.h"
#include "kernel/record/statement.h"

namespace witan::kernel {

namespace {

Error damaged(std::uint64_t seq, std::string why) { return corrupt(concat("entry ", seq, ": ", std::move(why))); }

Error unlawful(std::string what) { return {ErrorCode::unauthorised, std::move(what), ""}; }

Result<json::object> objectOf(std::string_view text) {
  WITAN_TRY(value, parseJson(text, {.bytes = kRecordMax, .depth = 64}));
  if (!value.is_object()) return corrupt("expected a JSON object");
  return std::move(value.as_object());
}

}  // namespace

Result<LogBatchInfo> Partition::fold(std::string_view value, Fold how) {
  WITAN_CHECK(batch_.empty(), "folding a batch into a partition with an open one");
  // In place when the store's bytes are aligned, from a copy else.
  std::vector<std::uint64_t> aligned;
  if (reinterpret_cast<std::uintptr_t>(value.data()) % 8 != 0) {
    aligned.resize((value.size() + 7) / 8);
    std::memcpy(aligned.data(), value.data(), value.size());
    value = {reinterpret_cast<const char*>(aligned.data()), value.size()};
  }
  bool first = true;
  auto info = readLogBatch(value, [&](const LogRecord& record) -> Status {
    if (first) {
      std::uint64_t firstSeq = 0;
      std::memcpy(&firstSeq, value.data() + 8, 8);
      if (firstSeq != frontier_.size() + 1)
        return corrupt(concat("a batch starts at entry ", firstSeq, " where entry ", frontier_.size() + 1, " is due"));
      first = false;
    }
    if (record.kind == RecordKind::entry)
      return foldEntry(record.payload, record.leaf, mutated("followBlindly") ? Fold::trusted : how);
    if (record.kind == RecordKind::genesis) return foldGenesis(record.payload, how);
    return record.kind == RecordKind::note ? foldNote(record.payload) : foldEpoch(record.payload, how);
  });
  batch_.reset(frontier_.size() + 1);
  return info;
}

Status Partition::foldGenesis(std::string_view payload, Fold how) {
  WITAN_TRY(record, readGenesis(payload));
  if (find(record.entity) != nullptr) return corrupt(concat("entity \"", record.entity, "\" comes to be twice"));
  WITAN_TRY(genesis, objectOf(record.genesis));
  const json::value* state = genesis.if_contains("state");
  if (state == nullptr || !state->is_object())
    return corrupt(concat("the genesis of \"", record.entity, "\" holds no state"));
  auto instance = std::make_unique<Instance>();
  if (how == Fold::checked) WITAN_DO(checkBeginning(record));
  WITAN_TRY(entity, module_->readState(state->get_object()));
  instance->state = std::move(entity);
  instance->digest = firstStateDigest(record.genesis);
  instance->genesis = record.genesis;
  instance->genesisHash = genesisHash(record.entity, record.genesis);
  noteChange(record.entity, *instance);
  instances_.emplace(std::string(record.entity), std::move(instance));
  return okStatus();
}

// It is one that the rules give. Of a device that asked for it, from the fields that it asked for, in an epoch of
// format 3; in no other a device stands in it.
Status Partition::checkBeginning(const GenesisView& record) const {
  const std::string name = concat("entity \"", record.entity, "\": ");
  const auto begun = check_.begin(record.genesis);
  if (!begun.ok()) return unlawful(name + begun.error().message);
  if (record.proof.empty() != (format() < kSignedBeginnings))
    return unlawful(name +
                    (record.proof.empty() ? "bears no signature of who began it" : "bears a signature too early"));
  if (record.proof.empty() || mutated("anyBeginning")) return okStatus();
  WITAN_TRY(fields, objectOf(record.fields));
  if (canonicalJson(fields) != record.fields) return unlawful(name + "its fields are no canonical JSON");
  const Time at = (*begun)->shared.clock;
  const auto made = module_->createAs(**begun, fields, at);
  if (!made.ok() || genesisText(*module_, **made, at, ~module_->laterFields(**begun)) != record.genesis)
    return unlawful(name + "is not what its fields begin");
  return okStatus();
}

Status Partition::foldNote(std::string_view payload) {
  NoteView note;
  WITAN_DO(withMessage(payload, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, note, "note"); }));
  if (note.outcome >= enumNames<Outcome>().size())
    return corrupt(concat("a note with the unknown outcome ", note.outcome));
  name(keyOf(note.operationId), kIsNoteBit | notes_.size());
  notes_.emplace_back(static_cast<Outcome>(note.outcome), std::string(note.message));
  return okStatus();
}

Status Partition::foldEpoch(std::string_view payload, Fold how) {
  EpochView view;
  WITAN_DO(withMessage(payload, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, view, "epoch"); }));
  const std::string name = concat("epoch ", view.number, " of ", view.owner);
  if (how == Fold::checked) WITAN_DO(checkEpochStep(view.number, epochs_.empty() ? 0 : epochs_.back().number));
  if (!epochs_.empty() && view.number <= epochs_.back().number)
    return corrupt(concat(name, " follows epoch ", epochs_.back().number));
  if (view.format < format()) return unlawful(name + " begins without proofs, after epochs with them");
  if (view.entries != frontier_.size() || view.root != frontier_.root())
    return corrupt(concat(name, " begins on another ledger than the ", frontier_.size(), " entries before it"));
  epochs_.push_back({view.number, view.time, view.cause, std::string(view.owner), std::string(view.previousOwner),
                     view.previousNumber, view.entries, view.root, std::string(view.reason),
                     std::string(view.successor), view.format});
  latest_ = std::max(latest_, view.time);
  return okStatus();
}

void Partition::beginEpoch(const Epoch& epoch, EpochCause cause, Time at, std::string_view reason,
                           std::string_view successor, std::uint16_t format) {
  WITAN_CHECK(batch_.empty(), "an epoch begins in a batch of its own");
  const EpochRecord* before = epochs_.empty() ? nullptr : &epochs_.back();
  WITAN_CHECK(before == nullptr || before->number < epoch.number || mutated("seizeSameEpoch"), "epochs only go up");
  EpochRecord record{
      epoch.number,           at,    cause, epoch.owner, {}, 0, frontier_.size(), frontier_.root(), std::string(reason),
      std::string(successor), format};
  if (before != nullptr) record.previousOwner = before->owner, record.previousNumber = before->number;
  const std::string_view bytes = writer_.message(record);
  batch_.add(RecordKind::epoch, bytes, leafHash(bytes));
  epochs_.push_back(std::move(record));
  latest_ = std::max(latest_, at);
}

Status Partition::freeze(Instance& instance, const EntryView& entry, const Hash& leaf) {
  auto pending = std::make_unique<PendingProposal>();
  pending->seq = entry.seq;
  pending->digest = leaf;
  pending->at = entry.time;
  pending->role = entry.role;
  pending->device = entry.device;
  pending->agent = entry.agent;
  pending->action = entry.action;
  pending->invariant = entry.invariant;
  pending->message = entry.message;
  const auto invariants = module_->signature().invariants.size();
  for (const auto& finding : entry.findings) {
    std::uint16_t i = 0;
    while (i <= invariants && module_->invariantId(i) != finding.invariant) ++i;
    const auto result = static_cast<InvResult>(finding.result);
    if (i > invariants || (finding.result >> 8) != 0 || (result != InvResult::reject && result != InvResult::escalate))
      return damaged(entry.seq, "a finding of its detection vector is none of this domain's");
    pending->findings.push_back({i, result, std::string(finding.message)});
  }
  WITAN_TRY(value, parseJson(entry.action, {.bytes = kRecordMax, .depth = 64}));
  WITAN_SET(pending->decoded, module_->parseAction(value));
  WITAN_TRY(wait, readWait(entry.decision));
  pending->touch = module_->touch(*instance.state, *pending->decoded, entry.time);
  pending->expires = wait.until;
  if (mutated("laterExpiry") && pending->expires) pending->expires->micros += options_.pendingTtlMicros;
  instance.pending = std::move(pending);
  pendingBySeq_.emplace(entry.seq, std::string(entry.entity));
  return okStatus();
}

// What an entry has besides in an epoch of format 2, and in no other.
Status Partition::checkSigned(const EntryView& entry) const {
  const bool begins = beginsEpoch();
  if (begins ? entry.epoch != epochs_.back().number || entry.owner != epochs_.back().owner : entry.epoch != 0)
    return unlawful(concat("entry ", entry.seq, ": names another epoch than the one that it begins"));
  if (isSigned() && entry.proof.empty() && hasProposer(entry))
    return unlawful(concat("entry ", entry.seq, ": bears no signature of its proposer"));
  return okStatus();
}

// The entity afterwards is the one that the rules give.
Status Partition::decideAgain(Instance& instance, const EntryView& entry) {
  const bool resolves = entry.tag == Tag::cCommitted || entry.tag == Tag::cRejected;
  if (resolves == entry.counselor.empty())
    return unlawful(concat("entry ", entry.seq, ": a counselor's name and a counselor's decision go together"));
  if (resolves && (entry.counselor == kSystemCounselor ? instance.pending->expires != entry.time
                                                       : isDue(*instance.pending, entry.time)))
    return unlawful(concat("entry ", entry.seq, ": is of another time than its escalation allows"));
  const Action* pending = instance.pending == nullptr ? nullptr : instance.pending->decoded.get();
  auto checked = check_.check(*instance.state, pending, bindings_, entry);
  if (checked.ok()) return okStatus();
  return unlawful("entry " + std::to_string(entry.seq) + ": " + checked.error().message);
}

Status Partition::foldEntry(std::string_view payload, const Hash& leaf, Fold how) {
  const std::uint64_t seq = frontier_.size() + 1;
  WITAN_TRY(entry, readEntryView(payload));
  if (entry.seq != seq) return damaged(seq, concat("says it is entry ", entry.seq));
  if (!isCalendarTime(entry.time)) return damaged(seq, "its time lies outside the years 0001 to 9999");
  const std::string elsewhere = bindings_.objection(entry.runKey, entry.planDigest);
  if (!elsewhere.empty() && !isIntegrityRejection(entry) && !mutated("bindNothing"))
    return damaged(seq, "decides under another plan: " + elsewhere);
  Instance* instance = find(entry.entity);
  if (instance == nullptr) return damaged(seq, concat("its entity \"", entry.entity, "\" has no beginning"));
  if (instance->genesis != entry.genesis) return damaged(seq, "does not carry its entity's beginning");
  const bool resolves = entry.tag == Tag::cCommitted || entry.tag == Tag::cRejected;
  const bool asksTwice = instance->pending != nullptr && entry.tag == Tag::escalated;
  const bool isFrozen = instance->pending != nullptr && (asksTwice || instance->pending->touch.instances.empty());
  if (resolves ? instance->pending == nullptr : isFrozen)
    return damaged(seq, resolves ? "resolves nothing" : "decides a frozen entity");
  if (resolves && instance->pending->seq != entry.escalation)
    return damaged(seq, concat("resolves entry ", entry.escalation, " which is not pending"));
  WITAN_DO(checkSigned(entry));
  if (how == Fold::checked) WITAN_DO(decideAgain(*instance, entry));
  if (resolves) {
    pendingBySeq_.erase(instance->pending->seq);
    instance->pending.reset();
  }
  if (entry.tag == Tag::approved || entry.tag == Tag::cCommitted) {
    auto writes = objectOf(entry.writes);
    if (!writes) return damaged(seq, "its write set is unreadable (" + writes.error().message + ")");
    if (how == Fold::trusted)
      if (Status applied = module_->applyWrites(*instance->state, *writes); !applied.ok())
        return damaged(seq, applied.error().message);
    instance->state->shared.clock = entry.time;
    instance->state->notPassing = 0;
    for (std::size_t i = 1; i < entry.verdicts.size() && i <= 64; ++i)
      if (entry.verdicts[i] > static_cast<std::uint8_t>(InvResult::pass) && !mutated("forgetNotPassing"))
        instance->state->notPassing |= std::uint64_t{1} << (i - 1);
    instance->digest = nextStateDigest(instance->digest, entry.time, entry.writes);
    if (entry.tag == Tag::cCommitted && !entry.findings.empty()) ++unsafeCommits_;
  }
  if (instance->digest != entry.stateDigest) return damaged(seq, "its state digest is not that of its writes");
  if (entry.tag == Tag::escalated) WITAN_DO(freeze(*instance, entry, leaf));
  if (instance->firstSeq == 0) instance->firstSeq = seq;
  instance->genesis.clear();
  instance->genesis.shrink_to_fit();
  instance->lastSeq = seq;
  noteChange(entry.entity, *instance);
  latest_ = std::max(latest_, entry.time);
  name(keyOf(entry.operationId), !elsewhere.empty() && isIntegrityRejection(entry) ? seq | kTurnedAwayBit : seq);
  noteRun(entry);
  frontier_.append(leaf);
  return okStatus();
}

}  // namespace witan::kernel
