// Context: the holdings of an episode: C (capabilities), Lambda (locale) and kappa (quota), and the part of them that a
// sub-episode gets.
//
// A fork only narrows (seed 004, Law 4 and the theorem "capability monotonicity"): capabilities and locale are subsets
// of the parent's. The budget and the uses of a fork are taken from the parent at once and never come back, so two
// forks together cannot do more than the parent could. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "agents/agent.h"
#include "agents/episode/tool.h"
#include "base/result.h"

namespace witan::agents::episode {

// kappa (seed 004, Law 3, as docs/FINDINGS.md F18 reads it): `spent` only grows; the remainder, limit - spent, is never
// negative; a spend beyond it is refused and changes nothing. A value with no way to take anything back.
class Quota {
 public:
  // Negative limits count as 0.
  explicit Quota(const Budget& limit = {0, 0, 0});

  const Budget& limit() const { return limit_; }
  const Budget& spent() const { return spent_; }
  Budget remaining() const {
    return {limit_.steps - spent_.steps, limit_.tokens - spent_.tokens, limit_.seconds - spent_.seconds};
  }

  // Whether spend() would be ok.
  bool affords(const Budget& amount) const;
  // All of it or nothing. Errors: unauthorised, naming what there is too little of; invalidInput, a negative amount.
  Status spend(const Budget& amount);
  // As much of it as there is: for what has been used up already (an answer that cost more than was estimated).
  void spendUpTo(const Budget& amount);

  friend bool operator==(const Quota&, const Quota&) = default;

 private:
  Budget limit_, spent_{0, 0, 0};
};

// Lambda: sorted tags, each once. Data of the episode may get to these places and no others.
using Locale = std::vector<std::string>;

Result<Locale> localeOf(std::vector<std::string> tags);
bool isSubset(const Locale& inner, const Locale& outer);

// The holdings at the beginning.
struct Grant {
  WITAN_DECLARED(Grant, (std::vector<Capability>, capabilities), (Locale, locale), (Budget, budget))
};

// The whole declaration of an agent (Law 5).
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
  std::int64_t used(std::size_t capability) const { return used_[capability]; }

  // The part of it that a sub-episode asks for. Errors: unauthorised, naming what it does not hold or has no more of;
  // then nothing has changed. O(capabilities of both).
  Result<Grant> fork(Grant wish);

 private:
  Grant grant_;
  Quota quota_;
  std::vector<std::int64_t> used_;  // by capability; only grows
};

}  // namespace witan::agents::episode
