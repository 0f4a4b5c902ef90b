// Checker "liveness", its parts about the overlay: how soon an update crosses a link that was there all the time, how
// many links a device has that has lost none, and that links change. Told from what the network did and from the
// vectors of the devices; nothing here asks the overlay what it wants.
//
// Values; each rule says "" or what is wrong. Times are those of the run.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace witan::sim {

using Ends = std::pair<std::uint32_t, std::uint32_t>;

// Since when something holds of two devices, look by look.
class HeldSince {
 public:
  void look(Ends ends, bool holds, std::int64_t now) {
    if (holds)
      since_.try_emplace(ends, now);
    else
      since_.erase(ends);
  }
  void end(Ends ends) { since_.erase(ends); }
  void endAll(std::uint32_t device) {
    std::erase_if(since_, [&](const auto& one) { return one.first.first == device || one.first.second == device; });
  }
  bool before(Ends ends, std::int64_t at) const {
    const auto found = since_.find(ends);
    return found != since_.end() && found->second <= at;
  }
  const std::map<Ends, std::int64_t>& all() const { return since_; }

 private:
  std::map<Ends, std::int64_t> since_;
};

// What one end of a link has, the other has soon: over the tree, or because a digest shows it and it is asked for.
// Sooner than replication/tree_link.h sends it anyway, since that hides a tree that is not repaired.
class LateUpdates {
 public:
  static constexpr std::int64_t kWarm = 10'000'000;  // a link that is so old counts
  static constexpr std::int64_t kSoon = 2'500'000;   // a digest and a graft, and three that were in vain

  // `ends`: who has it, and who is to get it.
  void sees(Ends ends, bool holds, std::int64_t now) { seen_.look(ends, holds, now); }
  void linkedAnew(Ends ends) { seen_.end(ends), seen_.end({ends.second, ends.first}); }
  // It has the space, and so many commits of the writer.
  void has(std::uint32_t device, const std::string& space, const std::string& writer, std::uint64_t commits,
           std::int64_t now);
  void stopped(std::uint32_t device);
  std::string late(std::int64_t now);
  // Updates that were looked for at the other end of a link.
  std::uint64_t judged() const { return judged_; }

 private:
  struct Update {
    std::uint32_t device;
    std::string space, writer;
    std::uint64_t commits;
    std::int64_t at;
  };
  std::string lateOf(const Update& update);

  HeldSince seen_;
  std::deque<Update> young_;
  std::map<std::uint32_t, std::map<std::string, std::map<std::string, std::uint64_t>>> has_;
  std::uint64_t judged_ = 0;
};

// A device keeps a link with a neighbour on each side and one of its own choice (docs/SCALE.md), if others go, too.
class FewLinks {
 public:
  static constexpr std::int64_t kSettled = 120'000'000;  // a link that died without a word is missed after 60 s
  static constexpr std::size_t kLeast = 3, kOthers = 8;

  // Both run, and nothing is cut between them.
  void reaches(Ends ends, bool holds, std::int64_t now) { reached_.look(ends, holds, now); }
  // With whom it has a connection.
  void links(std::uint32_t device, const std::set<std::uint32_t>& others, std::int64_t now);
  void stopped(std::uint32_t device) { reached_.endAll(device), lives_.erase(device); }
  std::string tooFew(std::uint32_t device, std::int64_t now) const;

 private:
  struct Life {
    std::set<std::uint32_t> links;
    std::int64_t since = 0;  // it has lost none
  };
  HeldSince reached_;
  std::map<std::uint32_t, Life> lives_;
};

// Each device makes its choices anew every 15 to 45 minutes: some pairs of many are linked for the first time.
class SameLinks {
 public:
  static constexpr std::int64_t kSpan = 50LL * 60 * 1'000'000;
  static constexpr std::size_t kMostKnown = 64;  // faults link so many that new choices may all be old pairs

  void linked(Ends ends, std::int64_t now) { first_.try_emplace(std::minmax(ends.first, ends.second), now); }
  std::string same(std::int64_t now) const;

 private:
  std::map<Ends, std::int64_t> first_;
};

}  // namespace witan::sim
