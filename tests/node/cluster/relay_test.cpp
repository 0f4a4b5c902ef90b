// Nodes that cannot reach each other, and others that have links with both: whole processes on loopback. What a node
// advertises is a proxy of the test, which turns everybody away until the test says otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <list>

#include "tests/net/proxy.h"
#include "tests/node/node_process.h"

namespace witan::node::relay_test {
namespace {

using test::contentOf;
using test::Finished;
using test::Node;
using test::Scratch;
using test::until;
using ::testing::HasSubstr;
using ::testing::Not;

// A node that others cannot dial, though it can dial them.
struct Hidden {
  Hidden(const Scratch& scratch, const std::string& name) : node(scratch, name), door(node.address()) { door.cut(); }
  bool begin() { return node.init(4, {"--advertise", door.address()}).exitCode == 0 && node.up(); }
  bool join(const Node& founder, const std::vector<std::string>& invite = {}) {
    return node.join(tokenOf(founder, invite), {"--advertise", door.address()}).exitCode == 0 && node.up();
  }
  static std::string tokenOf(const Node& founder, std::vector<std::string> invite) {
    invite.insert(invite.end(), {"--address", founder.address()});
    return founder.invite(invite);
  }

  Node node;
  net::test::Proxy door;
};

bool joins(Node& node, const Node& founder, const std::vector<std::string>& invite = {}) {
  return node.join(Hidden::tokenOf(founder, invite)).exitCode == 0 && node.up();
}

std::string idOf(const Node& node) { return std::string(node.get("/v1/status").at("device").as_string()); }

// How a node is linked with another: "direct", the id of who carries, or "" if it is not.
std::string wayFrom(const Node& node, const std::string& name) {
  const json::value answer = node.get("/v1/peers");
  if (!answer.is_object()) return "";
  for (const json::value& peer : answer.at("peers").as_array()) {
    if (peer.at("name").as_string() != name || !peer.at("connected").as_bool()) continue;
    const json::value* via = peer.as_object().if_contains("via");
    return via == nullptr ? "direct" : std::string(via->as_string());
  }
  return "";
}

Finished spend(const Node& node, const std::string& operation, std::vector<std::string> more = {}) {
  std::vector<std::string> words{"propose",        "budget",  "team",  "A", R"({"type":"SpendA","n":1})",
                                 "--operation-id", operation, "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return node.run(words);
}

// Of a running process. False, too, where the system does not let us look.
bool memoryHas(pid_t pid, const std::string& what) {
  const std::string base = "/proc/" + std::to_string(pid);
  std::ifstream maps(base + "/maps"), memory(base + "/mem", std::ios::binary);
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0, to = 0;
    char mode[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, mode) != 3 || mode[1] != 'w' || to - from > 1ul << 30)
      continue;
    std::string bytes(to - from, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(from));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (bytes.find(what) != std::string::npos) return true;
  }
  return false;
}

bool diskHas(const std::string& dir, const std::string& what) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(dir))
    if (file.is_regular_file() && contentOf(file.path()).find(what) != std::string::npos) return true;
  return false;
}

// `owner` keeps the only ledgers; `asker` has roles and a scope; `between` may neither see the shared state nor hold
// replicated data. So whatever the asker gets, it gets from the owner through the tunnel.
struct RelayTest : ::testing::Test {
  void start() {
    ASSERT_TRUE(owner.begin()) << owner.node.log();
    ASSERT_TRUE(joins(between, owner.node, {"--role", "budget.B"})) << between.log();
    ASSERT_TRUE(asker.join(owner.node, {"--role", "budget.A", "--role", "udt.LabOrder", "--scope", "main"}))
        << asker.node.log();
    ASSERT_TRUE(until([&] { return wayFrom(asker.node, "owner") == idOf(between); })) << asker.node.log();
    ASSERT_EQ(owner.node.run({"begin", "budget", "team"}).exitCode, 0);
  }

  const Scratch scratch;
  Hidden owner{scratch, "owner"}, asker{scratch, "asker"};
  Node between{scratch, "between"};
};

TEST_F(RelayTest, EverythingGoesThroughAThirdWhichReadsNothing) {
  start();
  EXPECT_THAT(asker.node.run({"peers"}).out, HasSubstr("via between"));
  EXPECT_THAT(spend(asker.node, "op-1").out, HasSubstr("\"outcome\":\"approved\""));
  // A slice, and the replicated journal.
  const std::string secret = "seen by the laboratory alone", note = "a note of the asker and the owner";
  ASSERT_EQ(owner.node.run({"begin", "udt", "David", "--init", R"({"baselinePositiveOn":"2026-01-17"})"}).exitCode, 0);
  const std::string rationale = R"({"type":"DocumentRationale","order":"O1","text":")" + secret + "\"}";
  EXPECT_THAT(asker.node.run({"propose", "udt", "David", "LabOrder", rationale}).out, HasSubstr("approved"));
  EXPECT_TRUE(until([&] {
    return asker.node.run({"slice", "udt", "David", "--role", "LabOrder"}).out.find(secret) != std::string::npos;
  })) << asker.node.log();
  EXPECT_EQ(asker.node.run({"journal", "put", "n1", "--type", "note", "--text", note}).exitCode, 0);
  EXPECT_TRUE(until([&] { return owner.node.run({"journal", "get", "n1"}).out.find(note) != std::string::npos; }));
  // Who carried it.
  EXPECT_EQ(between.metric("relay_tunnels"), 1);
  EXPECT_EQ(owner.node.metric("relay_own_tunnels"), 1);
  EXPECT_GT(between.metric("relay_carried_bytes_total"), 10'000);
  EXPECT_THAT(between.log(), HasSubstr("carries a link"));
  EXPECT_TRUE(diskHas(asker.node.dir(), secret)) << "the search finds what is there";
  for (const std::string& text : {secret, note}) {
    EXPECT_FALSE(diskHas(between.dir(), text)) << text;
    EXPECT_FALSE(memoryHas(between.pid(), text)) << text;
  }
  if (!memoryHas(between.pid(), idOf(between))) GTEST_SKIP() << "this system does not let us look into a process";
}

TEST_F(RelayTest, ADirectLinkTakesThePlaceAndGivesItBack) {
  start();
  asker.door.heal();
  ASSERT_TRUE(until([&] { return wayFrom(asker.node, "owner") == "direct"; })) << owner.node.log();
  EXPECT_TRUE(until([&] { return wayFrom(owner.node, "asker") == "direct"; }));
  EXPECT_TRUE(until([&] { return between.metric("relay_tunnels") == 0; })) << between.log();
  EXPECT_THAT(spend(asker.node, "op-1").out, HasSubstr("approved"));
  asker.door.cut();
  ASSERT_TRUE(until([&] { return wayFrom(asker.node, "owner") == idOf(between); })) << asker.node.log();
  EXPECT_THAT(spend(asker.node, "op-2").out, HasSubstr("approved"));
}

TEST_F(RelayTest, WhenTheRelayDiesAnotherOneCarriesAndAKeyMayChange) {
  start();
  Node second(scratch, "second");
  ASSERT_TRUE(joins(second, owner.node)) << second.log();
  ASSERT_TRUE(second.waitUntil("connected") && asker.node.waitUntil("connected")) << second.log();
  between.kill();
  ASSERT_TRUE(until([&] { return wayFrom(asker.node, "owner") == idOf(second); })) << asker.node.log();
  EXPECT_THAT(spend(asker.node, "op-1").out, HasSubstr("approved"));
  const std::string before = contentOf(asker.node.dir() + "/device.key");
  EXPECT_EQ(asker.node.run({"device", "rotate-key"}).exitCode, 0);
  EXPECT_TRUE(until([&] { return owner.node.run({"device", "accept-key", "asker"}).exitCode == 0; }));
  EXPECT_TRUE(until([&] { return contentOf(asker.node.dir() + "/device.key") != before; })) << asker.node.log();
  EXPECT_TRUE(until([&] { return wayFrom(asker.node, "owner") == idOf(second); })) << asker.node.log();
  EXPECT_THAT(spend(asker.node, "op-2").out, HasSubstr("approved"));
}

TEST_F(RelayTest, WhoIsRevokedOrCutIsSoEndToEnd) {
  start();
  // A drill: the owner turns the asker away, whoever carries it.
  ASSERT_EQ(owner.node.run({"peers", "cut", "asker"}).exitCode, 0);
  const double refused = between.metric("relay_refused_total");
  EXPECT_TRUE(until([&] { return between.metric("relay_refused_total") > refused + 1; })) << between.log();
  EXPECT_EQ(wayFrom(owner.node, "asker"), "");
  EXPECT_THAT(spend(asker.node, "op-1", {"--wait-ms", "50"}).out, HasSubstr("\"outcome\":\"waiting\""));
  ASSERT_EQ(owner.node.run({"peers", "heal", "asker"}).exitCode, 0);
  EXPECT_THAT(spend(asker.node, "op-1").out, HasSubstr("approved"));
  // At the relay: it does not carry for whom it is cut from.
  ASSERT_EQ(between.run({"peers", "cut", "asker"}).exitCode, 0);
  EXPECT_TRUE(until([&] { return wayFrom(owner.node, "asker").empty(); })) << owner.node.log();
  ASSERT_EQ(between.run({"peers", "heal", "asker"}).exitCode, 0);
  EXPECT_TRUE(until([&] { return wayFrom(owner.node, "asker") == idOf(between); })) << owner.node.log();
  // Revoked.
  ASSERT_EQ(owner.node.run({"device", "revoke", "asker", "--reason", "stolen"}).exitCode, 0);
  EXPECT_TRUE(until([&] { return asker.node.connectedTo(0) && between.metric("relay_tunnels") == 0; }));
  EXPECT_EQ(wayFrom(owner.node, "asker"), "");
  asker.node.kill();
  ASSERT_TRUE(asker.node.up());
  EXPECT_TRUE(until([&] { return between.log().find("this device was revoked: stolen") != std::string::npos; }));
  EXPECT_EQ(between.metric("relay_tunnels"), 0);
}

TEST_F(RelayTest, ADeviceThatIsToldNotToCarryDoesNot) {
  ASSERT_TRUE(owner.begin()) << owner.node.log();
  ASSERT_EQ(between.join(Hidden::tokenOf(owner.node, {})).exitCode, 0);
  std::string config = contentOf(between.dir() + "/witan.toml");
  ASSERT_THAT(config, HasSubstr("[relay]"));
  config.replace(config.find("carry = true"), 12, "carry = false");
  scratch.write("between/witan.toml", config);
  ASSERT_TRUE(between.up()) << between.log();
  ASSERT_TRUE(asker.join(owner.node)) << asker.node.log();
  EXPECT_TRUE(until([&] { return between.metric("relay_refused_total") >= 2; })) << asker.node.log();
  EXPECT_TRUE(asker.node.connectedTo(1));
  EXPECT_EQ(wayFrom(asker.node, "owner"), "");
  const auto why = [&] { return asker.node.run({"peers"}).out; };
  EXPECT_TRUE(until([&] { return why().find("no way through between: it carries for nobody") != std::string::npos; }))
      << why();
}

}  // namespace
}  // namespace witan::node::relay_test
