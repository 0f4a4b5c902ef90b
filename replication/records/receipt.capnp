@0xe3a0c9b84d51f726;
# A person's confirmation that an agent may ask a model with data (seed 003, section 9.2), as a record's body: canonical
# Cap'n Proto, one segment without a segment table. Documents and tests the layout; the writer is base/capnp_codec.h,
# from the members of PrivacyReceipt in replication/records/record_views.h. Fields are only ever appended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::replication::wire");

struct PrivacyReceipt {
  agentId @0 :Text;
  provider @1 :Text;       # empty, with model: of an operation that asks no model and still needs a confirmation
  model @2 :Text;
  boundary @3 :Text;
  policyName @4 :Text;
  policyVersion @5 :UInt64;

  policyDigest @6 :Data;
  # SHA-256 of the policy's canonical JSON: what the person was shown. Another policy of the same version is not meant.

  confirmedBy @7 :Text;
  confirmedAtMs @8 :Int64; # since 1970-01-01T00:00:00Z; shown, never compared
}
