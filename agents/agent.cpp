#include "agents/agent.h"

#include <set>

#include "base/identity.h"

namespace witan::agents {

Status checkTimer(std::int64_t everyMs) {
  if (everyMs < kMinTimerMs || everyMs > kMaxTimerMs)
    return invalid(concat("a timer of ", everyMs, " ms (from ", kMinTimerMs, " to ", kMaxTimerMs, ")"));
  return okStatus();
}

Status checkSpec(const AgentSpec& spec) {
  WITAN_DO(validateId("id", spec.id));
  WITAN_DO(validateId("version", spec.version));
  WITAN_DO(validateId("thread", spec.thread));
  if (!spec.foldsBy.empty()) WITAN_DO(validateId("foldsBy", spec.foldsBy));
  if (spec.subscriptions.empty() && spec.timers.empty() && spec.ledgers.empty() && !spec.inGraphs)
    return invalid(spec.id + ": no subscription and no timer (nothing would wake it)");
  std::set<std::string> names;
  replication::SubscriptionIndex index;
  for (const SubscriptionSpec& one : spec.subscriptions) {
    if (const Status good = index.add({one.id, spec.id, one.scope, one.tokens, {}}); !good.ok())
      return invalid(concat(spec.id, ": ", one.id, ": ", good.error().message), good.error().hint);
    names.insert(one.id);
  }
  for (const LedgerSpec& ledger : spec.ledgers) {
    WITAN_DO(validateId("ledger subscription", ledger.id));
    if (ledger.domain.empty() || ledger.field.empty() != ledger.value.empty())
      return invalid(spec.id + ": " + ledger.id + " names no domain, field or value");
    if (!names.insert(ledger.id).second) return invalid(spec.id + ": two subscriptions " + ledger.id);
  }
  for (const TimerSpec& timer : spec.timers) {
    WITAN_DO(validateId("timer", timer.id));
    if (const Status good = checkTimer(timer.everyMs); !good.ok())
      return invalid(concat(spec.id, ": ", good.error().message));
    if (!names.insert(timer.id).second) return invalid(spec.id + ": two subscriptions or timers " + timer.id);
  }
  return okStatus();
}

}  // namespace witan::agents
