// BroadcastTree: over which links a message goes on at once, and over which only its name. After Plumtree (Leitao,
// Pereira, Rodrigues: "Epidemic broadcast trees", 2007).
//
//   eager links   get each message as it comes; together those of all devices are a tree
//   lazy links    get digests: the ids of what is here
//   prune         a message came a second time: that link becomes lazy, at both ends
//   graft         a digest came and the message did not, for a while: that link becomes eager, and sends it
//
// All links begin eager; the first messages prune them to a tree, and a lost link is repaired by the digests beside it.
// Messages themselves are the caller's: it is told to send one, checks what comes and only then says received(). What a
// session brings to equality in another way (anti-entropy) is received() too.
//
// Bounds. Per origin a number says which are known, with a window of numbers above it; an id outside the window is left
// to anti-entropy, so a digest that is replayed, or made up, costs nothing. A link that announces what it then does not
// send loses its word: its digests count no more until it sends a message. What is missing is bounded for each link.
//
// Links, ids and the time go in; effects come out, in order. No I/O, clock, chance. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "overlay/messages.h"

namespace witan::overlay {

struct TreeLimits {
  std::int64_t digestMs = 200;      // ids are gathered so long before a digest leaves
  std::int64_t graftMs = 400;       // after a digest, before the message is asked for
  std::int64_t graftAgainMs = 400;  // then from the next that has it
  std::uint64_t window = 4'096;     // numbers of one origin above the last of which all before are known
  std::size_t origins = 4'096;
  std::size_t missing = 1'024;  // announced by one link, and not here
  std::size_t announcers = 8;   // of one missing message, remembered
  std::size_t broken = 16;      // announcements that a link may break before its word counts no more
};

// --- effects
struct Push {  // the message, over this link
  std::string device;
  BroadcastId id;
};
struct Tell {
  std::string device;
  TreeMessage message;
};
using TreeEffect = std::variant<Push, Tell>;
using TreeEffects = std::vector<TreeEffect>;

struct TreeCounters {
  std::uint64_t pushed = 0, repeated = 0, grafts = 0, prunes = 0, stale = 0, distrusted = 0;
};

class BroadcastTree {
 public:
  // `mayOriginate`: whether there is such an origin, for all that comes from others.
  BroadcastTree(TreeLimits limits, std::function<bool(std::string_view origin)> mayOriginate)
      : limits_(limits), mayOriginate_(std::move(mayOriginate)) {}

  void linkUp(const std::string& device) { links_.insert_or_assign(device, Link{}); }
  void linkDown(const std::string& device);

  // A message of this device.
  void publish(const BroadcastId& id, std::int64_t nowMs, TreeEffects& out);
  // A message that came and was found good. False: it was known.
  bool received(const std::string& device, const BroadcastId& id, std::int64_t nowMs, TreeEffects& out);
  // Errors: what no honest device sends; the link is to end.
  Status received(const std::string& device, const TreeMessage& message, std::int64_t nowMs, TreeEffects& out);

  void tick(std::int64_t nowMs, TreeEffects& out);
  // When tick() has something to do.
  std::int64_t nextMs() const;

  bool knows(const BroadcastId& id) const;
  bool isEager(std::string_view device) const;
  std::size_t missing() const { return missing_.size(); }
  const TreeCounters& counters() const { return counters_; }

 private:
  struct Link {
    bool eager = true;
    std::vector<BroadcastId> due;  // for the next digest
    std::size_t missing = 0, broken = 0;
  };
  struct Known {  // of one origin
    std::uint64_t upTo = 0;
    std::set<std::uint64_t> above;
  };
  struct Missing {
    std::vector<std::string> announcers;  // not asked yet, in the order in which they announced it
    std::string asked;
    std::int64_t dueMs = 0;
  };

  bool learn(const BroadcastId& id);
  bool isWanted(const BroadcastId& id) const;
  void spread(const BroadcastId& id, std::string_view from, std::int64_t nowMs, TreeEffects& out);
  void found(const BroadcastId& id);
  void onHave(const std::string& device, Link& link, const std::vector<BroadcastId>& ids, std::int64_t nowMs);
  void graft(const BroadcastId& id, Missing& missing, std::int64_t nowMs, TreeEffects& out);
  void release(const std::string& device);

  const TreeLimits limits_;
  const std::function<bool(std::string_view)> mayOriginate_;
  std::map<std::string, Link, std::less<>> links_;
  std::map<std::string, Known, std::less<>> known_;
  std::map<BroadcastId, Missing> missing_;
  std::int64_t digestDueMs_ = -1;  // -1: none waits
  TreeCounters counters_;
};

}  // namespace witan::overlay
