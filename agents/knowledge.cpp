#include "agents/knowledge.h"

#include <algorithm>
#include <tuple>

namespace witan::agents {

namespace {

constexpr std::string_view kMember = "knowledge", kValue = "value";
constexpr std::size_t kCountersOfARun = 4 * 1024;

std::size_t textBytes(const std::string& text) { return canonicalJson(json::value(text)).size(); }

void joinFacts(std::vector<Fact>& into, const std::vector<Fact>& other) {
  into.insert(into.end(), other.begin(), other.end());
  std::ranges::sort(into, {}, [](const Fact& fact) { return std::tuple(fact.content, fact.source, fact.confidence); });
  into.erase(std::unique(into.begin(), into.end()), into.end());
  std::size_t bytes = 0, count = 0;
  for (; count < std::min(into.size(), kMaxFacts); ++count)
    if ((bytes += bytesOf(into[count])) > kMaxFactBytes) break;
  into.resize(count);
}

// The first entries, as far as they fit.
template <class Map>
void bound(Map& map, std::size_t most, std::size_t mostBytes) {
  std::size_t bytes = 0, count = 0;
  auto at = map.begin();
  for (; at != map.end() && count < most; ++at, ++count)
    if ((bytes += textBytes(at->first) + toJson(at->second).size() + 2) > mostBytes) break;
  map.erase(at, map.end());
}

void joinScores(std::vector<ToolScore>& into, const std::vector<ToolScore>& other) {
  std::map<std::pair<std::string, std::string>, decision::Natural> least;
  for (const std::vector<ToolScore>* list : {static_cast<const std::vector<ToolScore>*>(&into), &other})
    for (const ToolScore& one : *list) {
      const auto at = least.try_emplace({one.goal, one.tool}, one.score).first;
      at->second = std::min(at->second, one.score);
    }
  into.clear();
  std::size_t bytes = 0;
  for (const auto& [key, score] : least) {
    into.push_back({key.first, key.second, score});
    if (into.size() <= kMaxScores && (bytes += toJson(into.back()).size() + 1) <= kMaxScoreBytes) continue;
    into.pop_back();
    break;
  }
}

void joinUsages(Usages& into, const Usages& other) {
  for (const auto& [provider, usage] : other) {
    Usage& mine = into[provider];
    mine = {std::max(mine.calls, usage.calls), std::max(mine.tokens, usage.tokens),
            std::max(mine.seconds, usage.seconds)};
  }
}

Result<json::object> objectOf(std::string_view slot) {
  WITAN_TRY(value, parseJson(slot.empty() ? "{}" : slot, {.bytes = replication::kMaxSlotBytes}));
  if (value.is_object()) return std::move(value.get_object());
  return json::object{{kValue, std::move(value)}};
}

}  // namespace

std::size_t bytesOf(const Fact& fact) { return toJson(fact).size() + 1; }
std::size_t bytesOf(const std::string& id, const decision::GoalBook::Entry& goal) {
  return textBytes(id) + toJson(goal).size() + 2;
}
bool hasRoomForCounters(const Knowledge& known) {
  Knowledge counters;
  counters.spent = known.spent, counters.used = known.used;
  return toJson(counters).size() + kCountersOfARun <= kMaxCounterBytes;
}

// By their number, not by their age: a clock that is ahead for a while would forget what counts today. Where there is
// no room, those that are old by the clock go.
void forgetCounters(Knowledge& known, Time now) {
  const auto before = [&](std::int64_t micros, std::size_t letters) {
    return formatTime(Time{std::max<std::int64_t>(0, now.micros - micros)}).substr(0, letters);
  };
  const auto keep = [](auto& counters, const std::string& until, std::int64_t most) {
    for (auto past = std::distance(counters.begin(), counters.upper_bound(until)); past > most; --past)
      counters.erase(counters.begin());
  };
  const auto drop = [](auto& counters, const std::string& old) {
    if (counters.empty() || counters.begin()->first >= old) return false;
    counters.erase(counters.begin());
    return true;
  };
  Knowledge::Uses none, &used = known.used ? *known.used : none;
  keep(known.spent, before(0, 10), kKeptDays);
  keep(used, before(0, 13), kKeptHours);
  const std::string day = before(8 * kMicrosPerDay, 10), hour = before(25 * 3'600 * kMicrosPerSecond, 13);
  while (!hasRoomForCounters(known) && (drop(known.spent, day) || drop(used, hour))) {
  }
  if (known.used && known.used->empty()) known.used.reset();
}

void join(Knowledge& into, const Knowledge& other) {
  joinFacts(into.facts, other.facts);
  for (const auto& [id, goal] : other.goals) {
    const auto [at, fresh] = into.goals.try_emplace(id, goal);
    if (fresh) continue;
    decision::GoalBook::Entry& mine = at->second;
    if (std::tie(goal.type, goal.description) < std::tie(mine.type, mine.description))
      mine.type = goal.type, mine.description = goal.description;
    mine.goal = {std::max(mine.goal.progress, goal.goal.progress), std::max(mine.goal.attempts, goal.goal.attempts)};
  }
  bound(into.goals, kMaxGoals, kMaxGoalBytes);
  joinScores(into.scores, other.scores);
  for (const auto& [tool, cost] : other.costs) {
    auto& mine = into.costs[tool];
    mine = {std::max(mine.tokens, cost.tokens), std::max(mine.seconds, cost.seconds)};
  }
  bound(into.costs, kMaxScores, kMaxCostBytes);
  for (const auto& [day, devices] : other.spent)
    for (const auto& [device, usages] : devices) joinUsages(into.spent[day][device], usages);
  while (into.spent.size() > kMaxDays) into.spent.erase(into.spent.begin());
  for (const auto& [hour, devices] : other.used.value_or(Knowledge::Uses()))
    for (const auto& [device, uses] : devices)
      for (const auto& [resource, count] : uses) {
        if (!into.used) into.used.emplace();
        std::int64_t& mine = (*into.used)[hour][device][resource];
        mine = std::max(mine, count);
      }
  while (into.used && into.used->size() > kMaxHours) into.used->erase(into.used->begin());
}

Result<Knowledge> knowledgeIn(std::string_view slot) {
  WITAN_TRY(object, objectOf(slot));
  Knowledge read, out;
  if (const json::value* member = object.if_contains(kMember)) WITAN_DO(readJson(*member, read, kMember));
  if (slot.size() > kMaxOwnExtensionBytes) {
    object.erase(kMember);
    if (const std::size_t own = canonicalJson(object).size(); own > kMaxOwnExtensionBytes)
      return invalid(concat("the slot \"extension\" has ", own, " bytes of its own: at most ", kMaxOwnExtensionBytes));
  }
  join(out, read);  // in order, and within the limits, whatever wrote it
  return out;
}

Result<std::string> slotWithOwn(std::string_view slot, const json::value& own) {
  WITAN_TRY(had, objectOf(slot));
  const std::string text = canonicalJson(own);
  WITAN_TRY(made, objectOf(text));
  if (made.contains(kMember))
    return invalid("extension.knowledge: what an agent has learned and used is its own", "see: witan agent reset");
  if (text.size() > kMaxOwnExtensionBytes)
    return invalid(concat("extension: ", text.size(), " bytes: at most ", kMaxOwnExtensionBytes));
  if (json::value* known = had.if_contains(kMember); known != nullptr) made[kMember] = std::move(*known);
  return made.contains(kMember) ? canonicalJson(made) : text;
}

Result<std::string> slotWith(std::string_view slot, const Knowledge& knowledge) {
  WITAN_TRY(object, objectOf(slot));
  const std::string text = toJson(knowledge);
  if (text.size() > kMaxKnowledgeBytes) return invalid(concat("knowledge of more than ", kMaxKnowledgeBytes, " bytes"));
  WITAN_SET(object[kMember], parseJson(text, {.bytes = kMaxKnowledgeBytes}));
  std::string made = canonicalJson(object);
  if (made.size() > replication::kMaxSlotBytes) return invalid("the slot \"extension\" has no room for its knowledge");
  return made;
}

Status keepKnowledge(replication::AgentState& state, const Knowledge& known, bool learns, std::string_view writer) {
  const auto set = [&](replication::SlotName name, std::string value) {
    replication::Slot& slot = state.slot(name);
    if (slot.value != value) slot = {std::move(value), slot.version + 1, std::string(writer)};
  };
  const std::string& had = state.slot(replication::SlotName::extension).value;
  auto slot = slotWith(had, known);
  if (!slot.ok()) {
    Knowledge counters;
    counters.spent = known.spent, counters.used = known.used;
    slot = slotWith(had, counters);
  }
  if (!slot.ok()) return slot.error();
  set(replication::SlotName::extension, *std::move(slot));
  if (!learns) return okStatus();
  json::array open;
  for (const auto& [id, goal] : known.goals)
    if (!decision::achieved(goal.goal)) open.emplace_back(id);
  set(replication::SlotName::openLoopIds, canonicalJson(open));
  return okStatus();
}

Result<Knowledge> knowledgeOf(std::string_view agentId, std::span<const replication::Version> versions) {
  Knowledge known;
  for (const replication::Version& version : versions) {
    if (version.tombstone) continue;
    WITAN_TRY(snapshot, replication::toSnapshot(agentId, version));
    WITAN_TRY(one, knowledgeIn(snapshot.state.slot(replication::SlotName::extension).value));
    join(known, one);
  }
  return known;
}

}  // namespace witan::agents
