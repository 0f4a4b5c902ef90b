@0xb7d2e94c1fa0c365;
# What daemons say to each other about the cluster itself, on the stream of replication/sync.capnp (the frame header is
# the same, these types begin at 64; on a stream for enrolment nothing else is said).
#
# The C++ side is node/cluster/messages.h; members stand there in the same order. Fields are only ever appended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::node::wire");

struct RosterMessage {          # type 64: the newest roster that the sender knows; on connecting, and whenever it changes
  document @0 :Data;            # a SignedDocumentBody of kind roster (replication/records/records.capnp); may be empty
  dated @1 :Int64;              # microseconds: then the admin's device had no later one; 0: nobody has said so
  datedVersion @2 :UInt64;      # of that roster
  dateSignature @3 :Text;       # in hex, by the admin's key over dateText() (node/cluster/roster_store.h)
  revocation @4 :Text;          # to who is no member any more, instead of the document (node/cluster/revocation.h)
  sent @5 :Int64;               # microseconds, by the sender's clock; 0: an older program does not say it
}

struct JoinRequest {            # type 65, from a device that would like to be a member; its key is that of the stream
  tokenId @0 :Text;             # empty: without a token, it asks to be approved
  secret @1 :Text;              # of the token
  name @2 :Text;                # what people call it
  addresses @3 :List(Text);     # where it listens
  proof @4 :Data;               # reserved to the same meaning in later protocols; empty today
}

struct JoinAnswer {             # type 66
  verdict @0 :UInt16;           # 0 refused, 1 pending (a person will look at it: ask again), 2 admitted
  reason @1 :Text;
  device @2 :Text;              # its id
  cluster @3 :Text;
  adminKey @4 :Data;            # Ed25519; the cluster's id is its hash
  clusterKey @5 :Data;          # the secret that members share
  partitions @6 :UInt32;        # of each domain
  document @7 :Data;            # the roster, with the new member in it
  revocation @8 :Text;          # of who asks, instead of it (node/cluster/revocation.h)
}

struct SlicePlace {             # how far somebody's slices of a partition go
  partition @0 :Text;
  batches @1 :UInt64;           # of the partition's log
}

struct SliceHave {              # type 67, from a device that keeps no ledgers to one that does, on connecting
  places @0 :List(SlicePlace);
}

struct Slice {                  # type 68, back: what one role sees of one entity (Def. A.7)
  domain @0 :Text;
  entity @1 :Text;
  role @2 :Text;
  state @3 :Text;               # canonical JSON of the fields in the role's footprint
  frozen @4 :Bool;
  time @5 :Int64;               # of the newest entry in it, microseconds
  partition @6 :Text;
  batches @7 :UInt64;           # it rests on so many
}

struct SliceUpTo {              # type 69, back: everything up to here has been sent
  place @0 :SlicePlace;
}

struct RotateKey {              # type 70, from a member to one that holds the admin's key
  key @0 :Data;                 # Ed25519, the next one
  proof @1 :Data;               # signature by that key over "witan rotate|{device}|{hex of the key}"
}

struct EntryAsk {               # type 77, from a device with the role ledger to one that keeps a copy of the partition
  id @0 :UInt64;                # of the question, repeated in the answer
  partition @1 :Text;
  seq @2 :UInt64;               # of the entry; 0: the newest head alone
  size @3 :UInt64;              # of the tree of the proof; 0: the head's
  since @4 :UInt64;             # size of an earlier tree: the path from it to this one is asked; 0: none
}

struct EntryTold {              # type 78, back; it is believed by what it proves (node/ledgers/held_entry.h)
  id @0 :UInt64;
  verdict @1 :UInt16;           # 0 refused, 1 busy (ask again), 2 told
  reason @2 :Text;              # of a refusal, for people
  head @3 :Text;                # a signed head of the log: a note
  proof @4 :Text;               # JSON, as /v1/ledger/proof has it without the device's own statement; empty: no entry was asked
}
