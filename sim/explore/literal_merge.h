// Seed 003's merge of two snapshots, section 4, literally: an oracle where it is right (two concurrent snapshots), and
// the failing twin of docs/FINDINGS.md, F1, where it is folded over more. For exploring and for tests; no device runs
// it. Pure functions.
#pragma once

#include <algorithm>
#include <vector>

#include "replication/records/agent_view.h"

namespace witan::replication::literal {

// Rule 3: "prefer descendant pointer if ancestry known; else deterministic tie-break by referenced metadata; final
// tie-break by (hostId, pointerId)".
inline std::optional<std::string> mergePointer(const std::optional<std::string>& p, const std::optional<std::string>& q,
                                               const MessageAncestry* ancestry) {
  if (!p || !q) return p ? p : q;
  const auto mp = ancestry != nullptr ? ancestry->find(*p) : std::nullopt;
  const auto mq = ancestry != nullptr ? ancestry->find(*q) : std::nullopt;
  if (mp && mq && *p != *q) {
    if (ancestry->isAncestor(*p, *q)) return q;
    if (ancestry->isAncestor(*q, *p)) return p;
    if (mp->counter != mq->counter) return mp->counter > mq->counter ? p : q;
    if (mp->host != mq->host) return mp->host > mq->host ? p : q;
  }
  if (mp.has_value() != mq.has_value()) return mp ? p : q;
  return *p > *q ? p : q;
}

// Rule 5: "per-slot comparison by slot version fields; ties broken deterministically by (hostId, slotKey)".
inline Slot mergeSlot(const Slot& a, const Slot& b) {
  if (a.version != b.version) return a.version > b.version ? a : b;
  return a.host >= b.host ? a : b;
}

// Rule 6: "earliest future wake", where future is after everything that has fired (F2).
inline std::optional<std::uint64_t> mergeWake(const Schedule& a, const Schedule& b, std::uint64_t firedThrough) {
  std::optional<std::uint64_t> earliest;
  for (const auto& wake : {a.nextWakeAt, b.nextWakeAt})
    if (wake && *wake > firedThrough && (!earliest || *wake < *earliest)) earliest = wake;
  return earliest;
}

inline Lifecycle mergeLifecycle(Lifecycle a, Lifecycle b) {
  for (const Lifecycle l : {Lifecycle::destroyed, Lifecycle::dormant, Lifecycle::active})
    if (a == l || b == l) return l;
  return Lifecycle::created;
}

// Section 4.2.
inline AgentView mergeConcurrent(const AgentView& a, const AgentView& b, const MessageAncestry* ancestry) {
  AgentView m;
  m.vc = a.vc;
  for (const auto& [host, counter] : b.vc.entries()) m.vc.raise(host, counter);
  m.state.processedCounterByHost = a.state.processedCounterByHost;
  for (const auto& [host, counter] : b.state.processedCounterByHost.entries())
    m.state.processedCounterByHost.raise(host, counter);
  m.state.lifecycle = mergeLifecycle(a.state.lifecycle, b.state.lifecycle);
  m.state.pointers.recentHeadMessageId =
      mergePointer(a.state.pointers.recentHeadMessageId, b.state.pointers.recentHeadMessageId, ancestry);
  m.state.pointers.latestSummaryMessageId =
      mergePointer(a.state.pointers.latestSummaryMessageId, b.state.pointers.latestSummaryMessageId, ancestry);
  m.state.consecutiveFailureCount = std::max(a.state.consecutiveFailureCount, b.state.consecutiveFailureCount);
  for (std::size_t i = 0; i < kSlots; ++i) m.state.slots[i] = mergeSlot(a.state.slots[i], b.state.slots[i]);
  const Schedule &s = a.state.schedule, &t = b.state.schedule;
  m.state.schedule.firedThrough = std::max(s.firedThrough, t.firedThrough);
  m.state.schedule.nextWakeAt = mergeWake(s, t, m.state.schedule.firedThrough);
  m.state.schedule.sleepUntil = std::max(s.sleepUntil, t.sleepUntil);
  return m;
}

// A snapshot as it looks: a wake at or before firedThrough is none (F2).
inline AgentView shown(const AgentSnapshot& snapshot) {
  AgentView view{snapshot.vc, snapshot.state};
  Schedule& s = view.state.schedule;
  if (s.nextWakeAt && *s.nextWakeAt <= s.firedThrough) s.nextWakeAt.reset();
  return view;
}

// Sections 4.1 and 4.2. Equal clocks, which 4.1 leaves open, keep what was there first.
inline AgentView seedMerge(const AgentView& a, const AgentView& b, const MessageAncestry* ancestry) {
  if (lt(a.vc, b.vc)) return b;
  if (le(b.vc, a.vc)) return a;
  return mergeConcurrent(a, b, ancestry);
}

// What a replica has that stores the merge of what arrives: F1's failing twin.
inline AgentView seedFold(const std::vector<AgentSnapshot>& arrivals, const MessageAncestry* ancestry = nullptr) {
  AgentView view = shown(arrivals.at(0));
  for (std::size_t i = 1; i < arrivals.size(); ++i) view = seedMerge(view, shown(arrivals[i]), ancestry);
  return view;
}

}  // namespace witan::replication::literal
