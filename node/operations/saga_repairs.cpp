#include "node/operations/saga_repairs.h"

#include <map>

#include "base/json_codec.h"
#include "base/time.h"

namespace witan::node::operations {

namespace {

constexpr std::string_view kRepairRows = "saga/repair/";  // + operation in hex

WITAN_STRUCT(SagaRepairs, (std::vector<SagaRepair>, repairs, "Oldest first"))

Result<SagaRepairs> repairsIn(std::string_view text) {
  SagaRepairs out;
  auto parsed = parseJson(text, kOwnJson);
  const Status read = parsed.ok() ? readJson(*parsed, out, "repairs of a saga") : Status(parsed.error());
  if (!read.ok()) return corrupt(read.error().message);
  return out;
}

// Makes room for another operation.
Status forgetOldest(replication::Database& agents) {
  std::map<std::int64_t, std::string> byTime;
  std::size_t count = 0;
  Status read = okStatus();
  WITAN_DO(agents.scanMeta(kRepairRows, [&](std::string_view row, std::string_view text) {
    auto one = repairsIn(text);
    read = one.ok() ? okStatus() : Status(one.error());
    if (one.ok()) byTime.emplace(one->repairs.empty() ? 0 : one->repairs.back().atMs, row), ++count;
    return read.ok();
  }));
  WITAN_DO(read);
  if (count >= kMaxRepaired) agents.eraseMeta(byTime.begin()->second);
  return okStatus();
}

}  // namespace

Result<std::vector<SagaRepair>> repairsOf(const replication::Database& agents, const OperationId& operation) {
  WITAN_TRY(text, agents.meta(concat(kRepairRows, operation.hex())));
  if (!text) return std::vector<SagaRepair>();
  WITAN_TRY(all, repairsIn(*text));
  return std::move(all.repairs);
}

Status noteRepair(replication::Database& agents, const OperationId& operation, SagaRepair repair) {
  WITAN_TRY(known, repairsOf(agents, operation));
  if (known.empty()) WITAN_DO(forgetOldest(agents));
  known.push_back(std::move(repair));
  if (known.size() > kMaxRepairsOfOne) known.erase(known.begin());
  agents.putMeta(concat(kRepairRows, operation.hex()), toJson(SagaRepairs{std::move(known)}));
  return okStatus();
}

std::string repairWords(const SagaRepair& repair) {
  return concat(repair.kind == RepairKind::retry ? "tried again" : "given up or undone", " by ", repair.by, " at ",
                formatTime(Time{repair.atMs * 1000}), repair.before.empty() ? "" : "; before: " + repair.before);
}

}  // namespace witan::node::operations
