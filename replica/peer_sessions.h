// PeerSessions: the connections to peers: a replication session for each, frames in and out, and what membership
// demands of sessions.
//
// It hands each frame of adjudication.capnp to the part that handles it. A part of Replica; the other parts outlive it.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "replica/core/replica_state.h"

namespace witan::node {

class AdvertisementExchange;
class EntryReplicator;
class BaseTransfer;
class CopyPruning;
class HeadExchange;
class RequestRouter;
struct Outgoing;

class PeerSessions {
 public:
  PeerSessions(ReplicaState& state, AdvertisementExchange& exchange, EntryReplicator& entries, RequestRouter& router,
               HeadExchange& heads, CopyPruning& pruning, BaseTransfer& bases)
      : state_(state),
        exchange_(exchange),
        entries_(entries),
        router_(router),
        heads_(heads),
        pruning_(pruning),
        bases_(bases) {}

  void connected(const std::string& peer, Now now);
  void disconnected(const std::string& peer);
  // One whole frame, header included. A bad one ends the connection.
  void received(const std::string& peer, std::string_view frame, Now now);
  void tick(Now now);
  // When send() has something to say after `nowMs`, if nothing else happens.
  std::int64_t nextMs(std::int64_t nowMs) const;
  // Ends the sessions that a change of membership ends, and acknowledges retirements.
  void runMembershipMaintenance();
  // Greets members that are new.
  void greet();
  // Hands out the frames of the round. Requires: the last step that writes to a peer is over.
  void send(Now now, std::vector<Outgoing>& out);
  bool quiet() const;

 private:
  void dispatch(const std::string& from, Peer& peer, std::uint8_t type, std::string_view bytes, Now now);

  ReplicaState& state_;
  AdvertisementExchange& exchange_;
  EntryReplicator& entries_;
  RequestRouter& router_;
  HeadExchange& heads_;
  CopyPruning& pruning_;
  BaseTransfer& bases_;
  std::uint64_t statementsSeen_ = 0;
  std::map<std::string, std::int64_t> graftedMs_;  // by space: when a link was last asked to be eager
};

}  // namespace witan::node
