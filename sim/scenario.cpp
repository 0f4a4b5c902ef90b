#include "sim/scenario.h"

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>

#include "base/quote.h"
#include "base/string_util.h"
#include "base/toml_text.h"
#include "base/utf8.h"
#include "sim/catalog.h"
#include "sim/draw.h"
#include "sim/duration.h"

namespace witan::sim {

namespace {

OptionValue choose(const OptionDraw& draw, Random& random) {
  if (!draw.choices.empty()) return draw.choices[random.below(draw.choices.size())];
  return between(random, draw.low, draw.high);
}

template <class T>
Status set(const OptionValue& value, T& into) {
  if (const auto* same = std::get_if<T>(&value)) return into = *same, okStatus();
  if (std::is_same_v<T, bool>) return invalid("expected true or false");
  return invalid(std::is_same_v<T, std::string> ? "expected a text" : "expected a number");
}
template <NamedEnum E>
Status set(const OptionValue& value, E& into) {
  const auto* word = std::get_if<std::string>(&value);
  const auto known = word == nullptr ? std::nullopt : parseEnum<E>(*word);
  if (known) return into = *known, okStatus();
  return invalid("expected one of " + joined(enumNames<E>()));
}

bool switchedOff(const Scenario& scenario, std::uint64_t seed, const std::string& path, const std::string& table) {
  const auto share = scenario.onPerMillion.find(table);
  if (share == scenario.onPerMillion.end() || scenario.always.contains(path)) return false;
  SeededRandom random(streamSeed(seed, "whether " + path));
  return static_cast<std::int64_t>(random.below(1'000'000)) >= share->second;
}

// Is there such an option, and can it take every value of the draw?
Status checkDraw(std::string_view path, const OptionDraw& draw) {
  Status status = invalid("no option is called " + inQuotes(path));
  Options scratch;
  forEachOption(scratch, [&](std::string_view table, std::string_view member, auto& value) {
    if (concat(table, ".", member) != path) return;
    status = draw.choices.empty() ? set(OptionValue(draw.low), value) : okStatus();
    for (const OptionValue& choice : draw.choices)
      if (status.ok()) status = set(choice, value);
  });
  return status;
}

// Does `sometimes` in this table concern this option?
bool maySwitchOff(std::string_view table, std::string_view member) {
  return table == "work" || isFaultRate(table, member) || (table == "network" && member.ends_with("PerMillion"));
}

// ---- the reader of files

constexpr std::size_t kMaxText = 1 << 20;
constexpr int kMaxDepth = 8;
constexpr Micros kMostOften = 1'000'000;
constexpr std::size_t kMaxList = 1'000;
constexpr std::size_t kNear = 5;          // names that a message shows
constexpr std::size_t kLongestName = 64;  // that is compared with others

Result<Scenario> parse(std::string_view text, const std::string& name, const ScenarioSource& source, int depth);

// One file on top of what it extends.
class Reader {
 public:
  Reader(const std::string& name, Scenario base) : name_(name), out_(std::move(base)) {}

  Result<Scenario> read(const toml::table& root) {
    out_.name = name_;
    out_.title.clear();
    out_.about.clear();
    for (const auto& [key, node] : root) WITAN_DO(top(key, node));
    WITAN_DO(checkDevices(root));
    return std::move(out_);
  }

 private:
  Error wrong(const toml::source_region& where, std::string message, std::string hint = {}) const {
    return invalid(place(where) + ": " + std::move(message), std::move(hint));
  }
  std::string place(const toml::source_region& where) const { return concat(name_, ":", where.begin.line); }

  Status top(const toml::key& key, const toml::node& node) {
    const std::string_view name = key.str();
    if (name == "extends") return okStatus();
    if (name == "title") return text(key, node, out_.title);
    if (name == "about") return text(key, node, out_.about);
    if (name == "event") return events(key, node);
    bool known = name == "expect";
    forEachMember<Options>([&](auto section, auto) {
      known = known || (section.name == name && Reflected<typename decltype(section)::Type>);
    });
    const toml::table* const members = node.as_table();
    if (!known)
      return wrong(key.source(), (members == nullptr ? "unknown key " : "unknown table ") + inQuotes(name), kTop);
    if (members == nullptr) return wrong(key.source(), concat(name, ": expected a table"), concat("[", name, "]"));
    return name == "expect" ? expect(*members) : table(std::string(name), *members);
  }

  Status text(const toml::key& key, const toml::node& node, std::string& into) const {
    if (node.as_string() == nullptr) return wrong(key.source(), concat(key.str(), ": expected a text"));
    into = node.as_string()->get();
    return okStatus();
  }

  Status table(const std::string& name, const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (key.str() == "sometimes") {
        WITAN_DO(sometimes(name, key, node));
        continue;
      }
      const std::string path = concat(name, ".", key.str());
      WITAN_TRY(draw, readDraw(key, node));
      draw.where = place(key.source());
      if (Status status = checkDraw(path, draw); !status.ok())
        return wrong(key.source(), path + ": " + status.error().message, known(name));
      out_.draws[path] = draw;
    }
    return okStatus();
  }

  Status sometimes(const std::string& table, const toml::key& key, const toml::node& node) {
    if (table != "work" && table != "faults" && table != "network")
      return wrong(key.source(), "\"sometimes\" has no meaning in [" + table + "]",
                   "it belongs into [work], [faults] or [network]");
    const auto share = node.value<double>();
    if (!share || !(*share >= 0 && *share <= 1)) return wrong(key.source(), "sometimes: expected a share from 0 to 1");
    out_.onPerMillion[table] = std::llround(*share * 1e6);
    return okStatus();
  }

  Result<OptionDraw> readDraw(const toml::key& key, const toml::node& node) const {
    OptionDraw draw;
    const toml::array* list = node.as_array();
    if (list == nullptr) {
      WITAN_TRY(value, readValue(key, node));
      draw.choices.push_back(value);
      return draw;
    }
    if (list->size() < 2 || list->size() > kMaxList)
      return wrong(key.source(),
                   concat(key.str(), ": a list of ", list->size(), " (expected [low, high] or things to choose from)"));
    for (const toml::node& item : *list) {
      WITAN_TRY(value, readValue(key, item));
      draw.choices.push_back(value);
    }
    if (draw.choices.size() != 2) return draw;
    const auto* low = std::get_if<std::int64_t>(&draw.choices[0]);
    const auto* high = std::get_if<std::int64_t>(&draw.choices[1]);
    if (low == nullptr || high == nullptr) return draw;
    if (*low > *high) return wrong(key.source(), concat(key.str(), ": the range begins above its end"));
    return OptionDraw{*low, *high, {}, {}};
  }

  Result<OptionValue> readValue(const toml::key& key, const toml::node& node) const {
    if (const auto* number = node.as_integer()) return OptionValue(number->get());
    if (const auto* flag = node.as_boolean()) return OptionValue(flag->get());
    const auto* word = node.as_string();
    if (word == nullptr)
      return wrong(key.source(),
                   concat(key.str(), ": expected a whole number, a text, true or false, or a list of them"));
    const std::int64_t unit = unitOf(key.str());
    if (unit == 0) return OptionValue(word->get());
    WITAN_TRY(micros, length(key, word->get()));
    if (micros % unit != 0)
      return wrong(key.source(),
                   concat(key.str(), ": ", inQuotes(word->get()), " is no whole number of the unit in the name"));
    return OptionValue(micros / unit);
  }

  Result<Micros> length(const toml::key& key, const std::string& text) const {
    auto micros = parseDuration(text);
    if (!micros) return wrong(key.source(), concat(key.str(), ": ", micros.error().message), micros.error().hint);
    return *micros;
  }

  Status expect(const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (key.str() != "probes")
        return wrong(key.source(), "unknown key " + inQuotes(key.str()), "known in [expect]: probes");
      out_.expectedProbes.clear();
      if (node.as_array() == nullptr) return wrong(key.source(), "probes: expected a list of texts");
      for (const toml::node& item : *node.as_array()) WITAN_DO(expectProbe(item));
    }
    return okStatus();
  }

  // One that no run can reach would fail them all.
  Status expectProbe(const toml::node& item) {
    if (item.as_string() == nullptr) return wrong(item.source(), "probes: expected a list of texts");
    const std::string& name = item.as_string()->get();
    const std::vector<std::string>& known = probeNames();
    if (!std::ranges::binary_search(known, name))
      return wrong(item.source(), "expect.probes: no probe is called " + inQuotes(name),
                   "near it: " + joined(nearest(name.substr(0, kLongestName), known, kNear)));
    out_.expectedProbes.push_back(name);
    return okStatus();
  }

  Status events(const toml::key& key, const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr || !list->is_array_of_tables())
      return wrong(key.source(), "event: expected tables of the form [[event]]");
    if (out_.events.size() + list->size() > kMaxEvents) return wrong(key.source(), "too many events");
    for (const toml::node& item : *list) {
      Micros every = 0;
      WITAN_TRY(event, readEvent(*item.as_table(), every));
      if (every > 0)
        out_.repeated.emplace_back(event, every);
      else
        out_.events.push_back(event);
    }
    return okStatus();
  }

  Result<Event> readEvent(const toml::table& table, Micros& every) const {
    for (const char* needed : {"at", "kind"})
      if (!table.contains(needed)) return wrong(table.source(), concat("an [[event]] without \"", needed, "\""));
    Event event;
    for (const auto& [key, node] : table) WITAN_DO(readMember(key, node, event, every));
    WITAN_DO(checkEffect(table, event));
    return event;
  }

  // What would change nothing was meant otherwise.
  Status checkEffect(const toml::table& table, const Event& event) const {
    const std::string kind(enumName(event.kind));
    const EventInfo& info = eventInfo(event.kind);
    if (info.isSpan && event.lasts == 0)
      return wrong(table.source(), kind + " that lasts no time changes nothing", "give it lasts = \"1m\"");
    if (info.reads("other") && info.reads("lasts") && event.device == event.other)
      return wrong(table.source(), concat(kind, " is between two devices, and both are ", event.device),
                   "give device and other, numbers from 0");
    return okStatus();
  }

  // Of this file's events: a run counts devices modulo those that there are, so a plan fits smaller clusters; here a
  // number that no seed has is a slip.
  Status checkDevices(const toml::table& root) const {
    const toml::array* list = root["event"].as_array();
    if (list == nullptr) return okStatus();
    const std::int64_t most = mostDevices();
    for (const toml::node& item : *list)
      for (const char* name : {"device", "other"}) {
        const toml::node* number = item.as_table()->get(name);
        if (number != nullptr && number->as_integer()->get() >= most)
          return wrong(number->source(),
                       concat(name, ": there is no device ", number->as_integer()->get(), " among ", most, " devices"),
                       "numbers begin at 0; [cluster] devices says how many there are");
      }
    return okStatus();
  }
  std::int64_t mostDevices() const {
    const auto draw = out_.draws.find("cluster.devices");
    if (draw == out_.draws.end()) return Options{}.cluster.devices;
    std::int64_t most = draw->second.high;
    for (const OptionValue& choice : draw->second.choices)
      if (const auto* number = std::get_if<std::int64_t>(&choice)) most = std::max(most, *number);
    return most;
  }

  Status readMember(const toml::key& key, const toml::node& node, Event& event, Micros& every) const {
    const std::string_view name = key.str();
    if (name == "at" || name == "lasts" || name == "every") {
      if (node.as_string() == nullptr)
        return wrong(key.source(), concat(name, ": expected a length of time in quotes"), "as in \"2m30s\"");
      WITAN_TRY(micros, length(key, node.as_string()->get()));
      (name == "at" ? event.at : name == "lasts" ? event.lasts : every) = micros;
      if (name == "every" && micros < kMostOften)
        return wrong(key.source(), "every: an event comes again after a second at the earliest");
      return okStatus();
    }
    if (name == "kind") {
      const auto* word = node.as_string();
      const auto kind = word == nullptr ? std::nullopt : parseEnum<EventKind>(word->get());
      if (!kind)
        return wrong(key.source(),
                     word == nullptr ? std::string("kind: expected a text")
                                     : "kind: not a kind of event: " + inQuotes(word->get()),
                     "known: " + joined(enumNames<EventKind>()));
      event.kind = *kind;
      return okStatus();
    }
    if (name == "devices") return side(key, node, event);
    const auto number = node.as_integer();
    if (number == nullptr || number->get() < 0)
      return wrong(key.source(), inQuotes(name) + ": expected a number that is not negative", kEvent);
    const auto value = static_cast<std::uint64_t>(number->get());
    if ((name == "device" || name == "other") && value > 1'000'000)
      return wrong(key.source(), "there is no such device");
    bool known = false;
    forEachMember<Event>([&](auto member, auto) {
      if constexpr (std::is_unsigned_v<typename decltype(member)::Type>)
        if (member.name == name)
          known = true, event.*member.pointer = static_cast<typename decltype(member)::Type>(value);
    });
    if (known) return okStatus();
    return wrong(key.source(), "unknown key " + inQuotes(name), kEvent);
  }

  // devices = [0, 1]: one side of a split.
  Status side(const toml::key& key, const toml::node& node, Event& event) const {
    if (node.as_array() == nullptr) return wrong(key.source(), "devices: expected a list of numbers");
    for (const toml::node& item : *node.as_array()) {
      const auto* number = item.as_integer();
      if (number == nullptr || number->get() < 0 || number->get() > 62)
        return wrong(item.source(), "devices: expected numbers of devices, from 0");
      event.n |= std::uint64_t{1} << number->get();
    }
    return okStatus();
  }

  std::string known(const std::string& table) const {
    std::vector<std::string_view> all;
    const Options options;
    forEachOption(options, [&](std::string_view section, std::string_view member, const auto&) {
      if (section == table) all.push_back(member);
    });
    return "known in [" + table + "]: " + joined(all);
  }

  static constexpr const char* kTop =
      "known: extends, title, about, cluster, time, network, disk, work, faults, event, expect";
  static constexpr const char* kEvent =
      "known in [[event]]: at, kind, device, other, n, m, lasts, seed, devices, every";

  const std::string& name_;
  Scenario out_;
};

Result<Scenario> baseOf(const toml::table& root, const std::string& name, const ScenarioSource& source, int depth) {
  const toml::node* extends = root.get("extends");
  if (extends == nullptr) return Scenario{};
  const std::string place = concat(name, ":", extends->source().begin.line, ": ");
  if (extends->as_string() == nullptr) return invalid(place + "extends: expected the name of a scenario");
  if (depth == kMaxDepth) return invalid(concat(place, "more than ", kMaxDepth, " scenarios extend each other"));
  const std::string& base = extends->as_string()->get();
  auto text = source(base, name);
  if (!text) return Error{text.error().code, place + text.error().message, text.error().hint};
  return parse(*text, base, source, depth + 1);
}

Result<Scenario> parse(std::string_view text, const std::string& name, const ScenarioSource& source, int depth) {
  if (text.size() > kMaxText) return invalid(name + ": a scenario of more than 1 MiB");
  if (!isUtf8(text)) return invalid(name + ": not UTF-8");  // the parser takes any bytes within a string
  WITAN_DO(checkTomlKeys(text, name));
  try {
    const toml::table root = toml::parse(text);
    WITAN_TRY(base, baseOf(root, name, source, depth));
    return Reader(name, std::move(base)).read(root);
  } catch (const toml::parse_error& e) {
    return invalid(concat(name, ":", e.source().begin.line, ": ", e.description()));
  }
}

// The files of sim/scenarios/: cmake/embed.cmake writes the list.
constexpr BuiltinScenario kScenarios[] = {
#include "sim/scenarios.inc"
};

}  // namespace

Result<Scenario> parseScenario(std::string_view text, const std::string& name, const ScenarioSource& source) {
  return parse(text, name, source, 0);
}

Result<Options> drawOptions(const Scenario& scenario, std::uint64_t seed) {
  Options options;
  Status status = okStatus();
  forEachOption(options, [&](std::string_view table, std::string_view member, auto& value) {
    const std::string path = concat(table, ".", member);
    const auto draw = scenario.draws.find(path);
    if (!status.ok() || draw == scenario.draws.end()) return;
    SeededRandom random(streamSeed(seed, path));
    status = set(choose(draw->second, random), value);
    if (!status.ok()) status = invalid(draw->second.where + ": " + path + ": " + status.error().message);
    if constexpr (std::is_same_v<decltype(value), std::int64_t&>)
      if (maySwitchOff(table, member) && switchedOff(scenario, seed, path, std::string(table))) value = 0;
  });
  WITAN_DO(status);
  options.scenario = scenario.name;
  options.seed = seed;
  if (Status checked = checkOptions(options); !checked.ok())
    return invalid(concat(scenario.name, ", seed ", seed, ": ", checked.error().message), checked.error().hint);
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    if (const Status held = checkWithinRun(scenario.events[i], options); !held.ok())
      return invalid(concat(scenario.name, ", seed ", seed, ": [[event]] ", i + 1, ": ", held.error().message),
                     held.error().hint);
  for (const auto& [first, every] : scenario.repeated)
    if (const Status held = checkWithinRun(first, options); !held.ok())
      return invalid(concat(scenario.name, ", seed ", seed, ": [[event]]: ", held.error().message), held.error().hint);
  return options;
}

Result<Plan> drawPlan(const Scenario& scenario, std::uint64_t seed) {
  WITAN_TRY(options, drawOptions(scenario, seed));
  std::vector<Event> fixed = scenario.events;
  for (const auto& [first, every] : scenario.repeated) {
    const std::vector<Event> all = repeated(options, first, every);
    fixed.insert(fixed.end(), all.begin(), all.end());
  }
  return makePlan(options, fixed);
}

std::span<const BuiltinScenario> builtinScenarios() { return kScenarios; }

Result<std::string> builtinScenarioText(std::string_view name, std::string_view) {
  for (const BuiltinScenario& scenario : kScenarios)
    if (scenario.name == name) return std::string(scenario.text);
  return notFound("there is no scenario " + inQuotes(name), "witan sim list names them; a file's name ends in .toml");
}

Result<Scenario> builtinScenario(std::string_view name) {
  WITAN_TRY(text, builtinScenarioText(name));
  return parseScenario(text, std::string(name), builtinScenarioText);
}

}  // namespace witan::sim
