#include "sim/check/operation.h"

#include <limits>
#include <map>

#include "base/json.h"
#include "kernel/log_batch.h"

namespace witan::sim {

namespace {

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::min();

// What a counselor's commit is recorded as (docs/ledger-format.md, `decision`).
std::string decisionText(const Operation& operation) {
  if (!operation.commit) return {};
  auto edit = parseJson(operation.fields);
  if (!edit) return {};
  return "{\"base\":\"" + std::string(enumName(operation.base)) + "\",\"edit\":" + canonicalJson(*edit) + "}";
}

std::optional<Time> beginningOf(const kernel::Entry& entry) {
  if (entry.genesis.empty()) return std::nullopt;
  auto genesis = parseJson(entry.genesis, {.bytes = kernel::kRecordMax, .depth = 64});
  if (!genesis || !genesis->is_object()) return std::nullopt;
  const json::value* at = genesis->get_object().if_contains("at");
  if (at == nullptr || !at->is_string()) return std::nullopt;
  auto time = parseTime(at->get_string());
  return time ? std::optional<Time>(*time) : std::nullopt;
}

Operation expiryOf(const LedgerLine& line) {
  Operation operation;
  operation.kind = OperationKind::expire;
  operation.invoked = kEver;
  operation.entity = line.entry.entity;
  operation.operationId = line.entry.operationId;
  operation.counselor = line.entry.counselor;
  operation.reason = line.entry.reason;
  operation.stamp = Stamp{line.entry.time, line.entry.seq, line.leaf};
  return operation;
}

}  // namespace

std::string toString(const Epoch& epoch) { return std::to_string(epoch.number) + " of " + epoch.owner; }

bool isLost(std::span<const LostRange> lost, const Epoch& epoch, std::uint64_t seq) {
  for (const LostRange& range : lost)
    if (range.epoch == epoch && seq >= range.fromSeq) return true;
  return false;
}

bool hasLosses(std::span<const LostRange> lost, const Epoch& epoch) {
  return isLost(lost, epoch, std::numeric_limits<std::uint64_t>::max());
}

std::string nameOf(const Operation& operation) {
  return std::string(enumName(operation.kind)) + " " +
         (operation.kind == OperationKind::init ? operation.entity : operation.operationId) + " of client " +
         std::to_string(operation.client);
}

Result<std::vector<LedgerLine>> readLedger(std::span<const std::string> batches) {
  std::vector<LedgerLine> lines;
  for (const std::string& batch : batches)
    WITAN_DO(kernel::readLogBatch(batch, [&](const kernel::LogRecord& record) -> Status {
      if (record.kind != kernel::RecordKind::entry) return okStatus();
      WITAN_TRY(entry, kernel::readEntry(record.payload));
      lines.push_back({std::move(entry), record.leaf});
      return okStatus();
    }));
  return lines;
}

bool isActOf(const kernel::Entry& entry, const Operation& operation) {
  if (entry.entity != operation.entity || entry.operationId != operation.operationId) return false;
  if (operation.kind == OperationKind::propose)
    return entry.counselor.empty() && entry.role == operation.role && entry.action == operation.action;
  if (operation.kind == OperationKind::expire) return entry.tag == kernel::Tag::cRejected;
  return entry.tag == (operation.commit ? kernel::Tag::cCommitted : kernel::Tag::cRejected) &&
         entry.counselor == operation.counselor && entry.decision == decisionText(operation);
}

void stampFromLedger(std::vector<Operation>& operations, std::span<const LedgerLine> ledger) {
  std::map<std::string_view, const LedgerLine*> byId;
  std::map<std::string_view, Time> beginnings;
  for (const LedgerLine& line : ledger) {
    byId.emplace(line.entry.operationId, &line);
    if (const auto at = beginningOf(line.entry)) beginnings.emplace(line.entry.entity, *at);
  }
  // An entry is explained by whoever was told that it made it, or by the first who asked, if that one has no answer.
  std::map<std::string_view, std::size_t> earliest;
  std::map<std::string_view, bool> explained;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation& operation = operations[i];
    if (operation.kind == OperationKind::init) {
      const auto at = beginnings.find(operation.entity);
      if (at != beginnings.end() && !operation.stamp) operation.stamp = Stamp{at->second};
      continue;
    }
    const auto found = byId.find(operation.operationId);
    if (found == byId.end() || !isActOf(found->second->entry, operation)) continue;
    const LedgerLine& line = *found->second;
    operation.stamp = Stamp{line.entry.time, line.entry.seq, line.leaf};
    const auto [first, fresh] = earliest.emplace(found->first, i);
    if (!fresh && operation.invoked < operations[first->second].invoked) first->second = i;
    if (operation.returned && operation.answer.decision.outcome != kernel::Outcome::duplicate &&
        operation.answer.decision.seq == line.entry.seq)
      explained[found->first] = true;
  }
  for (const LedgerLine& line : ledger) {
    const std::string_view id = line.entry.operationId;
    if (explained[id]) continue;
    const auto first = earliest.find(id);
    if (first != earliest.end()) {
      if (!operations[first->second].returned) continue;
      Operation again = operations[first->second];
      again.returned.reset();
      operations.push_back(std::move(again));
    } else if (line.entry.counselor == "system") {
      operations.push_back(expiryOf(line));
    }
  }
}

}  // namespace witan::sim
