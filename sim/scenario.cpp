#include "sim/scenario.h"

#include "base/quote.h"
#include "sim/draw.h"
#include "sim/options_fields.h"
#include "sim/plan_check.h"
#include "sim/scenario_reader.h"

namespace witan::sim {

namespace {

const OptionValue& choose(const OptionDraw& draw, Random& random, OptionValue& storage) {
  if (!draw.choices.empty()) return draw.choices[random.below(draw.choices.size())];
  storage = between(random, draw.low, draw.high);
  return storage;
}

Status set(const OptionValue& value, std::int64_t& into) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return into = *number, okStatus();
  return invalid("expected a number");
}
Status set(const OptionValue& value, bool& into) {
  if (const auto* flag = std::get_if<bool>(&value)) return into = *flag, okStatus();
  return invalid("expected true or false");
}
Status set(const OptionValue& value, std::string& into) {
  if (const auto* text = std::get_if<std::string>(&value)) return into = *text, okStatus();
  return invalid("expected a text");
}
template <NamedEnum E>
Status set(const OptionValue& value, E& into) {
  const auto* word = std::get_if<std::string>(&value);
  const auto known = word == nullptr ? std::nullopt : parseEnum<E>(*word);
  if (known) return into = *known, okStatus();
  std::string all;
  for (std::string_view name : enumNames<E>()) all += (all.empty() ? "" : ", ") + std::string(name);
  return invalid("expected one of " + all);
}

bool switchedOff(const Scenario& scenario, std::uint64_t seed, const std::string& path, const std::string& table) {
  const auto share = scenario.onPerMillion.find(table);
  if (share == scenario.onPerMillion.end() || scenario.always.contains(path)) return false;
  SeededRandom random(streamSeed(seed, "whether " + path));
  return static_cast<std::int64_t>(random.below(1'000'000)) >= share->second;
}

}  // namespace

Status checkDraw(std::string_view path, const OptionDraw& draw) {
  Status status = invalid("no option is called " + inQuotes(path));
  Options scratch;
  forEachOption(scratch, [&](std::string_view table, std::string_view member, auto& value) {
    if (std::string(table) + "." + std::string(member) != path) return;
    status = draw.choices.empty() ? set(OptionValue(draw.low), value) : okStatus();
    for (const OptionValue& choice : draw.choices)
      if (status.ok()) status = set(choice, value);
  });
  return status;
}

bool maySwitchOff(std::string_view table, std::string_view member) {
  return isFaultRate(table, member) || (table == "network" && member.ends_with("PerMillion"));
}

Result<Options> drawOptions(const Scenario& scenario, std::uint64_t seed) {
  Options options;
  Status status = okStatus();
  forEachOption(options, [&](std::string_view table, std::string_view member, auto& value) {
    const std::string path = std::string(table) + "." + std::string(member);
    const auto draw = scenario.draws.find(path);
    if (!status.ok() || draw == scenario.draws.end()) return;
    SeededRandom random(streamSeed(seed, path));
    OptionValue storage;
    status = set(choose(draw->second, random, storage), value);
    if (!status.ok()) status = invalid(draw->second.where + ": " + path + ": " + status.error().message);
    if constexpr (std::is_same_v<decltype(value), std::int64_t&>)
      if (maySwitchOff(table, member) && switchedOff(scenario, seed, path, std::string(table))) value = 0;
  });
  WITAN_DO(status);
  options.scenario = scenario.name;
  options.seed = seed;
  if (Status checked = checkOptions(options); !checked.ok())
    return invalid(scenario.name + ", seed " + std::to_string(seed) + ": " + checked.error().message,
                   checked.error().hint);
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    if (const Status held = checkWithinRun(scenario.events[i], options); !held.ok())
      return invalid(scenario.name + ", seed " + std::to_string(seed) + ": [[event]] " + std::to_string(i + 1) + ": " +
                         held.error().message,
                     held.error().hint);
  return options;
}

Result<Plan> drawPlan(const Scenario& scenario, std::uint64_t seed) {
  WITAN_TRY(options, drawOptions(scenario, seed));
  return makePlan(options, scenario.events);
}

}  // namespace witan::sim
