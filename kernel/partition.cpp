#include "kernel/partition.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/json_codec.h"
#include "base/legible.h"
#include "base/mutant.h"
#include "base/utf8.h"
#include "kernel/mutator.h"
#include "kernel/partition_instance.h"
#include "kernel/record/statement.h"

namespace witan::kernel {

namespace {

// Operation ids of the kernel's own entries.
constexpr std::string_view kExpirePrefix = "expire:";
constexpr std::string_view kUnsigned = "the request bears no signature of its device";

Status validateOperationId(std::string_view id) {
  WITAN_DO(validateId("operationId", id));
  if (id.starts_with(kExpirePrefix))
    return invalid(concat("operationId: names that start with \"", kExpirePrefix, "\" are the kernel's own"));
  return okStatus();
}

// Entity names are shown, stored and hashed, never parsed: any text without control characters will do.
Status validateEntity(std::string_view entity) {
  if (entity.empty() || entity.size() > kKeyMax) return invalid(concat("entity: must have 1 to ", kKeyMax, " bytes"));
  for (char c : entity)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return invalid("entity: control characters are not allowed");
  return okStatus();
}

const json::object& editOf(const CounselorDecision& d) {
  static const json::object kNoEdit;
  return d.edit != nullptr ? *d.edit : kNoEdit;
}

// Zeros: there is none.
std::span<const std::uint8_t> bytesOf(const Hash& digest) {
  return digest == Hash{} ? std::span<const std::uint8_t>() : std::span<const std::uint8_t>(digest);
}

// When a proposal of `at` is no longer waited for; nothing: never, or beyond the calendar.
std::optional<Time> expiryOf(Time at, std::int64_t ttlMicros) {
  Time due;
  const bool endless = __builtin_add_overflow(at.micros, ttlMicros, &due.micros) || !isCalendarTime(due);
  return ttlMicros <= 0 || endless ? std::nullopt : std::optional(due);
}

// Why an entry cannot hold these texts beside a write set; "": it can.
std::string excessOf(std::string_view action, std::string_view decision = {}, std::string_view reason = {}) {
  const auto tooLong = [](std::string_view what, std::size_t bytes, std::size_t most) {
    return concat(what, " has ", bytes, " bytes: a record holds ", most);
  };
  if (action.size() > kRecordTextMax) return tooLong("the action", action.size(), kRecordTextMax);
  if (decision.size() > kRecordTextMax) return tooLong("the edit", decision.size(), kRecordTextMax);
  return reason.size() > kTextMax ? tooLong("the reason", reason.size(), kTextMax) : std::string();
}

}  // namespace

std::string genesisText(const DomainModule& module, const EntityState& state, Time at, FieldMask fields) {
  std::string text = "{\"at\":\"" + formatTime(at) + "\",\"state\":";
  module.writeState(text, state, fields);
  return text + "}";
}

std::size_t Partition::TextHash::operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }

Partition::Partition(const DomainModule& module, PartitionOptions options, EntrySource* history)
    : module_(&module), options_(options), history_(history), batch_(1), check_(module) {}

Partition::~Partition() = default;

Partition::Instance* Partition::find(std::string_view entity) {
  const auto at = instances_.find(entity);
  return at == instances_.end() ? nullptr : at->second.get();
}
const Partition::Instance* Partition::find(std::string_view entity) const {
  return const_cast<Partition*>(this)->find(entity);
}

Partition::OperationKey Partition::keyOf(std::string_view operationId) {
  const Hash hash = sha256(operationId);
  OperationKey key;
  std::memcpy(key.data(), hash.data(), sizeof key);
  return key;
}

void Partition::name(const OperationKey& key, std::uint64_t answer) {
  operations_[key] = answer;
  if (options_.snapshots) newOperations_.emplace_back(key, answer);
}

void Partition::noteChange(std::string_view entity, Instance& instance) {
  if (!options_.snapshots || instance.changed) return;
  instance.changed = true;
  changed_.emplace_back(entity);
}

Decision Partition::refuse(std::string message, bool remember, std::string_view operationId, Outcome outcome) {
  if (remember) {
    NoteView note{operationId, static_cast<std::uint16_t>(outcome), message};
    const std::string_view bytes = writer_.message(note);
    batch_.add(RecordKind::note, bytes, leafHash(bytes));
    name(keyOf(operationId), kIsNoteBit | notes_.size());
    notes_.emplace_back(outcome, message);
  }
  Decision decision{.outcome = outcome, .message = std::move(message)};
  return decision;
}

Decision Partition::init(std::string_view entity, const json::object& fields, Time at, const Beginner& by) {
  if (Status valid = validateEntity(entity); !valid.ok()) return refuse(valid.error().message, false, {});
  auto created = module_->create(fields, at);
  if (!created)
    return refuse(created.error().message + (created.error().hint.empty() ? "" : "; " + created.error().hint), false,
                  {});
  std::string genesis = genesisText(*module_, **created, at);
  const std::string asked = format() >= kSignedBeginnings ? canonicalJson(fields) : std::string();
  if (const std::size_t size = genesis.size() + asked.size(); size > kRecordTextMax)
    return refuse(concat("the beginning of the entity has ", size, " bytes: a record holds ", kRecordTextMax), false,
                  {});
  const Hash hash = genesisHash(entity, genesis);
  Decision decision;
  if (const Instance* existing = find(entity)) {
    if (existing->genesisHash != hash)
      return refuse(concat("entity \"", entity, "\" exists already, with another beginning"), false, {});
    decision.outcome = Outcome::duplicate;
    decision.recorded = Outcome::initialised;
    return decision;
  }
  // Those of old logs stay.
  if (Status read = checkLegible(entity); !read.ok())
    return refuse("entity: " + read.error().message + "; " + read.error().hint, false, {});
  GenesisView record{.entity = entity, .genesis = genesis};
  if (format() >= kSignedBeginnings) {
    if (by.proof.empty()) return refuse(std::string(kUnsigned), false, {});
    record.operationId = by.operationId, record.device = by.device, record.agent = by.agent;
    record.fields = asked, record.proof = by.proof;
  }
  const std::string_view bytes = writer_.message(record);
  batch_.add(RecordKind::genesis, bytes, leafHash(bytes));
  auto instance = std::make_unique<Instance>();
  instance->state = std::move(*created);
  instance->digest = firstStateDigest(genesis);
  instance->genesisHash = hash;
  instance->genesis = std::move(genesis);
  noteChange(entity, *instance);
  instances_.emplace(std::string(entity), std::move(instance));
  decision.outcome = Outcome::initialised;
  return decision;
}

// Whoever asked for it.
Hash Partition::genesisHash(std::string_view entity, std::string_view genesis) {
  return leafHash(writer_.message(GenesisView{.entity = entity, .genesis = genesis}));
}

Result<json::object> Partition::beginning(const Instance& instance) {
  std::string text = instance.genesis;
  if (text.empty()) {
    WITAN_TRY(bytes, entryBytes(instance.firstSeq));
    WITAN_TRY(entry, readEntry(bytes));
    text = std::move(entry.genesis);
  }
  WITAN_TRY(parsed, parseJson(text, {.bytes = kRecordTextMax, .depth = 64}));
  if (!parsed.is_object() || !parsed.get_object().contains("state")) return corrupt("the beginning is no object");
  return std::move(parsed.get_object());
}

Decision Partition::begin(std::string_view entity, const json::object& fields, Time now, bool tell,
                          const Beginner& by) {
  const Instance* existing = find(entity);
  if (existing == nullptr) return init(entity, fields, now, by);
  const auto first = beginning(*existing);
  // Pruned: it began, and whether as is asked for now cannot be told any more.
  if (!first && first.error().code == ErrorCode::notFound)
    return {.outcome = Outcome::duplicate, .seq = existing->firstSeq, .message = first.error().message};
  const auto began = first ? parseTime(std::string(first->at("at").as_string())) : Result<Time>(first.error());
  if (!began) return init(entity, fields, now, by);
  Decision decision = init(entity, fields, *began, by);
  const auto created = module_->create(fields, *began);
  if (!tell || decision.outcome != Outcome::refused || !created) return decision;
  std::string state, names;
  module_->writeState(state, **created);
  const auto wanted = parseJson(state, {.bytes = kRecordTextMax, .depth = 64});
  const json::object& stands = first->at("state").as_object();
  for (const auto& [name, value] : wanted.value().as_object())
    if (const json::value* other = stands.if_contains(name); other == nullptr || *other != value)
      names += concat(names.empty() ? "" : ", ", name);
  decision.message += ": " + names + (names.find(',') == std::string::npos ? " differs" : " differ");
  return decision;
}

std::optional<Decision> Partition::recorded(const OperationKey& key, std::string_view operationId,
                                            const std::function<bool(const Entry&)>& sameAct) {
  const auto at = operations_.find(key);
  if (at == operations_.end() || mutated("noDedupe")) return std::nullopt;
  Decision decision;
  decision.outcome = Outcome::duplicate;
  if (at->second & kIsNoteBit) {
    decision.recorded = notes_[at->second & ~kIsNoteBit].first;
    decision.message = notes_[at->second & ~kIsNoteBit].second;
    return decision;
  }
  decision.seq = at->second & ~kTurnedAwayBit;
  auto bytes = entryBytes(decision.seq);
  // Pruned: it was decided, and whether this is the same act cannot be told any more.
  if (!bytes && bytes.error().code == ErrorCode::notFound) decision.message = bytes.error().message;
  if (!bytes) return decision;
  auto entry = readEntry(*bytes);
  WITAN_CHECK(entry.ok(), "an entry of our own is readable");
  if (!sameAct(*entry)) {  // one name, one act
    decision.outcome = Outcome::refused;
    const bool decided = entry->tag == Tag::cCommitted || entry->tag == Tag::cRejected;
    decision.message = decided ? concat("entry ", entry->seq, " decided it before: ", entry->counselor,
                                        entry->tag == Tag::cCommitted ? " committed it" : " rejected it",
                                        " (operation id \"", operationId, "\")")
                               : concat("operation id \"", operationId, "\" already names another act (entry ",
                                        entry->seq, "): give this act an id of its own");
    decision.seq = 0;
    return decision;
  }
  decision.recorded = outcomeOf(entry->tag);
  decision.invariant = entry->invariant;
  decision.message = entry->message;
  if (entry->tag == Tag::cCommitted) {
    decision.safe = entry->findings.empty();
    for (const auto& finding : entry->findings) decision.violated.push_back(finding.invariant);
  }
  return decision;
}

bool Partition::isOpenAgain(const OperationKey& key, const Proposal& proposal,
                            const std::function<bool(const Entry&)>& sameAct) {
  const auto at = operations_.find(key);
  if (at == operations_.end() || (at->second & kIsNoteBit) != 0 || (at->second & kTurnedAwayBit) == 0) return false;
  if (!bindings_.isBoundTo(bytesOf(proposal.runKey), bytesOf(proposal.planDigest))) return false;
  const auto bytes = entryBytes(at->second & ~kTurnedAwayBit);
  const auto entry = bytes ? readEntry(*bytes) : Result<Entry>(bytes.error());
  return entry.ok() && sameAct(*entry) && std::ranges::equal(entry->runKey, proposal.runKey);
}

Result<std::string> Partition::entryBytes(std::uint64_t seq) {
  if (seq >= batch_.firstSeq()) return std::string(batch_.entry(seq - batch_.firstSeq()));
  if (history_ == nullptr) return unavailable("no history");
  return history_->entryBytes(seq);
}

void Partition::noteRun(const EntryView& entry) {
  const auto made = bindings_.note(entry);
  if (made && options_.snapshots) newBindings_.push_back(*made);
}

// Completes an entry, makes it a leaf and names it by its operation id.
void Partition::append(Instance& instance, EntryView& entry, const OperationKey& key) {
  entry.seq = frontier_.size() + 1;
  entry.stateDigest = instance.digest;
  entry.genesis = instance.genesis;
  if (beginsEpoch()) entry.epoch = epochs_.back().number, entry.owner = epochs_.back().owner;
  const std::string_view bytes = writer_.message(entry);
  const Hash leaf = leafHash(bytes);
  batch_.add(RecordKind::entry, bytes, leaf);
  frontier_.append(leaf);
  if (instance.firstSeq == 0) instance.firstSeq = entry.seq;
  instance.genesis.clear();
  instance.genesis.shrink_to_fit();
  instance.lastSeq = entry.seq;
  latest_ = std::max(latest_, entry.time);
  noteChange(entry.entity, instance);
  const bool turnedAway = isIntegrityRejection(entry) && !bindings_.objection(entry.runKey, entry.planDigest).empty();
  name(key, turnedAway ? entry.seq | kTurnedAwayBit : entry.seq);
  noteRun(entry);
  if (entry.tag == Tag::escalated) instance.pending->digest = leaf;
}

void Partition::expect(std::span<const std::string_view> entities) const {
  boost::container::small_vector<const Instance*, 16> found;
  for (const std::string_view entity : entities)
    if (const Instance* instance = find(entity)) {
      __builtin_prefetch(instance);
      found.push_back(instance);
    }
  // One level of pointers at a time, so that the misses of one level overlap.
  for (const Instance* instance : found)
    for (std::size_t line = 0; line < 4; ++line)
      __builtin_prefetch(reinterpret_cast<const char*>(instance->state.get()) + 64 * line);
  for (const Instance* instance : found) module_->prefetch(*instance->state);
}

Decision Partition::propose(const Proposal& proposal) {
  WITAN_CHECK(proposal.action != nullptr, "a proposal carries an action");
  if (Status valid = validateOperationId(proposal.operationId); !valid.ok())
    return refuse(valid.error().message, false, {});
  action_.clear();
  module_->writeAction(action_, *proposal.action);
  if (std::string excess = excessOf(action_); !excess.empty()) return refuse(std::move(excess), false, {});
  const auto sameProposal = [&](const Entry& e) {
    if (mutated("actByEntity")) return e.entity == proposal.entity;
    return e.counselor.empty() && e.entity == proposal.entity && e.role == proposal.role && e.action == action_;
  };
  const OperationKey key = keyOf(proposal.operationId);
  if ((proposal.runKey == Hash{}) != (proposal.planDigest == Hash{}))
    return refuse("a run key and a plan digest go together", false, {});
  if (isSigned() && proposal.proof.empty()) return refuse(std::string(kUnsigned), false, {});
  if (!isOpenAgain(key, proposal, sameProposal))
    if (auto repeat = recorded(key, proposal.operationId, sameProposal)) return *repeat;
  Instance* instance = find(proposal.entity);
  if (instance == nullptr)
    return refuse(concat("unknown entity \"", clip(proposal.entity, kKeyMax), "\""), proposal.remember,
                  proposal.operationId);
  const auto frozen = [&](std::string_view why) {
    return refuse(concat("entity \"", proposal.entity, "\" waits for a counselor since entry ", instance->pending->seq,
                         why, "; try again after the decision"),
                  proposal.remember, proposal.operationId, Outcome::frozen);
  };
  if (holds(*instance, *proposal.action, proposal.at)) return frozen("");

  std::string elsewhere = bindings_.objection(bytesOf(proposal.runKey), bytesOf(proposal.planDigest));
  if (mutated("bindNothing")) elsewhere.clear();
  if (mutated("skipRecheck")) instance->state->notPassing = 0;
  if (elsewhere.empty())
    module_->evaluate(*instance->state, proposal.role, *proposal.action, proposal.at, evaluation_);
  else
    rejectForIntegrity(module_->signature().invariants.size(), elsewhere, evaluation_);
  if (mutated("escalateAsPass") && evaluation_.tag == Evaluation::Tag::escalated &&
      module_
          ->counselorCommit(*instance->state, CommitBase::candidate, proposal.action, {}, {}, proposal.at, evaluation_)
          .ok())
    evaluation_.tag = Evaluation::Tag::approved;

  const bool asks = evaluation_.tag == Evaluation::Tag::escalated;
  if (asks && instance->pending && !mutated("noFreeze")) return frozen(", and this would ask a second question");

  EntryView entry;
  std::string waits;
  entry.time = proposal.at;
  entry.tag = static_cast<Tag>(evaluation_.tag);
  entry.entity = proposal.entity;
  entry.role = proposal.role;
  entry.device = proposal.device;
  entry.agent = proposal.agent;
  entry.operationId = proposal.operationId;
  entry.action = action_;
  entry.verdicts = evaluation_.verdicts;
  entry.runKey = bytesOf(proposal.runKey);
  entry.planDigest = bytesOf(proposal.planDigest);
  entry.proof = proposal.proof;
  Decision decision{.outcome = outcomeOf(entry.tag), .boundElsewhere = !elsewhere.empty()};
  if (entry.tag == Tag::approved) {
    entry.writes = evaluation_.writes;
    instance->digest = nextStateDigest(instance->digest, proposal.at, evaluation_.writes);
  } else {
    entry.invariant = module_->invariantId(evaluation_.witness);
    entry.message = evaluation_.message;
    decision.invariant = entry.invariant;
    decision.message = entry.message;
  }
  if (entry.tag == Tag::escalated) {
    for (const Finding& f : evaluation_.findings)
      entry.findings.push_back({module_->invariantId(f.invariant), static_cast<std::uint16_t>(f.result), f.message});
    auto pending = std::make_unique<PendingProposal>();
    pending->at = proposal.at;
    pending->role = proposal.role;
    pending->device = proposal.device;
    pending->agent = proposal.agent;
    pending->action = action_;
    pending->invariant = entry.invariant;
    pending->message = entry.message;
    pending->findings = evaluation_.findings;
    pending->decoded = module_->parseAction(parseJson(action_, {.bytes = kRecordMax, .depth = 64}).value()).value();
    pending->touch = module_->touch(*instance->state, *proposal.action, proposal.at);
    pending->expires = expiryOf(proposal.at, options_.pendingTtlMicros);
    waits = waitText({pending->touch.instances, pending->expires});
    entry.decision = waits;
    instance->pending = std::move(pending);
  }
  append(*instance, entry, key);
  decision.seq = entry.seq;
  if (entry.tag == Tag::escalated) {
    instance->pending->seq = entry.seq;
    pendingBySeq_.emplace(entry.seq, std::string(proposal.entity));
  }
  return decision;
}

Decision Partition::decide(const CounselorDecision& d) {
  if (Status valid = validateOperationId(d.operationId); !valid.ok()) return refuse(valid.error().message, false, {});
  const std::string decided = d.commit ? decisionText(enumName(d.base), editOf(d)) : std::string();
  if (std::string excess = excessOf({}, decided, d.reason); !excess.empty())
    return refuse(std::move(excess), false, {});
  const auto sameDecision = [&](const Entry& e) {
    return e.tag == (d.commit ? Tag::cCommitted : Tag::cRejected) && e.entity == d.entity &&
           e.counselor == d.counselor && (e.decision == decided || mutated("anyDecision"));
  };
  if (auto repeat = recorded(keyOf(d.operationId), d.operationId, sameDecision)) return *repeat;
  const auto no = [&](std::string message) { return refuse(std::move(message), d.remember, d.operationId); };
  if (isSigned() && d.proof.empty()) return refuse(std::string(kUnsigned), false, {});
  Instance* instance = find(d.entity);
  if (instance == nullptr) return no(concat("unknown entity \"", clip(d.entity, kKeyMax), "\""));
  if (!module_->authorised(d.counselor) && !mutated("anyCounselor"))
    return no(concat("\"", clip(d.counselor, kKeyMax), "\" is not an authorised counselor"));
  if (!instance->pending) return no(concat("nothing is pending for entity \"", d.entity, "\""));
  if (isDue(*instance->pending, d.at))
    return no(concat("the time for a decision on entry ", instance->pending->seq, " was over at ",
                     formatTime(*instance->pending->expires)));
  const PendingProposal& pending = *instance->pending;
  const bool shown = (!d.escalation || *d.escalation == pending.seq) &&
                     (!d.pendingDigest || *d.pendingDigest == pending.digest || mutated("numberSuffices"));
  if (!shown && !mutated("staleDecision"))
    return no(concat("stale decision: what is pending is entry ", pending.seq, " with digest ", toHex(pending.digest)));
  if (d.at < instance->state->shared.clock)
    return no("time " + formatTime(d.at) + " lies before the entity's clock " +
              formatTime(instance->state->shared.clock));

  EntryView entry;
  if (d.commit) {
    const json::object& edit = editOf(d);
    Status made =
        module_->counselorCommit(*instance->state, d.base, pending.decoded.get(), edit, d.counselor, d.at, evaluation_);
    if (!made.ok()) return no(made.error().message);
    entry.tag = Tag::cCommitted;
    entry.decision = decided;
    entry.writes = evaluation_.writes;
    entry.verdicts = evaluation_.verdicts;
    for (const Finding& f : evaluation_.findings)
      entry.findings.push_back({module_->invariantId(f.invariant), static_cast<std::uint16_t>(f.result), f.message});
    instance->digest = nextStateDigest(instance->digest, d.at, evaluation_.writes);
    if (!evaluation_.findings.empty()) ++unsafeCommits_;
  } else {
    entry.tag = Tag::cRejected;
  }
  return counselorEntry(*instance, entry, d);
}

Decision Partition::counselorEntry(Instance& instance, EntryView& entry, const CounselorDecision& d) {
  const std::unique_ptr<PendingProposal> pending = std::move(instance.pending);
  entry.time = d.at;
  entry.entity = d.entity;
  entry.device = d.device;
  entry.agent = d.agent;
  entry.operationId = d.operationId;
  entry.action = pending->action;
  entry.counselor = d.counselor;
  entry.reason = d.reason;
  entry.escalation = pending->seq;
  if (d.pendingDigest) entry.shown = *d.pendingDigest;
  entry.signature = d.signature;
  entry.proof = d.proof;
  append(instance, entry, keyOf(d.operationId));
  pendingBySeq_.erase(pending->seq);
  Decision decision{.outcome = outcomeOf(entry.tag), .seq = entry.seq, .message = std::string(d.reason)};
  if (entry.tag == Tag::cCommitted) {
    decision.safe = entry.findings.empty();
    for (const auto& finding : entry.findings) decision.violated.emplace_back(finding.invariant);
  }
  return decision;
}

std::vector<std::pair<std::string, Decision>> Partition::expire(Time now, std::optional<std::string_view> only,
                                                                std::size_t most) {
  std::vector<std::pair<std::string, Decision>> expired;
  std::vector<std::string> due;
  for (const auto& [seq, entity] : pendingBySeq_) {
    if (due.size() == most) break;
    if ((!only || *only == entity) && isDue(*find(entity)->pending, now)) due.push_back(entity);
  }
  for (const std::string& entity : due) {
    Instance& instance = *find(entity);
    EntryView entry;
    entry.tag = Tag::cRejected;
    const std::string operationId = concat(kExpirePrefix, instance.pending->seq);
    const Time at = *instance.pending->expires;
    const std::string reason = "expired: no counselor decided by " + formatTime(at);
    CounselorDecision decision;
    decision.entity = entity, decision.counselor = kSystemCounselor, decision.operationId = operationId;
    decision.reason = reason, decision.at = at;
    expired.emplace_back(entity, counselorEntry(instance, entry, decision));
  }
  return expired;
}

Partition::Batch Partition::takeBatch() {
  Batch batch{batch_.firstSeq(), batch_.take()};
  batch_.reset(frontier_.size() + 1);
  return batch;
}

std::vector<std::string> Partition::entities() const {
  std::vector<std::string> names;
  names.reserve(instances_.size());
  for (const auto& [name, instance] : instances_) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

const EntityState* Partition::state(std::string_view entity) const {
  const Instance* instance = find(entity);
  return instance == nullptr ? nullptr : instance->state.get();
}

const Hash* Partition::stateDigest(std::string_view entity) const {
  const Instance* instance = find(entity);
  return instance == nullptr ? nullptr : &instance->digest;
}

bool Partition::frozen(std::string_view entity) const {
  const Instance* instance = find(entity);
  return instance != nullptr && instance->pending != nullptr;
}

bool Partition::holds(std::string_view entity, const Action& action, Time at) const {
  const Instance* instance = find(entity);
  return instance != nullptr && holds(*instance, action, at);
}

bool Partition::holds(const Instance& instance, const Action& action, Time at) const {
  if (!instance.pending || mutated("noFreeze")) return false;
  return instance.pending->touch.instances.empty() ||
         module_->touch(*instance.state, action, at).meets(instance.pending->touch);
}

bool Partition::isDue(const PendingProposal& pending, Time now) const {
  if (mutated("lateCounselor")) --now.micros;
  return pending.expires && now >= *pending.expires;
}

bool Partition::knows(std::string_view operationId) const { return operations_.contains(keyOf(operationId)); }

std::uint64_t Partition::entryOf(std::string_view operationId) const {
  const auto at = operations_.find(keyOf(operationId));
  return at == operations_.end() || (at->second & kIsNoteBit) != 0 ? 0 : at->second & ~kTurnedAwayBit;
}

std::uint64_t Partition::newestEntryOf(std::string_view entity) const {
  const Instance* instance = find(entity);
  return instance == nullptr ? 0 : instance->lastSeq;
}

PendingView Partition::viewOf(std::string_view entity, const Instance& instance) const {
  const PendingProposal& p = *instance.pending;
  PendingView view{std::string(entity), p.seq,     p.digest,   p.at,     p.role, p.device, p.agent, p.action,
                   p.invariant,         p.message, p.findings, p.expires};
  return view;
}

std::vector<PendingView> Partition::queue() const {
  std::vector<PendingView> all;
  for (const auto& [seq, entity] : pendingBySeq_) all.push_back(viewOf(entity, *find(entity)));
  return all;
}

std::optional<PendingView> Partition::pending(std::string_view entity) const {
  const Instance* instance = find(entity);
  if (instance == nullptr || !instance->pending) return std::nullopt;
  return viewOf(entity, *instance);
}

void Partition::checkInvariants() const {
  std::size_t frozenCount = 0;
  for (const auto& [name, instance] : instances_) {
    if (!instance->pending) continue;
    ++frozenCount;
    const auto at = pendingBySeq_.find(instance->pending->seq);
    WITAN_CHECK(at != pendingBySeq_.end() && at->second == name,
                "P2: a pending proposal is listed under its escalation");
    const bool byKey = !instance->pending->touch.instances.empty();
    WITAN_CHECK(byKey ? instance->lastSeq >= instance->pending->seq : instance->lastSeq == instance->pending->seq,
                "P3: nothing follows an escalation but its resolution, and what it does not freeze");
  }
  WITAN_CHECK(frozenCount == pendingBySeq_.size(), "P2: the queue lists frozen entities only");
  WITAN_CHECK(batch_.firstSeq() <= frontier_.size() + 1, "P1: the open batch starts within the ledger");
}

}  // namespace witan::kernel
