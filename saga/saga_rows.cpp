#include "saga/saga_rows.h"

#include "base/capnp_codec.h"
#include "base/json.h"
#include "base/json_codec.h"
#include "base/mutant.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "saga/transitions.h"

namespace witan::saga {

namespace {

constexpr std::size_t kMaxTargets = 4096;

bool isZero(const Hash& hash) { return hash == Hash{}; }

Status checkJson(const char* what, std::string_view text) {
  if (surelyCanonicalJson(text, {.bytes = replication::kMaxRecordBytes})) return okStatus();
  auto value = parseJson(text, {.bytes = replication::kMaxRecordBytes});
  if (!value.ok()) return invalid(concat(what, ": ", value.error().message));
  return canonicalJson(*value) == text ? okStatus() : invalid(concat(what, ": not in canonical form"));
}

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

Outcome refusal(const Error& error) {
  return {OperationOutcome::failed, "{\"error\":" + jsonQuoted(clip(error.message, kMaxErrorBytes)) + "}"};
}

Status checkIntent(const Intent& intent) {
  if (isZero(intent.operation)) return invalid("operation: it is missing");
  if (isZero(intent.run)) return invalid("run: it is missing");
  WITAN_DO(validateId("agentId", intent.agentId));
  WITAN_DO(validateId("tool", intent.tool));
  WITAN_DO(validateId("scope", intent.scope));
  if (intent.arguments.size() > replication::kMaxRecordBytes)
    return invalid(concat("arguments: ", intent.arguments.size(), " bytes"));
  WITAN_DO(checkJson("arguments", intent.arguments));
  if (intent.targets.size() > kMaxTargets)
    return invalid(concat("targets: ", intent.targets.size(), ", at most ", kMaxTargets));
  for (const std::string& target : intent.targets) WITAN_DO(validateId("target", target));
  if (intent.compensates && isZero(*intent.compensates)) return invalid("compensates: it is missing");
  return okStatus();
}

std::string encodeRow(const SagaRow& row) {
  thread_local WordWriter writer;
  return std::string(writer.message(row));
}

Result<SagaRow> decodeRow(std::string_view bytes) {
  SagaRow row;
  if (Status read = readMessage(bytes, row, "saga"); !read.ok()) return corrupt(read.error().message);
  if (isZero(row.intent.operation) || isZero(row.intent.run)) return corrupt("saga: it names no operation or no run");
  return row;
}

std::string rowJson(const SagaRow& row) {
  const Intent& intent = row.intent;
  std::string out = concat("{\"agentId\":", jsonQuoted(intent.agentId), ",\"arguments\":", intent.arguments,
                           ",\"attempts\":", row.attempts);
  if (intent.compensates) out += ",\"compensates\":\"" + toHex(*intent.compensates) + "\"";
  out += concat(",\"createdAtMs\":", row.createdAtMs, ",\"kind\":\"", enumName(intent.kind), "\"");
  if (!row.lastError.empty()) out += ",\"lastError\":" + jsonQuoted(row.lastError);
  if (row.status == SagaStatus::backoff) out += concat(",\"nextAttemptAtMs\":", row.nextAttemptAtMs);
  out += ",\"operation\":\"" + intent.id().hex() + "\"";
  if (!row.result.empty()) out += concat(",\"outcome\":\"", enumName(row.outcome), "\"");
  out += concat(",\"phase\":\"", enumName(row.phase), "\"");
  if (!row.result.empty()) out += ",\"result\":" + row.result;
  out += concat(",\"run\":\"", toHex(intent.run), "\",\"scope\":", jsonQuoted(intent.scope), ",\"status\":\"",
                enumName(row.status), "\",\"superseded\":", row.superseded ? "true" : "false", ",\"targets\":[");
  for (const std::string& target : intent.targets) out += (out.back() == '[' ? "" : ",") + jsonQuoted(target);
  return concat(out, "],\"tool\":", jsonQuoted(intent.tool), ",\"updatedAtMs\":", row.updatedAtMs, "}");
}

Status SagaRows::scan(std::string_view prefix, const NamedVisitor& visit) const {
  Status status = okStatus();
  WITAN_DO(agents_.scanMeta(prefix, [&](std::string_view name, std::string_view value) {
    auto row = decodeRow(value);
    if (row.ok())
      visit(name, *std::move(row));
    else
      status = corrupt("row " + toHex(asBytes(name)) + ": " + row.error().message);
    return status.ok();
  }));
  return status;
}

Status SagaRows::visitOpen(const Visitor& visit) const {
  return scan(kOpen, [&](std::string_view, SagaRow&& row) { visit(std::move(row)); });
}

Status SagaRows::visitHeld(const Visitor& visit) const {
  return scan(kHeld, [&](std::string_view, SagaRow&& row) { visit(std::move(row)); });
}

Status SagaRows::visitDone(const Visitor& visit) const {
  std::map<std::uint64_t, SagaRow> rows;
  WITAN_DO(scan(kDone, [&](std::string_view name, SagaRow&& row) {
    rows.emplace(numberOf(row, placeOf(name)), std::move(row));
  }));
  for (auto& [number, row] : rows) visit(std::move(row));
  return okStatus();
}

Result<std::optional<SagaRow>> SagaRows::read(const std::string& name) const {
  WITAN_TRY(bytes, agents_.meta(name));
  if (!bytes) return std::optional<SagaRow>();
  WITAN_TRY(row, decodeRow(*bytes));
  return std::optional(std::move(row));
}

Result<std::optional<SagaRow>> SagaRows::open(const OperationId& operation) const {
  return read(named(kOpen, operation.value));
}

Result<std::optional<SagaRow>> SagaRows::held(const OperationId& operation) {
  if (!anyHeld_) {
    WITAN_SET(anyHeld_, agents_.hasMeta(kHeld));
  }
  return *anyHeld_ ? read(named(kHeld, operation.value)) : Result<std::optional<SagaRow>>(std::nullopt);
}

Result<SagaRow> SagaRows::find(const OperationId& operation) {
  WITAN_TRY(underWay, open(operation));
  if (underWay) return *std::move(underWay);
  WITAN_TRY(parked, held(operation));
  if (parked) return *std::move(parked);
  WITAN_DO(prepare());
  if (const auto at = numberOf_.find(operation.value); at != numberOf_.end()) {
    WITAN_TRY(ended, read(doneAt(done_.at(at->second).place)));
    if (ended) return *std::move(ended);
  }
  return notFound("no saga of operation " + operation.hex() + " on this device", "see: witan saga list --done");
}

void SagaRows::putOpen(const SagaRow& row) { agents_.putMeta(named(kOpen, row.intent.operation), encodeRow(row)); }

void SagaRows::hold(const SagaRow& row) {
  anyHeld_ = true;
  ++heldChanges_;
  agents_.eraseMeta(named(kOpen, row.intent.operation));
  agents_.putMeta(named(kHeld, row.intent.operation), encodeRow(row));
}

void SagaRows::release(const SagaRow& row) {
  ++heldChanges_;
  if (!mutated("keepHeldRow")) agents_.eraseMeta(named(kHeld, row.intent.operation));
  putOpen(row);
}

Status SagaRows::prepare() {
  if (prepared_) return okStatus();
  WITAN_DO(scan(kDone, [&](std::string_view name, SagaRow&& row) {
    const std::uint64_t place = placeOf(name), number = numberOf(row, place);
    done_[number] = {row.intent.operation, place};
    numberAt_[place] = number;
    std::uint64_t& latest = numberOf_[row.intent.operation];
    latest = std::max(latest, number);
  }));
  prepared_ = true;
  return okStatus();
}

void SagaRows::end(SagaRow& row) {
  WITAN_CHECK(prepared_, "prepare() was called");
  if (!mutated("keepSagaRow")) agents_.eraseMeta(named(kOpen, row.intent.operation));
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
  auto ended = read(name);
  if (!ended.ok() || !*ended) return;
  SagaRow& row = **ended;
  const Transition to = transition(row.phase, SagaEvent::undone);
  if (to.act == SagaAct::refuse || mutated("doneUndone")) return;
  row.status = to.status;
  row.updatedAtMs = nowMs;
  agents_.putMeta(name, encodeRow(row));
}

}  // namespace witan::saga
