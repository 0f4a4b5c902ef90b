#include "replication/records/agent_state_json.h"

#include "base/identity.h"
#include "base/json_codec.h"
#include "base/quote.h"

namespace witan::replication {

namespace {

std::string under(std::string_view where, std::string_view name) {
  return where.empty() ? std::string(name) : concat(where, ".", name);
}

// The object at `where`, if it has these members and no others.
Result<const json::object*> objectWith(const json::value& value, std::string_view where,
                                       std::initializer_list<std::string_view> names, std::string_view mayBe = {}) {
  if (!value.is_object()) return wrongJsonType(where.empty() ? "snapshot" : where, "an object", value);
  const json::object& object = value.get_object();
  for (const std::string_view name : names)
    if (!object.contains(name)) return invalid(under(where, name) + " is missing");
  for (const auto& member : object) {
    const std::string_view key(member.key().data(), member.key().size());
    if (std::ranges::find(names, key) == names.end() && (mayBe.empty() || key != mayBe))
      return invalid((where.empty() ? "" : concat(where, ": ")) + "unknown member " + inQuotes(key));
  }
  return &object;
}

Status readCounter(const json::object& object, std::string_view name, std::string_view where, std::uint64_t& into) {
  return readJson(object.at(name), into, under(where, name));
}

Status readId(const json::object& object, std::string_view name, std::string_view where, std::string& into) {
  const std::string place = under(where, name);
  WITAN_DO(readText(object.at(name), into, place));
  return validateId(place, into);
}

Status readPointer(const json::object& object, std::string_view name, std::optional<std::string>& into) {
  if (object.at(name).is_null()) return okStatus();
  return readId(object, name, "pointers", into.emplace());
}

Status readClock(const json::value& value, std::string_view where, VectorClock& into) {
  if (!value.is_object()) return wrongJsonType(where, "an object", value);
  const json::object& object = value.get_object();
  if (object.size() > kMaxClockEntries) return invalid(concat(where, ": more than ", kMaxClockEntries, " entries"));
  for (const auto& member : object) {
    const std::string_view host(member.key().data(), member.key().size());
    WITAN_DO(validateId(concat(where, ": host"), host));
    std::uint64_t counter = 0;
    WITAN_DO(readJson(member.value(), counter, under(where, host)));
    into.set(host, counter);
  }
  return okStatus();
}

Status readDot(const json::value& value, Dot& into) {
  WITAN_TRY(object, objectWith(value, "dot", {"host", "counter"}));
  WITAN_DO(readId(*object, "host", "dot", into.host));
  WITAN_DO(readCounter(*object, "counter", "dot", into.counter));
  return into.counter > 0 ? okStatus() : Status(invalid("dot.counter: the first is 1"));
}

Status readTimers(const json::value& value, Schedule& into) {
  ByName<AgentTimer> rows;
  WITAN_DO(readJson(value, rows, "schedule.timers"));
  if (rows.size() > kMaxTimers) return invalid(concat("schedule.timers: more than ", kMaxTimers));
  for (auto& [name, row] : rows) {
    const std::string place = under("schedule.timers", name);
    WITAN_DO(validateId(place, name));
    if (row.version == 0 ? row.everyMs > 0 || !row.host.empty() : !validateId(place, row.host).ok())
      return invalid(place + ": a timer that was set names who set it, and no other does");
    if (std::max({row.firedThrough, row.everyMs, row.version}) > kMaxStateCounter)
      return invalid(place + ": a number beyond 2^63 - 1");
    into.timers.emplace(name, TimerState{row.firedThrough, row.everyMs, row.version, std::move(row.host)});
  }
  return okStatus();
}

Status readSchedule(const json::value& value, Schedule& into) {
  WITAN_TRY(object, objectWith(value, "schedule", {"sleepUntil", "nextWakeAt", "firedThrough"}, "timers"));
  if (const json::value* timers = object->if_contains("timers")) WITAN_DO(readTimers(*timers, into));
  WITAN_DO(readCounter(*object, "sleepUntil", "schedule", into.sleepUntil));
  WITAN_DO(readCounter(*object, "firedThrough", "schedule", into.firedThrough));
  if (object->at("nextWakeAt").is_null()) return okStatus();
  return readCounter(*object, "nextWakeAt", "schedule", into.nextWakeAt.emplace());
}

Status readSlot(const json::value& value, std::string_view where, Slot& into) {
  WITAN_TRY(object, objectWith(value, where, {"value", "version", "host"}));
  WITAN_DO(readCounter(*object, "version", where, into.version));
  WITAN_DO(readText(object->at("host"), into.host, under(where, "host")));
  if (into.host.empty() && into.version > 0) return invalid(under(where, "host") + ": a written slot names its writer");
  if (!into.host.empty()) WITAN_DO(validateId(under(where, "host"), into.host));
  json::value kept = object->at("value");
  makeIntegersExact(kept);
  into.value = canonicalJson(kept);
  if (into.value.size() <= kMaxSlotBytes) return okStatus();
  return invalid(concat(under(where, "value"), ": longer than ", kMaxSlotBytes, " bytes"));
}

Status readSlots(const json::value& value, AgentState& into) {
  WITAN_TRY(object,
            objectWith(value, "slots", {"primaryGoal", "activeTaskId", "openLoopIds", "preferenceByKey", "extension"}));
  for (std::size_t i = 0; i < kSlots; ++i) {
    const char* name = toString(static_cast<SlotName>(i));
    WITAN_DO(readSlot(object->at(name), under("slots", name), into.slots[i]));
  }
  return okStatus();
}

Status readState(const json::object& object, AgentState& into) {
  std::string word;
  WITAN_DO(readText(object.at("lifecycle"), word, "lifecycle"));
  const Result<Lifecycle> lifecycle = parseLifecycle(word);
  if (!lifecycle.ok()) return invalid("lifecycle: " + lifecycle.error().message, lifecycle.error().hint);
  into.lifecycle = *lifecycle;
  WITAN_DO(readSchedule(object.at("schedule"), into.schedule));
  WITAN_TRY(pointers, objectWith(object.at("pointers"), "pointers", {"recentHeadMessageId", "latestSummaryMessageId"}));
  WITAN_DO(readPointer(*pointers, "recentHeadMessageId", into.pointers.recentHeadMessageId));
  WITAN_DO(readPointer(*pointers, "latestSummaryMessageId", into.pointers.latestSummaryMessageId));
  WITAN_DO(readSlots(object.at("slots"), into));
  WITAN_DO(readClock(object.at("processedCounterByHost"), "processedCounterByHost", into.processedCounterByHost));
  if (const json::value* mode = object.if_contains("mode")) {
    WITAN_DO(readText(*mode, word, "mode"));
    WITAN_SET(into.mode, parseAgentMode(word));
  }
  return readCounter(object, "consecutiveFailureCount", "", into.consecutiveFailureCount);
}

AgentSnapshotRow rowOf(const std::string& agentId, const VectorClock& vc, const AgentState& state) {
  const auto& [sleepUntil, nextWakeAt, firedThrough, timers] = state.schedule;
  AgentSnapshotRow row{.agentId = agentId,
                       .vc = clockRow(vc),
                       .lifecycle = toString(state.lifecycle),
                       .schedule = {sleepUntil, nextWakeAt, firedThrough, {}},
                       .pointers = {state.pointers.recentHeadMessageId, state.pointers.latestSummaryMessageId},
                       .processedCounterByHost = clockRow(state.processedCounterByHost),
                       .consecutiveFailureCount = state.consecutiveFailureCount};
  if (state.mode != AgentMode::autonomous) row.mode = std::string(enumName(state.mode));
  if (!timers.empty()) row.schedule.timers.emplace();
  for (const auto& [name, timer] : timers)
    (*row.schedule.timers)[name] = {timer.firedThrough, timer.everyMs, timer.version, timer.host};
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot& slot = state.slots[i];
    row.slots[toString(static_cast<SlotName>(i))] = {parseJson(slot.value, kOwnJson).value(), slot.version, slot.host};
  }
  return row;
}

}  // namespace

Result<AgentSnapshot> readSnapshot(std::string_view text) {
  // A slot's value lies three containers deep.
  auto parsed = parseJson(text, {.bytes = kMaxSnapshotJson, .depth = kMaxSlotDepth + 3});
  if (!parsed.ok()) return invalid("not JSON: " + parsed.error().message);
  WITAN_TRY(object, objectWith(*parsed, "",
                               {"agentId", "dot", "vc", "lifecycle", "schedule", "pointers", "slots",
                                "processedCounterByHost", "consecutiveFailureCount"},
                               "mode"));
  AgentSnapshot snapshot;
  WITAN_DO(readId(*object, "agentId", "", snapshot.agentId));
  WITAN_DO(readDot(object->at("dot"), snapshot.dot));
  WITAN_DO(readClock(object->at("vc"), "vc", snapshot.vc));
  const Dot& dot = snapshot.dot;
  if (snapshot.vc.at(dot.host) != dot.counter)
    return invalid(concat("vc.", dot.host, " is ", snapshot.vc.at(dot.host), ", the dot's counter is ", dot.counter));
  WITAN_DO(readState(*object, snapshot.state));
  return snapshot;
}

ClockRow clockRow(const VectorClock& clock) { return {clock.entries().begin(), clock.entries().end()}; }

AgentSnapshotRow snapshotRow(const AgentSnapshot& snapshot) {
  AgentSnapshotRow row = rowOf(snapshot.agentId, snapshot.vc, snapshot.state);
  row.dot = VersionDot(snapshot.dot);
  return row;
}

AgentSnapshotRow viewRow(const std::string& agentId, const AgentView& view) {
  return rowOf(agentId, view.vc, view.state);
}

}  // namespace witan::replication
