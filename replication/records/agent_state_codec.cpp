#include "replication/records/agent_state_codec.h"

#include "base/json.h"
#include "base/utf8.h"
#include "replication/records/agent_state_layout.h"

namespace witan::replication {

using namespace layout;

namespace {

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
    case StateField::sleepUntil: s.schedule.sleepUntil = readCounter(in); return;
    case StateField::firedThrough: s.schedule.firedThrough = readCounter(in); return;
    case StateField::recentHeadMessageId: s.pointers.recentHeadMessageId = readPointer(in); return;
    case StateField::latestSummaryMessageId: s.pointers.latestSummaryMessageId = readPointer(in); return;
    case StateField::processedCounters: return readProcessed(in, s.processedCounterByHost, self);
    case StateField::consecutiveFailures: s.consecutiveFailureCount = readCounter(in); return;
    default: return readSlot(in, s.slot(slotOf(field)), slotOf(field), self);
  }
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
  WITAN_DO(in.finish(kName));
  return state;
}

Version toVersion(const AgentSnapshot& snapshot) {
  return {snapshot.dot, snapshot.vc, encodeAgentState(snapshot.state, snapshot.dot.host), false};
}

Result<AgentSnapshot> toSnapshot(std::string_view agentId, const Version& version) {
  WITAN_TRY(state, decodeAgentState(version.body, version.dot.host));
  return AgentSnapshot{std::string(agentId), version.dot, version.context, std::move(state)};
}

}  // namespace witan::replication
