#include "cli/format/agent_format.h"

#include <algorithm>

#include "cli/client/replica_verb.h"
#include "replication/records/agent_state_json.h"

namespace witan::node {

using namespace replication;

namespace {

std::string toWords(const std::optional<std::uint64_t>& number) { return number ? std::to_string(*number) : "none"; }

std::string toWords(const Slot& slot) {
  if (slot.version == 0) return slot.value + " (never written)";
  return slot.value + " (version " + std::to_string(slot.version) + " by " + slot.host + ")";
}

std::string row(std::string name, const std::string& text) {
  name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
  return "  " + name + text + "\n";
}

}  // namespace

std::string pictureJson(const AgentPicture& picture) {
  std::string out = "{\"antichain\":[";
  for (const Version& version : picture.antichain) out += (out.back() == '[' ? "" : ",") + dotJson(version.dot);
  return out + "],\"view\":" + viewJson(picture.agentId, picture.view) + "}";
}

std::string pictureWords(const AgentPicture& picture) {
  const AgentState& s = picture.view.state;
  VectorClock dots;
  for (const Version& version : picture.antichain) dots.raise(version.dot.host, version.dot.counter);
  std::string out = picture.agentId + ": " + toString(s.lifecycle) + ", " + std::to_string(s.consecutiveFailureCount) +
                    " failures in a row\n";
  out += row(picture.antichain.size() == 1 ? "snapshot" : "concurrent", clockWords(dots));
  out += row("clock", clockWords(picture.view.vc));
  out += row("next wake at", toWords(s.schedule.nextWakeAt));
  out += row("sleep until", std::to_string(s.schedule.sleepUntil));
  out += row("fired through", std::to_string(s.schedule.firedThrough));
  out += row("head message", s.pointers.recentHeadMessageId.value_or("none"));
  out += row("latest summary", s.pointers.latestSummaryMessageId.value_or("none"));
  for (std::size_t i = 0; i < kSlots; ++i) out += row(toString(static_cast<SlotName>(i)), toWords(s.slots[i]));
  return out + row("processed", clockWords(s.processedCounterByHost));
}

}  // namespace witan::node
