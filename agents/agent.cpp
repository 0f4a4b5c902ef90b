#include "agents/agent.h"

#include <set>

#include "base/identity.h"

namespace witan::agents {

Status checkSpec(const AgentSpec& spec) {
  constexpr std::int64_t kLeastTimerMs = 1'000;
  WITAN_DO(validateId("id", spec.id));
  WITAN_DO(validateId("version", spec.version));
  WITAN_DO(validateId("thread", spec.thread));
  if (spec.subscriptions.empty() && spec.timers.empty() && spec.ledgers.empty() && !spec.inGraphs)
    return invalid(spec.id + ": no subscription and no timer (nothing would wake it)");
  std::set<std::string> names;
  for (const SubscriptionSpec& subscription : spec.subscriptions) {
    WITAN_DO(validateId("subscription", subscription.id));
    if (!names.insert(subscription.id).second) return invalid(spec.id + ": two subscriptions " + subscription.id);
  }
  for (const LedgerSpec& ledger : spec.ledgers) {
    WITAN_DO(validateId("ledger subscription", ledger.id));
    if (ledger.domain.empty() || ledger.field.empty() != ledger.value.empty())
      return invalid(spec.id + ": " + ledger.id + " names no domain, field or value");
    if (!names.insert(ledger.id).second) return invalid(spec.id + ": two subscriptions " + ledger.id);
  }
  for (const TimerSpec& timer : spec.timers) {
    WITAN_DO(validateId("timer", timer.id));
    if (timer.everyMs < kLeastTimerMs)
      return invalid(spec.id + ": timer " + timer.id + " fires more than once a second");
    if (!names.insert(timer.id).second) return invalid(spec.id + ": two subscriptions or timers " + timer.id);
  }
  return okStatus();
}

}  // namespace witan::agents
