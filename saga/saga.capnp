@0xe1a4c07d5b2f9836;
# The rows of sagas: what a device keeps of an operation while it is under way. They live beside the replicated records
# of the agents' database and never leave the device.
#
# Documentation and test of the layout, as replication/records/records.capnp; the writer is base/capnp_codec.h, from the members
# of the C++ structs in saga/saga_rows.h. Fields are only ever appended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::saga::wire");

using Id = Text;             # [A-Za-z0-9._:@/+-]{1,256}
using Json = Text;           # canonical JSON, RFC 8785
using Sha256 = Data;         # 32 bytes
using Millis = Int64;        # since 1970-01-01T00:00:00Z

struct Intent {
  operation @0 :Sha256;
  run @1 :Sha256;            # run key of the wake
  agentId @2 :Id;
  tool @3 :Id;
  kind @4 :UInt16;           # 0 journal, 1 proposal, 2 tool
  scope @5 :Id;              # of both databases
  arguments @6 :Json;
  targets @7 :List(Id);
  compensates @8 :Sha256;    # of a compensation: the operation it undoes; else null
  hops @9 :UInt64;           # runs between what somebody outside did and the one that acts
}

struct SagaRow {
  intent @0 :Intent;
  phase @1 :UInt16;          # 0 intended, 1 applying, 2 recording, 3 done: as of the last time it was written
  status @2 :UInt16;         # as saga::SagaStatus lists them
  attempts @3 :UInt32;       # failed ones
  nextAttemptAtMs @4 :Millis;
  lastError @5 :Text;
  createdAtMs @6 :Millis;
  updatedAtMs @7 :Millis;
  outcome @8 :UInt16;        # from phase 2 on: 0 applied, 1 denied, 2 failed
  result @9 :Json;           # likewise

  superseded @10 :Bool;
  # Another plan of its run survives, without this operation: it ends undone, or is undone when it ends.

  ended @11 :UInt64;         # of a row that ended: the how many-th on this device
}
