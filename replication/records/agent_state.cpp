#include "replication/records/agent_state.h"

#include <array>

#include "base/dense.h"
#include "base/identity.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::replication {

Result<Lifecycle> parseLifecycle(std::string_view word) {
  if (const auto lifecycle = parseEnum<Lifecycle>(word)) return *lifecycle;
  return invalid(inQuotes(word) + " is no lifecycle", "created, active, dormant or destroyed");
}

Result<AgentMode> parseAgentMode(std::string_view word) {
  if (const auto mode = parseEnum<AgentMode>(word)) return *mode;
  return invalid(inQuotes(word) + " is no mode", "autonomous or interactive");
}

std::string_view defaultValue(SlotName name) {
  constexpr std::array<std::string_view, kSlots> kValues{"null", "null", "[]", "{}", "{}"};
  return kValues[static_cast<std::size_t>(name)];
}

AgentState::AgentState() {
  for (std::size_t i = 0; i < kSlots; ++i) slots[i].value = defaultValue(static_cast<SlotName>(i));
}

namespace {

constexpr std::string_view kStateName = "agent state";

// The first byte of a slot.
constexpr unsigned kValueMask = 3;
constexpr unsigned kDefaultValue = 0;
constexpr unsigned kIdTextValue = 1;
constexpr unsigned kJsonValue = 2;
constexpr unsigned kHostIsSelf = 4;
constexpr unsigned kVersionShift = 3;
constexpr unsigned kLongVersion = 31;

constexpr StateField fieldAt(unsigned index) { return static_cast<StateField>(index); }
constexpr bool isSlot(StateField f) { return f >= StateField::primaryGoal && f <= StateField::extension; }
constexpr SlotName slotOf(StateField f) {
  return static_cast<SlotName>(static_cast<unsigned>(f) - static_cast<unsigned>(StateField::primaryGoal));
}

// The bytes of a field that has its default: in a body they are left out, in a delta they are written.
constexpr std::string_view defaultBytes(StateField f) {
  constexpr std::string_view kZeros("\0\0\0", 3);
  if (isSlot(f)) return kZeros;
  const bool pointer = f == StateField::recentHeadMessageId || f == StateField::latestSummaryMessageId;
  return kZeros.substr(0, pointer ? 2 : 1);
}

std::uint32_t readMask(DenseReader& in) {
  const std::uint64_t mask = in.varint();
  if (mask >> kStateFields != 0) in.fail("a newer version of Witan wrote fields that this one does not know");
  return in.ok() ? static_cast<std::uint32_t>(mask) : 0;
}

// --- whole bodies

// A JSON string whose content stands in it as it is.
bool isPlainString(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' && value.find('\\') == std::string_view::npos;
}

void writeSlot(DenseWriter& out, const Slot& slot, SlotName name, std::string_view self) {
  const bool own = !slot.host.empty() && slot.host == self;
  const unsigned value = slot.value == defaultValue(name) ? kDefaultValue
                         : isPlainString(slot.value)      ? kIdTextValue
                                                          : kJsonValue;
  const unsigned version = slot.version < kLongVersion ? static_cast<unsigned>(slot.version) : kLongVersion;
  out.byte(static_cast<std::uint8_t>(value | (own ? kHostIsSelf : 0) | version << kVersionShift));
  if (version == kLongVersion) out.varint(slot.version - kLongVersion);
  if (!own) out.idText(slot.host);
  if (value == kIdTextValue) out.idText(std::string_view(slot.value).substr(1, slot.value.size() - 2));
  if (value == kJsonValue) out.text(slot.value);
}

void writeProcessed(DenseWriter& out, const VectorClock& clock, std::string_view self) {
  const std::uint64_t own = clock.at(self);
  const std::uint64_t others = clock.entries().size() - (own > 0 ? 1 : 0);
  out.varint(others << 1 | (own > 0 ? 1 : 0));
  if (own > 0) out.varint(own);
  for (const auto& [host, counter] : clock.entries()) {
    if (host == self) continue;
    out.idText(host);
    out.varint(counter);
  }
}

void writeTimers(DenseWriter& out, const AgentState& s) {
  out.varint(s.schedule.timers.size());
  for (const auto& [name, timer] : s.schedule.timers) {
    out.idText(name);
    out.varint(timer.firedThrough);
    out.varint(timer.everyMs);
    out.varint(timer.version);
    if (timer.version > 0) out.idText(timer.host);
  }
}

void writeField(DenseWriter& out, const AgentState& s, StateField field, std::string_view self) {
  switch (field) {
    case StateField::lifecycle: return out.byte(static_cast<std::uint8_t>(s.lifecycle));
    case StateField::sleepUntil: return out.varint(s.schedule.sleepUntil);
    case StateField::nextWakeAt: return out.varint(s.schedule.nextWakeAt ? *s.schedule.nextWakeAt + 1 : 0);
    case StateField::firedThrough: return out.varint(s.schedule.firedThrough);
    case StateField::recentHeadMessageId: return out.idText(s.pointers.recentHeadMessageId.value_or(""));
    case StateField::latestSummaryMessageId: return out.idText(s.pointers.latestSummaryMessageId.value_or(""));
    case StateField::processedCounters: return writeProcessed(out, s.processedCounterByHost, self);
    case StateField::consecutiveFailures: return out.varint(s.consecutiveFailureCount);
    case StateField::mode: return out.byte(static_cast<std::uint8_t>(s.mode));
    case StateField::timers: return writeTimers(out, s);
    default: return writeSlot(out, s.slot(slotOf(field)), slotOf(field), self);
  }
}

std::uint64_t readCounter(DenseReader& in) { return in.count(kMaxStateCounter); }

std::string readId(DenseReader& in) {
  std::string id = in.idText(kMaxIdBytes);
  if (in.ok() && !validateId("id", id).ok()) in.fail("an id has a character that no id has, or none");
  return id;
}

std::optional<std::string> readPointer(DenseReader& in) {
  std::string id = in.idText(kMaxIdBytes);
  if (id.empty()) return std::nullopt;
  if (!validateId("id", id).ok()) in.fail("a message id has a character that no id has");
  return id;
}

std::string readHost(DenseReader& in, std::string_view self) {
  std::string host = readId(in);
  if (host == self) in.fail("the writer's own name is spelled out");
  return host;
}

void readPlainString(DenseReader& in, std::string& value) {
  value = '"' + in.idText(kMaxSlotBytes - 2) + '"';
  if (!in.ok()) return;
  const std::string_view inner = std::string_view(value).substr(1, value.size() - 2);
  for (const char c : inner)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return in.fail("a slot's text needs escapes");
  if (!isUtf8(inner)) in.fail("a slot's text is not UTF-8");
}

void readJsonValue(DenseReader& in, std::string& value, SlotName name) {
  value = in.text(kMaxSlotBytes);
  if (!in.ok()) return;
  const auto parsed = parseJson(value, {.bytes = kMaxSlotBytes, .depth = kMaxSlotDepth});
  if (!parsed.ok()) return in.fail("a slot's value is not JSON");
  if (canonicalJson(*parsed) != value) return in.fail("a slot's value is not in canonical JSON");
  if (value == defaultValue(name) || isPlainString(value)) in.fail("a slot's value has a shorter form");
}

void readSlot(DenseReader& in, Slot& slot, SlotName name, std::string_view self) {
  const unsigned head = in.byte();
  slot.version = head >> kVersionShift;
  if (slot.version == kLongVersion) slot.version += in.count(kMaxStateCounter - kLongVersion);
  if ((head & kHostIsSelf) != 0) {
    slot.host = self;
  } else {
    slot.host = in.idText(kMaxIdBytes);
    if (slot.host == self) in.fail("the writer's own name is spelled out");
    if (slot.host.empty() ? slot.version > 0 : !validateId("id", slot.host).ok())
      in.fail("a slot's host is no id, or the slot was written by nobody");
  }
  if ((head & kValueMask) == kIdTextValue) readPlainString(in, slot.value);
  if ((head & kValueMask) == kJsonValue) readJsonValue(in, slot.value, name);
  if ((head & kValueMask) == kValueMask) in.fail("a slot's value is of an unknown kind");
}

void readProcessed(DenseReader& in, VectorClock& clock, std::string_view self) {
  const auto readOne = [&](std::string_view host) {
    const std::uint64_t counter = readCounter(in);
    if (counter == 0) in.fail("a processed counter of 0");
    if (in.ok()) clock.set(host, counter);
  };
  const std::uint64_t head = in.count(2 * kMaxClockEntries);
  if ((head & 1) != 0) readOne(self);
  std::string before;
  for (std::uint64_t i = 0; i < head >> 1 && in.ok(); ++i) {
    std::string host = readHost(in, self);
    if (host <= before) in.fail("processed counters out of order");
    readOne(host);
    before = std::move(host);
  }
}

void readTimers(DenseReader& in, AgentState& s) {
  const std::uint64_t count = in.count(kMaxTimers);
  std::string before;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    std::string name = readId(in);
    if (i > 0 && name <= before) in.fail("timers out of order");
    TimerState timer{readCounter(in), readCounter(in), readCounter(in), {}};
    if (timer.version > 0) timer.host = readId(in);
    if (timer.version == 0 && timer.everyMs > 0) in.fail("a timer was set by nobody");
    before = name;
    s.schedule.timers.emplace(std::move(name), std::move(timer));
  }
}

void readField(DenseReader& in, AgentState& s, StateField field, std::string_view self) {
  switch (field) {
    case StateField::lifecycle: {
      const std::uint8_t value = in.byte();
      if (value > static_cast<std::uint8_t>(Lifecycle::destroyed)) return in.fail("an unknown lifecycle");
      s.lifecycle = static_cast<Lifecycle>(value);
      return;
    }
    case StateField::nextWakeAt: {
      const std::uint64_t next = in.count(kMaxStateCounter + 1);
      if (next > 0) s.schedule.nextWakeAt = next - 1;
      return;
    }
    case StateField::mode: {
      const std::uint8_t value = in.byte();
      if (value > static_cast<std::uint8_t>(AgentMode::interactive)) return in.fail("an unknown mode");
      s.mode = static_cast<AgentMode>(value);
      return;
    }
    case StateField::timers: return readTimers(in, s);
    case StateField::sleepUntil: s.schedule.sleepUntil = readCounter(in); return;
    case StateField::firedThrough: s.schedule.firedThrough = readCounter(in); return;
    case StateField::recentHeadMessageId: s.pointers.recentHeadMessageId = readPointer(in); return;
    case StateField::latestSummaryMessageId: s.pointers.latestSummaryMessageId = readPointer(in); return;
    case StateField::processedCounters: return readProcessed(in, s.processedCounterByHost, self);
    case StateField::consecutiveFailures: s.consecutiveFailureCount = readCounter(in); return;
    default: return readSlot(in, s.slot(slotOf(field)), slotOf(field), self);
  }
}

// --- field deltas: bodies taken apart and put together as bytes

void skipSlot(DenseReader& in) {
  const unsigned head = in.byte();
  if (head >> kVersionShift == kLongVersion) in.varint();
  if ((head & kHostIsSelf) == 0) in.skipIdText(kMaxIdBytes);
  if ((head & kValueMask) == kIdTextValue) in.skipIdText(kMaxSlotBytes - 2);
  if ((head & kValueMask) == kJsonValue) in.text(kMaxSlotBytes);
}

void skipProcessed(DenseReader& in) {
  const std::uint64_t head = in.count(2 * kMaxClockEntries);
  if ((head & 1) != 0) in.varint();
  for (std::uint64_t i = 0; i < head >> 1 && in.ok(); ++i) {
    in.skipIdText(kMaxIdBytes);
    in.varint();
  }
}

void skipTimers(DenseReader& in) {
  const std::uint64_t count = in.count(kMaxTimers);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    in.skipIdText(kMaxIdBytes);
    in.varint();
    in.varint();
    if (in.varint() > 0) in.skipIdText(kMaxIdBytes);
  }
}

void skipField(DenseReader& in, StateField field) {
  switch (field) {
    case StateField::timers: return skipTimers(in);
    case StateField::mode:
    case StateField::lifecycle: in.byte(); return;
    case StateField::sleepUntil:
    case StateField::nextWakeAt:
    case StateField::firedThrough:
    case StateField::consecutiveFailures: in.varint(); return;
    case StateField::recentHeadMessageId:
    case StateField::latestSummaryMessageId: return in.skipIdText(kMaxIdBytes);
    case StateField::processedCounters: return skipProcessed(in);
    default: return skipSlot(in);
  }
}

// The fields of a body or of a delta, as they stand in it.
struct Parts {
  std::uint32_t mask = 0;
  std::array<std::string_view, kStateFields> fields;

  bool has(unsigned index) const { return (mask & bitOf(fieldAt(index))) != 0; }
  std::string_view orDefault(unsigned index) const { return has(index) ? fields[index] : defaultBytes(fieldAt(index)); }
};

Status takeApart(std::string_view bytes, Parts& parts, std::string_view name) {
  DenseReader in(bytes);
  parts.mask = readMask(in);
  for (unsigned i = 0; i < kStateFields; ++i) {
    if (!parts.has(i)) continue;
    const std::size_t start = in.position();
    skipField(in, fieldAt(i));
    parts.fields[i] = in.from(start);
  }
  return in.finish(name);
}

}  // namespace

std::string encodeAgentState(const AgentState& state, std::string_view self) {
  std::string fields;
  fields.reserve(256);
  DenseWriter writer(fields);
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < kStateFields; ++i) {
    const std::size_t start = fields.size();
    writeField(writer, state, fieldAt(i), self);
    if (std::string_view(fields).substr(start) == defaultBytes(fieldAt(i)))
      fields.resize(start);
    else
      mask |= bitOf(fieldAt(i));
  }
  std::string body;
  body.reserve(fields.size() + 2);
  DenseWriter(body).varint(mask);
  return body += fields;
}

Result<AgentState> decodeAgentState(std::string_view bytes, std::string_view self) {
  DenseReader in(bytes);
  AgentState state;
  const std::uint32_t mask = readMask(in);
  for (unsigned i = 0; i < kStateFields && in.ok(); ++i) {
    if ((mask & bitOf(fieldAt(i))) == 0) continue;
    const std::size_t start = in.position();
    readField(in, state, fieldAt(i), self);
    if (in.ok() && in.from(start) == defaultBytes(fieldAt(i))) in.fail("a default is spelled out");
  }
  WITAN_DO(in.finish(kStateName));
  return state;
}

Version toVersion(const AgentSnapshot& snapshot) {
  return {snapshot.dot, snapshot.vc, encodeAgentState(snapshot.state, snapshot.dot.host), false};
}

Result<AgentSnapshot> toSnapshot(std::string_view agentId, const Version& version) {
  WITAN_TRY(state, decodeAgentState(version.body, version.dot.host));
  return AgentSnapshot{std::string(agentId), version.dot, version.context, std::move(state)};
}

std::uint32_t changedFields(std::string_view before, std::string_view after) {
  Parts a, b;
  if (!takeApart(before, a, kStateName).ok() || !takeApart(after, b, kStateName).ok()) return 0;
  std::uint32_t changed = a.mask ^ b.mask;
  for (unsigned i = 0; i < kStateFields; ++i)
    if (a.has(i) && b.has(i) && a.fields[i] != b.fields[i]) changed |= bitOf(fieldAt(i));
  return changed;
}

void appendFieldDelta(std::string& out, std::string_view body, std::uint32_t fields) {
  WITAN_CHECK(fields >> kStateFields == 0, "a delta names fields that exist");
  Parts parts;
  WITAN_CHECK(takeApart(body, parts, kStateName).ok(), "a delta is taken from a body");
  DenseWriter(out).varint(fields);
  for (unsigned i = 0; i < kStateFields; ++i)
    if ((fields & bitOf(fieldAt(i))) != 0) out += parts.orDefault(i);
}

Result<std::string> applyFieldDelta(std::string_view base, std::string_view delta) {
  Parts old, changes;
  WITAN_DO(takeApart(base, old, "base of an agent state delta"));
  WITAN_DO(takeApart(delta, changes, "agent state delta"));
  Parts result = old;
  for (unsigned i = 0; i < kStateFields; ++i) {
    if (!changes.has(i)) continue;
    const std::uint32_t bit = bitOf(fieldAt(i));
    result.fields[i] = changes.fields[i];
    result.mask = changes.fields[i] == defaultBytes(fieldAt(i)) ? result.mask & ~bit : result.mask | bit;
  }
  std::string body;
  body.reserve(base.size() + delta.size());
  DenseWriter(body).varint(result.mask);
  for (unsigned i = 0; i < kStateFields; ++i)
    if (result.has(i)) body += result.fields[i];
  return body;
}

}  // namespace witan::replication
