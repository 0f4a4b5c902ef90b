// Generated histories of one agent: devices that write after having seen some antichain, and pass snapshots on. Every
// history is a function of a script of bytes, so that rapidcheck can shrink it and a seed can repeat it.
#pragma once

#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "replication/records/agent_state.h"
#include "replication/records/agent_view.h"

namespace witan::replication::test {

// Reads choices from a script, which must outlive it; 0 when it is used up.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> script) : script_(script) {}
  explicit Choices(std::vector<std::uint8_t>&&) = delete;
  bool more() const { return !script_.empty(); }
  std::size_t below(std::size_t n) {
    if (script_.empty()) return 0;
    const std::size_t choice = script_.front() % n;
    script_ = script_.subspan(1);
    return choice;
  }

 private:
  std::span<const std::uint8_t> script_;
};

inline std::vector<std::uint8_t> randomScript(std::uint64_t seed, std::size_t size) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> script(size);
  for (auto& byte : script) byte = static_cast<std::uint8_t>(random());
  return script;
}

// 10^4 in every run, fewer under sanitizers; 10^6 with WITAN_LONG=1.
inline std::uint64_t historiesToRun() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t kUsual = 500;
#else
  constexpr std::uint64_t kUsual = 10'000;
#endif
  const char* longRun = std::getenv("WITAN_LONG");
  return longRun != nullptr && std::string_view(longRun) == "1" ? 1'000'000 : kUsual;
}

class Messages : public MessageAncestry {
 public:
  void add(const std::string& id, Message message, const std::set<std::string>& parents, bool arrived) {
    auto& mine = ancestors_[id];
    for (const std::string& parent : parents) {
      mine.insert(parent);
      mine.insert(ancestors_[parent].begin(), ancestors_[parent].end());
    }
    if (arrived) arrived_[id] = std::move(message);
  }
  std::optional<Message> find(std::string_view id) const override {
    const auto at = arrived_.find(id);
    return at == arrived_.end() ? std::nullopt : std::optional(at->second);
  }
  bool isAncestor(std::string_view ancestor, std::string_view descendant) const override {
    const auto at = ancestors_.find(descendant);
    return at != ancestors_.end() && at->second.count(std::string(ancestor)) > 0;
  }

 private:
  std::map<std::string, Message, std::less<>> arrived_;
  std::map<std::string, std::set<std::string>, std::less<>> ancestors_;
};

struct History {
  std::vector<AgentSnapshot> snapshots;
  Messages messages;
};

inline std::vector<Version> toVersions(const std::vector<AgentSnapshot>& snapshots) {
  std::vector<Version> versions;
  for (const AgentSnapshot& s : snapshots) versions.push_back(toVersion(s));
  return versions;
}

inline std::vector<AgentSnapshot> toSnapshots(const std::vector<Version>& versions) {
  std::vector<AgentSnapshot> snapshots;
  for (const Version& v : versions) snapshots.push_back(toSnapshot("agent-1", v).value());
  return snapshots;
}

inline std::vector<AgentSnapshot> maximalOf(const std::vector<AgentSnapshot>& snapshots) {
  return toSnapshots(maximal(toVersions(snapshots)).value());
}

// One local change of what a device sees.
inline void change(AgentState& s, Choices& choose, const Dot& dot, Messages& messages) {
  switch (choose.below(8)) {
    case 0: s.lifecycle = static_cast<Lifecycle>(choose.below(4)); return;
    case 1: s.consecutiveFailureCount = choose.below(2) == 0 ? 0 : s.consecutiveFailureCount + 1; return;
    case 2: s.schedule.nextWakeAt = 5 + choose.below(20); return;
    case 3:  // the wake has run; another one is due, or none
      if (s.schedule.nextWakeAt) s.schedule.firedThrough = std::max(s.schedule.firedThrough, *s.schedule.nextWakeAt);
      s.schedule.nextWakeAt.reset();
      if (choose.below(2) == 1) s.schedule.nextWakeAt = s.schedule.firedThrough + 1 + choose.below(9);
      return;
    case 4: s.schedule.sleepUntil = choose.below(30); return;
    case 5: {
      auto& pointer = choose.below(3) == 0 ? s.pointers.latestSummaryMessageId : s.pointers.recentHeadMessageId;
      const std::string id = "m-" + std::to_string(choose.below(100)) + "-" + dot.host + std::to_string(dot.counter);
      const std::set<std::string> parents = pointer ? std::set<std::string>{*pointer} : std::set<std::string>{};
      messages.add(id, {dot.counter, dot.host}, parents, choose.below(4) != 0);
      pointer = id;
      return;
    }
    case 6: {
      Slot& slot = s.slots[choose.below(kSlots)];
      slot = {"\"v-" + std::to_string(choose.below(3)) + "\"", slot.version + 1, dot.host};
      return;
    }
    default: s.processedCounterByHost.raise(std::string(1, static_cast<char>('A' + choose.below(4))), choose.below(9));
  }
}

// Up to four devices that write, and hand snapshots to each other: all they have, or one.
inline History makeHistory(std::span<const std::uint8_t> script) {
  Choices choose(script);
  const std::size_t devices = 2 + choose.below(3);
  std::vector<std::vector<AgentSnapshot>> held(devices);
  std::vector<std::uint64_t> counters(devices);
  History history;
  const auto keep = [&](std::size_t device, std::vector<AgentSnapshot> more) {
    more.insert(more.end(), held[device].begin(), held[device].end());
    held[device] = maximalOf(more);
  };
  while (choose.more() && history.snapshots.size() < 12) {
    const std::size_t device = choose.below(devices);
    if (choose.below(5) < 2) {
      const std::size_t other = choose.below(devices);
      if (held[other].empty()) continue;
      const std::size_t which = choose.below(held[other].size() + 1);
      keep(device, which < held[other].size() ? std::vector{held[other][which]} : held[other]);
      continue;
    }
    AgentSnapshot mine;
    mine.agentId = "agent-1";
    mine.dot = {std::string(1, static_cast<char>('A' + device)), ++counters[device]};
    if (!held[device].empty()) {
      const AgentView seen = viewOf(held[device], &history.messages);
      mine.vc = seen.vc;
      mine.state = seen.state;
    }
    mine.vc.set(mine.dot.host, mine.dot.counter);
    for (std::size_t n = 1 + choose.below(3); n > 0; --n) change(mine.state, choose, mine.dot, history.messages);
    history.snapshots.push_back(mine);
    keep(device, {mine});
  }
  return history;
}

// Runs a property on that many histories; a property returns what is wrong, or nothing. The first failure's seed, or
// "".
inline std::string firstFailure(std::uint64_t histories, std::size_t scriptBytes,
                                const std::function<std::string(const History&, std::mt19937_64&)>& property) {
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    std::mt19937_64 random(seed);
    const History history = makeHistory(randomScript(seed, scriptBytes));
    const std::string problem = property(history, random);
    if (!problem.empty()) return "seed " + std::to_string(seed) + ": " + problem;
  }
  return "";
}

}  // namespace witan::replication::test
