// The wire format of the sync protocol (replication/sync.capnp): the schema, compiled by Cap'n Proto's compiler,
// against the structs; golden bytes of every message and row, so that the format cannot change by accident; what
// devices of different versions do with each other.
#include <capnp/message.h>
#include <capnp/serialize.h>

#include "base/bytes.h"
#include "replication/sync.capnp.h"
#include "tests/replication/cluster.h"
#include "tests/same_layout.h"

namespace witan::replication::test::wire_test {
namespace {

using witan::layout::expectSameLayout;

TEST(Wire, SchemaAndStructsHaveOneLayout) {
  expectSameLayout<wire::Hello, Hello>();
  expectSameLayout<wire::Spaces, Spaces>();
  expectSameLayout<wire::SpaceSummary, SpaceSummary>();
  expectSameLayout<wire::Writers, Writers>();
  expectSameLayout<wire::Segment, Segment>();
  expectSameLayout<wire::Ack, Ack>();
  expectSameLayout<wire::AckedSpace, AckedSpace>();
  expectSameLayout<wire::Retry, Retry>();
  expectSameLayout<wire::Ranges, Ranges>();
  expectSameLayout<wire::Range, Range>();
  expectSameLayout<wire::RangeList, RangeList>();
  expectSameLayout<wire::Need, Need>();
  expectSameLayout<wire::Items, Items>();
  expectSameLayout<wire::Acks, Acks>();
  expectSameLayout<wire::Tree, Tree>();
  expectSameLayout<wire::Bye, Bye>();
}

// --- golden bytes

std::string rowsOfEveryTag() {
  std::string rows;
  appendWriterRow(rows, "device-1@0000002a");
  VersionRow version;
  version.kind = Kind::journal;
  version.key = "note-deadbeef";
  version.seq = 300;
  version.context = {{1, 7}, {2, 128}};
  version.body = "body";
  appendVersionRow(rows, version);
  version.kind = Kind::agentState;
  version.base = 298;
  version.context.clear();
  version.body = std::string_view("\x01\x02", 2);
  appendVersionRow(rows, version);
  version.base = 0;
  version.tombstone = true;
  version.body = {};
  appendVersionRow(rows, version);
  const std::vector<std::pair<std::uint64_t, Seq>> clock{{0, 300}, {2, 128}};
  appendClockRow(rows, RowTag::commit, clock);
  return rows;
}

template <class T>
std::string frame(const T& message) {
  WordWriter words;
  std::string out;
  appendFrame(out, words, message);
  return out;
}
template <class T>
std::string hexFrame(const T& message) {
  return toHex(asBytes(frame(message)));
}

SpaceSummary sampleSummary() {
  SpaceSummary s;
  s.database = 1;
  s.settled = true;
  s.writersHash = 0x1122334455667788;
  s.count = 3;
  s.sumHigh = 4;
  s.sumLow = 5;
  s.acksHash = 6;
  s.scope = "main";
  static constexpr std::string_view vector("\x07\x80\x01", 3), resume("\x01", 1);
  s.vector = asData(vector);
  s.resume = asData(resume);
  return s;
}

TEST(Wire, GoldenRows) {
  EXPECT_EQ(toHex(asBytes(rowsOfEveryTag())),
            "0109046465766963652d31400000002a020805046e6f74652ddeadbeef00ac020002010702800104626f647902010504"
            "6e6f74652ddeadbeef00ac02020002020102020105046e6f74652ddeadbeef00ac02010000030200ac02028001");
}

TEST(Wire, GoldenFrames) {
  const std::string text = "abc";
  const Bytes data = asData(text);
  EXPECT_EQ(hexFrame(Hello{1, 1, 2097152, 4194304, "cluster", "device-1"}),
            "40000000010100000000000002000200010001000000200000004000000000000500000042000000050000004a000000"
            "636c7573746572006465766963652d310000000000000000");
  EXPECT_EQ(hexFrame(Spaces{{sampleSummary()}}),
            "780000000c0100000000000000000100010000004f000000040000000600030001000100000000008877665544332211"
            "0300000000000000040000000000000005000000000000000600000000000000090000002a000000090000001a000000"
            "090000000a0000006d61696e0000000007800100000000000100000000000000");
  EXPECT_EQ(hexFrame(Writers{1, data}),
            "200000000201000000000000010001000100000000000000010000001a0000006162630000000000");
  EXPECT_EQ(hexFrame(Segment{1, 2, data, data}),
            "300000000301000000000000010002000100020000000000050000001a000000050000001a0000006162630000000000"
            "6162630000000000");
  EXPECT_EQ(hexFrame(Ack{123456, {{1, true, 2, 3, 4, data}}}),
            "5000000004010000000000000100010040e2010000000000010000002f00000004000000040001000100010000000000"
            "020000000000000003000000000000000400000000000000010000001a0000006162630000000000");
  EXPECT_EQ(hexFrame(Retry{1, 2, data}),
            "200000000501000000000000010001000100020000000000010000001a0000006162630000000000");
  EXPECT_EQ(hexFrame(Ranges{1, true, {{0, 15, 2, 3, 4}, {16, ~std::uint64_t{0}, 0, 0, 0}}}),
            "700000000601000000000000010001000100010000000000010000005700000008000000050000000000000000000000"
            "0f000000000000000200000000000000030000000000000004000000000000001000000000000000ffffffffffffffff"
            "000000000000000000000000000000000000000000000000");
  EXPECT_EQ(hexFrame(RangeList{1, 16, 31, data, data}),
            "40000000070100000000000003000200010000000000000010000000000000001f00000000000000050000001a000000"
            "050000001a00000061626300000000006162630000000000");
  EXPECT_EQ(hexFrame(Need{1, data}),
            "200000000801000000000000010001000100000000000000010000001a0000006162630000000000");
  EXPECT_EQ(hexFrame(Items{1, true, data}),
            "200000000901000000000000010001000100010000000000010000001a0000006162630000000000");
  EXPECT_EQ(hexFrame(Acks{1, data}),
            "200000000a01000000000000010001000100000000000000010000001a0000006162630000000000");
  EXPECT_EQ(hexFrame(Tree{3, true}), "100000000d01000000000000010000000300010000000000");
  EXPECT_EQ(hexFrame(Bye{"closing", "why"}),
            "280000000b010000000000000000020005000000420000000500000022000000636c6f73696e67007768790000000000");
}

TEST(Wire, GoldenLive) {
  std::string rows;
  appendAliasRow(rows, 200, Kind::agentState, "agent-beef");
  VersionRow update;
  update.alias = 200;
  update.seq = 300;
  update.base = 299;
  update.body = "body";
  appendVersionRow(rows, update);
  EXPECT_EQ(toHex(asBytes(rows)),
            "08c8010602"
            "6167656e742dbeef"
            "09c800ac020200"
            "0104626f6479");
  std::string live;
  appendLive(live, {3, 300, asData(rows), {}});
  EXPECT_EQ(toHex(asBytes(live)),
            "200000000e010000"
            "000000"
            "04ac02" +
                toHex(asBytes(rows)));
  const auto read = readLive(std::string_view(live).substr(kFrameHeaderBytes));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->space, 3);
  EXPECT_EQ(read->attempt, 300);
  EXPECT_EQ(asText(read->rows), rows);
  EXPECT_TRUE(read->resume.empty());
}

TEST(Wire, LiveHasOneFormAndItsLimits) {
  const auto refused = [](std::string_view message) { return !readLive(message).ok(); };
  EXPECT_FALSE(refused(std::string_view("\0\0\0\0\0\0\1\0", 8)));
  EXPECT_FALSE(refused(std::string_view("\x80\2\xff\xff\3\0\0\0", 8)));            // space 255, attempt 65535
  EXPECT_TRUE(refused(std::string_view("\0\0\0\0\0\0\0\0", 8)));                   // no space
  EXPECT_TRUE(refused(std::string_view("\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16)));  // a word too many
  EXPECT_TRUE(refused(std::string_view("\0\0\0\0\0\0\0\1", 8)));                   // no attempt
  EXPECT_TRUE(refused(std::string_view("\x80\0\0\0\0\0\0\0", 8)));                 // a longer form of a number
  EXPECT_TRUE(refused(std::string_view("\x81\2\0\0\0\0\0\0", 8)));                 // space 256
  EXPECT_TRUE(refused(std::string_view("\1\x80\x80\4\0\0\0\0", 8)));               // attempt 65536
}

// What is left empty takes no bytes.
TEST(Wire, EmptyMessagesAreSmall) {
  EXPECT_EQ(frame(Writers{}).size(), kFrameHeaderBytes + 8);
  EXPECT_EQ(frame(Ack{}).size(), kFrameHeaderBytes + 8);
}

// As Cap'n Proto's own builder and canonicaliser write the same message; and it reads ours.
TEST(Wire, BytesEqualTheLibrarysCanonicalForm) {
  capnp::MallocMessageBuilder message;
  auto to = message.initRoot<wire::Ack>();
  to.setReceived(123456);
  auto spaces = to.initSpaces(2);
  const std::string rows = rowsOfEveryTag();
  for (unsigned i = 0; i < 2; ++i) {
    spaces[i].setSpace(static_cast<std::uint16_t>(i));
    spaces[i].setSettled(i == 1);
    spaces[i].setSumLow(i);
    if (i == 1)
      spaces[i].setRows(kj::ArrayPtr<const kj::byte>(reinterpret_cast<const kj::byte*>(rows.data()), rows.size()));
  }
  const auto words = capnp::canonicalize(to.asReader());
  const auto bytes = words.asBytes();
  const std::string theirs(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  const Ack ack{123456, {{0, false, 0, 0, 0, {}}, {1, true, 0, 0, 1, asData(rows)}}};
  EXPECT_EQ(toHex(asBytes(frame(ack).substr(kFrameHeaderBytes))), toHex(asBytes(theirs)));
}

// A whole session, byte for byte: what two devices say when one has something to tell.
TEST(Wire, AGoldenSession) {
  Device a("a"), b("b", 2);
  a.write("agent-1", [](AgentState& s, const std::string&) { s.consecutiveFailureCount = 3; });
  a.flush();
  Link link(a, b);
  std::string all;
  for (;;) {
    link.say(std::size_t{1} << 30);
    if (link.queueToA().empty() && link.queueToB().empty()) break;
    while (!link.queueToB().empty()) all += "A" + link.queueToB().front(), link.deliverToB();
    while (!link.queueToA().empty()) all += "B" + link.queueToA().front(), link.deliverToA();
  }
  expectEqual(a, b);
  EXPECT_EQ(toHex(sha256(all)), "042528772495dea4f10b80e698cb7c2257bd30043630a8f7f66f106d70d30069");
}

// --- devices of different versions

std::vector<std::string> greet(SyncSession& session, const Hello& hello, std::string more = {}) {
  for (const std::string& one : framesOf(frame(hello) + more)) {
    if (session.state() == SessionState::closed) break;
    (void)session.receive(one, 0);
  }
  std::string out;
  session.produce(out, std::size_t{1} << 30, 0);
  return framesOf(out);
}

Hello helloOf(std::uint16_t oldest, std::uint16_t protocol) {
  Hello hello;
  hello.oldest = oldest;
  hello.protocol = protocol;
  hello.window = 1 << 20;
  hello.cluster = "test";
  hello.device = "newer";
  return hello;
}

TEST(VersionSkew, ANewerPeerThatStillSpeaksOursIsWelcome) {
  Device a("a");
  SyncSession session(a.replica(), {}, 0);
  greet(session, helloOf(1, 2));
  EXPECT_EQ(session.state(), SessionState::running);
}

TEST(VersionSkew, APeerThatNoLongerSpeaksOursIsRefusedWithItsVersions) {
  for (const auto& [oldest, protocol] : {std::pair{3, 4}, std::pair{0, 0}}) {
    Device a("a");
    SyncSession session(a.replica(), {}, 0);
    const auto frames =
        greet(session, helloOf(static_cast<std::uint16_t>(oldest), static_cast<std::uint16_t>(protocol)));
    EXPECT_EQ(session.state(), SessionState::closed);
    EXPECT_EQ(session.closeCode(), "version");
    EXPECT_EQ(session.closeReason(), "it speaks protocol " + std::to_string(oldest) + " to " +
                                         std::to_string(protocol) + ", this device speaks 1 and 2");
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(frames.back()[4], static_cast<char>(FrameType::bye));
  }
}

TEST(VersionSkew, UnknownTypesFrom128OnAreSkippedOthersEndTheSession) {
  const std::string body(16, '\1');
  for (unsigned type = 0; type < 256; ++type) {
    if (type >= 1 && type <= 12) continue;
    Device a("a");
    SyncSession session(a.replica(), {}, 0);
    std::string unknown;
    appendFrameBytes(unknown, static_cast<FrameType>(type), body);
    greet(session, helloOf(1, 1), unknown);
    EXPECT_EQ(session.state(), type >= 128 ? SessionState::running : SessionState::closed) << type;
  }
}

// What is new goes to a peer that knows it.
TEST(VersionSkew, APeerThatDoesNotKnowLiveGetsSegments) {
  Device a("a"), b("b");
  a.write("agent-1", [](AgentState& s, const std::string&) { s.consecutiveFailureCount = 1; });
  Link link(a, b);
  link.say(std::size_t{1} << 30);
  Hello older{.protocol = 1, .oldest = 1, .window = 1 << 20, .cluster = "test", .device = "b"};
  ASSERT_EQ(link.queueToA().front()[4], static_cast<char>(FrameType::hello));
  link.queueToA().front() = frame(older);
  link.run();
  for (std::uint64_t i = 2; i < 6; ++i) {
    a.write("agent-1", failures(i));
    link.say(std::size_t{1} << 30);
    ASSERT_EQ(link.queueToB().size(), 1u);
    EXPECT_EQ(link.queueToB().front()[4], static_cast<char>(FrameType::segment));
    link.run();
  }
  expectEqual(a, b);
}

// Header bytes of a newer peer: its version, and what it may put into the last two.
TEST(VersionSkew, TheHeaderOfANewerVersionIsRead) {
  Device a("a");
  SyncSession session(a.replica(), {}, 0);
  std::string hello = frame(helloOf(1, 9));
  hello[5] = 9;
  EXPECT_TRUE(session.receive(hello, 0).ok());
  EXPECT_EQ(session.state(), SessionState::running);
}

// Structs that grew at their ends: longer data, more pointers.
struct LongerHello {
  std::uint16_t protocol = 1;
  std::uint16_t oldest = 1;
  std::uint32_t maxFrame = kMaxFrameBytes;
  std::uint32_t window = 1 << 20;
  std::string_view cluster = "test";
  std::string_view device = "newer";
  std::uint64_t keyCheck = 0;
  std::uint64_t capabilities = ~std::uint64_t{0};
  std::string_view build = "witan 9";
  std::vector<Range> more{{1, 2, 3, 4, 5}};
  WITAN_MEMBERS(LongerHello, protocol, oldest, maxFrame, window, cluster, device, keyCheck, capabilities, build, more)
};

TEST(VersionSkew, LongerStructsOfANewerPeerAreRead) {
  Device a("a");
  SyncSession session(a.replica(), {}, 0);
  WordWriter words;
  std::string hello;
  appendFrameBytes(hello, FrameType::hello, words.message(LongerHello{}));
  ASSERT_TRUE(session.receive(hello, 0).ok());
  EXPECT_EQ(session.state(), SessionState::running);
  EXPECT_EQ(session.peer(), "newer");
}

// And shorter ones, of an older one, read as if the rest were empty.
TEST(VersionSkew, ShorterStructsOfAnOlderPeerAreRead) {
  const std::string whole = frame(Segment{3, 1, {}, {}});
  Segment read;
  std::vector<std::uint64_t> words = *alignedWords(std::string_view(whole).substr(kFrameHeaderBytes));
  ASSERT_TRUE(readFrame({reinterpret_cast<const char*>(words.data()), words.size() * 8}, read).ok());
  EXPECT_EQ(read.space, 3);
  EXPECT_TRUE(read.rows.empty());
  EXPECT_TRUE(read.resume.empty());
}

// A kind of record that this build does not know is kept, passed on and superseded like any other.
TEST(VersionSkew, AnUnknownKindOfRecordIsKeptAndRelayed) {
  const auto future = static_cast<Kind>(77);
  Device a("a"), b("b"), c("c");
  const auto writeIt = [&](Device& device, const std::string& body) {
    const Write write{future, "thing", body, false};
    ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    device.flush();
  };
  writeIt(a, "from the future");
  writeIt(c, "elsewhere");
  sync(a, b);
  b.crash();
  sync(b, c);
  auto versions = c.agents().versions(future, "thing");
  ASSERT_TRUE(versions.ok());
  ASSERT_EQ(versions->size(), 2u);
  writeIt(c, "later");
  sync(b, c);
  sync(a, b);
  versions = a.agents().versions(future, "thing");
  ASSERT_TRUE(versions.ok());
  ASSERT_EQ(versions->size(), 1u);
  EXPECT_EQ((*versions)[0].body, "later");
  EXPECT_EQ(a.agents().digest(), c.agents().digest());
}

}  // namespace
}  // namespace witan::replication::test::wire_test
