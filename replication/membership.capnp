@0xd3b1c6a85e0f4729;
# What a device states about who belongs to the cluster. Statements are only ever added; every device that holds the same
# ones comes to the same membership.
#
# The bytes are canonical Cap'n Proto (one segment, no segment table). The C++ side is replication/statement.h; the
# members stand here in the same order. Fields are only ever appended. Whoever sends statements sends all it has, and
# sends them before anything that was committed or acknowledged under them.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::replication::wire");

enum StatementKind {
  admit @0;
  # `device` belongs to the cluster and starts with a copy of my data. A device that states this of itself, knowing no
  # other statement, founds the cluster.

  proposeRetire @1;
  # `device` shall leave. Whoever reads this opens no session with it any more.

  retireAck @2;
  # I know that `device` shall leave, and will accept nothing more from it. This is all that I have committed of it, and of
  # every other device that is leaving: one of those may have reached me through the other.
}

struct SeenStatements {
  writer @0 :Text;
  number @1 :UInt64;
}

struct AckedCounter {
  space @0 :Text;
  writer @1 :Text;
  counter @2 :UInt64;
}

struct Statement {
  writer @0 :Text;
  number @1 :UInt64;
  # Who states it, and its how manieth statement it is, from 1.

  seen @2 :List(SeenStatements);
  # Everything that I had read: up to which statement of each writer, my own included; in the order of the names.

  kind @3 :StatementKind;

  device @4 :Text;
  admission @5 :UInt32;
  # Whom it is about. The admission counts, from 1, how often the device has joined: a retired one may join anew.

  name @6 :Text;
  # admit: how people call the device.

  acked @7 :List(AckedCounter);
  # retireAck: the last counters that I have committed of all writers of the devices that are leaving, in the order of
  # space and writer.
}
