#include "saga/saga_rows.h"

#include "saga/transitions.h"

namespace witan::saga {

namespace {

constexpr std::string_view kOpen = "saga/open/";
constexpr std::string_view kHeld = "saga/held/";
constexpr std::string_view kDone = "saga/done/";

std::string named(std::string_view prefix, const Hash& operation) {
  std::string name(prefix);
  name.append(reinterpret_cast<const char*>(operation.data()), operation.size());
  return name;
}

std::string numbered(std::uint64_t number) {
  std::string name(kDone);
  for (int shift = 56; shift >= 0; shift -= 8) name.push_back(static_cast<char>(number >> shift & 0xff));
  return name;
}

std::uint64_t numberOf(std::string_view name) {
  std::uint64_t number = 0;
  for (const char c : name.substr(kDone.size())) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

}  // namespace

Status SagaRows::visit(std::string_view prefix, const Visitor& visit) const {
  Status status = okStatus();
  WITAN_DO(agents_.scanMeta(prefix, [&](std::string_view name, std::string_view value) {
    auto row = decodeRow(value);
    if (row.ok())
      visit(*std::move(row));
    else
      status = corrupt("row " + toHex(asBytes(name)) + ": " + row.error().message);
    return status.ok();
  }));
  return status;
}

Status SagaRows::visitOpen(const Visitor& visitor) const { return visit(kOpen, visitor); }
Status SagaRows::visitHeld(const Visitor& visitor) const { return visit(kHeld, visitor); }
Status SagaRows::visitDone(const Visitor& visitor) const { return visit(kDone, visitor); }

Result<std::optional<SagaRow>> SagaRows::open(const OperationId& operation) const {
  WITAN_TRY(bytes, agents_.meta(named(kOpen, operation.value)));
  if (!bytes) return std::optional<SagaRow>();
  WITAN_TRY(row, decodeRow(*bytes));
  return std::optional(std::move(row));
}

Result<std::optional<SagaRow>> SagaRows::held(const OperationId& operation) const {
  WITAN_TRY(bytes, agents_.meta(named(kHeld, operation.value)));
  if (!bytes) return std::optional<SagaRow>();
  WITAN_TRY(row, decodeRow(*bytes));
  return std::optional(std::move(row));
}

Result<SagaRow> SagaRows::find(const OperationId& operation) {
  WITAN_TRY(underWay, open(operation));
  if (underWay) return *std::move(underWay);
  WITAN_TRY(parked, held(operation));
  if (parked) return *std::move(parked);
  WITAN_DO(prepare());
  if (const auto at = doneNumber_.find(operation.value); at != doneNumber_.end()) {
    WITAN_TRY(bytes, agents_.meta(numbered(at->second)));
    if (bytes) return decodeRow(*bytes);
  }
  return Error{ErrorCode::notFound, "no saga of operation " + operation.hex() + " on this device",
               "see: witan saga list --done"};
}

void SagaRows::putOpen(const SagaRow& row) { agents_.putMeta(named(kOpen, row.intent.operation), encodeRow(row)); }

void SagaRows::hold(const SagaRow& row) {
  agents_.eraseMeta(named(kOpen, row.intent.operation));
  agents_.putMeta(named(kHeld, row.intent.operation), encodeRow(row));
}

void SagaRows::release(const SagaRow& row) {
  agents_.eraseMeta(named(kHeld, row.intent.operation));
  putOpen(row);
}

Status SagaRows::prepare() {
  if (prepared_) return okStatus();
  Status status = okStatus();
  WITAN_DO(agents_.scanMeta(kDone, [&](std::string_view name, std::string_view value) {
    auto row = decodeRow(value);
    if (!row.ok()) {
      status = corrupt("row " + toHex(asBytes(name)) + ": " + row.error().message);
      return false;
    }
    done_[numberOf(name)] = row->intent.operation;
    doneNumber_[row->intent.operation] = numberOf(name);
    return true;
  }));
  WITAN_DO(status);
  prepared_ = true;
  return okStatus();
}

void SagaRows::end(const SagaRow& row) {
  WITAN_CHECK(prepared_, "prepare() was called");
  agents_.eraseMeta(named(kOpen, row.intent.operation));
  const std::uint64_t number = done_.empty() ? 1 : done_.rbegin()->first + 1;
  if (keepDone_ > 0) {
    agents_.putMeta(numbered(number), encodeRow(row));
    done_[number] = row.intent.operation;
    doneNumber_[row.intent.operation] = number;
  }
  while (done_.size() > keepDone_) {
    const auto [oldest, operation] = *done_.begin();
    agents_.eraseMeta(numbered(oldest));
    if (const auto at = doneNumber_.find(operation); at != doneNumber_.end() && at->second == oldest)
      doneNumber_.erase(at);
    done_.erase(oldest);
  }
}

void SagaRows::noteUndone(const OperationId& operation, std::int64_t nowMs) {
  WITAN_CHECK(prepared_, "prepare() was called");
  const auto at = doneNumber_.find(operation.value);
  if (at == doneNumber_.end()) return;
  auto bytes = agents_.meta(numbered(at->second));
  if (!bytes.ok() || !*bytes) return;
  auto row = decodeRow(**bytes);
  if (!row.ok()) return;
  const Transition to = transition(row->phase, SagaEvent::undone);
  if (to.act == SagaAct::refuse) return;
  row->status = to.status;
  row->updatedAtMs = nowMs;
  agents_.putMeta(numbered(at->second), encodeRow(*row));
}

}  // namespace witan::saga
