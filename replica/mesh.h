// Mesh: which other devices of the roster this device keeps links with. Each device knows the whole roster, so nobody
// has to be asked for names; what is decided here is whom to dial, and which links may end.
//
//   ring     the roster in an order that everybody computes (sha256). A device links with the next one in it and with
//            the one before; who does not answer is passed over, and tried again beside that. A ring of those that
//            answer connects all of them, so the overlay heals whatever fails.
//   own      devices that this one chose by a secret of its own, so that no member can arrange to be all its links;
//            others after a while, so that a device among liars does not stay among them
//   group    devices that have to be connected among themselves (the ledgers' copies, a scope): all of them if they
//            are few, else rings of their own
//   way      for a device without copies of the ledgers: two that keep them, by rendezvous hashing
//   need     devices that this one waits for now (owners). If one cannot be linked directly, its neighbours in the
//            rings, of which one may carry (node/relay/relay_manager.h)
//   guest    who has linked itself without any of these. So many only, and of one site (the first three numbers of
//            its address) and address no more than of others.
//
// With at most `links` + 1 devices all link with all, and nothing here ends a link.
//
// Values, no I/O: time comes as an argument, chance from the seed. Not thread-safe. After any call, update().
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/seams.h"

namespace witan::node {

// [network] links
inline constexpr std::size_t kUsualLinks = 8, kLeastLinks = 4, kMostLinks = 64;
inline constexpr std::string_view kLedgerGroup = "ledger";

struct MeshMember {
  std::string device;
  std::set<std::string, std::less<>> groups;  // kLedgerGroup: it keeps copies of the ledgers
};

class Mesh {
 public:
  static constexpr std::int64_t kPatienceMs = 2'000;   // then others are dialled beside whom does not answer
  static constexpr std::int64_t kLingerMs = 30'000;    // a link that is not wanted any more
  static constexpr std::int64_t kGuestMs = 60'000;     // a guest, where there are more links than `links`
  static constexpr std::int64_t kRefusedMs = 600'000;  // an own choice that has ended so soon is not made again
  static constexpr std::int64_t kOwnMs = 1'800'000;    // an own choice, half as long or half as long again
  static constexpr std::size_t kMostGuests = 32;
  static constexpr std::size_t kWays = 2;

  // `links`: 0, with everybody; else from kLeastLinks on. `seed`: a secret of this device.
  Mesh(std::string self, std::size_t links, std::uint64_t seed)
      : self_(std::move(self)), links_(links), seed_(seed), random_(seed) {}

  // The active devices of the roster, this one among them.
  void setMembers(const std::vector<MeshMember>& members);
  struct Link {
    std::string address;  // of the other end, without the port; empty: not known
    std::string via;      // who carries it; empty: it is direct
    bool pinned = false;  // an operator has configured it
  };
  void linked(const std::string& device, Link link, std::int64_t nowMs);
  void unlinked(const std::string& device, std::int64_t nowMs);
  // Devices that this one waits for, instead of those of the last call.
  void need(std::set<std::string, std::less<>> devices) { needs_ = std::move(devices); }
  // Devices whose links with others this one carries, instead of those of the last call: their own stay.
  void carries(std::set<std::string, std::less<>> devices) { carried_ = std::move(devices); }

  struct Changes {
    std::vector<std::string> dial, rest;  // to be dialled from now on, and not any more
    std::vector<std::string> end;         // links
  };
  Changes update(std::int64_t nowMs);
  // When update() may have something, if nothing else happens.
  std::int64_t nextMs() const { return nextMs_; }

  // All link with all.
  bool full() const { return full_; }
  // Whether a link with it is wanted, as of the last update().
  bool dials(std::string_view device) const { return full_ || dialled_.contains(device); }

 private:
  using Order = std::vector<std::uint32_t>;  // of members
  // Candidates, of whom the first `count` that answer are wanted. A longer reach each time that too few do.
  struct Walk {
    Order order;
    std::size_t count = 1;
    bool nearest = true;  // those before them are tried for ever; else any will do
    bool own = false;     // none that is wanted otherwise
    std::size_t reach = 0;
    std::int64_t lacksMs = -1;  // since when too few answer; -1: enough do
  };
  struct Held : Link {
    std::int64_t sinceMs = 0;
    std::int64_t unwantedMs = -1;
    bool wasWanted = false;
  };
  using Names = std::set<std::string, std::less<>>;

  Order ranked(const Order& devices, const std::string& prefix) const;
  Order waysOf(std::string_view device) const;
  void addOwn();
  void addRings(const Order& members, std::string_view group);
  void addWalk(Walk walk);
  void walk(Walk& walk, Names& wanted, std::int64_t nowMs);
  void wantNeeds(Names& wanted, std::int64_t nowMs);
  std::vector<std::string> neighboursOf(std::string_view device) const;
  bool entitled(const std::string& device);
  void endUnwanted(const Names& wanted, std::int64_t nowMs, std::vector<std::string>& out);
  std::vector<std::string> crowd(const std::vector<std::string>& guests) const;
  std::string crowdingGuest(std::vector<std::string>& guests);
  std::string surplusGuest(const std::vector<std::string>& guests, std::int64_t nowMs);
  void dueAt(std::int64_t ms) { nextMs_ = std::min(nextMs_, ms); }
  std::size_t rings() const { return links_ / 4; }

  const std::string self_;
  const std::size_t links_;
  const std::uint64_t seed_;
  SeededRandom random_;
  bool full_ = true;
  std::vector<std::string> members_;
  std::uint32_t me_ = 0;
  std::vector<Order> rings_;  // of all
  Order keepers_;
  bool keeper_ = false;
  Names others_;  // members but this one
  Names always_;  // of few in a group
  std::vector<Walk> walks_;
  std::map<std::string, Held, std::less<>> held_;
  std::map<std::string, std::int64_t, std::less<>> refused_;  // own choices, until when not to make them
  std::map<std::string, bool, std::less<>> entitled_;         // devices without copies that have their way through this
  std::map<std::string, std::int64_t, std::less<>> neededMs_;
  Names needs_, carried_, dialled_, own_;
  std::uint64_t turn_ = 0;    // of own choices
  std::int64_t turnMs_ = -1;  // when they change; -1: before the first update()
  std::int64_t endedMs_ = 0;  // when the last surplus guest was
  std::int64_t nextMs_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace witan::node
