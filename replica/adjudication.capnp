@0xd1a07c5e4b2f9863;
# What devices say to each other about partitions, on the same stream as the sync protocol (replication/sync.capnp; the
# frame header is the same, these types begin at 32).
#
# Every message may be lost, repeated or late: requests carry operation ids, log entries their place, standings are
# facts that only grow. Nothing here is an order to forget: who is wrong about an epoch finds out by itself.
# The C++ side is replica/core/messages.h; members stand there in the same order. Fields are only ever appended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::node::wire");

struct Request {                # type 32, to the owner
  kind @0 :UInt16;              # 0 propose, 1 init, 2 commit, 3 reject, 4 ingress
  base @1 :UInt16;              # commit: 0 from the candidate, 1 from the current state
  domain @2 :Text;
  entity @3 :Text;
  role @4 :Text;
  operationId @5 :Text;         # repeated in the answer and in every further try
  device @6 :Text;              # of the proposer
  agent @7 :Text;
  actionType @8 :Text;
  action @9 :Data;              # canonical message of the process's struct
  text @10 :Text;               # init: the fields; commit: the edit; canonical JSON
  counselor @11 :Text;
  reason @12 :Text;
  escalation @13 :UInt64;       # F17: what the counselor was shown; 0: not said
  pendingDigest @14 :Data;      # the same; zeros: not said
  runKey @15 :Data;             # propose: the run that acts and the digest of its plan; zeros: neither (F3)
  planDigest @16 :Data;
  signature @17 :Data;          # commit, reject: a counselor's key and signature (kernel/record/statement.h)
  proof @18 :Data;              # that the device signed it (kernel/record/signed_leaves.h)
}

struct Answer {                 # type 33, to the proposer
  operationId @0 :Text;
  kind @1 :UInt16;              # 0 decided, 1 frozen (try again), 2 not the owner (a standing comes too), 3 unavailable
  outcome @2 :UInt16;
  recorded @3 :UInt16;          # of a duplicate: what was answered the first time
  safe @4 :UInt16;              # 0 does not apply, 1 unsafe, 2 safe
  seq @5 :UInt64;
  epochNumber @6 :UInt64;
  epochOwner @7 :Text;
  invariant @8 :Text;
  message @9 :Text;
  asked @10 :UInt64;            # fingerprint of the request that it answers
  entry @11 :Data;              # the bytes of entry `seq`
  proof @12 :Data;              # that the owner signed that the log holds it
  run @13 :UInt64;              # of the owner: what it says in one of them does not change
}

struct Claim {                  # who owns a partition, since when (replica/core/owner_proofs.h)
  partition @0 :Text;
  number @1 :UInt64;
  owner @2 :Text;
  cause @3 :UInt16;
  batches @4 :UInt64;           # of the log before the epoch
  entries @5 :UInt64;
  root @6 :Data;
  previousNumber @7 :UInt64;    # the epoch before it in the log
  previousOwner @8 :Text;
  successor @9 :Text;           # handover: who begins the next epoch
  chain @10 :Data;              # the digest of the batches before it
  signature @11 :Data;          # of the owner's device; empty: made before claims were signed
}

# That the owner of an epoch wrote a batch. One signature covers all batches of a round (replica/core/owner_proofs.h).
struct BatchSeal {
  number @0 :UInt64;            # of the epoch
  owner @1 :Text;
  batches @2 :UInt64;           # of the log, with this one
  chain @3 :Data;               # the digest of all of them
  value @4 :Data;               # SHA-256 of the batch
  index @5 :UInt64;             # of its leaf among the `size` leaves of the round
  size @6 :UInt64;
  root @7 :Data;
  path @8 :Data;                # hashes from the leaf to the root
  signature @9 :Data;           # over size and root, by the owner's device
  format @10 :UInt16;           # of the epoch: what bears proofs (kernel/epoch.h)
  run @11 :UInt64;              # of the owner, when it signed
}

struct EpochMark {
  number @0 :UInt64;
  owner @1 :Text;
  start @2 :UInt64;             # number of its first batch
}

struct LogProbe {               # all batches of my log up to here, in one digest (replica/core/log_hash_chain.h)
  batches @0 :UInt64;
  chain @1 :Data;
}

# Two logs that agree in their epochs may have diverged all the same: a disk went back, and its owner decided again. Who has
# as many batches as a position says, or more, compares the digests, and answers one that differs with probes between 0
# and there. If the probes are of a later epoch their receiver looks for where the logs diverge: it asks for probes
# between the last that is equal and the first that is not, until these are neighbours, and truncates its suffix.
struct Position {               # what I hold of a partition's log
  partition @0 :Text;
  follow @1 :Bool;              # send me what comes next
  batches @2 :UInt64;
  entries @3 :UInt64;
  root @4 :Data;
  epochs @5 :List(EpochMark);
  chain @6 :Data;               # the digest of all of it; zeros: not computed, and nothing is compared
  low @7 :UInt64;               # tell me probes from low to high, these two among them; high is 0: I ask nothing
  high @8 :UInt64;
  probes @9 :List(LogProbe);    # at most 65
  seal @10 :Data;               # a BatchSeal of my last batch, if another device wrote it
  keeps @11 :UInt64;            # the version of the placement by which I keep this copy, all of it on my disk; 0: none
  first @12 :UInt64;            # the batches before this one are pruned in my copy
}

struct PeerAdvertisement {      # type 34, both ways
  owner @0 :Text;               # my name as an owner of epochs
  claims @1 :List(Claim);
  positions @2 :List(Position);
  engine @3 :Text;              # who names the owners: "embedded" or "etcd"; empty: it keeps no ledgers. Then, for each
                                # rule file, " DOMAIN:DIGEST", the first 16 hex digits of the module digest
  etcdCluster @4 :UInt64;       # etcd's own id; 0: not heard of it yet
  heads @5 :List(Text);         # newest heads of logs: checkpoints, signed by their owners and cosigned (signed notes)
  proofs @6 :List(Text);        # of owners that signed two heads which contradict each other (kernel/record/fork_proof.h)
  claimsDigest @7 :UInt64;      # of the latest claims that I know, now and then; 0: not told. If they differ from yours, tell yours
}

struct Entries {                # type 35, to a follower
  partition @0 :Text;
  batch @1 :UInt64;             # its number
  epochNumber @2 :UInt64;       # the last of the sender's log
  epochOwner @3 :Text;
  previousNumber @4 :UInt64;    # the epoch of the batch before it: logs that agree there agree up to there
  previousOwner @5 :Text;
  value @6 :Data;               # as it stands in the log (kernel/record/log_batch.h)
  previousRoot @7 :Data;        # no longer sent: zeros
  previousChain @8 :Data;       # the digest of all batches before it; zeros: not computed
  seal @9 :Data;                # a BatchSeal; empty: written before batches were sealed
}

struct Followed {               # type 36, from a follower: durable up to here
  partition @0 :Text;
  batches @1 :UInt64;
}

struct AskPast {                # type 37: a copy that is to have every batch lacks these, since it was pruned
  partition @0 :Text;
  from @1 :UInt64;
  to @2 :UInt64;                # the first that it has
}

struct PastBatch {
  value @0 :Data;               # as it stands in the log
  seal @1 :Data;                # a BatchSeal; empty: none is here
}

struct Past {                   # type 38, the answer: some of them, from the first that was asked on
  partition @0 :Text;
  from @1 :UInt64;
  batches @2 :List(PastBatch);
}

struct AskFolded {              # type 39, to the owner: what does your log add up to (replica/base_transfer.h)?
  partition @0 :Text;
  least @1 :UInt64;             # after so many batches or more
}

struct Folded {                 # type 40, the answer
  partition @0 :Text;
  note @1 :Text;                # signed: a checkpoint with the line "folded BATCHES DIGEST BYTES"
}

struct AskBase {                # type 41: what stands for the entries that you have pruned?
  partition @0 :Text;
  batches @1 :UInt64;           # that are pruned
  after @2 :Data;               # the last key that I have; empty: none
}

struct BaseRow {
  key @0 :Data;
  value @1 :Data;
}

struct Base {                   # type 42, the answer: some rows, in the order of their keys
  partition @0 :Text;
  batches @1 :UInt64;           # that are pruned now: not those that were asked for, then no rows follow
  rows @2 :List(BaseRow);
  last @3 :Bool;
}
