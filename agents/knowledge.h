// Knowledge: what an agent keeps from run to run: facts, goals, its experience of tools (seed 002, phases 2, 4 and 5),
// and what it has spent on which day. It stands in the agent's slot `extension`, as the member "knowledge" beside the
// agent's own; the ids of open goals stand in `openLoopIds`.
//
// Devices that were cut off write it side by side. A reader joins what all versions say, and the next run of the agent
// writes the joined one over them, so no fact is lost. join() is commutative, associative and idempotent, up to the
// limits. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/decision/choice.h"
#include "agents/decision/knowledge.h"
#include "base/json_codec.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"
#include "replication/records/agent_state.h"

namespace witan::agents {

// Bytes are those of the written form: what a mind says can be six times as long as JSON.
inline constexpr std::size_t kMaxFacts = 500, kMaxFactBytes = 64 * 1024;  // more are refused
inline constexpr std::size_t kMaxGoals = 100, kMaxGoalBytes = 16 * 1024;
inline constexpr std::size_t kMaxScores = 300, kMaxScoreBytes = 12 * 1024;  // of goal types and tools
inline constexpr std::size_t kMaxCostBytes = 4 * 1024;
// Some are of clocks that were ahead; they displace nothing. forgetCounters() drops the old ones.
inline constexpr std::size_t kMaxDays = 64;                    // of what was spent: the newest
inline constexpr std::int64_t kKeptDays = 9, kKeptHours = 26;  // of those that are over, with the present one
inline constexpr std::size_t kMaxHours = 256;                  // of what capabilities were used: the newest
inline constexpr std::size_t kMaxCounterBytes = 32 * 1024;     // of both
inline constexpr std::size_t kMaxKnowledgeBytes =
    1024 + kMaxFactBytes + kMaxGoalBytes + kMaxScoreBytes + kMaxCostBytes + kMaxCounterBytes;
// What the agent's own part of the slot may have, so that nothing crowds the rest out.
inline constexpr std::size_t kMaxOwnExtensionBytes = replication::kMaxSlotBytes - kMaxKnowledgeBytes - 1024;

using Fact = decision::Fact<decision::RunTime>;

// What calls of one provider took.
struct Usage {
  WITAN_DECLARED(Usage, (std::int64_t, calls), (std::int64_t, tokens), (std::int64_t, seconds))
};
using Usages = std::map<std::string, Usage>;  // by provider

struct ToolScore {
  WITAN_DECLARED(ToolScore, (std::string, goal), (std::string, tool), (decision::Natural, score))
};

struct Knowledge {
  std::vector<Fact> facts;  // sorted, each once
  std::map<std::string, decision::GoalBook::Entry> goals;
  std::vector<ToolScore> scores;  // sorted by goal type and tool
  std::map<std::string, decision::CostEstimate<decision::RunTime>> costs;
  std::map<std::string, std::map<std::string, Usages>> spent;  // by day ("2026-03-23") and device
  // How often capabilities with a rate were used: by hour ("2026-03-23T14"), device and resource.
  using Uses = std::map<std::string, std::map<std::string, std::map<std::string, std::int64_t>>>;
  Omittable<Uses> used = {};
  WITAN_MEMBERS(Knowledge, facts, goals, scores, costs, spent, used)
  static constexpr std::size_t required = 0;
  friend bool operator==(const Knowledge& a, const Knowledge& b) { return toJson(a) == toJson(b); }
};

// Facts: both; goals: the further progress; scores: the lower; costs: the dearer; what a device spent: the most that is
// known.
void join(Knowledge& into, const Knowledge& other);

// The written form's length.
std::size_t bytesOf(const Fact& fact);
std::size_t bytesOf(const std::string& id, const decision::GoalBook::Entry& goal);
// Whether what was spent and used has room for what another run adds. Without room no run of an agent with budgets or
// rates begins: its use could not be counted.
bool hasRoomForCounters(const Knowledge& known);

// Drops what no limit asks for any more: of the days and hours up to this time all but the newest.
void forgetCounters(Knowledge& known, Time now);

// The slot's text with another part of the agent's own. Errors: it names the member "knowledge", or is too long.
Result<std::string> slotWithOwn(std::string_view slot, const json::value& own);
// Of the slot's text. One without the member knows nothing. Errors: a later build's; an own part that leaves no room.
Result<Knowledge> knowledgeIn(std::string_view slot);
// The slot's text with this instead of what it had. Errors: more than kMaxKnowledgeBytes, or than a slot holds.
Result<std::string> slotWith(std::string_view slot, const Knowledge& knowledge);
// Writes it into the agent's state; of an agent that learns also which goals are open. Counters come first: where there
// is no room for all, what was learned is left out. Errors: no room for the counters either; nothing has changed then.
Status keepKnowledge(replication::AgentState& state, const Knowledge& known, bool learns, std::string_view writer);
// What the versions of an agent's state say together. Errors: as knowledgeIn.
Result<Knowledge> knowledgeOf(std::string_view agentId, std::span<const replication::Version> versions);

}  // namespace witan::agents
