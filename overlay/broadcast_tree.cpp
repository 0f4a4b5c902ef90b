#include "overlay/broadcast_tree.h"

#include <algorithm>
#include <limits>

namespace witan::overlay {

void BroadcastTree::linkDown(const std::string& device) {
  links_.erase(device);
  for (auto& [id, missing] : missing_) {
    std::erase(missing.announcers, device);
    if (missing.asked == device) missing.asked.clear(), missing.dueMs = 0;  // the next one, at once
  }
}

void BroadcastTree::publish(const BroadcastId& id, std::int64_t nowMs, TreeEffects& out) {
  if (learn(id)) spread(id, {}, nowMs, out);
}

bool BroadcastTree::received(const std::string& device, const BroadcastId& id, std::int64_t nowMs, TreeEffects& out) {
  const auto at = links_.find(device);
  if (!learn(id)) {
    ++counters_.repeated;
    if (at != links_.end() && at->second.eager) {
      at->second.eager = false;
      ++counters_.prunes;
      out.emplace_back(Tell{device, {.kind = TreeKind::prune}});
    }
    return false;
  }
  if (at != links_.end()) at->second.eager = true, at->second.broken = 0;
  found(id);
  spread(id, device, nowMs, out);
  return true;
}

Status BroadcastTree::received(const std::string& device, const TreeMessage& message, std::int64_t nowMs,
                               TreeEffects& out) {
  const auto at = links_.find(device);
  if (at == links_.end()) return okStatus();
  if (message.ids.size() > kMostIds) return invalid(concat("a digest of more than ", kMostIds, " messages"));
  switch (message.kind) {
    case TreeKind::have: onHave(device, at->second, message.ids, nowMs); break;
    case TreeKind::prune: at->second.eager = false; break;
    case TreeKind::graft:
      at->second.eager = true;
      for (const BroadcastId& id : message.ids)
        if (knows(id)) ++counters_.pushed, out.emplace_back(Push{device, id});
  }
  return okStatus();
}

void BroadcastTree::tick(std::int64_t nowMs, TreeEffects& out) {
  if (digestDueMs_ >= 0 && nowMs >= digestDueMs_) {
    digestDueMs_ = -1;
    for (auto& [device, link] : links_)
      while (!link.due.empty()) {
        const auto part = static_cast<std::ptrdiff_t>(std::min(link.due.size(), kMostIds));
        TreeMessage digest{.kind = TreeKind::have, .ids = {link.due.begin(), link.due.begin() + part}};
        link.due.erase(link.due.begin(), link.due.begin() + part);
        out.emplace_back(Tell{device, std::move(digest)});
      }
  }
  for (auto at = missing_.begin(); at != missing_.end();) {
    auto& [id, missing] = *at;
    if (nowMs < missing.dueMs) {
      ++at;
      continue;
    }
    graft(id, missing, nowMs, out);
    // All that had it were asked: it is left to anti-entropy, and to who announces it next.
    at = missing.asked.empty() ? missing_.erase(at) : std::next(at);
  }
}

std::int64_t BroadcastTree::nextMs() const {
  std::int64_t next = digestDueMs_ < 0 ? std::numeric_limits<std::int64_t>::max() : digestDueMs_;
  for (const auto& [id, missing] : missing_) next = std::min(next, missing.dueMs);
  return next;
}

bool BroadcastTree::knows(const BroadcastId& id) const {
  const auto at = known_.find(id.origin);
  return at != known_.end() && (id.number <= at->second.upTo || at->second.above.contains(id.number));
}

bool BroadcastTree::isEager(std::string_view device) const {
  const auto at = links_.find(device);
  return at != links_.end() && at->second.eager;
}

// False: it was known. What lies above the window of an origin moves it: what is passed over was lost to this device,
// and anti-entropy brings it.
bool BroadcastTree::learn(const BroadcastId& id) {
  if (id.number == 0 || knows(id)) return false;
  Known& known = known_[id.origin];
  known.above.insert(id.number);
  if (id.number - known.upTo > limits_.window) known.upTo = id.number - limits_.window / 2;
  while (!known.above.empty() && *known.above.begin() <= known.upTo + 1) {
    known.upTo = std::max(known.upTo, *known.above.begin());
    known.above.erase(known.above.begin());
  }
  return true;
}

// Whether a digest of it means anything. One far above what is known may be made up: a device that is so far behind is
// brought up to date by its sessions.
bool BroadcastTree::isWanted(const BroadcastId& id) const {
  if (id.number == 0 || !mayOriginate_(id.origin)) return false;
  const auto at = known_.find(id.origin);
  if (at == known_.end()) return known_.size() < limits_.origins;
  return id.number - at->second.upTo <= limits_.window || at->second.upTo == 0;
}

void BroadcastTree::spread(const BroadcastId& id, std::string_view from, std::int64_t nowMs, TreeEffects& out) {
  for (auto& [device, link] : links_) {
    if (device == from) continue;
    if (link.eager) {
      ++counters_.pushed;
      out.emplace_back(Push{device, id});
      continue;
    }
    link.due.push_back(id);
    if (digestDueMs_ < 0) digestDueMs_ = nowMs + limits_.digestMs;
  }
}

void BroadcastTree::found(const BroadcastId& id) {
  const auto at = missing_.find(id);
  if (at == missing_.end()) return;
  for (const std::string& device : at->second.announcers) release(device);
  missing_.erase(at);
}

void BroadcastTree::release(const std::string& device) {
  if (const auto at = links_.find(device); at != links_.end() && at->second.missing > 0) --at->second.missing;
}

void BroadcastTree::onHave(const std::string& device, Link& link, const std::vector<BroadcastId>& ids,
                           std::int64_t nowMs) {
  for (const BroadcastId& id : ids) {
    if (knows(id)) continue;
    if (link.broken >= limits_.broken || link.missing >= limits_.missing || !isWanted(id)) {
      ++counters_.stale;
      continue;
    }
    Missing& missing = missing_[id];
    if (missing.announcers.empty() && missing.asked.empty()) missing.dueMs = nowMs + limits_.graftMs;
    if (missing.announcers.size() >= limits_.announcers || missing.asked == device ||
        std::ranges::find(missing.announcers, device) != missing.announcers.end())
      continue;
    missing.announcers.push_back(device);
    ++link.missing;
  }
}

// Asks the next that has announced it.
void BroadcastTree::graft(const BroadcastId& id, Missing& missing, std::int64_t nowMs, TreeEffects& out) {
  if (const auto at = links_.find(missing.asked); at != links_.end() && ++at->second.broken == limits_.broken)
    ++counters_.distrusted;
  missing.asked.clear();
  if (missing.announcers.empty()) return;
  missing.asked = missing.announcers.front();
  missing.announcers.erase(missing.announcers.begin());
  missing.dueMs = nowMs + limits_.graftAgainMs;
  release(missing.asked);
  links_.find(missing.asked)->second.eager = true;
  ++counters_.grafts;
  out.emplace_back(Tell{missing.asked, {.kind = TreeKind::graft, .ids = {id}}});
}

}  // namespace witan::overlay
