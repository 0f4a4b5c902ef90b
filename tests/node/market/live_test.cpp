// A node in the market as a process, and a partner of the test that does not keep to its part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/data_dir/replica_store.h"
#include "node/market/market_door.h"
#include "tests/node/node_process.h"

namespace witan::node {
namespace {

using market::Letter;
using market::textOf;
using test::Node;
using test::Scratch;
using ::testing::HasSubstr;

TEST(MarketLive, AFloodIsAnsweredBusyAndIsOnRecord) {
  const Scratch scratch;
  const std::string address = test::freeAddress();
  Node notary(scratch, "notary", "[market]\norg = \"notary\"\nlisten = \"" + address + "\"\n");
  ASSERT_EQ(notary.init(1).exitCode, 0);
  const SigningKey root = SigningKey::fromSeed(std::string(32, 'r')).value();
  const SigningKey device = SigningKey::fromSeed(std::string(32, 'd')).value();
  ASSERT_TRUE(notary.up()) << notary.log();
  // Trust counts without a restart.
  ASSERT_EQ(notary.run({"market", "trust", "clinic", toHex(root.publicKey())}).exitCode, 0);

  net::Loop loop;
  Log log(
      LogLevel::error, false, [] { return Time{}; }, [](std::string_view) {});
  int answers = 0, busy = 0;
  MarketDoor::Events events;
  events.now = [] { return market::momentOf(SystemClock().now()); };
  const json::value shown = notary.get("/v1/market");
  ASSERT_TRUE(shown.is_object()) << notary.log();
  const market::Roots roots{{"notary", hashFromHex(std::string(shown.at("root").as_string())).value()}};
  events.roots = [&] { return roots; };
  events.connected = [](const std::string&) {};
  events.incident = [](const market::MarketIncident& incident) { FAIL() << incident.what; };
  events.letter = [&](const Letter& letter) {
    ++answers;
    busy += letter.body.contains("busy") ? 1 : 0;
  };
  DevicePass pass;
  pass.org = "clinic";
  pass.device = "device";
  pass.key = toHex(device.publicKey());
  pass.until = {events.now().seconds + 3'600};
  MarketDoor door(loop, log, net::tlsIdentityOf(device, "device").value(), "clinic",
                  market::sealedDocument(pass, {&root, 1}), events);
  door.dial("notary", address);
  ASSERT_TRUE(loop.runUntil([&] { return door.isConnected("notary"); }, 60'000)) << notary.log();
  constexpr int kLetters = 150;
  for (int n = 0; n < kLetters; ++n)
    ASSERT_TRUE(door.send({"clinic", "notary", concat("v", n), "view", {{"entity", "none"}}}));
  ASSERT_TRUE(loop.runUntil([&] { return answers == kLetters; }, 60'000)) << answers << notary.log();
  EXPECT_GT(busy, 0);
  EXPECT_LT(busy, kLetters) << "what is within the rate is answered";
  EXPECT_TRUE(test::until([&] {
    return canonicalJson(notary.runJson({"incidents"})).find("more than 20 requests in a second") != std::string::npos;
  })) << notary.log();
  // A partner that takes everything and answers nothing: who asks is told, and the node goes on.
  EXPECT_THAT(notary.run({"market", "find", "--at", "clinic"}).err, HasSubstr("clinic does not answer"));
  answers = 0;
  ASSERT_TRUE(door.send({"clinic", "notary", "later", "view", {{"entity", "none"}}}));
  ASSERT_TRUE(loop.runUntil([&] { return answers > 0; }, 60'000)) << notary.log();
  EXPECT_EQ(textOf(notary.get("/.well-known/agent-card.json").as_object(), "name"), "notary");
  // The end of trust ends what is up.
  ASSERT_EQ(notary.run({"market", "untrust", "clinic"}).exitCode, 0);
  EXPECT_TRUE(loop.runUntil([&] { return !door.isConnected("notary"); }, 60'000)) << notary.log();
  EXPECT_EQ(notary.stop(), 0);
}

// What cannot be read may be about money: it is on record and kept, and the node goes on without it.
TEST(MarketLive, ARowThatCannotBeReadIsSetAsideAndKept) {
  const Scratch scratch;
  Node clinic(scratch, "clinic", "[market]\norg = \"clinic\"\n");
  ASSERT_EQ(clinic.init(1).exitCode, 0);
  const auto inStore = [&](const std::function<void(store::Store&)>& change) {
    const auto store = openReplicaStore(clinic.dir() + "/ledgers");
    ASSERT_TRUE(store.ok()) << store.error().message;
    change(**store);
  };
  ASSERT_TRUE(clinic.up()) << clinic.log();
  ASSERT_EQ(clinic.stop(), 0);
  const std::string incident = canonicalJson(json::array{"market-evidence", std::string(17 << 20, 'y')});
  inStore([&](store::Store& store) {
    store::WriteBatch batch;
    for (const char* key : {"m/b/call/a/C1", "m/c/proposal/b", "m/s/agreed/c"}) batch.put(key, "{}");
    batch.put("m/n/large", incident);
    ASSERT_TRUE(store.write(batch).ok());
  });
  for (int start = 0; start < 2; ++start) {
    ASSERT_TRUE(clinic.up()) << clinic.log();
    const std::string told = canonicalJson(clinic.runJson({"incidents"}));
    for (const char* key : {"m/b/call/a/C1", "m/c/proposal/b", "m/s/agreed/c", "m/n/large"})
      EXPECT_THAT(told, HasSubstr(key)) << start;
    ASSERT_EQ(clinic.stop(), 0);
  }
  inStore([](store::Store& store) { EXPECT_EQ(store.get("m/x/m/b/call/a/C1").value(), "{}"); });
}

TEST(MarketLive, ANodeWithoutTheRootSaysSo) {
  const Scratch scratch;
  Node clinic(scratch, "clinic");
  ASSERT_EQ(clinic.init(1).exitCode, 0);
  scratch.write("clinic/witan.toml", "[market]\npartners = [\"lab\"]\n");
  EXPECT_THAT(clinic.run({"up"}).err, HasSubstr("[market] partners is set, and [market] org is not"));
  scratch.write("clinic/witan.toml", "[market]\norg = \"clinic\"\npartners = [\"lab\"]\n");
  EXPECT_THAT(clinic.run({"up"}).err, HasSubstr("ORG=HOST:PORT"));
  scratch.write("clinic/witan.toml", "[market]\norg = \"clinic\"\n");
  std::filesystem::rename(clinic.dir() + "/admin.key", clinic.dir() + "/elsewhere");
  EXPECT_THAT(clinic.run({"up"}).err, HasSubstr("holds no root"));
}

}  // namespace
}  // namespace witan::node
