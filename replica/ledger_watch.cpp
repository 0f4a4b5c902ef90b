#include "replica/ledger_watch.h"

#include <algorithm>

#include "base/json_codec.h"
#include "base/mutant.h"
#include "kernel/graph/line.h"
#include "kernel/record/log_batch.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

namespace {

constexpr std::string_view kCursorRows = "ledger-watch/";
constexpr unsigned kBatchesARound = 256;  // of one watcher and partition: the device does other things, too

replication::Database& agentsDatabase(Replica& replica) {
  return replica.data().database(replication::DatabaseName::agents);
}

// Where the log is no more the one that was looked at: from the first epoch that is new.
std::uint64_t stillTrue(const EpochHistory& lineage, std::uint64_t batches, const kernel::Epoch& last) {
  if (batches == 0 || (batches <= lineage.batches && lineage.epochAt(batches - 1) == last)) return batches;
  for (const EpochMark& mark : lineage.epochs)
    if (mark.number > last.number) return std::min(batches, mark.start);
  return lineage.epochs.empty() ? 0 : std::min(batches, lineage.epochs.back().start);
}

using Facts = std::vector<LedgerEvent>;

void collect(const json::object& fields, const kernel::EntryView& entry, const agents::LedgerSpec& spec, Facts& facts) {
  const json::value* column = fields.if_contains(spec.field);
  if (column == nullptr || !column->is_object()) return;
  LedgerMaker maker{.operationId = std::string(entry.operationId)};
  if (!entry.runKey.empty()) {
    std::ranges::copy(entry.runKey, maker.run.begin());
    std::ranges::copy(entry.planDigest, maker.plan.begin());
  }
  for (const auto& [key, value] : column->get_object())
    if (value.is_string() && value.get_string() == spec.value)
      facts.push_back(
          {{spec.domain, std::string(entry.entity), spec.field, std::string(key), spec.value}, entry.time, maker});
}

// What an entry made of the watched field; of an entity's first entry also what it began with.
Status factsOf(const kernel::EntryView& entry, const agents::LedgerSpec& spec, Facts& facts) {
  const auto parsed = [](std::string_view text) { return parseJson(text, {.bytes = kernel::kRecordMax, .depth = 64}); };
  if (!entry.genesis.empty()) {
    WITAN_TRY(genesis, parsed(entry.genesis));
    const json::value* state = genesis.is_object() ? genesis.get_object().if_contains("state") : nullptr;
    if (state != nullptr && state->is_object()) collect(state->get_object(), entry, spec, facts);
  }
  const bool counselors = entry.tag == kernel::Tag::cCommitted && !mutated("onlyApproved");
  const bool commit = entry.tag == kernel::Tag::approved || counselors;
  if (!commit || entry.writes.find(spec.field) == std::string_view::npos) return okStatus();
  WITAN_TRY(writes, parsed(entry.writes));
  if (writes.is_object()) collect(writes.get_object(), entry, spec, facts);
  return okStatus();
}

Status begun(const kernel::LogRecord& record, const agents::LedgerSpec& spec, Facts& facts) {
  if (record.kind != kernel::RecordKind::genesis) return okStatus();
  kernel::Genesis genesis;
  WITAN_DO(readMessage(record.payload, genesis, "genesis"));
  WITAN_TRY(began, parseJson(genesis.genesis, {.bytes = kernel::kRecordMax, .depth = 64}));
  Time time;
  if (began.is_object() && began.get_object().contains("at")) WITAN_DO(readJson(began.at("at"), time, "genesis.at"));
  facts.push_back(
      {{spec.domain, std::move(genesis.entity), "", "", ""}, time, {.operationId = std::move(genesis.operationId)}});
  return okStatus();
}

template <class Body>
Result<std::uint64_t> hopsOf(const std::string& body) {
  WITAN_TRY(read, replication::decodeRecord<Body>(body));
  return read.hops;
}

}  // namespace

Result<std::vector<LedgerEvent>> ledgerFactsIn(const PartitionHost& partition, std::uint64_t batch,
                                               const agents::LedgerSpec& spec) {
  Facts facts;
  WITAN_TRY(value, partition.ledger().batch(batch));
  WITAN_TRY(info, kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
              if (spec.field.empty()) return begun(record, spec, facts);
              if (record.kind != kernel::RecordKind::entry) return okStatus();
              WITAN_TRY(entry, kernel::readEntryView(record.payload));
              return factsOf(entry, spec, facts);
            }));
  (void)info;
  return facts;
}

Hash graphPlan(const Hash& run, std::uint64_t hops) { return sha256(concat("v1|graph-plan|", toHex(run), "|", hops)); }

Result<std::optional<std::uint64_t>> hopsBehind(replication::Space* records, const LedgerMaker& maker) {
  using replication::Kind;
  for (std::uint64_t hops = 0; maker.run != Hash{} && hops < graph::kMostHops; ++hops)
    if (graphPlan(maker.run, hops) == maker.plan) return std::optional(hops + 1);
  const bool begins = maker.run == Hash{};
  const auto operation = OperationId::parse(maker.operationId);
  // Only agents have such ids (replica/core/operation_names.h).
  if (begins && !operation.ok()) return std::optional<std::uint64_t>(0);
  if (records == nullptr) return std::optional<std::uint64_t>();
  WITAN_TRY(versions, begins ? records->versions(Kind::operation, operation->hex())
                             : records->versions(Kind::wakeRun, toHex(maker.run)));
  std::optional<std::uint64_t> most;
  for (const replication::Version& version : versions) {
    const auto said = version.tombstone ? Result<std::uint64_t>(notFound("it was taken away"))
                      : begins          ? hopsOf<replication::OperationBody>(version.body)
                                        : hopsOf<replication::WakeRunBody>(version.body);
    if (said.ok()) most = std::max(most.value_or(0), *said + 1);
  }
  return most;
}

void LedgerCursor::align(const PartitionHost& partition) {
  batches = std::min(stillTrue(partition.lineage(), batches, {number, owner}), partition.durableBatches());
}

bool LedgerCursor::stamp(const PartitionHost& partition, std::uint64_t before) {
  const kernel::Epoch last = batches == 0 ? kernel::Epoch{} : partition.lineage().epochAt(batches - 1);
  if (batches == before && number == last.number && owner == last.owner) return false;
  number = last.number;
  owner = last.owner;
  return true;
}

LedgerWatch::LedgerWatch(Replica& replica, std::span<const agents::Agent* const> agents, std::string scope)
    : replica_(replica), scope_(std::move(scope)) {
  for (const agents::Agent* agent : agents)
    for (const agents::LedgerSpec& spec : agent->spec().ledgers) watchers_.push_back({agent->spec().id, spec});
}

Status LedgerWatch::look(agents::AgentHost& host, Now now) {
  full_ = false;
  for (const Watcher& watcher : watchers_)
    for (const auto& [id, partition] : replica_.hosts()) {
      if (partition->module().signature().domain != watcher.spec.domain) continue;
      WITAN_TRY(room, lookAt(watcher, *partition, host, now));
      if (!room) full_ = true;
    }
  return okStatus();
}

bool LedgerWatch::behind() const {
  if (full_) return false;
  for (const Watcher& watcher : watchers_)
    for (const auto& [id, partition] : replica_.hosts()) {
      if (partition->module().signature().domain != watcher.spec.domain) continue;
      const auto cursor = cursors_.find(std::string(kCursorRows) + watcher.agentId + "/" + watcher.spec.id + "/" + id);
      const std::uint64_t seen = cursor == cursors_.end() ? 0 : cursor->second.batches;
      if (seen != partition->durableBatches()) return true;
    }
  return false;
}

Result<bool> LedgerWatch::lookAt(const Watcher& watcher, PartitionHost& partition, agents::AgentHost& host, Now now) {
  const std::string row = std::string(kCursorRows) + watcher.agentId + "/" + watcher.spec.id + "/" + partition.id();
  WITAN_TRY(cursor, cursorOf(row));
  const std::uint64_t durable = partition.durableBatches(), before = cursor->batches;
  cursor->align(partition);
  if (cursor->batches < partition.first()) return true;  // who reads ledgers keeps every entry: they are on their way
  bool room = true;
  for (unsigned n = 0; room && n < kBatchesARound && cursor->batches < durable; ++n) {
    WITAN_TRY(facts, ledgerFactsIn(partition, cursor->batches, watcher.spec));
    for (LedgerEvent& one : facts) {
      WITAN_TRY(hops, hopsBehind(agentsDatabase(replica_).find(scope_), one.maker));
      one.fact.hops = hops.value_or(0);  // records of agents and ledgers come apart: nobody waits for one
      WITAN_TRY(taken, host.ledgerFact(watcher.agentId, watcher.spec.id, one.fact, now));
      if (!(room = taken || mutated("fullDropsFacts"))) break;
    }
    if (room) ++cursor->batches;
  }
  if (cursor->stamp(partition, before) && !mutated("forgetCursor"))
    agentsDatabase(replica_).putMeta(row, toJson(*cursor));
  return room;
}

Result<LedgerCursor*> LedgerWatch::cursorOf(const std::string& row) {
  const auto [at, fresh] = cursors_.emplace(row, LedgerCursor{});
  if (!fresh) return &at->second;
  WITAN_TRY(bytes, agentsDatabase(replica_).meta(row));
  if (!bytes) return &at->second;
  auto value = parseJson(*bytes);
  const Status read = value.ok() ? readJson(*value, at->second, "ledger-watch") : Status(value.error());
  if (!read.ok()) return corrupt("row " + row + ": " + read.error().message);
  return &at->second;
}

}  // namespace witan::node
