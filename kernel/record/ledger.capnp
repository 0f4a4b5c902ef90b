@0xb8d2f1c5a3e94701;
# The records of a Witan ledger: what a partition decided, in order, for good.
#
# A ledger is a sequence of entries, numbered from 1 without gaps, one for each decision and none for anything else
# (seed 000, Def. A.29, A.63, Theorem 4). The bytes of an entry are its canonical Cap'n Proto encoding: one segment,
# no segment table, https://capnproto.org/encoding.html#canonicalization. Those bytes, behind one zero byte, are a leaf
# of the RFC 6962 tree whose root a checkpoint signs. docs/ledger-format.md says it all with examples.
#
# These declarations document and test the layout; the writer is base/capnp_codec.h, from the members of the C++
# structs in kernel/record/entry.h, in the same order. Fields are only ever appended; an ordinal is never used again.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::kernel::wire");

using Seq = UInt64;          # 1, 2, 3, ...; 0 means none
using Micros = Int64;        # microseconds since 1970-01-01T00:00:00Z
using Json = Text;           # canonical JSON, RFC 8785

struct Entry {
  seq @0 :Seq;
  time @1 :Micros;
  # When it was decided. For approved and cCommitted it is the entity's clock from then on.

  tag @2 :UInt16;
  # 0 approved, 1 rejected, 2 escalated: decisions of the meta-agent. 3 cCommitted, 4 cRejected: of a counselor.

  escalation @3 :Seq;
  # cCommitted and cRejected: the escalated entry that this one resolves. No two entries name the same.

  entity @4 :Text;
  # What the decision is about: the unit of invariants. Its instance is frozen between an escalation and its resolution.

  role @5 :Text;
  device @6 :Text;
  agent @7 :Text;
  # As whom, from which device and by which agent it was proposed.

  operationId @8 :Text;
  # The proposer's name for this act. A repeated one is answered from here and never decided again.

  action @9 :Json;
  # {"type":process,...}. For a counselor's entry: the action that had been escalated.

  invariant @10 :Text;
  message @11 :Text;
  # The failure witness (Def. A.18) of rejected and escalated: the first invariant in list order that did not pass.

  writes @12 :Json;
  # approved, cCommitted: the write set with new values, {"field":{"key":value},"scalar":value}; null erases a cell.

  verdicts @13 :Data;
  # One byte for KERNEL_INTEGRITY and each invariant in list order: 0 not evaluated (its last verdict stands), 1 pass,
  # 2 reject, 3 escalate.

  findings @14 :List(Finding);
  # escalated, cCommitted: every non-pass of the detection vector (A.63). An empty list of a cCommitted is a safe one.

  counselor @15 :Text;
  reason @16 :Text;
  decision @17 :Json;
  # cCommitted: {"base":"candidate"|"current","edit":{...}} as the counselor gave it.

  stateDigest @18 :Data;
  # SHA-256 chain over the entity's states: after this decision.

  genesis @19 :Json;
  # On the entity's first entry: {"at":time,"state":{...}}, the state it started from.

  runKey @20 :Data;
  planDigest @21 :Data;
  # The run that proposed it and the plan that the run acts by, 32 bytes each, or neither. The first entry that names a
  # run binds it to its plan; one of the run with another plan is rejected by KERNEL_INTEGRITY. Never of a counselor.

  epoch @22 :UInt64;
  owner @23 :Text;
  # Format 2: on the first entry of an epoch, its number and owner.

  shown @24 :Data;
  signature @25 :Data;
  # Of a counselor: the leaf hash of the escalated entry as the counselor was shown it, 32 bytes; and the counselor's
  # key and signature of the answer, 32 and 64 bytes.

  proof @26 :Data;
  # Format 2: the proposer's device signed the request (kernel/record/signed_leaves.h).
}

struct Finding {
  invariant @0 :Text;
  result @1 :UInt16;         # 2 reject, 3 escalate
  message @2 :Text;
}

struct Genesis {
  # An entity came to be. No decision, so no leaf; its first entry carries the same text.
  entity @0 :Text;
  genesis @1 :Json;

  operationId @2 :Text;
  device @3 :Text;
  agent @4 :Text;
  fields @5 :Json;
  proof @6 :Data;
  # Format 3: who asked for it, for which fields, and that its device signed the request.
}

struct Epoch {
  # From here on another device, or a device anew, decides for this partition. No decision, so no leaf; `entries` and
  # `root` tie it to the leaves before it. It opens a batch.
  number @0 :UInt64;         # grows from epoch to epoch
  time @1 :Micros;
  cause @2 :UInt16;          # 0 founding, 1 handover (by the previous owner), 2 seizure (without asking it),
                             # 3 succession (etcd named its owner, who has the whole log)
  owner @3 :Text;            # device id, '@', 8 hex digits of its ledger store
  previousOwner @4 :Text;
  previousNumber @5 :UInt64;
  entries @6 :UInt64;        # before it
  root @7 :Data;             # of the tree over them
  reason @8 :Text;
  successor @9 :Text;        # handover: nothing is decided in this epoch, and this owner begins the next; else empty
  format @10 :UInt16;        # 2: its entries bear proofs, and the first one names the epoch; 3: so do beginnings; else 0
}

struct Note {
  # An input line without an operation id of its own was answered without a decision (frozen, refused because of the
  # state at that moment): remembered so that feeding the same lines again continues instead of deciding anew.
  operationId @0 :Text;
  outcome @1 :UInt16;
  message @2 :Text;
}
