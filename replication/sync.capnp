@0xd3a1c7e45b90f26a;
# The sync protocol between two devices, version 1.
#
# Transport: an authenticated, ordered stream of bytes that may die anywhere. Whoever dialled and whoever answered behave
# alike; both directions run at once.
#
# Frame: 8 bytes of header, then one message in canonical Cap'n Proto (one segment, no segment table).
#   bytes 0-3  length of the message in bytes, little-endian, a multiple of 8, at most the receiver's maxFrame
#   byte  4    type: the number in the comment of the struct below
#   byte  5    protocol version of the sender, 1
#   bytes 6-7  0
# A type that a receiver does not know is skipped if it is 128 or more, and ends the session otherwise.
#
#   HELLO, SPACES ->  <- HELLO, SPACES       at once, both. Equal writers, vectors and digests: nothing follows
#   WRITERS ->             <- WRITERS        per space, only where the lists of writers differ
#   SEGMENT ->               <- SEGMENT      pages of rows, in the order (writer's name, counter); the last one commits
#   <- ACK                       ACK ->      after what it acknowledges is durable
#   SEGMENT ->               <- SEGMENT      live from here on: a segment with a few rows and a commit
#   <- RETRY                                 a field delta had no base here, or a commit did not follow on: send in full
#   RANGES -> <- LIST, RANGES   NEED -> <- ITEMS   ITEMS ->   repair, asked by one side
#   ACKS ->                     <- ACKS      what each side knows of third devices, if their digests differ
#   BYE                                      the reason, then the stream ends
#
# A space (database and scope) is named in SPACES and then by its place among all that the *sender* has named. A space
# that the receiver may not have is never named.
#
# `rows` is a string of dense rows (varint: LEB128, shortest form; idText: varint p, varint h, p plain bytes, h bytes that
# stand for 2h lower-case hex digits). Each begins with its tag:
#   1 writer   idText name                                            the sender's next number for a writer, from 0
#   2 version  u8 kind, idText key, varint writer, varint counter, u8 flags (1 tombstone, 2 delta),
#              varint n, n x (varint writer, varint counter)          what its author had seen, besides its own dot
#              [delta: varint distance to the base's counter]
#              varint length, bytes                                   body, or the changed fields of an agent's state
#   3 commit   varint n, n x (varint writer, varint counter)          what the receiver's vector may be raised to
# Numbers of writers are the sender's: equal lists (by hash, in SPACES) number the live writers in the order of their
# names' bytes; otherwise WRITERS gives the list. New ones are appended by rows of tag 1.
# All versions of one (writer, counter) are in one segment, so a commit becomes visible as a whole.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::replication::wire");

struct Hello {                      # type 1
  protocol @0 :UInt16;              # highest version the sender speaks
  oldest @1 :UInt16;                # lowest
  maxFrame @2 :UInt32;              # longest message the sender accepts, in bytes
  window @3 :UInt32;                # bytes of segments the sender accepts unacknowledged
  cluster @4 :Text;
  device @5 :Text;
}

struct Spaces {                     # type 12: right after HELLO, and whenever the sender has made another space
  spaces @0 :List(SpaceSummary);
}

struct SpaceSummary {
  database @0 :UInt16;              # 0 journal, 1 agents
  settled @1 :Bool;                 # equal vectors mean equal contents: nothing is held above the vector, and the
                                    # store did not go back in time
  writersHash @2 :UInt64;           # of all writers' names, each with its counter + 1 if it is retired, else with 0
  count @3 :UInt64;                 # digest of what is held
  sumHigh @4 :UInt64;
  sumLow @5 :UInt64;
  acksHash @6 :UInt64;              # of the table of acknowledgements
  scope @7 :Text;
  vector @8 :Data;                  # varint counters of the live writers by name
  resume @9 :Data;                  # the token of an interrupted round of the peer's
}

struct Writers {                    # type 2
  space @0 :UInt16;
  rows @1 :Data;                    # tag 1 for every writer the sender knows, then one of tag 3: its vector
}

struct Segment {                    # type 3
  space @0 :UInt16;
  attempt @1 :UInt16;               # grows with every RETRY; commits of older attempts are void
  rows @2 :Data;
  resume @3 :Data;                  # hand back in the next HELLO if the round breaks off here
}

struct Ack {                        # type 4
  received @0 :UInt64;              # bytes of segments of this session, with their headers, durable
  spaces @1 :List(AckedSpace);
}

struct AckedSpace {
  space @0 :UInt16;
  settled @1 :Bool;
  count @2 :UInt64;
  sumHigh @3 :UInt64;
  sumLow @4 :UInt64;
  rows @5 :Data;                    # tags 1 and 3: entries of the vector that changed since the last ACK
}

struct Retry {                      # type 5
  space @0 :UInt16;
  attempt @1 :UInt16;               # of the segments to come
  rows @2 :Data;                    # tags 1 and 3: the vector to start from
}

# Repair, range by range of the records' hashes. One side asks; the other answers and keeps nothing in mind: per range
# nothing where the digests agree, a LIST where it holds few records, otherwise the digests of its 16 parts; these end in
# one RANGES with question = false (maybe empty), which ends the answer. The asker goes on with the parts that differ, and
# fetches with NEED what its LISTs show to differ. ITEMS bypass the gate: there, something below a vector may be missing.
# Where both merely differ at equal vectors (an alarm), each side sends what it has and nothing is taken away. An asker
# that was restored (its store went back in time) instead drops what the other's vector covers and the other lacks.
struct Ranges {                     # type 6
  space @0 :UInt16;
  question @1 :Bool;
  ranges @2 :List(Range);
}

struct Range {
  first @0 :UInt64;                 # inclusive
  last @1 :UInt64;
  count @2 :UInt64;
  sumHigh @3 :UInt64;
  sumLow @4 :UInt64;
}

struct RangeList {                  # type 7: the records of a range; those without digest (tombstones only) are left out
  space @0 :UInt16;
  first @1 :UInt64;
  last @2 :UInt64;
  records @3 :Data;                 # per record: u64 hash, u64 low half of its digest's sum; little-endian, by hash
  rows @4 :Data;                    # tags 1 and 3: the vector of the sender
}

struct Need {                       # type 8: send these records whole
  space @0 :UInt16;
  hashes @1 :Data;                  # u64, little-endian
}

struct Items {                      # type 9: records whole, every version with its full context
  space @0 :UInt16;
  more @1 :Bool;                    # the answer to a NEED goes on
  rows @2 :Data;                    # tags 1 and 2
}

struct Acks {                       # type 10
  space @0 :UInt16;
  rows @1 :Data;                    # tag 1, and 4: idText device, varint n, n x (varint writer, varint counter)
}

struct Bye {                        # type 11
  code @0 :Text;                    # version, cluster, protocol, quarantined, retired, silent, closing
  reason @1 :Text;
}
