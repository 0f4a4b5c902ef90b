@0xd4c1f0a72e8b9635;
# A device that carries a link for two others that cannot reach each other, on the stream of replication/sync.capnp (the
# frame header is the same, these types are 71 to 76; node/cluster/cluster.capnp has the rest from 64 on).
#
#   asker -- TunnelOpen --> relay -- TunnelOffer --> target;  target -- TunnelOpened --> relay -- TunnelOpened --> asker;
#   then TunnelData and TunnelCredit both ways, until one of the three says TunnelClose.
#
# The bytes are TLS records between asker and target: the relay passes them on and can read none. All of it goes over
# direct links only, so a tunnel has one relay and no loop is possible.
#
# A tunnel has a number on each of its two links, given by whoever opens it there (the asker, then the relay), rising,
# and never given twice on one link: odd ones by the end whose device id is the smaller, even ones by the other. Data
# for a number that was closed may still be under way and is passed over; one that was never given ends the link.
#
# Credit goes from end to end. An end may have 262,144 under way; a TunnelData costs its bytes and 256 more. The other
# end gives credit back when its own link has taken the bytes, in lumps of 32,768 at the least. The relay counts along:
# so much is the most that it may ever hold of a tunnel and direction, and whoever sends more loses its link. (An end
# that gives credit for what it has not read fills the queue towards itself, until that link's limit ends it.)
#
# The C++ side is node/relay/tunnel_messages.h; members stand there in the same order. Fields are only ever appended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::node::wire");

struct TunnelOpen {             # type 71, asker to relay
  tunnel @0 :UInt64;
  device @1 :Text;              # the target
}

struct TunnelOffer {            # type 72, relay to target
  tunnel @0 :UInt64;
  device @1 :Text;              # the asker, as the relay knows it; TLS proves it
}

struct TunnelOpened {           # type 73, target to relay to asker
  tunnel @0 :UInt64;
}

struct TunnelData {             # type 74, both ways
  tunnel @0 :UInt64;
  bytes @1 :Data;               # 1 to 32,768
}

struct TunnelCredit {           # type 75, both ways
  tunnel @0 :UInt64;
  bytes @1 :UInt32;             # as TunnelData costs
}

struct TunnelClose {            # type 76, both ways; also the refusal of an open or an offer
  tunnel @0 :UInt64;
  why @1 :UInt16;               # 0 closed, 1 no link with it, 2 does not carry, 3 not wanted, 4 too many, 5 no answer,
                                # 6 a link of the relay has ended
  reason @2 :Text;              # for the log; at most 512 bytes
}
