@0xb7e3d24c91f05a68;
# How devices keep a partial mesh, on the stream of replication/sync.capnp (the frame header is the same; this type is
# 77). A device is named by its id only: where it is says the roster, which the admin has signed, and no other device.
#
#   a new link:   the end that dialled -- join or neighbour --> the other;  <-- neighbourAnswer --
#   join          goes on from there as forwardJoin, to each of its links and from each to one more, `ttl` times
#   shuffle       goes `ttl` steps from link to link; its answer comes back the same way, under the nonce
#   disconnect    this link is no part of the mesh any more; nothing follows
#
# The C++ side is overlay/messages.h; members stand there in the same order. Fields are only ever appended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::overlay::wire");

enum ViewKind {
  join @0;
  forwardJoin @1;
  neighbour @2;
  neighbourAnswer @3;
  disconnect @4;
  shuffle @5;
  shuffleAnswer @6;
}

struct ViewMessage {            # type 77
  kind @0 :ViewKind;
  device @1 :Text;              # forwardJoin: who has joined
  ttl @2 :UInt16;               # forwardJoin, shuffle
  urgent @3 :Bool;              # neighbour: the sender has no other link, or needs this one
  accepted @4 :Bool;            # neighbourAnswer
  nonce @5 :UInt64;             # shuffle, shuffleAnswer
  devices @6 :List(Text);       # shuffle, shuffleAnswer: of the sender's views, itself among them
}
