#include "replication/records/agent_view.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "replication/records/agent_state.h"

namespace witan::replication {

namespace {

__extension__ using Total = unsigned __int128;

// Sorts by dot and takes repetitions out.
Status withoutRepetitions(std::vector<Version>& versions) {
  std::ranges::sort(versions, [](const Version& a, const Version& b) { return a.dot < b.dot; });
  for (std::size_t i = 1; i < versions.size(); ++i) {
    if (versions[i].dot != versions[i - 1].dot || versions[i] == versions[i - 1]) continue;
    const Dot& dot = versions[i].dot;
    return conflict(concat("dot ", dot.host, ":", dot.counter, " names two different contents (equivocation)"),
                    "that device was cloned or restored from a backup: let it take a new incarnation");
  }
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return okStatus();
}

Total totalOf(const VectorClock& clock) {
  Total total = 0;
  for (const auto& [host, counter] : clock.entries()) total += counter;
  return total;
}

// The maximal versions found so far, by the hosts that their contexts name.
class Maximal {
 public:
  // A dominating context covers the version's dot.
  bool dominate(const Version& version) const {
    const auto at = byHost_.find(version.dot.host);
    if (at == byHost_.end()) return false;
    return std::ranges::any_of(at->second, [&](const Cover& cover) {
      return cover.counter >= version.dot.counter && lt(version.context, cover.version->context);
    });
  }
  void add(const Version& version) {
    for (const auto& [host, counter] : version.context.entries()) byHost_[host].push_back({counter, &version});
  }

 private:
  struct Cover {
    std::uint64_t counter;
    const Version* version;
  };
  std::map<std::string_view, std::vector<Cover>> byHost_;
};

// The larger of two slots. A total order of contents, so that the largest of many does not depend on their order.
bool below(const Slot& a, const Slot& b) {
  return std::tie(a.version, a.host, a.value) < std::tie(b.version, b.host, b.value);
}

void joinTimer(TimerState& into, const TimerState& other) {
  const auto setting = [](const TimerState& t) { return std::tie(t.version, t.host, t.everyMs); };
  const std::uint64_t fired = std::max(into.firedThrough, other.firedThrough);
  if (setting(into) < setting(other)) into = other;
  into.firedThrough = fired;
}

using PointerField = std::optional<std::string> Pointers::*;
constexpr PointerField kPointers[] = {&Pointers::recentHeadMessageId, &Pointers::latestSummaryMessageId};

struct Candidate {
  std::uint64_t counter = 0;
  std::string host;
  std::string_view id;

  bool operator<(const Candidate& other) const {
    return std::tie(counter, host, id) < std::tie(other.counter, other.host, other.id);
  }
};

std::optional<std::string> choose(const std::set<std::string, std::less<>>& ids, const MessageAncestry* ancestry) {
  if (ids.empty()) return std::nullopt;
  std::vector<Candidate> arrived;
  for (const std::string& id : ids)
    if (auto message = ancestry == nullptr ? std::nullopt : ancestry->find(id))
      arrived.push_back({message->counter, std::move(message->host), id});
  if (arrived.empty()) return *ids.rbegin();
  std::vector<Candidate> newest;
  for (const Candidate& c : arrived) {
    const bool old = std::ranges::any_of(
        arrived, [&](const Candidate& other) { return other.id != c.id && ancestry->isAncestor(c.id, other.id); });
    if (!old) newest.push_back(c);
  }
  // Only if the graph had a cycle.
  if (newest.empty()) newest = std::move(arrived);
  return std::string(std::max_element(newest.begin(), newest.end())->id);
}

// Collects what the fields need; every step commutes with every other.
class Fold {
 public:
  void addClock(const VectorClock& vc) { raise(vc_, vc); }

  void add(const AgentState& s) {
    state_.lifecycle = std::max(state_.lifecycle, s.lifecycle);
    state_.mode = std::max(state_.mode, s.mode);
    for (const auto& [name, timer] : s.schedule.timers) joinTimer(state_.schedule.timers[name], timer);
    state_.consecutiveFailureCount = std::max(state_.consecutiveFailureCount, s.consecutiveFailureCount);
    state_.schedule.sleepUntil = std::max(state_.schedule.sleepUntil, s.schedule.sleepUntil);
    state_.schedule.firedThrough = std::max(state_.schedule.firedThrough, s.schedule.firedThrough);
    if (s.schedule.nextWakeAt) wakes_.insert(*s.schedule.nextWakeAt);
    for (std::size_t i = 0; i < kSlots; ++i)
      if (empty_ || below(state_.slots[i], s.slots[i])) state_.slots[i] = s.slots[i];
    for (std::size_t i = 0; i < std::size(kPointers); ++i)
      if (const auto& id = s.pointers.*kPointers[i]) pointers_[i].insert(*id);
    raise(processed_, s.processedCounterByHost);
    empty_ = false;
  }

  bool empty() const { return empty_; }

  AgentView finish(const MessageAncestry* ancestry) && {
    const auto wake = wakes_.upper_bound(state_.schedule.firedThrough);
    if (wake != wakes_.end()) state_.schedule.nextWakeAt = *wake;
    for (std::size_t i = 0; i < std::size(kPointers); ++i)
      state_.pointers.*kPointers[i] = choose(pointers_[i], ancestry);
    state_.processedCounterByHost = clockOf(processed_);
    auto& timers = state_.schedule.timers;
    while (timers.size() > kMaxTimers) timers.erase(std::prev(timers.end()));
    return {clockOf(vc_), std::move(state_)};
  }

 private:
  // Not VectorClock::join: that is quadratic for many clocks of different writers.
  using Maxima = std::map<std::string, std::uint64_t, std::less<>>;

  static void raise(Maxima& into, const VectorClock& clock) {
    for (const auto& [host, counter] : clock.entries()) {
      std::uint64_t& highest = into[host];
      highest = std::max(highest, counter);
    }
  }
  static VectorClock clockOf(const Maxima& maxima) {
    VectorClock clock;
    for (const auto& [host, counter] : maxima) clock.set(host, counter);
    return clock;
  }

  bool empty_ = true;
  AgentState state_;
  Maxima vc_;
  Maxima processed_;
  std::set<std::uint64_t> wakes_;
  std::set<std::string, std::less<>> pointers_[std::size(kPointers)];
};

}  // namespace

Result<std::vector<Version>> maximal(std::vector<Version> versions) {
  WITAN_DO(withoutRepetitions(versions));
  // A strictly dominating context has the larger total. So everything that could dominate a version comes before it,
  // and of those the maximal ones are enough.
  std::vector<std::pair<Total, std::size_t>> order;
  for (std::size_t i = 0; i < versions.size(); ++i) order.emplace_back(totalOf(versions[i].context), i);
  std::ranges::sort(order, [](const auto& a, const auto& b) { return a > b; });
  Maximal found;
  std::vector<std::size_t> kept;
  for (const auto& [total, i] : order) {
    if (found.dominate(versions[i])) continue;
    found.add(versions[i]);
    kept.push_back(i);
  }
  std::ranges::sort(kept);
  std::vector<Version> antichain;
  antichain.reserve(kept.size());
  for (const std::size_t i : kept) antichain.push_back(std::move(versions[i]));
  return antichain;
}

AgentView viewOf(std::span<const AgentSnapshot> antichain, const MessageAncestry* ancestry) {
  WITAN_CHECK(!antichain.empty(), "a view has something to show");
  Fold fold;
  for (const AgentSnapshot& snapshot : antichain) {
    fold.addClock(snapshot.vc);
    fold.add(snapshot.state);
  }
  return std::move(fold).finish(ancestry);
}

Result<std::optional<AgentView>> viewOf(std::span<const Version> versions, const MessageAncestry* ancestry) {
  Fold fold;
  for (const Version& version : versions) {
    fold.addClock(version.context);
    if (version.tombstone) continue;
    WITAN_TRY(state, decodeAgentState(version.body, version.dot.host));
    fold.add(state);
  }
  if (fold.empty()) return std::optional<AgentView>();
  return std::optional(std::move(fold).finish(ancestry));
}

}  // namespace witan::replication
