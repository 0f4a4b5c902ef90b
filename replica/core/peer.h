// Peer: one connected device: its session, what is known of its copies of the partitions, and what goes to it at the
// end of the round. Plain data of the replica's parts; dropped with the connection.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "replica/core/follower_progress.h"
#include "replica/core/messages.h"
#include "replication/sync_session.h"

namespace witan::node {

// One partition, between this device and a peer.
struct PeerPartition {
  FollowerProgress follower;  // the peer's copy, and entries to it
  bool asked = false;         // this device has asked the peer to send; only when its position is known
  bool ackDue = false;        // for entries from the peer
};

struct Peer {
  std::unique_ptr<replication::SyncSession> session;
  std::string owner;  // its name as an owner of epochs; empty: not known
  bool greeted = false;
  bool endReported = false;  // the end of the session was reported
  bool cut = false;          // it sent what it may not: the connection ends
  bool keeper = true;        // of ledgers
  std::string farewell;      // why the session is to end, once this side's standing is sent; empty: it is not
  std::string out;           // frames for the end of the round
  std::map<std::string, PeerPartition, std::less<>> partitions;
  PeerAdvertisement news;  // to be sent
  bool newsDue = false;

  // Whether it is a member, with which more than membership is shared.
  bool full() const { return !cut && session->full(); }
};

using Peers = std::map<std::string, Peer, std::less<>>;

}  // namespace witan::node
