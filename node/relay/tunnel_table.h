// TunnelTable: the tunnels that one device has a part in (node/relay/tunnel.capnp), as books without sockets: those
// that end here, as asker or target, and those that it carries for others. Ids, credit, limits, and who may.
//
// Frames, bytes and the time go in; what is to be done comes out as effects, in order. node/relay/relay_manager.h
// carries them out. Never more than one window of a tunnel and direction is under way, whatever the others do.
//
// "Linked" means: there is a direct link, so the other is an active member and not cut off by an operator. The links'
// owner sees to that and says so at once when it ends; here nobody else is carried, or carried for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "node/relay/tunnel_messages.h"

namespace witan::node {

using TunnelId = std::uint64_t;  // of a tunnel that ends here; never given twice, never 0

struct TunnelLimits {
  std::size_t carried = 128;   // for others, at a time
  std::size_t perDevice = 64;  // of these, with one device at an end of them
  std::size_t perPair = 4;     // of these, of one asker and one target
  std::size_t ends = 128;      // that end here
  // What one link may open (or offer) in a while: more is refused, and beyond the second number the link ends.
  std::size_t opens = 64, floods = 512;
  std::size_t offersPerAsker = 16;  // of the offers to one target (`opens`): who asks on leaves room for the others
  std::int64_t openWindowMs = 10'000;
};

// --- effects
struct TunnelSend {  // over the direct link
  std::string device, frames;
};
struct TunnelOffered {  // somebody would like to reach this device: accept() or close()
  TunnelId id;
  std::string relay, other;
};
struct TunnelStands {  // one that was asked for
  TunnelId id;
  std::string relay, other;
};
struct TunnelArrived {
  TunnelId id;
  std::string bytes;
};
struct TunnelRoom {  // room() has grown
  TunnelId id;
};
struct TunnelGone {  // also one that was refused, or closed from here
  TunnelId id;
  std::string relay, other;
  bool asked;  // by this device
  TunnelWhy why;
  std::string reason;
};
struct TunnelCarried {  // between two others: from now on, or (ended) no more
  std::string from, to;
  bool ended;
  std::uint64_t bytes;
  std::string reason;
};
using TunnelEffect =
    std::variant<TunnelSend, TunnelOffered, TunnelStands, TunnelArrived, TunnelRoom, TunnelGone, TunnelCarried>;
using TunnelEffects = std::vector<TunnelEffect>;

struct TunnelCounters {
  std::uint64_t carried = 0, refused = 0, bytes = 0;  // for others, since the start
  std::uint64_t absent = 0;  // asked for while there was no link with the device; not in `refused`
};

class TunnelTable {
 public:
  // `carries`: for others. `self`: this device.
  TunnelTable(std::string self, bool carries, TunnelLimits limits = {});

  // --- links
  void linked(const std::string& device);
  void unlinked(const std::string& device, std::string_view why, TunnelEffects& out);
  bool isLinked(const std::string& device) const { return links_.contains(device); }
  // A whole frame with isTunnelFrame(). Errors: what no honest device sends; the link is to end.
  Status received(const std::string& device, std::string_view frame, std::int64_t nowMs, TunnelEffects& out);

  // --- tunnels that end here
  // 0: no link with the relay, or too many tunnels.
  TunnelId ask(const std::string& relay, const std::string& other, TunnelEffects& out);
  void accept(TunnelId id, TunnelEffects& out);
  void close(TunnelId id, TunnelWhy why, std::string_view reason, TunnelEffects& out);
  std::size_t room(TunnelId id) const;  // so many bytes may be sent now, in one go
  // Requires: 1 to room(id) bytes.
  void send(TunnelId id, std::string_view bytes, TunnelEffects& out);
  // The link has taken the bytes of one TunnelArrived.
  void taken(TunnelId id, std::size_t bytes, TunnelEffects& out);

  std::size_t ends() const { return ends_.size(); }
  std::size_t carrying() const { return legs_.size() / 2; }
  const TunnelCounters& counters() const { return counters_; }

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // a link, and the number on it
  struct LinkState {
    std::uint64_t lastOurs = 0, lastTheirs = 0, oddIsTheirs = 0;
    std::int64_t windowStart = 0;
    std::size_t opens = 0;
    std::int64_t offersSince = 0;
    std::size_t offers = 0;  // to it, for others: never so many that it takes this device for a flood
    std::map<std::string, std::size_t, std::less<>> offersOf;  // by asker, also with new links
  };
  struct End {
    Key key;
    std::string other;
    bool asked = false, stands = false;
    std::size_t credit = kTunnelWindow;  // that this end may still send
    std::size_t held = 0, untold = 0;    // what came and was not given back; of it, what the link has taken
  };
  struct Leg {  // of a tunnel that is carried: one of the two
    Key peer;
    bool asker = false, stands = false;
    std::size_t underWay = 0;  // from this leg's device to the other, and not given back
    std::uint64_t bytes = 0;
  };

  std::uint64_t newNumber(const std::string& device);
  bool wasGiven(const std::string& device, std::uint64_t number) const;
  enum class Opening { allowed, tooOften };
  // ok: a number that was closed, whose frames may still come.
  Status notHere(const Key& key) const;
  Result<Opening> onOpening(const std::string& device, std::uint64_t number, std::int64_t nowMs);
  template <class T>
  static void tell(const std::string& device, const T& message, TunnelEffects& out) {
    out.emplace_back(TunnelSend{device, clusterFrame(message)});
  }
  static void tellClose(const Key& key, TunnelWhy why, std::string_view reason, TunnelEffects& out);

  Status onOpened(const Key& key, TunnelEffects& out);
  Status onData(const Key& key, const TunnelData& data, TunnelEffects& out);
  Status onCredit(const Key& key, std::size_t bytes, TunnelEffects& out);
  Status onClose(const Key& key, const TunnelClose& close, TunnelEffects& out);
  Status onOffer(const Key& key, const std::string& other, std::int64_t nowMs, TunnelEffects& out);
  void gone(TunnelId id, TunnelWhy why, std::string_view reason, TunnelEffects& out);

  // ---- tunnels of others
  Status onOpen(const Key& key, const std::string& target, std::int64_t nowMs, TunnelEffects& out);
  bool offersTooOften(const std::string& asker, const std::string& target, std::int64_t nowMs);
  std::pair<TunnelWhy, std::string> mayOpen(const std::string& asker, const std::string& target) const;
  Status passOpened(const Key& key, Leg& leg, TunnelEffects& out);
  Status passData(Leg& leg, const TunnelData& data, TunnelEffects& out);
  Status passCredit(const Leg& leg, std::size_t bytes, TunnelEffects& out);
  void endCarried(const Key& key, std::string_view reason, TunnelEffects& out);

  const std::string self_;
  const bool carries_;
  const TunnelLimits limits_;
  std::map<std::string, LinkState, std::less<>> links_;
  std::map<TunnelId, End> ends_;
  std::map<Key, TunnelId> endOf_;
  std::map<Key, Leg> legs_;
  TunnelId last_ = 0;
  TunnelCounters counters_;
};

}  // namespace witan::node
