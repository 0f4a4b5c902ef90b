#include "sim/check/operation.h"

#include <limits>
#include <map>

#include "base/bytes.h"
#include "base/json.h"
#include "kernel/domain_module.h"
#include "kernel/record/log_batch.h"

namespace witan::sim {

namespace {

Status readRecord(const kernel::LogRecord& record, PartitionLog& log) {
  if (record.kind == kernel::RecordKind::entry) {
    WITAN_TRY(entry, kernel::readEntry(record.payload));
    log.lines.push_back({std::move(entry), record.leaf});
  } else if (record.kind == kernel::RecordKind::genesis) {
    kernel::Genesis genesis;
    WITAN_DO(readMessage(record.payload, genesis, "genesis"));
    if (!log.beginnings.emplace(genesis.entity, std::move(genesis.genesis)).second)
      return corrupt("entity \"" + genesis.entity + "\" begins twice");
  } else if (record.kind == kernel::RecordKind::epoch) {
    kernel::EpochRecord epoch;
    WITAN_DO(readMessage(record.payload, epoch, "epoch"));
    log.epochs.push_back(std::move(epoch));
  }
  return okStatus();
}

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::min();

// What a counselor's commit is recorded as (docs/ledger-format.md, `decision`).
std::string decisionText(const Operation& operation) {
  if (!operation.commit) return {};
  auto edit = parseJson(operation.fields);
  if (!edit) return {};
  return concat("{\"base\":\"", enumName(operation.base), "\",\"edit\":", canonicalJson(*edit), "}");
}

std::optional<Time> timeOf(const std::string& beginning) {
  auto genesis = parseJson(beginning, {.bytes = kernel::kRecordTextMax, .depth = 64});
  if (!genesis || !genesis->is_object()) return std::nullopt;
  const json::value* at = genesis->get_object().if_contains("at");
  if (at == nullptr || !at->is_string()) return std::nullopt;
  auto time = parseTime(at->get_string());
  return time ? std::optional<Time>(*time) : std::nullopt;
}

Operation expiryOf(const LedgerLine& line) {
  Operation operation{.invoked = kEver,
                      .kind = OperationKind::expire,
                      .entity = line.entry.entity,
                      .operationId = line.entry.operationId,
                      .counselor = line.entry.counselor,
                      .reason = line.entry.reason};
  operation.stamp = Stamp{line.entry.time, line.entry.seq, line.leaf};
  return operation;
}

// Of each thing in the log: the first operation that asked for it, and whether anybody was told that made it.
class Sources {
 public:
  void add(const std::string& what, const std::vector<Operation>& operations, std::size_t index, bool toldSo) {
    auto [at, fresh] = sources_.emplace(what, Source{index});
    if (operations[index].invoked < operations[at->second.first].invoked) at->second.first = index;
    at->second.explained = at->second.explained || (operations[index].returned && toldSo);
  }
  bool knows(std::string_view what) const { return sources_.contains(what); }
  void complete(std::vector<Operation>& operations) const {
    for (const auto& [what, source] : sources_) {
      if (source.explained || !operations[source.first].returned) continue;
      Operation again = operations[source.first];
      again.returned.reset();
      operations.push_back(std::move(again));
    }
  }

 private:
  struct Source {
    std::size_t first = 0;
    bool explained = false;
  };
  std::map<std::string, Source, std::less<>> sources_;
};

}  // namespace

Result<PartitionLog> readLog(std::span<const std::string> batches) {
  PartitionLog log;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    WITAN_TRY(info, kernel::readLogBatch(batches[i], [&](const auto& record) { return readRecord(record, log); }));
    if (info.torn) return corrupt(concat("batch ", i, " of the log is torn"));
  }
  return log;
}

bool isTurnedAway(const kernel::Entry& entry) {
  return entry.tag == kernel::Tag::rejected && entry.invariant == kernel::kKernelIntegrity && !entry.runKey.empty() &&
         entry.message.starts_with("run " + toHex(entry.runKey) + " is bound to the plan ");
}

std::string nameOf(const kernel::Entry& entry) {
  return concat("entry ", entry.seq, " (", enumName(entry.tag), ", ", entry.operationId, ")");
}

std::string nameOf(const kernel::Epoch& epoch) { return concat("epoch ", epoch.number, " of ", epoch.owner); }

bool isLost(std::span<const LostRange> lost, const Epoch& epoch, std::uint64_t seq) {
  for (const LostRange& range : lost)
    if (range.epoch == epoch && seq >= range.fromSeq) return true;
  return false;
}

bool hasLosses(std::span<const LostRange> lost, const Epoch& epoch) {
  return isLost(lost, epoch, std::numeric_limits<std::uint64_t>::max());
}

std::string nameOf(const Operation& operation) {
  return concat(enumName(operation.kind), " ",
                operation.kind == OperationKind::init ? operation.entity : operation.operationId, " of client ",
                operation.client);
}

bool isActOf(const kernel::Entry& entry, const Operation& operation) {
  if (entry.entity != operation.entity || entry.operationId != operation.operationId) return false;
  if (operation.kind == OperationKind::propose)
    return entry.counselor.empty() && entry.role == operation.role && entry.action == operation.action;
  if (operation.kind == OperationKind::expire) return entry.tag == kernel::Tag::cRejected;
  return entry.tag == (operation.commit ? kernel::Tag::cCommitted : kernel::Tag::cRejected) &&
         entry.counselor == operation.counselor && entry.decision == decisionText(operation);
}

bool isOfPlan(const kernel::Entry& entry, const Operation& operation) {
  return asView(entry.planDigest) == operation.plan && asView(entry.runKey) == operation.run;
}

const LedgerLine& lineFor(const Operation& operation, std::span<const LedgerLine* const> ofItsId) {
  for (const LedgerLine* line : ofItsId)
    if (asView(line->entry.planDigest) == operation.plan) return *line;
  return *ofItsId.front();
}

void stampFromLog(std::vector<Operation>& operations, const PartitionLog& log) {
  std::map<std::string_view, std::vector<const LedgerLine*>> byId;
  for (const LedgerLine& line : log.lines) byId[line.entry.operationId].push_back(&line);
  const auto nameOfLine = [](const LedgerLine& line) { return concat(line.entry.operationId, "\n", line.entry.seq); };
  Sources entries, beginnings;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation& operation = operations[i];
    const kernel::Decision& told = operation.answer.decision;
    if (operation.kind == OperationKind::init) {
      const auto begun = log.beginnings.find(operation.entity);
      if (begun == log.beginnings.end()) continue;
      if (const auto at = timeOf(begun->second)) operation.stamp = Stamp{*at};
      // Whose fields it began with is not known here, so each may have.
      beginnings.add(operation.entity + "\n" + operation.fields, operations, i,
                     told.outcome == kernel::Outcome::initialised);
      continue;
    }
    const auto found = byId.find(operation.operationId);
    if (found == byId.end()) continue;
    const LedgerLine& line = lineFor(operation, found->second);
    if (!isActOf(line.entry, operation)) continue;
    // Of one id and two plans this may be the one whose decision was lost: the entry is the other's, and binds its run.
    if (!isOfPlan(line.entry, operation) && !(operation.returned && told.outcome == kernel::Outcome::duplicate))
      continue;
    operation.stamp = Stamp{line.entry.time, line.entry.seq, line.leaf};
    if (isOfPlan(line.entry, operation))
      entries.add(nameOfLine(line), operations, i,
                  told.outcome != kernel::Outcome::duplicate && told.seq == line.entry.seq);
  }
  for (const LedgerLine& line : log.lines)
    if (!entries.knows(nameOfLine(line)) && line.entry.counselor == "system") operations.push_back(expiryOf(line));
  entries.complete(operations);
  beginnings.complete(operations);
}

}  // namespace witan::sim
