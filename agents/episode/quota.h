// kappa, what an episode may spend and has spent (seed 004, Law 3, as docs/FINDINGS.md F18 reads it): `spent` only
// grows, what remains is limit - spent and never negative, and a spend beyond that is refused and changes nothing.
//
// A value with no way to take anything back. Not thread-safe.
#pragma once

#include "agents/agent.h"
#include "base/result.h"

namespace witan::agents::episode {

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

}  // namespace witan::agents::episode
