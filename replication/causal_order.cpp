#include "replication/causal_order.h"

#include <algorithm>
#include <deque>
#include <map>

namespace witan::replication {

namespace {

struct Waiting {
  BatchEvent event;
  std::vector<Dot> causes;
};

using Lanes = std::map<std::string, std::deque<Waiting>>;

// Whether everything the head of a lane depends on is out.
bool ready(const Waiting& head, const Lanes& lanes) {
  return std::ranges::all_of(head.causes, [&](const Dot& dep) {
    if (dep.host == head.event.dot.host) return true;
    const auto lane = lanes.find(dep.host);
    return lane == lanes.end() || lane->second.empty() || lane->second.front().event.dot.counter > dep.counter;
  });
}

void takeHead(Lanes& lanes, Lanes::iterator lane, std::vector<BatchEvent>& out) {
  out.push_back(std::move(lane->second.front().event));
  lane->second.pop_front();
  if (lane->second.empty()) lanes.erase(lane);
}

}  // namespace

Result<std::vector<BatchEvent>> causalOrder(std::vector<BatchEvent> batches, const RecordSchemas& schemas) {
  std::ranges::sort(batches, [](const BatchEvent& a, const BatchEvent& b) { return a.dot < b.dot; });
  Lanes lanes;
  for (BatchEvent& batch : batches) {
    WITAN_TRY(causes, schemas.causes(batch.body));
    const std::string host = batch.dot.host;
    lanes[host].push_back({std::move(batch), std::move(causes)});
  }
  std::vector<BatchEvent> out;
  out.reserve(batches.size());
  while (!lanes.empty()) {
    auto lane = std::ranges::find_if(lanes, [&](const auto& entry) { return ready(entry.second.front(), lanes); });
    takeHead(lanes, lane == lanes.end() ? lanes.begin() : lane, out);
  }
  return out;
}

}  // namespace witan::replication
