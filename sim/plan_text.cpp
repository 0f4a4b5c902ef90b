// A plan as JSON Lines and back.
#include <algorithm>

#include "base/json_codec.h"
#include "base/quote.h"
#include "sim/duration.h"
#include "sim/plan.h"

namespace witan::sim {

namespace {

constexpr std::int64_t kVersion = 1;
constexpr Micros kLatest = 20LL * 366 * 86'400 * 1'000'000;

void appendMember(std::string& out, std::string_view name) {
  out += ",\"";
  out += name;
  out += "\":";
}

Error at(std::size_t line, const Error& error) {
  return {error.code, concat("line ", line, ": ", error.message), error.hint};
}

template <class T>
Status readMember(const json::value& from, T& into, std::string_view name) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    std::uint64_t wide = 0;
    WITAN_DO(readJson(from, wide, name));
    if (wide > 1'000'000) return invalid(concat(name, ": too large for a device"));
    into = static_cast<std::uint32_t>(wide);
    return okStatus();
  } else {
    return readJson(from, into, name);
  }
}

Result<Event> readEvent(const json::value& value) {
  if (!value.is_object()) return wrongJsonType("the event", "an object", value);
  const json::object& object = value.get_object();
  if (!object.contains("kind")) return invalid("an event without \"kind\"");
  Event event;
  for (const auto& item : object) {
    Status status = invalid("unknown member " + inQuotes(item.key()), "known: " + JsonCodec<Event>::typeName());
    forEachMember<Event>([&](auto member, auto) {
      if (member.name == item.key()) status = readMember(item.value(), event.*member.pointer, member.name);
    });
    WITAN_DO(status);
  }
  if (event.at < 0 || event.at > kLatest) return invalid("at: not within twenty years");
  if (event.lasts < 0 || event.lasts > kLatest) return invalid("lasts: not within twenty years");
  return event;
}

Result<Options> readHeader(const json::value& value) {
  if (!value.is_object() || !value.get_object().contains("plan") || !value.get_object().contains("options"))
    return invalid("a plan begins with a line {\"plan\":1,\"options\":{...}}");
  Options options;
  for (const auto& item : value.get_object()) {
    if (item.key() == "plan") {
      std::int64_t version = 0;
      WITAN_DO(readJson(item.value(), version, "plan"));
      if (version != kVersion) return invalid(concat("plan: a form of number ", version, " (this program reads 1)"));
    } else if (item.key() == "options") {
      WITAN_DO(readJson(item.value(), options, "options"));
    } else {
      return invalid("unknown member " + inQuotes(item.key()), "known: plan, options");
    }
  }
  WITAN_DO(checkOptions(options));
  return options;
}

}  // namespace

Status checkWithinRun(const Event& event, const Options& options) {
  const Micros end = options.time.seconds * 1'000'000;
  if (event.at <= end) return okStatus();
  return invalid(concat("at: ", enumName(event.kind), " at ", formatDuration(event.at),
                        " comes after the end of the run, at ", formatDuration(end)),
                 "give it an earlier time, or the run a longer one (time.seconds)");
}

void appendEvent(std::string& out, const Event& event) {
  out += "{\"at\":";
  appendInteger(out, event.at);
  appendMember(out, "kind");
  writeJson(out, event.kind);
  forEachMember<Event>([&](auto member, auto) {
    using T = typename decltype(member)::Type;
    if constexpr (std::is_same_v<T, EventKind>) {
      return;
    } else {
      const T value = event.*member.pointer;
      if (value == 0 || member.name == "at") return;
      appendMember(out, member.name);
      if constexpr (std::is_signed_v<T>)
        appendInteger(out, value);
      else
        appendInteger(out, value);
    }
  });
  out += '}';
}

std::string writePlan(const Plan& plan) {
  std::string out = "{\"plan\":1,\"options\":" + toJson(plan.options) + "}\n";
  for (const Event& event : plan.events) {
    appendEvent(out, event);
    out += '\n';
  }
  return out;
}

Result<Plan> readPlan(std::string_view text) {
  Plan plan;
  bool headed = false;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (one.empty()) continue;
    auto value = parseJson(one, {.bytes = 64 * 1024, .depth = 4});
    if (!value) return at(line, value.error());
    if (!headed) {
      auto options = readHeader(*value);
      if (!options) return at(line, options.error());
      plan.options = *std::move(options);
      headed = true;
      continue;
    }
    if (plan.events.size() == kMaxEvents) return at(line, invalid(concat("more than ", kMaxEvents, " events")));
    auto event = readEvent(*value);
    if (!event) return at(line, event.error());
    if (const Status held = checkWithinRun(*event, plan.options); !held.ok()) return at(line, held.error());
    plan.events.push_back(*event);
  }
  if (!headed) return invalid("an empty plan", "its first line is {\"plan\":1,\"options\":{...}}");
  std::ranges::stable_sort(plan.events, [](const Event& a, const Event& b) { return a.at < b.at; });
  return plan;
}

}  // namespace witan::sim
