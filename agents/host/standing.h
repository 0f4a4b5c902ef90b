// Standing budgets: what an agent may take of a provider, or of all, on one day (UTC), on all devices together. What
// was spent stands in the agent's own state (agents/knowledge.h), written with the end of each run, so it is durable
// and every device hears of it; a run begins with what is left, and its transcript holds that. Devices that are cut
// off, or that begin a run at the same time, do not see each other's: each run may then take what is left once more.
//
// The rates of capabilities (Capability::perHour, perDay) are counted and shared in the same way, by the hour.
//
// Values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "base/time.h"

namespace witan::agents {

struct StandingLimit {
  std::string name;                                    // for people
  std::string agent;                                   // empty: each agent has this much
  std::string provider;                                // of models, or a boundary; empty: all together
  std::int64_t calls = -1, tokens = -1, seconds = -1;  // a day; negative: no limit
};

// The day that counts, and when the next one begins.
std::string standingDay(Time now);
std::int64_t msToNextDay(Time now);

// What the agent has left on this day, by provider; a negative part has no limit. Empty: no limit concerns it.
Usages standingLeft(const std::vector<StandingLimit>& limits, std::string_view agent, const Knowledge& known,
                    const std::string& day);
// The first provider with nothing left of something that has a limit: "tokens of openai"; empty: none.
std::string exhaustedIn(const Usages& left);
// A run takes no more than that: the member "standing" of its input.
Status narrowToStanding(Budget& budget, const json::object& input);
// What the device has spent on the day, and now this.
void spend(Knowledge& known, const std::string& day, const std::string& device, const Usages& more);

// --- rates of capabilities

// "2026-03-23T14": of what capabilities are used.
std::string standingHour(Time now);
std::int64_t msToNextHour(Time now);

// How often each resource that the capabilities give a rate may still be used in this hour, of this day.
std::map<std::string, std::int64_t> ratesLeft(std::span<const Capability> capabilities, const Knowledge& known,
                                              const std::string& hour);
// A run uses none of them more often than that. A family counts as a whole, and so does what is narrower than it.
void narrowToRates(std::vector<Capability>& granted, const std::map<std::string, std::int64_t>& left);
// What the device has used in the hour, and now `count` uses of `granted`, as far as the declared capabilities give
// that a rate.
void countUses(Knowledge& known, const std::string& hour, const std::string& device,
               std::span<const Capability> declared, const std::string& granted, std::int64_t count);

}  // namespace witan::agents
