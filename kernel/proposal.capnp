@0xc46a0f2d9be17302;
# A proposal on its way to the owner of its entity: who asks for which action, under which name.
#
# The bytes are canonical Cap'n Proto (one segment, no segment table), as those of the ledger. The owner stamps the time.
# The C++ side is kernel/proposal_message.h; the members stand here in the same order. Fields are only ever appended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::kernel::wire");

struct Proposal {
  entity @0 :Text;
  # What the decision is about.

  role @1 :Text;
  # As whom I propose it.

  operationId @2 :Text;
  # My name for this act; I repeat it when I ask again, and am told what was decided the first time.

  device @3 :Text;
  agent @4 :Text;
  # Where and by whom it was proposed.

  actionType @5 :Text;
  # The process, by the name that the domain gives it.

  action @6 :Data;
  # The action's arguments: a canonical message of the struct of that process.
}
