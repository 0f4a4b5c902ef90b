#include "agents/episode/learner.h"

#include <algorithm>

namespace witan::agents::episode {

namespace {

// The type of goals of a look that names its tool itself.
constexpr const char* kNamed = "named";
constexpr std::size_t kGrowthOfAGoal = 24;  // its numbers get longer

decision::Natural naturalOf(std::int64_t value) {
  return decision::Natural(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
}
std::int64_t numberOf(decision::Natural value) { return static_cast<std::int64_t>(value.value()); }

void add(Usage& to, const Usage& more) { to.calls += more.calls, to.tokens += more.tokens, to.seconds += more.seconds; }

}  // namespace

const std::string& providerOf(const ToolInfo& tool) { return tool.provider.empty() ? tool.boundary : tool.provider; }

Learner::Learner(const json::object& input)
    : facts_({naturalOf(kMaxFacts), naturalOf(static_cast<std::int64_t>(kMaxFactBytes))}) {
  if (const json::value* given = input.if_contains("knowledge")) {
    learns_ = true;
    Knowledge known;
    if (!readJson(*given, known, "knowledge").ok()) known = {};
    for (const Fact& fact : known.facts) {
      (void)facts_.add(fact);
      factBytes_ += bytesOf(fact);
    }
    for (const auto& [id, goal] : known.goals) {
      (void)goals_.put(id, goal);
      goalBytes_ += bytesOf(id, goal);
    }
    for (const ToolScore& one : known.scores) experience_.put(one.goal, one.tool, one.score);
    for (const auto& [tool, cost] : known.costs) experience_.put(tool, cost);
    known_ = facts_.facts().size();
  }
  if (const json::value* given = input.if_contains("standing"))
    if (!readJson(*given, left_.emplace(), "standing").ok()) left_->clear();
}

void Learner::take(const Turn& turn) {
  for (const Fact& fact : turn.facts) {
    const auto known = facts_.facts();
    if (std::ranges::find(known, fact) != known.end()) continue;
    const std::size_t bytes = bytesOf(fact);
    if (factBytes_ + bytes <= kMaxFactBytes && facts_.add(fact).ok())
      factBytes_ += bytes;
    else
      ++refused_;
  }
  for (const GoalStep& step : turn.goals) {
    const std::size_t bytes = bytesOf(step.id, {step.type, step.description, {}}) + kGrowthOfAGoal;
    const bool room = goals_.goals().size() < kMaxGoals && goalBytes_ + bytes <= kMaxGoalBytes;
    if (room && !goals_.goals().contains(step.id) && goals_.add(step.id, step.type, step.description).ok())
      goalBytes_ += bytes;
    if (goals_.advance(step.id, naturalOf(step.gained)).ok())
      advanced_.insert(step.id);
    else
      ++refused_;
  }
}

std::optional<std::string> Learner::choose(const std::string& goal, std::span<const ToolInfo> tools,
                                           const std::set<std::string>& tried, const decision::State& state,
                                           const std::function<bool(const ToolInfo&)>& admitted) const {
  decision::ToolRegistry registry;
  for (const ToolInfo& tool : tools) {
    const bool serves = tool.serves && std::ranges::find(*tool.serves, goal) != tool.serves->end();
    if (tool.kind != ToolKind::look || !serves) continue;
    if (!registry.add(tool.name, specOf(tool, {0, tool.tokens, tool.seconds}), {goal}).ok()) continue;
    if (tried.contains(tool.name) || !admitted(tool)) (void)registry.setAvailable(tool.name, false);
  }
  const auto selected = decision::selectTool(goal, registry, experience_, state);
  return selected ? std::optional(selected->name) : std::nullopt;
}

Budget Learner::adapted(const std::string& tool, Budget cost) const {
  if (!learns_) return cost;
  const decision::Tool declared{0, false, naturalOf(cost.tokens), naturalOf(cost.seconds)};
  const decision::Tool dearer = experience_.adaptedTool(tool, declared);
  return {cost.steps, numberOf(dearer.tokenCost), numberOf(dearer.timeCost)};
}

void Learner::observe(const std::string& goal, const std::string& tool, bool ok, const Budget& cost) {
  if (learns_)
    experience_.observe(goal.empty() ? kNamed : goal, tool, ok, {naturalOf(cost.tokens), naturalOf(cost.seconds)});
}

bool Learner::affords(const ToolInfo& tool, const Budget& cost) const {
  if (!left_) return true;
  const std::string& provider = providerOf(tool);
  Usage all;
  for (const auto& [name, used] : usage_) add(all, used);
  const auto fits = [&](const std::string& name, Usage used) {
    const auto left = left_->find(name);
    if (left == left_->end()) return true;
    add(used, {provider.empty() ? 0 : 1, cost.tokens, cost.seconds});
    const Usage& most = left->second;
    return (most.calls < 0 || used.calls <= most.calls) && (most.tokens < 0 || used.tokens <= most.tokens) &&
           (most.seconds < 0 || used.seconds <= most.seconds);
  };
  const auto used = usage_.find(provider);
  return fits("", all) && (provider.empty() || fits(provider, used == usage_.end() ? Usage{} : used->second));
}

void Learner::charge(const ToolInfo& tool, std::int64_t calls, const Budget& cost) {
  if (!left_) return;
  const std::string& provider = providerOf(tool);
  add(usage_[provider], {provider.empty() ? 0 : calls, cost.tokens, cost.seconds});
}

Knowledge Learner::knowledge() const {
  Knowledge known;
  Knowledge here;
  here.facts.assign(facts_.facts().begin(), facts_.facts().end());
  here.goals = goals_.goals();
  for (const auto& [key, score] : experience_.scores()) here.scores.push_back({key.first, key.second, score});
  here.costs = experience_.costs();
  join(known, here);  // in order
  return known;
}

void Learner::tell(json::object& end) const {
  if (left_) end["usage"] = parseJson(toJson(usage_)).value();
  if (!learns_) return;
  const std::vector<Fact> fresh(facts_.facts().begin() + static_cast<std::ptrdiff_t>(known_), facts_.facts().end());
  std::map<std::string, decision::GoalBook::Entry> goals;
  for (const std::string& id : advanced_) goals.emplace(id, goals_.goals().at(id));
  json::object learned{{"satisfaction", numberOf(satisfaction())}};
  if (!fresh.empty())
    learned["facts"] = parseJson(toJson(fresh), {.bytes = kMaxKnowledgeBytes}).value();  // as take() has it
  if (!goals.empty()) learned["goals"] = parseJson(toJson(goals), {.bytes = kMaxKnowledgeBytes}).value();
  if (refused_ > 0) learned["refused"] = refused_;
  end["learned"] = std::move(learned);
}

}  // namespace witan::agents::episode
