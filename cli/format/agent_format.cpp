#include "cli/format/agent_format.h"

#include <algorithm>

namespace witan::node {

using operations::clockWords;

namespace {

std::string toWords(const std::optional<std::uint64_t>& number) { return number ? std::to_string(*number) : "none"; }

std::string toWords(const replication::AgentSlot& slot) {
  const std::string value = canonicalJson(slot.value);
  if (slot.version == 0) return value + " (never written)";
  return concat(value, " (version ", slot.version, " by ", slot.host, ")");
}

std::string row(std::string name, const std::string& text) {
  name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
  return "  " + name + text + "\n";
}

}  // namespace

std::string pictureWords(const operations::AgentShown& agent) {
  const operations::AgentSnapshotRow& view = agent.view;
  operations::ClockRow dots;
  for (const operations::VersionDot& dot : agent.antichain) dots[dot.host] = std::max(dots[dot.host], dot.counter);
  std::string out =
      concat(view.agentId, ": ", view.lifecycle, ", ", view.consecutiveFailureCount, " failures in a row\n");
  out += row(agent.antichain.size() == 1 ? "snapshot" : "concurrent", operations::clockWords(dots));
  out += row("clock", operations::clockWords(view.vc));
  out += row("next wake at", toWords(view.schedule.nextWakeAt));
  out += row("sleep until", std::to_string(view.schedule.sleepUntil));
  out += row("fired through", std::to_string(view.schedule.firedThrough));
  if (view.mode) out += row("mode", *view.mode);
  for (const auto& [name, timer] : view.schedule.timers.value_or(ByName<replication::AgentTimer>())) {
    const std::string every = timer.version == 0   ? std::string("its own interval")
                              : timer.everyMs == 0 ? std::string("off")
                                                   : concat("every ", timer.everyMs, " ms");
    out += row("timer " + name, concat(every, ", fired through ", timer.firedThrough));
  }
  out += row("head message", view.pointers.recentHeadMessageId.value_or("none"));
  out += row("latest summary", view.pointers.latestSummaryMessageId.value_or("none"));
  for (std::size_t i = 0; i < replication::kSlots; ++i) {
    const char* name = toString(static_cast<replication::SlotName>(i));
    out += row(name, toWords(view.slots.at(name)));
  }
  return out + row("processed", operations::clockWords(view.processedCounterByHost));
}

}  // namespace witan::node
