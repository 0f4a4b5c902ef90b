// What an episode holds: C, Lambda and kappa together, and how a sub-episode gets a part of it.
//
// A fork only narrows (seed 004, Law 4 and the theorem "capability monotonicity"): capabilities and locale are subsets
// of the parent's, and what the fork may spend or use is taken from the parent at once and never comes back, so that
// two forks together cannot do more than the parent could either. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "agents/episode/capability.h"
#include "agents/episode/quota.h"
#include "agents/episode/tool.h"

namespace witan::agents::episode {

// Lambda: sorted tags, each once. Data of the episode may get to these places and no others.
using Locale = std::vector<std::string>;

Result<Locale> localeOf(std::vector<std::string> tags);
bool isSubset(const Locale& inner, const Locale& outer);

// What is given at the beginning.
struct Grant {
  std::vector<Capability> capabilities;
  Locale locale;
  Budget budget;
  WITAN_MEMBERS(Grant, capabilities, locale, budget)
  friend bool operator==(const Grant&, const Grant&) = default;
};

// All that an agent declares (Law 5).
Result<Grant> grantOf(const AgentSpec& spec);
Status checkGrant(const Grant& grant);

class Context {
 public:
  Context() = default;
  // Requires: checkGrant is ok.
  explicit Context(Grant grant);

  const std::vector<Capability>& capabilities() const { return grant_.capabilities; }
  const Locale& locale() const { return grant_.locale; }
  Quota& quota() { return quota_; }
  const Quota& quota() const { return quota_; }

  // Which capability lets the call happen. Errors: unauthorised, what it is beyond.
  Result<std::size_t> admits(const Reach& call) const;
  void use(std::size_t capability) { ++used_[capability]; }

  // The part of it that a sub-episode asks for. Errors: unauthorised, naming what it does not hold or has no more of;
  // then nothing has changed. O(capabilities of both).
  Result<Grant> fork(Grant wish);

 private:
  Grant grant_;
  Quota quota_;
  std::vector<std::int64_t> used_;  // by capability; only grows
};

}  // namespace witan::agents::episode
