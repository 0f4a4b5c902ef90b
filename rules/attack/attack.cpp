#include "rules/attack/attack.h"

#include <algorithm>
#include <set>

#include "base/quote.h"
#include "base/string_util.h"
#include "kernel/partition.h"
#include "rules/attack/action_maker.h"

namespace witan::rules {

using namespace kernel;

namespace {

constexpr std::size_t kOriginsMost = 500;
constexpr std::size_t kStatesMost = 4'000;
constexpr std::uint64_t kAskEvery = 64;
constexpr std::uint64_t kDrawsMost = 50;  // for each action to try

struct Origin {
  EntityPtr state;
  std::string where;
};

// Where somebody stands who acts alone.
struct Stand {
  EntityPtr state;
  std::size_t origin = 0;
  std::vector<AttackStep> steps;
};

std::string stateText(const DomainModule& module, const EntityState& state) {
  std::string text;
  module.writeState(text, state);
  return text;
}

// Plays the domain's scenarios and collects the sound states that they pass.
class ScenarioStates {
 public:
  ScenarioStates(const DomainModule& module, ActionMaker& maker) : module_(module), maker_(maker), partition_(module) {}

  std::vector<Origin> collect(std::string_view rest) {
    for (std::size_t number = 1; !rest.empty(); ++number) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (const auto parsed = parseJson(line, kOwnJson); parsed.ok() && parsed->is_object())
        play(parsed->get_object(), number);
    }
    if (origins_.empty()) begin();
    return std::move(origins_);
  }

 private:
  static std::string textIn(const json::object& line, const char* key) {
    const json::value* at = line.if_contains(key);
    return at != nullptr && at->is_string() ? std::string(at->get_string()) : std::string();
  }
  static const json::object* objectIn(const json::object& line, const char* key) {
    const json::value* at = line.if_contains(key);
    return at != nullptr ? at->if_object() : nullptr;
  }

  void play(const json::object& line, std::size_t number) {
    const std::string entity = textIn(line, "entity"), id = concat("line-", number);
    const auto at = parseTime(textIn(line, "at"));
    if (!at) return;
    if (const json::object* fields = objectIn(line, "init")) partition_.init(entity, *fields, *at);
    if (const json::object* asked = objectIn(line, "action")) {
      maker_.learn(*asked);
      const auto action = module_.parseAction(*asked);
      const std::string role = textIn(line, "role");
      if (action.ok())
        partition_.propose({.entity = entity, .role = role, .operationId = id, .action = action->get(), .at = *at});
    }
    const std::string counselor = textIn(line, "counselor");
    if (!counselor.empty())
      partition_.decide({.entity = entity,
                         .counselor = counselor,
                         .operationId = id,
                         .commit = textIn(line, "decision") == "commit",
                         .base = textIn(line, "base") == "current" ? CommitBase::current : CommitBase::candidate,
                         .edit = objectIn(line, "edit"),
                         .at = *at});
    add(entity, concat("line ", number, " of the scenarios"));
  }
  void add(const std::string& entity, std::string where) {
    const EntityState* state = partition_.state(entity);
    if (state == nullptr || state->notPassing != 0 || origins_.size() == kOriginsMost) return;
    if (seen_.insert(stateText(module_, *state)).second) origins_.push_back({module_.clone(*state), std::move(where)});
  }
  // A domain without scenarios begins with nothing.
  void begin() {
    partition_.init("entity", {}, Time{parseTime("2026-01-01T00:00:00Z").value()});
    add("entity", "a new entity");
  }

  const DomainModule& module_;
  ActionMaker& maker_;
  Partition partition_;
  std::vector<Origin> origins_;
  std::set<std::string> seen_;
};

// What of a state an eye would notice, as hashes: which words and kinds of values stand in which cells, and how they
// relate to those of before and to the time.
class Features {
 public:
  // Is anything in it new?
  bool add(const json::object& before, const json::object& after, Time now) {
    bool fresh = false;
    std::map<std::string, std::size_t, std::less<>> rows;
    for (const auto& [field, value] : after) {
      if (field == "clock") continue;
      const json::value* old = before.if_contains(field);
      if (!value.is_object()) {
        fresh |= seen_.insert(mix(text(field), kindOf(value, old, now))).second;
        continue;
      }
      for (const auto& [key, cell] : value.get_object()) {
        const json::value* oldCell = old != nullptr && old->is_object() ? old->get_object().if_contains(key) : nullptr;
        const std::size_t cellKind = mix(text(field), kindOf(cell, oldCell, now));
        fresh |= seen_.insert(cellKind).second;
        std::size_t& row = rows[std::string(key)];
        row = mix(row, cellKind);
      }
    }
    for (const auto& [key, row] : rows) fresh |= seen_.insert(row).second;
    return fresh;
  }

 private:
  static std::size_t text(std::string_view word) { return std::hash<std::string_view>{}(word); }
  static std::size_t mix(std::size_t a, std::size_t b) { return (a * 0x9E3779B97F4A7C15u) ^ (b + (a >> 7)); }
  static std::size_t size(std::int64_t n) {
    std::size_t bits = n < 0 ? 100 : 0;
    for (std::uint64_t m = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n); m != 0; m >>= 1)
      ++bits;
    return bits;
  }
  static std::size_t kindOf(const json::value& value, const json::value* old, Time now) {
    const std::size_t relation = old == nullptr ? 1 : *old == value ? 2 : 3;
    if (value.is_int64()) {
      const bool less = old != nullptr && old->is_int64() && value.get_int64() < old->get_int64();
      return mix(less ? 4 : relation, size(value.get_int64()));
    }
    if (value.is_string()) return mix(relation, ofText({value.get_string().data(), value.get_string().size()}, now));
    if (value.is_array()) return mix(relation, std::min<std::size_t>(value.get_array().size(), 3) + 1000);
    if (value.is_bool()) return mix(relation, value.get_bool() ? 2001 : 2000);
    return mix(relation, 3000);
  }
  static std::size_t ofText(std::string_view word, Time now) {
    if (const auto time = parseTime(word); time.ok())
      return 4000 + size((time->micros - now.micros) / kMicrosPerDay / 8);
    const bool isWord = std::ranges::all_of(word, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
    if (isWord && word.size() <= 24) return text(word);
    return word.find_first_not_of(' ') == std::string_view::npos ? 5000 : 5001;
  }

  std::set<std::size_t> seen_;
};

class RoleAttack {
 public:
  RoleAttack(const DomainModule& module, const Gates& gates, const AttackOptions& options, const RoleInfo& role,
             const std::vector<Origin>& origins, ActionMaker& maker, Random& random)
      : module_(module),
        gates_(gates),
        options_(options),
        role_(role),
        origins_(origins),
        maker_(maker),
        random_(random) {
    for (const ProcessInfo& process : module.signature().processes)
      if (process.role == role.name) processes_.push_back(&process);
    for (const Origin& origin : origins) before_.push_back(withColumns(module, *origin.state));
    report_.role = role.name;
  }

  Status run(const std::function<bool(std::string_view)>& more) {
    // What is no action of the process is none that was tried; of a process that takes none at all there is an end.
    for (std::uint64_t i = 0; report_.tried < options_.steps && i / kDrawsMost < options_.steps && !processes_.empty();
         ++i) {
      if (i % kAskEvery == 0 && more && !more(role_.name)) break;
      WITAN_DO(tryOne());
    }
    report_.states = stands_.size();
    return okStatus();
  }

  const AttackedRole& report() const { return report_; }
  std::vector<AttackFinding> findings() && {
    std::vector<AttackFinding> all;
    for (auto& [gate, finding] : found_) all.push_back(std::move(finding));
    return all;
  }

 private:
  Status tryOne() {
    const bool fresh = stands_.empty() || random_.below(2) == 0;
    const std::size_t at = fresh ? random_.below(origins_.size()) : recent();
    const std::size_t origin = fresh ? at : stands_[at].origin;
    const EntityState& from = fresh ? *origins_[at].state : *stands_[at].state;
    const Time now{from.shared.clock.micros + pause()};
    if (!isCalendarTime(now)) return okStatus();
    const ProcessInfo& process = *processes_[random_.below(processes_.size())];
    const auto action =
        module_.parseAction(maker_.make(process, fresh ? before_[at] : withColumns(module_, from), now));
    if (!action) return okStatus();
    ++report_.tried;
    EntityPtr state = module_.clone(from);
    module_.evaluate(*state, role_.name, **action, now, evaluation_);
    if (evaluation_.tag != Evaluation::Tag::approved) return okStatus();
    ++report_.approved;
    Stand stand{std::move(state), origin, fresh ? std::vector<AttackStep>() : stands_[at].steps};
    std::string text;
    module_.writeAction(text, **action);
    stand.steps.push_back({now, std::move(text)});
    return judge(std::move(stand));
  }

  // Mostly one of the last.
  std::size_t recent() {
    const std::size_t n = stands_.size();
    return random_.below(2) == 0 ? random_.below(n) : n - 1 - random_.below(std::min<std::size_t>(n, 50));
  }
  std::int64_t pause() {
    static constexpr std::int64_t kSeconds[] = {0,          1,           60,          3'600,       86'400,
                                                7 * 86'400, 31 * 86'400, 95 * 86'400, 200 * 86'400};
    return kSeconds[random_.below(std::size(kSeconds))] * kMicrosPerSecond;
  }

  Status judge(Stand stand) {
    const json::object after = withColumns(module_, *stand.state);
    WITAN_TRY(breaches, breachesOf(stand.origin, after, stand.steps));
    for (const Breach& breach : breaches) {
      const auto known = found_.find(breach.gate->name);
      if (known != found_.end() && known->second.steps.size() <= stand.steps.size()) continue;
      WITAN_TRY(finding, shortened(stand, *breach.gate));
      found_[breach.gate->name] = std::move(finding);
    }
    if (!breaches.empty() || stand.steps.size() >= options_.length || stands_.size() == kStatesMost) return okStatus();
    if (features_.add(before_[stand.origin], after, stand.steps.back().at)) stands_.push_back(std::move(stand));
    return okStatus();
  }

  Result<std::vector<Breach>> breachesOf(std::size_t origin, const json::object& after,
                                         const std::vector<AttackStep>& steps) const {
    return gates_.breaches({before_[origin], after, origins_[origin].state->shared.clock, steps.back().at, role_.name});
  }

  // The key for which these steps alone pass the gate; nothing: they do not.
  Result<std::optional<std::string>> passes(std::size_t origin, const std::vector<AttackStep>& steps,
                                            const Gate& gate) {
    if (steps.empty()) return std::optional<std::string>();
    const EntityPtr state = module_.clone(*origins_[origin].state);
    for (const AttackStep& step : steps) {
      const auto action = module_.parseAction(parseJson(step.action, kOwnJson).value());
      module_.evaluate(*state, role_.name, **action, step.at, evaluation_);
      if (evaluation_.tag != Evaluation::Tag::approved) return std::optional<std::string>();
    }
    WITAN_TRY(breaches, breachesOf(origin, withColumns(module_, *state), steps));
    for (const Breach& breach : breaches)
      if (breach.gate == &gate) return std::optional(breach.key);
    return std::optional<std::string>();
  }

  Result<AttackFinding> shortened(const Stand& stand, const Gate& gate) {
    std::vector<AttackStep> steps = stand.steps;
    for (std::size_t i = 0; i < steps.size();) {
      std::vector<AttackStep> fewer = steps;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      WITAN_TRY(still, passes(stand.origin, fewer, gate));
      if (still)
        steps = std::move(fewer), i = 0;
      else
        ++i;
    }
    WITAN_TRY(key, passes(stand.origin, steps, gate));
    return AttackFinding{gate.name,
                         gate.rule,
                         role_.name,
                         key.value_or(""),
                         origins_[stand.origin].where,
                         stateText(module_, *origins_[stand.origin].state),
                         std::move(steps)};
  }

  const DomainModule& module_;
  const Gates& gates_;
  const AttackOptions& options_;
  const RoleInfo& role_;
  const std::vector<Origin>& origins_;
  ActionMaker& maker_;
  Random& random_;
  std::vector<const ProcessInfo*> processes_;
  std::vector<json::object> before_;  // by origin
  std::vector<Stand> stands_;
  Features features_;
  std::map<std::string, AttackFinding> found_;  // by gate
  AttackedRole report_;
  Evaluation evaluation_;
};

}  // namespace

Result<AttackReport> attack(const DomainModule& module, const Gates& gates, const AttackOptions& options,
                            const std::function<bool(std::string_view)>& more) {
  const auto& roles = module.signature().roles;
  if (!options.role.empty() && std::ranges::find(roles, options.role, &RoleInfo::name) == roles.end()) {
    std::vector<std::string> names;
    for (const RoleInfo& role : roles) names.push_back(role.name);
    return notFound("there is no role " + inQuotes(options.role), "roles: " + joined(names));
  }
  const std::string_view scenarios = options.scenarios.empty() ? module.scenarios() : options.scenarios;
  AttackReport report;
  report.gates = gates.all().size();
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (!options.role.empty() && roles[i].name != options.role) continue;
    SeededRandom random(options.seed * 1'000 + i);
    ActionMaker maker(module, random);
    const std::vector<Origin> origins = ScenarioStates(module, maker).collect(scenarios);
    report.origins = origins.size();
    if (origins.empty()) break;
    RoleAttack one(module, gates, options, roles[i], origins, maker, random);
    WITAN_DO(one.run(more));
    report.roles.push_back(one.report());
    for (AttackFinding& finding : std::move(one).findings()) report.findings.push_back(std::move(finding));
  }
  return report;
}

std::string attackText(const DomainModule& module, const AttackReport& report) {
  std::string out = concat(module.signature().domain, ": ", report.gates, " gates, from ", report.origins, " states\n");
  for (const AttackedRole& one : report.roles)
    out += concat("  ", one.role, ": ", one.tried, " actions tried, ", one.approved, " approved, ", one.states,
                  " states kept\n");
  for (const AttackFinding& one : report.findings) {
    out += concat("gate ", one.gate, one.key.empty() ? "" : " of " + one.key, ": ", one.role,
                  " alone passes it without its evidence\n  ", one.rule, "\n  from ", one.origin, "  ", one.from, "\n");
    for (const AttackStep& step : one.steps) out += concat("  ", formatTime(step.at), "  ", step.action, "\n");
  }
  if (report.findings.empty()) out += "found: nothing\n";
  return out;
}

json::object attackJson(const DomainModule& module, const AttackReport& report) {
  json::array roles, findings;
  for (const AttackedRole& one : report.roles)
    roles.push_back(
        json::object{{"role", one.role}, {"tried", one.tried}, {"approved", one.approved}, {"states", one.states}});
  for (const AttackFinding& one : report.findings) {
    json::array steps;
    for (const AttackStep& step : one.steps)
      steps.push_back(json::object{{"at", formatTime(step.at)}, {"action", parseJson(step.action, kOwnJson).value()}});
    findings.push_back(json::object{{"gate", one.gate},
                                    {"rule", one.rule},
                                    {"role", one.role},
                                    {"key", one.key},
                                    {"origin", one.origin},
                                    {"from", parseJson(one.from, kOwnJson).value()},
                                    {"steps", std::move(steps)}});
  }
  return {{"domain", module.signature().domain},
          {"gates", report.gates},
          {"origins", report.origins},
          {"roles", std::move(roles)},
          {"findings", std::move(findings)}};
}

}  // namespace witan::rules
