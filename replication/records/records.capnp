@0xc4f6a1d27b93e508;
# The bodies of the replicated records, apart from an agent's state: what one version says about one key.
#
# A version travels as (kind, key, dot, context, body). The body is one of the structs below: its canonical Cap'n Proto
# encoding, one segment without a segment table (https://capnproto.org/encoding.html#canonicalization). An empty body
# is a tombstone. Who wrote it and after what is the version's dot and context, never repeated inside.
#
# These declarations document and test the layout; the writer is base/capnp_codec.h, from the members of the C++
# structs in replication/records/records.h, in the same order. Fields are only ever appended; an ordinal is never used again.
# A reader keeps and passes on the bytes it was given, so a newer device's additional fields survive an older one.
#
# Limits, checked by every reader: a body 1 MiB, a list 65,536 elements, an id 256 bytes of [A-Za-z0-9._:@/+-].

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::replication::wire");

using Id = Text;             # [A-Za-z0-9._:@/+-]{1,256}
using Json = Text;           # canonical JSON, RFC 8785
using Sha256 = Data;         # 32 bytes
using Millis = Int64;        # since 1970-01-01T00:00:00Z, as the author's clock had it: shown, never compared

struct DotEntry {
  # A writer with one of its counters: a dot, or an entry of a vector clock.
  host @0 :Id;
  counter @1 :UInt64;
}

# --- notification batches; key: the dot, "{host}:{counter}"

struct BatchBody {
  # What one atomic commit changed (seed 003, 3.3; finding F15). Written once, by the commit's author, in that commit.
  # The dot's (host, counter) and each change make one change unit; their keys make the logical change key.

  localBatchId @0 :Id;
  # For people and logs; no identity rests on it (003, invariant 4).

  changes @1 :List(BatchChange);   # at least one
  tokens @2 :List(BatchToken);

  deps @3 :List(DotEntry);
  # Entries of the author's clock that changed since its previous batch: deliver those first.

  sourceCursor @4 :Text;
  # Of a change that came from outside: where the source had got to. May be empty.
}

struct BatchChange {
  payloadType @0 :Id;
  payloadId @1 :Id;
  origin @2 :UInt16;         # 0 local, 1 sync: as the author committed it, the same on every device
}

struct BatchToken {
  tokenClass @0 :UInt16;     # 0 semanticKey, 1 subtypeToken, 2 entityId
  tokenNamespace @1 :Text;   # for subtypeToken an Id; null for the others
  value @2 :Id;
}

# --- messages and links; keys: their ids

struct MessageBody {
  id @0 :Id;
  agentId @1 :Id;
  threadId @2 :Id;
  kind @3 :UInt16;           # 0 user, 1 thought, 2 action, 3 toolResult, 4 summary, 5 system
  parents @4 :List(Id);      # what it came after; it never changes
  content @5 :Text;
  createdAtMs @6 :Millis;
  operationId @7 :Sha256;    # action and toolResult of a mutating action; else null
}

struct LinkBody {
  # From one message to another. The relation "parent" adds to the order: `from` comes after `to`.
  id @0 :Id;
  agentId @1 :Id;
  from @2 :Id;
  to @3 :Id;
  relation @4 :Id;
}

# --- wake runs and plans; key: the run key in hex

struct WakeRunBody {
  runKey @0 :Sha256;
  agentId @1 :Id;
  reason @2 :UInt16;         # 0 subscription, 1 timer, 2 user, 3 graph
  subject @3 :Id;            # the subscription, timer or session
  status @4 :UInt16;         # 0 started, 1 skippedSleeping, 2 skippedDestroyed, 3 failedTerminal, 4 completed
  startedAtMs @5 :Millis;
  finishedAtMs @6 :Millis;   # 0 while started
  cause @7 :Text;            # why it was skipped or failed
  hops @8 :UInt64;           # runs between what somebody outside did and this one
}

struct PlanBody {
  # The mutating actions that a run intends, kept before the first of them (003, 6.2). Operation ids follow from it.
  runKey @0 :Sha256;
  agentId @1 :Id;
  actions @2 :List(PlanAction);
}

struct PlanAction {
  toolName @0 :Id;
  arguments @1 :Json;
  scope @2 :List(Id);
  targets @3 :List(Id);
}

# --- summaries; key: the summary id in hex

struct SummaryBody {
  # The text that stands for a span of messages. The first five fields make the summary id.
  agentId @0 :Id;
  threadId @1 :Id;
  startMessageId @2 :Id;
  endMessageId @3 :Id;
  summarizerContractVersion @4 :Id;
  text @5 :Text;

  rank @6 :UInt64;
  # 1 + the largest rank among the summaries of this id that its author held: 1 says that it held none. Ranks keep the
  # causal order when contexts have been shortened.
}

# --- what a person wrote; key: the entity's id

struct JournalBody {
  type @0 :Id;
  payload @1 :Json;

  lamport @2 :UInt64;
  # 1 + the largest of what its author held for this key.

  author @3 :Id;
  editedAtMs @4 :Millis;
  operationId @5 :Sha256;    # of the action that made this edit; null if a person did

  resolves @6 :List(DotEntry);
  # Not empty: the author is a person who was shown these versions side by side and settled on this payload.

  hops @7 :UInt64;
  # Runs behind this edit, that of its operation among them; 0: a person made it.
}

# --- operations and approvals; key: the operation id in hex

struct OperationBody {
  # That an operation was carried out, in the database in which this stands: written in the same commit as what it did
  # there, so that a retry, on any device, finds it and does nothing.
  operationId @0 :Sha256;
  runKey @1 :Sha256;
  agentId @2 :Id;
  toolName @3 :Id;
  outcome @4 :UInt16;        # 0 applied, 1 denied, 2 failed
  result @5 :Json;

  undo @6 :List(UndoStep);
  # In the journal: what was there before, for a compensation on any device.

  compensates @7 :Sha256;    # of a compensation: the operation it undoes; else null
  hops @8 :UInt64;           # of its run
}

struct UndoStep {
  scope @0 :Id;
  key @1 :Id;
  type @2 :Text;             # of what stood there before; empty: nothing did
  payload @3 :Text;

  writtenBy @4 :Sha256;
  # The operation that had written that, null if a person had: so that its own compensation knows it again.
}

struct ApprovalBody {
  # What a person is asked about an effect, and the answer. It counts only for what has this digest.
  operationId @0 :Sha256;
  digest @1 :Sha256;
  runKey @2 :Sha256;
  agentId @3 :Id;
  what @4 :Json;             # as shown to the person
  verdict @5 :UInt16;        # 0 waiting, 1 approved, 2 denied
  by @6 :Text;               # empty while waiting
  reason @7 :Text;
  atMs @8 :Millis;
  untilMs @9 :Millis;        # an approval from then on does not count; 0: one of an older build, without an end
}

# --- policy and roster; key: "{kind}:{name}:{version}", so that nothing can take the place of a signed one

struct SignedDocumentBody {
  kind @0 :UInt16;           # 0 policy, 1 roster
  name @1 :Id;
  version @2 :UInt64;        # from 1; the highest counts
  content @3 :Json;

  signature @4 :Data;
  # Ed25519 by the cluster's admin key over "witan signed document v1" LF and this struct's bytes without the field.
}

# --- graphs of episodes (docs/graphs.md)

struct GraphMessageBody {
  # The body of a message, or a document; key: SHA-256 of the content in hex. Written once.
  content @0 :Json;
}

struct ArtefactBody {
  # That an artefact was validated; key: "{kind}:{id}:{version}".
  envelope @0 :Json;         # DSSE over an in-toto Statement, signed by the cluster's admin key
}

struct ActivationBody {
  # What an agent is woken for; key: the run key, which follows from agent, span and attempt.
  agentId @0 :Id;
  graph @1 :Id;
  span @2 :Id;
  attempt @3 :UInt64;        # from 1
  input @4 :Json;            # {"graph": {"graph","version","run","node","span","type","body","grant"}}
  hops @5 :UInt64;           # of the graph's run, and so of the agent's
}

# --- encrypted copies of spaces (replica/sealed_copies.h); key: "{writer}:{number}:{part}"

struct SealedCopyBody {
  key @0 :Text;              # the scope's key, by name
  sealed @1 :Data;           # AES-256-GCM: nonce, ciphertext, tag
}
