// Membership: who belongs to the cluster, as a pure function of the set of statements. No vote, no leader: replicas
// with the same statements have the same membership, whatever the order in which they came.
//
// A device joins under an admission (1, 2, ...). It leaves when others state so:
//   propose   any device says that it shall leave; from then on nobody opens a session with it. In a cluster with a
//             roster it counts once the roster says so too (MayRetire);
//   ack       every other member says once how much it has of it and of all others that are leaving: what came from
//             one through the other must be in one of the two acks. What a member's sponsor had acked when it admitted
//             the member counts for the member too: it starts with the sponsor's copy and knows the proposal.
//   retired   all members that stay have acked it. Several leave together: a silent one is retired too, and then its
//             ack is not waited for, but all who stay must have acked both.
// The final counter of each of its writers is the maximum over all acks, so it is never below what any active device
// has committed. (Retirement of the design; it closes F14: clocks need not carry the retired.)
//
// Guarantees, for a set that grows by whole sets of others (tests/replication/membership_{model,walk}_test.cpp):
//   a retirement, once complete, stays complete; final counters and the epoch never decrease.
// For this a device whose sponsor leaves, and of which somebody did not know when acking the sponsor, leaves too and
// must join anew. And two halves that retire each other retire everybody: then the operator founds anew with statements
// of its own. Nothing is lost by either: those who return re-issue what the others lack.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "replication/statement.h"

namespace witan::replication {

struct Member {
  std::string device;
  std::uint32_t admission = 1;
  friend auto operator<=>(const Member&, const Member&) = default;
  friend bool operator==(const Member&, const Member&) = default;
};

using ClocksBySpace = std::map<std::string, VectorClock, std::less<>>;

struct ActiveMember {
  Member member;
  std::string name;
  friend bool operator==(const ActiveMember&, const ActiveMember&) = default;
};

struct RetiringMember {
  Member member;
  std::string name;
  bool proposed = true;  // else: its sponsor is, and somebody acked that one without knowing of this one
  std::vector<Member> acked;
  std::vector<Member> missing;  // not retired and no ack: ask them to connect, or retire them too
  friend bool operator==(const RetiringMember&, const RetiringMember&) = default;
};

struct RetiredMember {
  Member member;
  std::string name;
  ClocksBySpace finals;  // F[space][writer]; a writer of the device that is not in it has 0
  friend bool operator==(const RetiredMember&, const RetiredMember&) = default;
};

WITAN_ENUM(Standing, unknown, active, retiring, retired)

constexpr const char* toString(Standing standing) { return enumName(standing).data(); }

struct Membership {
  // Each by device, then admission.
  std::vector<ActiveMember> active;
  std::vector<RetiringMember> retiring;
  std::vector<RetiredMember> retired;
  ClocksBySpace finals;  // of all the retired together

  // Admissions plus completed retirements: it grows with every step and so says which of two replicas is behind; the
  // hash says whether they agree. `hash` is of what is completed; `statements` of all statements that count, and two
  // replicas exchange statements when it differs.
  std::uint64_t epoch = 0;
  Hash hash{};
  Hash statements{};

  std::size_t waiting = 0;  // statements whose past is incomplete; they do not count yet
  std::vector<Dot> forked;  // two different statements of one dot; the one with the smaller bytes counts

  // The standing of a device's latest admission. Data sessions are for `active` devices only. O(members).
  Standing standing(std::string_view device) const;
  // The one to admit it under next: 1 for a stranger.
  std::uint32_t nextAdmission(std::string_view device) const;
  // The devices whose acks stability needs: all that are not retired, since retiring ones may still be cut off with
  // what they have (replication/stability.h). Sorted, once each.
  std::vector<std::string> presentDevices() const;

  friend bool operator==(const Membership&, const Membership&) = default;
};

// The members that a device has to ack now (retireAck, one for each), and the acks: its committed counters of all
// writers of all devices that are leaving. `committed` is its vector by space.
std::vector<Member> acksDue(const Membership& membership, std::string_view device);
std::vector<AckedCounter> countersToAck(const Membership& membership, const ClocksBySpace& committed);

// Whether a proposal that a device shall leave counts; empty: each does. It may never change from yes to no.
using MayRetire = std::function<bool(std::string_view device)>;

// O(n log n) for n statements, plus retirements times members times the depth of admissions.
Membership membershipOf(std::span<const Statement> statements, const MayRetire& mayRetire = {});

}  // namespace witan::replication
