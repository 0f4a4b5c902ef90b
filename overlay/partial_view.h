// PartialView: to which devices of a large cluster this one keeps links. After HyParView (Leitao, Pereira, Rodrigues:
// "HyParView: a membership protocol for reliable gossip-based broadcast", 2007).
//
//   active view    a few devices, linked, in both directions: each end has the other in its view
//   passive view   more devices, not linked: from here a lost link is replaced. It is filled by walks of joins and by
//                  shuffles, in which two devices tell each other parts of their views
//
// What differs, and why. Members may lie about their views to surround a device with their like (an eclipse):
//   * views hold ids; where a device is says the Directory, so a forged address cannot be told at all;
//   * every second candidate for a link is drawn from the Directory, by this device's own dice: no peer's word decides
//     all of a view, and an empty passive view is not the end;
//   * of the links, at least ViewLimits::own were dialled from here: requests of others cannot displace these;
//   * views have bounds for each site and each address, by how many of them the Directory has;
//   * what one link may cause in a while is bounded: joins, walks, shuffles, links that are displaced;
//   * now and then a link gives way to one from the Directory: two halves that have lost each other meet again.
// A link through a third device counts as any other.
//
// Links, frames and the time go in; what is to be done comes out as effects, in order. No I/O, no clock, no chance but
// the Random handed in. Directory and Random outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/seams.h"
#include "overlay/directory.h"
#include "overlay/messages.h"

namespace witan::overlay {

struct ViewLimits {
  std::size_t links = 8;   // in the active view, at most
  std::size_t target = 5;  // this device dials until it has so many
  std::size_t own = 2;     // of the links, kept for those that it dialled
  std::size_t passive = 32;
  std::size_t dials = 2;  // under way at a time
  std::uint16_t joinWalk = 6, passiveWalk = 3, shuffleWalk = 4;
  std::size_t shuffled = 8;  // devices in one shuffle
  std::int64_t shuffleMs = 60'000, rotateMs = 300'000;
  std::int64_t answerMs = 6'000;                       // a dial, and the answer to a request
  std::int64_t refusedMs = 10'000, failedMs = 30'000;  // until the device is asked, or dialled, again
  // One link may send so many walks in a while; more of them are dropped, beyond the second number the link ends.
  std::size_t walks = 64, floods = 1'024;
  std::int64_t windowMs = 10'000, displaceMs = 2'000;
};

// --- effects
struct Dial {
  std::string device;
};
struct HangUp {  // a link, or a dial that is under way
  std::string device, why;
};
struct Say {
  std::string device;
  ViewMessage message;
};
struct Entered {  // the active view
  std::string device;
};
struct Gone {  // from the active view
  std::string device;
};
using ViewEffect = std::variant<Dial, HangUp, Say, Entered, Gone>;
using ViewEffects = std::vector<ViewEffect>;

struct ViewCounters {
  std::uint64_t dials = 0, refused = 0, displaced = 0, dropped = 0, rotated = 0;
};

class PartialView {
 public:
  PartialView(std::string self, ViewLimits limits, const Directory& directory, Random& random, std::int64_t nowMs);

  // The first contact of a device that has just been admitted. Without it the Directory is the way in.
  void join(const std::string& contact, std::int64_t nowMs, ViewEffects& out);
  // This device has work for others (it proposes to them, as owners): they are linked, and not displaced. At most half
  // of the links; those beyond are left out.
  void prefer(std::set<std::string, std::less<>> devices, std::int64_t nowMs, ViewEffects& out);
  // The Directory has changed: devices that are no members any more leave both views.
  void directoryChanged(std::int64_t nowMs, ViewEffects& out);

  // --- links
  // `dialled`: from here.
  void linkUp(const std::string& device, bool dialled, std::int64_t nowMs, ViewEffects& out);
  void linkDown(const std::string& device, std::int64_t nowMs, ViewEffects& out);
  void dialFailed(const std::string& device, std::int64_t nowMs, ViewEffects& out);
  void roundTrip(std::string_view device, std::int64_t micros);
  // From a linked device. Errors: what no honest device sends; its link is to end (linkDown follows).
  Status received(const std::string& device, const ViewMessage& message, std::int64_t nowMs, ViewEffects& out);

  void tick(std::int64_t nowMs, ViewEffects& out);
  // When tick() has something to do.
  std::int64_t nextMs() const { return nextMs_; }
  // This device stops: the others need not wait for it.
  void leave(ViewEffects& out);

  // --- reading
  bool isActive(std::string_view device) const { return active_.contains(device); }
  std::vector<std::string> active() const;
  const std::set<std::string, std::less<>>& passive() const { return passive_; }
  std::size_t linked() const { return links_.size(); }
  const ViewCounters& counters() const { return counters_; }

 private:
  struct Neighbour {
    bool ours = false;  // dialled from here
    std::int64_t sinceMs = 0, micros = 0;
  };
  struct Link {  // that is up, in the view or not yet
    bool dialled = false;
    std::int64_t sinceMs = 0, windowMs = 0;
    std::size_t walks = 0;
  };
  struct Request {  // for a place in the view
    bool urgent = false, joins = false, rotates = false;
    std::int64_t sinceMs = 0;
  };
  struct Walk {        // a shuffle that came through here
    std::string back;  // empty: it began here
    std::int64_t sinceMs = 0;
  };
  enum class Room { yes, withOthers, no };

  // --- who
  bool mayHave(std::string_view device) const;
  // Of `view`, without `leaving`: whether site and address of one more are not taken yet.
  template <class View>
  bool fitsPlace(const View& view, std::size_t size, std::string_view device, std::string_view leaving = {}) const;
  std::string candidate(std::int64_t nowMs);
  bool isCandidate(const std::string& device, std::int64_t nowMs) const;
  template <class Map>
  std::string drawFrom(const Map& map, const std::set<std::string_view>& except = {});
  std::size_t theirs() const;
  std::size_t ownNow() const { return active_.size() - theirs(); }

  // --- changes
  void fill(std::int64_t nowMs, ViewEffects& out);
  void request(const std::string& device, Request request, ViewEffects& out);
  void ask(const std::string& device, const Request& request, ViewEffects& out);
  void enter(const std::string& device, bool ours, std::int64_t nowMs, ViewEffects& out);
  // Out of the view; the link ends.
  void dismiss(const std::string& device, std::string_view why, std::int64_t nowMs, ViewEffects& out);
  void put(const std::string& device);
  void later(const std::string& device, std::int64_t untilMs);
  bool makeRoom(const std::string& device, bool urgent, std::int64_t nowMs, ViewEffects& out);
  void rotate(std::int64_t nowMs, ViewEffects& out);
  void shuffle(std::int64_t nowMs, ViewEffects& out);
  std::vector<std::string> sample();
  void integrate(const std::vector<std::string>& devices);
  std::int64_t jittered(std::int64_t ms);

  // --- messages
  void onRequest(const std::string& device, const ViewMessage& message, std::int64_t nowMs, ViewEffects& out);
  Status onAnswer(const std::string& device, bool accepted, std::int64_t nowMs, ViewEffects& out);
  void onForwardJoin(const std::string& device, const ViewMessage& message, std::int64_t nowMs, ViewEffects& out);
  void onShuffle(const std::string& device, const ViewMessage& message, std::int64_t nowMs, ViewEffects& out);
  void onShuffleAnswer(const ViewMessage& message, ViewEffects& out);

  const std::string self_;
  const ViewLimits limits_;
  const Directory& directory_;
  Random& random_;
  std::map<std::string, Neighbour, std::less<>> active_;
  std::set<std::string, std::less<>> passive_, preferred_;
  std::map<std::string, Link, std::less<>> links_;
  std::map<std::string, Request, std::less<>> requests_;
  std::map<std::string, std::int64_t, std::less<>> notBefore_;
  std::map<std::uint64_t, Walk> walks_;
  std::int64_t shuffleDueMs_, rotateDueMs_, displacedMs_ = 0, nextMs_ = 0;
  bool leaving_ = false, fromDirectory_ = false;
  ViewCounters counters_;
};

}  // namespace witan::overlay
