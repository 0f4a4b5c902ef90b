// AgentHost: what agents know beyond a run, and what they may still take of a day.
#include <algorithm>

#include "agents/host/agent_host.h"
#include "base/mutant.h"

namespace witan::agents {

using namespace replication;

Result<Knowledge> AgentHost::knownBy(std::string_view agentId) {
  WITAN_TRY(records, space());
  WITAN_TRY(versions, records->versions(Kind::agentState, agentId));
  return knowledgeOf(agentId, versions);
}

// A run that has not begun, of an agent with nothing left for today or for this hour, waits: its wake is not lost. What
// cannot be counted is not begun either.
Result<bool> AgentHost::waitsForBudget(const WakeJob& job, const AgentSpec& spec, Now now) {
  const bool rates = std::ranges::any_of(spec.capabilities, [](auto& one) { return one.perHour || one.perDay; });
  if (options_.standing.empty() && !rates) return false;
  WITAN_TRY(records, space());
  WITAN_TRY(rows, episode::readTranscript(*records, job.key(), replica_.device()));
  if (!rows.empty()) return false;
  const std::string day = standingDay(now.wall), hour = standingHour(now.wall);
  std::string cause;
  bool untilTomorrow = false;
  if (const auto known = knownBy(job.agentId); !known.ok()) {
    cause = concat("its budgets and rates cannot be counted: ", known.error().message);
  } else if (!hasRoomForCounters(*known)) {
    cause = "its budgets and rates cannot be counted: they have too many devices and names";
  } else if (const std::string spent = exhaustedIn(standingLeft(options_.standing, job.agentId, *known, day));
             !spent.empty()) {
    cause = concat("its budget of ", day, " is spent (", spent, ")");
    untilTomorrow = true;
  } else {
    const auto left = ratesLeft(spec.capabilities, *known, hour);
    const auto none = std::ranges::find_if(left, [](const auto& one) { return one.second == 0; });
    if (none != left.end()) cause = concat("the rate of ", none->first, " is used up");
  }
  if (cause.empty()) return false;
  const std::string& period = untilTomorrow ? day : hour;
  if (std::exchange(spentOn_[job.agentId], period) != period)
    out_.notices.push_back({"needsAttention", concat(job.agentId, ": ", cause, "; its wakes wait for the next ",
                                                     untilTomorrow ? "day" : "hour")});
  wakes_.forgive(job.key());
  held_.insert(job.key());
  WITAN_DO(wakes_.postpone(job.key(), untilTomorrow ? msToNextDay(now.wall) : msToNextHour(now.wall), cause, now));
  return true;
}

// They wait by the steady clock; when the wall clock was set meanwhile, the next day or hour comes at another time.
void AgentHost::releaseHeld(Now now) {
  const std::int64_t hour = now.wall.micros / kMicrosPerHour;
  if (std::exchange(heldIn_, hour) == hour) return;
  for (const RunKey& key : std::exchange(held_, {})) wakes_.release(key, now);
}

// What the agent knows when this run has ended. Of what its runs did here nothing else can have been learned meanwhile:
// it has one at a time. None: nothing is known, or a later build wrote it.
Result<std::optional<Knowledge>> AgentHost::knownAfter(const Running& run, Now now) {
  auto known = knownBy(run.job.agentId);
  if (!known.ok()) return std::optional<Knowledge>();
  const episode::Learner& learner = run.episode.learner();
  if (learner.learns()) {
    const Knowledge here = learner.knowledge();
    std::erase_if(known->scores, [&](const ToolScore& one) {
      return std::ranges::any_of(here.scores,
                                 [&](const ToolScore& of) { return of.goal == one.goal && of.tool == one.tool; });
    });
    for (const auto& [tool, cost] : here.costs) known->costs.erase(tool);
    join(*known, here);
  }
  forgetCounters(*known, now.wall);
  const episode::Context& context = run.episode.context();
  for (std::size_t i = 0; i < (mutated("countFirst") ? 1 : context.capabilities().size()); ++i)
    countUses(*known, standingHour(now.wall), replica_.device(), run.agent->spec().capabilities,
              context.capabilities()[i].resource, context.used(i));
  if (!learner.usage().empty()) spend(*known, standingDay(now.wall), replica_.device(), learner.usage());
  return *known == Knowledge() ? std::optional<Knowledge>() : std::optional(*std::move(known));
}

}  // namespace witan::agents
