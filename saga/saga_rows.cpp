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

std::string doneAt(std::uint64_t place) {
  std::string name(kDone);
  for (int shift = 56; shift >= 0; shift -= 8) name.push_back(static_cast<char>(place >> shift & 0xff));
  return name;
}

std::uint64_t placeOf(std::string_view name) {
  std::uint64_t place = 0;
  for (const char c : name.substr(kDone.size())) place = place << 8 | static_cast<unsigned char>(c);
  return place;
}

// Rows of an earlier format have no number of their own: their place was it.
std::uint64_t numberOf(const SagaRow& row, std::uint64_t place) { return row.ended > 0 ? row.ended : place; }

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

Status SagaRows::visitDone(const Visitor& visitor) const {
  std::map<std::uint64_t, SagaRow> rows;
  Status status = okStatus();
  WITAN_DO(agents_.scanMeta(kDone, [&](std::string_view name, std::string_view value) {
    auto row = decodeRow(value);
    if (row.ok())
      rows.emplace(numberOf(*row, placeOf(name)), *std::move(row));
    else
      status = corrupt("row " + toHex(asBytes(name)) + ": " + row.error().message);
    return status.ok();
  }));
  WITAN_DO(status);
  for (auto& [number, row] : rows) visitor(std::move(row));
  return okStatus();
}

Result<std::optional<SagaRow>> SagaRows::open(const OperationId& operation) const {
  WITAN_TRY(bytes, agents_.meta(named(kOpen, operation.value)));
  if (!bytes) return std::optional<SagaRow>();
  WITAN_TRY(row, decodeRow(*bytes));
  return std::optional(std::move(row));
}

Result<std::optional<SagaRow>> SagaRows::held(const OperationId& operation) {
  if (!anyHeld_) {
    WITAN_TRY(any, agents_.hasMeta(kHeld));
    anyHeld_ = any;
  }
  if (!*anyHeld_) return std::optional<SagaRow>();
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
  if (const auto at = numberOf_.find(operation.value); at != numberOf_.end()) {
    WITAN_TRY(bytes, agents_.meta(doneAt(done_.at(at->second).place)));
    if (bytes) return decodeRow(*bytes);
  }
  return Error{ErrorCode::notFound, "no saga of operation " + operation.hex() + " on this device",
               "see: witan saga list --done"};
}

void SagaRows::putOpen(const SagaRow& row) { agents_.putMeta(named(kOpen, row.intent.operation), encodeRow(row)); }

void SagaRows::hold(const SagaRow& row) {
  anyHeld_ = true;
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
    const std::uint64_t place = placeOf(name), number = numberOf(*row, place);
    done_[number] = {row->intent.operation, place};
    numberAt_[place] = number;
    std::uint64_t& latest = numberOf_[row->intent.operation];
    latest = std::max(latest, number);
    return true;
  }));
  WITAN_DO(status);
  prepared_ = true;
  return okStatus();
}

void SagaRows::end(SagaRow& row) {
  WITAN_CHECK(prepared_, "prepare() was called");
  agents_.eraseMeta(named(kOpen, row.intent.operation));
  row.ended = done_.empty() ? 1 : done_.rbegin()->first + 1;
  if (keepDone_ > 0) {
    const std::uint64_t place = row.ended % keepDone_;
    if (const auto before = numberAt_.find(place); before != numberAt_.end())
      if (const auto done = done_.find(before->second); done != done_.end()) forget(done);
    agents_.putMeta(doneAt(place), encodeRow(row));
    done_[row.ended] = {row.intent.operation, place};
    numberAt_[place] = row.ended;
    numberOf_[row.intent.operation] = row.ended;
  }
  // Places of another `keepDone`.
  while (done_.size() > keepDone_) {
    agents_.eraseMeta(doneAt(done_.begin()->second.place));
    forget(done_.begin());
  }
}

void SagaRows::forget(std::map<std::uint64_t, Done>::iterator done) {
  const auto at = numberOf_.find(done->second.operation);
  if (at != numberOf_.end() && at->second == done->first) numberOf_.erase(at);
  numberAt_.erase(done->second.place);
  done_.erase(done);
}

void SagaRows::noteUndone(const OperationId& operation, std::int64_t nowMs) {
  WITAN_CHECK(prepared_, "prepare() was called");
  const auto at = numberOf_.find(operation.value);
  if (at == numberOf_.end()) return;
  const std::string name = doneAt(done_.at(at->second).place);
  auto bytes = agents_.meta(name);
  if (!bytes.ok() || !*bytes) return;
  auto row = decodeRow(**bytes);
  if (!row.ok()) return;
  const Transition to = transition(row->phase, SagaEvent::undone);
  if (to.act == SagaAct::refuse) return;
  row->status = to.status;
  row->updatedAtMs = nowMs;
  agents_.putMeta(name, encodeRow(*row));
}

}  // namespace witan::saga
