#include "replica/core/partition_host.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/mutant.h"
#include "kernel/ledger/ledger_versions.h"
#include "kernel/proposal_message.h"
#include "replica/core/divergent_suffixes.h"
#include "replication/writer.h"
#include "rules/domain/versions.h"

namespace witan::node {

namespace {

constexpr std::uint64_t kNamedOperations = 8;

kernel::Decision refused(std::string message) {
  kernel::Decision decision;
  decision.message = std::move(message);
  return decision;
}

}  // namespace

std::string partitionId(std::string_view domain, std::uint32_t number) {
  return std::string(domain) + "/" + std::to_string(number);
}

std::string partitionOf(std::string_view domain, std::string_view entity, std::uint32_t partitions) {
  return partitionId(domain, static_cast<std::uint32_t>(firstWord(sha256(entity)) % partitions));
}

PartitionHost::PartitionHost(store::Store& ledgers, const kernel::DomainModule& module, HostOptions options)
    : module_(module),
      options_(std::move(options)),
      rows_(ledgers, concat(options_.place, options_.id, "/")),
      ledgers_(ledgers) {}

Result<std::unique_ptr<PartitionHost>> PartitionHost::open(store::Store& ledgers, const kernel::DomainModule& module,
                                                           HostOptions options) {
  std::unique_ptr<PartitionHost> host(new PartitionHost(ledgers, module, std::move(options)));
  kernel::LedgerOptions ledger;
  ledger.origin = host->options_.origin;
  ledger.partition.pendingTtlMicros = host->options_.pendingTtlMicros;
  WITAN_DO(kernel::continueLedger(host->seen_, module, [&](const kernel::LedgerFormat& existing) {
    return rules::continuesRules(existing.rules, existing.policy, module);
  }));
  WITAN_TRY(opened, kernel::Ledger::open(host->seen_, module, std::move(ledger)));
  host->ledger_ = std::move(opened);
  host->chain_.emplace(host->rows_, *host->ledger_);
  WITAN_DO(host->chain_->open());
  host->durable_ = host->ledger_->batches();
  host->noteRoot();
  return host;
}

EpochHistory PartitionHost::lineage() const {
  return told_ ? EpochHistory{told_->epochs, told_->batches} : wholeHistory();
}

kernel::Epoch PartitionHost::epoch() const {
  if (told_)
    return told_->epochs.empty() ? kernel::Epoch{}
                                 : kernel::Epoch{told_->epochs.back().number, told_->epochs.back().owner};
  const std::size_t begun = ledger_->epochStarts().size();
  if (begun == 0) return {};
  const auto& last = ledger_->partition().epochs()[begun - 1];
  return {last.number, last.owner};
}

EpochHistory PartitionHost::wholeHistory() const {
  EpochHistory lineage;
  const auto& epochs = ledger_->partition().epochs();
  const auto& starts = ledger_->epochStarts();
  for (std::size_t i = 0; i < starts.size(); ++i)
    lineage.epochs.push_back({epochs[i].number, epochs[i].owner, starts[i]});
  lineage.batches = ledger_->batches();
  return lineage;
}

LogPosition PartitionHost::position() const { return told_ ? *told_ : reached(); }

// With what is under way.
LogPosition PartitionHost::reached() const {
  EpochHistory mine = wholeHistory();
  return {options_.id, false, mine.batches, entries_, root_,  std::move(mine.epochs), chain_->last(), 0,
          0,           {},    {},           0,        first()};
}

OwnershipRecord PartitionHost::recordOf(std::size_t i) const {
  const kernel::EpochRecord& epoch = partition().epochs()[i];
  OwnershipRecord record{
      options_.id,   epoch.number, epoch.owner,          epoch.cause,         ledger_->epochStarts()[i],
      epoch.entries, epoch.root,   epoch.previousNumber, epoch.previousOwner, epoch.successor};
  record.chain = chain_->after(record.batches).value_or(Hash{});
  return record;
}

OwnershipRecord PartitionHost::claim() const {
  WITAN_CHECK(!ledger_->epochStarts().empty(), "the log has an epoch");
  return recordOf(ledger_->epochStarts().size() - 1);
}

// F5: time never goes back in a partition.
Time PartitionHost::clock(Time wall) const {
  return mutated("clockGoesBack") ? wall : std::max(wall, partition().latest());
}

void PartitionHost::decide(const Request& request, Time wall, std::string to, std::string_view stuck) {
  wait(request, decisionOn(request, clock(wall), stuck), std::move(to));
}

// Another device believes the answer with its entry.
void PartitionHost::wait(const Request& request, const kernel::Decision& decision, std::string to) {
  Release release{std::move(to), request.kind, answerOf(request, decision), decision.boundElsewhere};
  // The entry was pruned here: an owner fetches what it lacks, and then it can say what was decided.
  if (decision.outcome == kernel::Outcome::duplicate && decision.seq != 0 && decision.seq < firstEntry()) {
    release.answer = answerTo(request, AnswerKind::unavailable,
                              concat("entry ", decision.seq,
                                     " decided it before, and was pruned here: this device "
                                     "gets back what it pruned"));
  } else if (options_.isSigned && !release.to.empty() && decision.seq != 0) {
    release.partition = options_.id;
    if (const auto bytes = ledger_->partition().entryBytes(decision.seq); bytes.ok())
      release.answer.entry.assign(bytes->begin(), bytes->end());
  }
  waiting_.push_back(std::move(release));
}

kernel::Decision PartitionHost::decideAs(const Request& step, const Request& asked, Time wall, std::string to) {
  kernel::Decision decision = propose(step, clock(wall));
  wait(asked, decision, std::move(to));
  return decision;
}

kernel::Decision PartitionHost::decisionOn(const Request& request, Time at, std::string_view stuck) {
  if (stuck.empty() && !mutated("decideExpired"))
    ledger_->partition().expire(at, request.entity);
  else if (request.kind != RequestKind::init && !partition().knows(request.operationId))
    return refused(std::string(stuck));
  switch (request.kind) {
    case RequestKind::propose: return propose(request, at);
    case RequestKind::init: {
      auto fields = parseJson(request.text.empty() ? "{}" : request.text);
      if (!fields || !fields->is_object()) return refused("init: the fields are no JSON object");
      // Fields may lie outside the slice of who asks from elsewhere: only the owner's people are told which differ.
      const bool tell = request.device == replication::deviceOf(epoch().owner);
      return ledger_->partition().begin(request.entity, fields->get_object(), at, tell,
                                        {request.operationId, request.device, request.agent, request.proof});
    }
    case RequestKind::ingress: return refused("ingress: no graph runs here");
    default: return counselor(request, at);
  }
}

kernel::Decision PartitionHost::propose(const Request& request, Time at) {
  // The bytes came in a vector, which is aligned as the allocator aligns: for any type.
  kernel::ProposalMessage message;
  message.actionType = request.actionType;
  message.action = request.action;
  auto action = kernel::actionOf(module_, message);
  if (!action) return refused(action.error().message);
  kernel::Proposal proposal;
  proposal.entity = request.entity;
  proposal.role = request.role;
  proposal.operationId = request.operationId;
  proposal.device = request.device;
  proposal.agent = request.agent;
  proposal.action = action->get();
  proposal.at = at;
  proposal.runKey = request.runKey;
  proposal.planDigest = request.planDigest;
  proposal.proof = request.proof;
  return ledger_->partition().propose(proposal);
}

kernel::Decision PartitionHost::counselor(const Request& request, Time at) {
  auto edit = parseJson(request.text.empty() ? "{}" : request.text);
  if (!edit || !edit->is_object()) return refused("edit: no JSON object");
  kernel::CounselorDecision decision;
  decision.entity = request.entity;
  decision.counselor = request.counselor;
  decision.operationId = request.operationId;
  decision.commit = request.kind == RequestKind::commit;
  decision.base = request.base;
  decision.edit = &edit->get_object();
  decision.reason = request.reason;
  decision.at = at;
  if (request.escalation != 0) decision.escalation = request.escalation;
  if (request.pendingDigest != Hash{}) decision.pendingDigest = request.pendingDigest;
  decision.device = request.device, decision.agent = request.agent;
  decision.signature = request.signature, decision.proof = request.proof;
  return ledger_->partition().decide(decision);
}

Answer PartitionHost::answerOf(const Request& request, const kernel::Decision& decision) const {
  const bool frozen = decision.outcome == kernel::Outcome::frozen;
  Answer answer = answerTo(request, frozen ? AnswerKind::frozen : AnswerKind::decided, decision.message);
  answer.outcome = decision.outcome;
  answer.recorded = decision.recorded;
  if (decision.safe) answer.safe = *decision.safe ? Safety::safe : Safety::unsafe;
  answer.seq = decision.seq;
  answer.invariant = decision.invariant;
  const kernel::Epoch now = epoch();
  answer.epochNumber = now.number;
  answer.epochOwner = now.owner;
  return answer;
}

bool PartitionHost::expire(Time wall, std::size_t most) {
  return !ledger_->partition().expire(clock(wall), std::nullopt, most).empty();
}

void PartitionHost::beginEpoch(const kernel::Epoch& epoch, kernel::EpochCause cause, Time wall, std::string_view reason,
                               store::WriteBatch& out, std::string_view successor) {
  stage(out);  // a seizure is in the middle of a round
  ledger_->partition().beginEpoch(epoch, cause, clock(wall), reason, successor, format());
  stage(out);
}

std::string PartitionHost::successor() const {
  return partition().epochs().empty() ? std::string() : partition().epochs().back().successor;
}

void PartitionHost::openEpoch(const kernel::Epoch& epoch, kernel::EpochCause cause, Time wall,
                              std::string_view reason) {
  ledger_->partition().beginEpoch(epoch, cause, clock(wall), reason, {}, format());
}

PartitionHost::Ahead PartitionHost::takeAhead() {
  Ahead taken;
  taken.number = ledger_->batches();
  if (!told_) told_ = reached();
  stage(taken.rows);
  if (!taken.rows.empty()) taken.value = taken.rows.op(0).value;
  steps_.push_back({reached(), waiting_.size() - promised_});
  promised_ = waiting_.size();
  return taken;
}

void PartitionHost::settle() {
  WITAN_CHECK(!steps_.empty(), "a batch is under way");
  told_ = std::move(steps_.front().after);
  settled_ += steps_.front().releases;
  steps_.pop_front();
  if (steps_.empty()) told_.reset();
}

bool PartitionHost::stage(store::WriteBatch& out) {
  if (!partition().hasOpenBatch()) return false;
  store::WriteBatch rows;
  const std::string key = kernel::batchKey(ledger_->batches());
  ledger_->stage(rows);
  seen_.add(key, std::string(rows.op(0).value));  // it may be read before it is written
  chain_->append(rows.op(0).value, rows);
  rows_.append(rows, out);
  noteRoot();
  return true;
}

void PartitionHost::noteRoot() {
  entries_ = partition().size();
  root_ = partition().tree().root();
  if (!recent_.empty() && recent_.back().first == entries_) return;
  recent_.emplace_back(entries_, root_);
  if (recent_.size() > kRecentRoots) recent_.pop_front();
}

std::optional<Hash> PartitionHost::recentRoot(std::uint64_t size) const {
  const auto at = std::ranges::lower_bound(recent_, size, {}, &std::pair<std::uint64_t, Hash>::first);
  return at == recent_.end() || at->first != size ? std::nullopt : std::optional(at->second);
}

Status PartitionHost::follow(std::string_view value, store::WriteBatch& out, const std::function<Status()>& accept) {
  store::WriteBatch rows;
  WITAN_DO(ledger_->follow(value, rows));
  if (accept) WITAN_DO(accept());
  chain_->append(value, rows);
  rows_.append(rows, out);
  noteRoot();
  return okStatus();
}

Result<PartitionHost::Truncated> PartitionHost::truncateDivergent(std::uint64_t from, store::WriteBatch& out) {
  Truncated suffix;
  from = std::max(from, first());  // a log that parts below is given up whole (Replica::reopenCopies)
  WITAN_TRY(aside, freshSuffix(ledgers_, options_.id, epoch()));
  for (std::uint64_t n = from; n < ledger_->batches(); ++n) {
    WITAN_TRY(value, ledger_->batch(n));
    WITAN_TRY(info, kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
                if (record.kind != kernel::RecordKind::entry || ++suffix.entries > kNamedOperations) return okStatus();
                WITAN_TRY(entry, kernel::readEntry(record.payload));
                suffix.operations.push_back(std::move(entry.operationId));
                return okStatus();
              }));
    (void)info;
    out.put(aside + bigEndian(n), value);
  }
  store::WriteBatch rows;
  WITAN_DO(ledger_->stageTruncation(from, rows));
  chain_->cut(from, rows);
  rows_.append(rows, out);
  waiting_.clear();
  return suffix;
}

Status PartitionHost::dropLastBatch() {
  store::WriteBatch rows;
  WITAN_DO(ledger_->stageTruncation(ledger_->batches() - 1, rows));
  chain_->cut(ledger_->batches() - 1, rows);
  return rows_.writeSynced(rows);
}

void PartitionHost::dropOpen() {
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(promised_, waiting_.size())), waiting_.end());
}

void PartitionHost::answered(std::vector<Release>& out, bool all) {
  const bool keeps = told_ && !mutated("forgetAhead");
  seen_.forgetBefore(kernel::batchKey(keeps ? told_->batches : ledger_->batches()));
  const std::size_t n = all || !ahead() ? waiting_.size() : std::min(settled_, waiting_.size());
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::move(waiting_[i]));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
  promised_ -= std::min(promised_, n);
  settled_ -= std::min(settled_, n);
}

void PartitionHost::confirmed(std::vector<Release>& out) {
  durable_ = told_ ? told_->batches : ledger_->batches();
  ledger_->written();
  if (!ahead()) chain_->written();  // rows of what is under way are not in the store yet
  answered(out);
}

Status PartitionHost::snapshotIfDue(std::uint64_t every) {
  if (ahead()) return okStatus();
  WITAN_DO(ledger_->snapshotIfDue(every));
  snapshotAt_ = partition().size();
  return okStatus();
}

}  // namespace witan::node
