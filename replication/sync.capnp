@0xd3a1c7e45b90f26a;
# The sync protocol between two devices, versions 1 and 2. Devices that prove who wrote what (tags and flags of seals
# below) speak 2 alone, since others would take such rows for damaged.
#
# Transport: an authenticated, ordered stream of bytes that may die anywhere. Whoever dialled and whoever answered behave
# alike; both directions run at once.
#
# Frame: 8 bytes of header, then one message in canonical Cap'n Proto (one segment, no segment table).
#   bytes 0-3  length of the message in bytes, little-endian, a multiple of 8 from 8, at most the receiver's maxFrame
#   byte  4    type: the number in the comment of the struct below
#   byte  5    1; not checked, HELLO decides
#   bytes 6-7  0; not checked
# A type that a receiver does not know is skipped if it is 128 or more, and ends the session otherwise. Empty texts,
# data and lists are written as null pointers.
#
# Type 255 belongs to the transport and is in no count of bytes: a struct of one UInt64, the bytes of all other frames
# that the sender has received, sent when it has nothing more to say. A pipe (witan sync pipe) ends its session well when
# that number is all it has sent and it has nothing more to say either; without such frames it waits for the stream's end.
#
#   HELLO ->                    <- HELLO     at once, both
#   SPACES ->                  <- SPACES     after the other's HELLO. Equal writers, vectors, digests: nothing follows
#   WRITERS ->             <- WRITERS        per space that both have named, only where the lists of writers differ
#   SEGMENT ->               <- SEGMENT      pages of rows, in the order (writer's name, counter); the last one commits
#   <- ACK                       ACK ->      after what it acknowledges is durable, also of pages without a commit
#   SEGMENT ->               <- SEGMENT      live from here on: a segment with a few rows and a commit; LIVE, if both know it
#   <- RETRY                                 a field delta had no base here, or a commit did not follow on: send in full
#   RANGES -> <- LIST, RANGES   NEED -> <- ITEMS   ITEMS ->   repair, asked by one side
#   ACKS ->                     <- ACKS      what each side knows of third devices, if their digests differ; also, before any
#                                            SEGMENT of the space, the receiver's own entry, if it claims less than that
#   BYE                                      the reason, then the stream ends
#
# A space (database and scope) is named in SPACES and then by its place among all that the *sender* of a frame has
# named. A space that the receiver may not have is never named. A space of which the receiver has nothing
# yet is made by it and named in a further SPACES.
# The space (agents, "cluster") holds who is a member. Both name it first, if empty too, and bring it level: until then
# no SEGMENT of another space is sent. It needs its WRITERS like any other.
#
# `rows` is a string of dense rows (varint: LEB128, shortest form; idText: varint p, varint h, p plain bytes, h bytes that
# stand for 2h lower-case hex digits at the end; h is as large as it can be, but 0 where that is 1, and no other split
# is accepted: "x12" is 3 0 "x12", "x0012" is 1 2 "x" 00 12). Each begins with its tag:
#   1 writer   idText name                                            the sender's next number for a writer, from 0
#   2 version  u8 kind, idText key, varint writer, varint counter, u8 flags (1 tombstone, 2 delta, 4 sealed, 8 shortened),
#              varint n, n x (varint writer, varint counter)          what its author had seen, besides its own dot
#              [delta: varint distance to the base's counter]
#              [sealed: varint number of the seal in this frame, varint leaf]
#              [shortened: the 32 bytes of the digest of what its author had seen, where n is 0 and was not]
#              varint length, bytes                                   body, or the changed fields of an agent's state
#   3 commit   varint n, n x (varint writer, varint counter)          what the receiver's vector may be raised to
#   5 seal     varint first, varint length, bytes     before the versions of the frame that it proves; of one writer
#   6 count    varint writer, varint counter, varint number of the seal in this frame, varint leaf    in SEGMENT and ITEMS
#   4 ack      idText device, varint n, n x (varint writer, varint counter)   in ACKS only. As device "+forgotten" (no
#              device's id): what all had when something that it removed or replaced was forgotten. ACKS come before the
#              commit that takes the receiver over that; whoever holds anything then compares itself with the sender,
#              as a restored store does (RANGES), before that commit counts
#   7 alike    varint n, n x varint writer     in ACKS only, behind a row of tag 4: the devices of these writers acknowledged
#              the same, to a peer whose HELLO says alike
#   8 alias    u8 alias, u8 kind, idText key          in SEGMENT and LIVE, as tags 9 and 11: what rows of tag 9 behind it mean by
#              the alias, until it is given again, in this session, space and direction; if both HELLOs say live. There are
#              none when a session begins. One that was not given ends the session
#   9 update   u8 alias, the rest as in tag 2         a version of the kind and key that the alias stands for
#  10 acks     varint n, n x (varint skip, varint length, varint counter): a vector, of runs of writers' numbers; varint d,
#              d x idText device; varint m, m x (varint skip, varint length): runs of writers. In ACKS only, in place of rows
#              of tags 4 and 7, if both HELLOs say live: what these devices, and those of these writers, acknowledged. `skip`
#              numbers are passed over since the last run. Such ACKS may be a part of the table
#  11 commit   (nothing)                              behind the last row of tag 2 or 9: as tag 3, with the writer and the
#              counter of that row alone
# A seal (kernel/record/signed_leaves.h) is the signature of a device over a tree of leaves: 32 bytes key, u32 size
# little-endian, 64 bytes signature, a bit for each leaf that is given, from the lowest, and hashes from left to right: of
# each given leaf and of each largest subtree without one. What is signed: "witan-round/1", cluster, size and root in
# hexadecimal (docs/ledger-format.md, section 10). A leaf is the SHA-256 of a zero byte, "witan-row/1" and a line end; each
# behind its varint length: cluster, "journal/" or "agents/" with the scope, writer; varint first, u8 kind, key behind its
# length, varint counter, u8 1 if it is a tombstone else 0, 32 bytes digest of the context, body. That digest is zeros for
# no context, else the SHA-256 of its entries in the order of the names' bytes: name behind its length, varint counter.
# From its counter `first` on a writer's versions are sealed; in none of a lower counter it is asked for.
# The last leaf of a device's newest seal of a writer says how many commits that writer has made: the SHA-256 of a zero
# byte, "witan-count/1" and a line end; cluster, space and writer as above; varint first, varint counter. A count goes
# before the first version, context or commit that names a counter of a sealed writer above the receiver's vector. Of
# these none is taken without: a vector that covers commits to come would bar them. What a peer says of the receiver's
# own writer in other frames has no effect; a count of it that is beyond what it has made shows that its store went back.
# A context names a writer once, never with 0, never the version's own; it covers what its author had seen of this key.
# Flag 1 goes with length 0 and no other version has length 0. A delta's base is the version of the same key and writer
# with that many less; its bytes, and those of the body, are in agent_state.h, other bodies in records.capnp.
# Kinds: 1 agent state, 2 message, 3 link, 4 batch, 5 wake run, 6 plan, 7 summary, 8 journal, 9 signed document,
# 10 statement (membership.capnp). 8 lives in the journal database only, 4 in both, the others in agents only. A kind
# that a receiver does not know is kept and passed on.
# A receiver drops a version that the context of another of its key covers, and keeps what is left side by side. Of a
# writer's earlier versions usually nothing is left, so counters have gaps: only a commit says that there is no more.
# A commit may list all the sender's vector or only what has changed; a lower counter lowers nothing.
#
# Numbers of writers are the sender's, per space: equal lists (by hash, in SPACES) number the live writers in the order
# of their names' bytes; otherwise WRITERS gives the list. New ones are appended by rows of tag 1 in any frame of that
# space, and count also where the rest of the frame is not wanted (ACK, ACKS, segments of an old attempt). A sender
# announces a writer once: a second time is a frame that came again, and ends the session.
# All versions of one (writer, counter) are in one segment, so a commit becomes visible as a whole. Versions may be
# shown and passed on before their commit; the vector rises, and the space is settled, with it.
#
# A peer that computes no hashes or digests sends 0 for writersHash, acksHash, count and sums, with settled = false, and
# is asked no repair in ordinary sessions; WRITERS and ACKS then come every time. Only a restored store (see RANGES)
# asks it; RANGES with question = false and no range answers "all agree", and what that store is owed comes as segments.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("witan::replication::wire");

struct Hello {                      # type 1
  protocol @0 :UInt16;              # highest version the sender speaks
  oldest @1 :UInt16;                # lowest
  maxFrame @2 :UInt32;              # longest message the sender accepts, in bytes; at least 1,572,864
  window @3 :UInt32;                # bytes of segments after which the receiver waits for an ACK, from 1; the segment
                                    # that reaches it still comes whole
  cluster @4 :Text;                 # equal on both sides
  device @5 :Text;                  # an Id (records.capnp), different on both sides
  keyCheck @6 :UInt64;              # a hash under the cluster's key, equal on both sides; 0: not computed. It catches a
                                    # wrong key file; who is who is the transport's to prove
  trees @7 :Bool;                   # the sender knows TREE
  alike @8 :Bool;                   # it knows rows of tag 7
  live @9 :Bool;                    # it knows LIVE, and rows of tags 8 to 10
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
  vector @8 :Data;                  # varint counters of the live writers in the order of their names' bytes, 0 if none;
                                    # read only if writersHash is equal
  resume @9 :Data;                  # the last token had from the peer in a round that broke off, with its pages kept
}

struct Writers {                    # type 2
  space @0 :UInt16;
  rows @1 :Data;                    # tag 1 for every writer the sender knows, then one of tag 3: its vector
}

struct Segment {                    # type 3
  space @0 :UInt16;
  attempt @1 :UInt16;               # grows with every RETRY; commits of older attempts are void
  rows @2 :Data;
  resume @3 :Data;                  # hand back in the next SPACES if the round breaks off here; only on pages
                                    # without commit. One that the peer does not know is ignored: all comes again
}

# LIVE, type 14, to a peer whose HELLO says live: a SEGMENT without `resume`, whose message is not Cap'n Proto: zero
# bytes, fewer than 8, that fill up the words; varint place of the space + 1, varint attempt, rows.

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
  rows @5 :Data;                    # tags 1 and 3: entries of the vector that changed since WRITERS or the last ACK,
                                    # the sender's own among them
}

struct Retry {                      # type 5
  space @0 :UInt16;
  attempt @1 :UInt16;               # of the segments to come: one more than that of the segment refused
  rows @2 :Data;                    # tags 1 and 3: the vector to start from
}

# Repair, range by range of the records' hashes. One side asks; the other answers and keeps nothing in mind: per range
# nothing where the digests agree, a LIST where it holds few records, otherwise the digests of its 16 parts; these end in
# one RANGES with question = false (maybe empty), which ends the answer. The asker goes on with the parts that differ, and
# fetches with NEED what its LISTs show to differ. ITEMS bypass the gate: there, something below a vector may be missing.
# Where both merely differ at equal vectors (an alarm), each side sends what it has and nothing is taken away; the side
# whose device id is less in its bytes asks. An asker
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
  rows @1 :Data;                    # tags 1, 4, 7 and 10; the sender and the receiver may be among the devices. A receiver that
                                    # acknowledged more than it has is an older copy, and adopts a peer's (see RANGES)
}

struct Tree {                       # type 13, to a peer whose HELLO says trees
  space @0 :UInt16;
  eager @1 :Bool;                   # send segments as they come; else acknowledgements as digests (replication/tree_link.h)
}

struct Bye {                        # type 11
  code @0 :Text;                    # version, cluster, key, protocol, quarantined, stranger, retired, silent, closing
  reason @1 :Text;
}
