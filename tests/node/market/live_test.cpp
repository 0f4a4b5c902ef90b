// A node in the market as a process, and a partner of the test that does not keep to its part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "market/testing/market_toy.h"
#include "node/data_dir/replica_store.h"
#include "node/market/market_door.h"
#include "node/market/market_revoked.h"
#include "tests/node/node_process.h"

namespace witan::node {
namespace {

using market::Letter;
using market::textOf;
using test::Node;
using test::Scratch;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

SigningKey liveKey(char seed) { return SigningKey::fromSeed(std::string(32, seed)).value(); }

// Partners of the test, as their roots and their devices' keys say, on one loop.
struct Partner {
  Partner(net::Loop& shared, market::Roots trusted, const std::string& org = "clinic",
          const SigningKey& ofRoot = liveKey('r'), const SigningKey& ofDevice = liveKey('d'))
      : loop(shared), roots(std::move(trusted)), root(ofRoot), device(ofDevice) {
    MarketDoor::Events events;
    events.now = [] { return market::momentOf(SystemClock().now()); };
    events.roots = [this] { return roots; };
    events.isRevoked = [](const PublicKey&, const PublicKey&) { return false; };
    events.connected = [](const std::string&) {};
    events.incident = [](const market::MarketIncident& incident) { FAIL() << incident.what; };
    events.letter = [this](const Letter& letter) {
      if (letter.kind == kRevokedLetter) return lists.push_back(letter.body.at("list"));
      ++answers;
      busy += letter.body.contains("busy") ? 1 : 0;
      last = letter.body;
    };
    DevicePass pass;
    pass.org = org;
    pass.device = "device";
    pass.key = toHex(device.publicKey());
    pass.until = {events.now().seconds + 3'600};
    door = std::make_unique<MarketDoor>(loop, log, net::tlsIdentityOf(device, "device").value(), org,
                                        market::sealedDocument(pass, {&root, 1}), events);
  }
  bool until(const std::function<bool()>& so) const { return loop.runUntil(so, 60'000); }
  bool isUp() const { return door->isConnected("notary"); }
  bool connects(const std::string& address) const {
    door->dial("notary", address);
    return until([&] { return isUp(); });
  }
  net::Loop& loop;
  const market::Roots roots;
  const SigningKey root, device;
  Log log{LogLevel::error, false, [] { return Time{}; }, [](std::string_view) {}};
  int answers = 0, busy = 0;
  json::object last;
  std::vector<json::value> lists;  // of revoked devices
  std::unique_ptr<MarketDoor> door;
};

// The keys of the devices that a list has.
std::vector<std::string> keysIn(const json::value& list) {
  std::vector<std::string> keys;
  const auto opened = market::openEnvelope<RevokedKeys>(list);
  if (opened.ok())
    for (const RevokedKey& each : opened->document.keys) keys.push_back(each.key);
  return keys;
}

PublicKey rootOf(const Node& node) { return hashFromHex(readClusterFile(node.dir()).value().adminKey).value(); }

TEST(MarketLive, AFloodIsAnsweredBusyAndIsOnRecord) {
  const Scratch scratch;
  const std::string address = test::freeAddress();
  Node notary(scratch, "notary", "[market]\norg = \"notary\"\nlisten = \"" + address + "\"\n");
  ASSERT_EQ(notary.init(1).exitCode, 0);
  ASSERT_TRUE(notary.up()) << notary.log();
  net::Loop loop;
  Partner clinic(loop, {{"notary", rootOf(notary)}});
  // Trust counts without a restart.
  ASSERT_EQ(notary.run({"market", "trust", "clinic", toHex(clinic.root.publicKey())}).exitCode, 0);
  EXPECT_THAT(notary.run({"market", "repute", "clinic"}).out, HasSubstr("incidents 0"));
  EXPECT_THAT(notary.run({"market", "repute", "nobody"}).err, HasSubstr("no organisation \"nobody\""));
  ASSERT_TRUE(clinic.connects(address)) << notary.log();
  constexpr int kLetters = 150;
  for (int n = 0; n < kLetters; ++n)
    ASSERT_TRUE(clinic.door->send({"clinic", "notary", concat("v", n), "view", {{"entity", "none"}}}));
  ASSERT_TRUE(clinic.loop.runUntil([&] { return clinic.answers == kLetters; }, 60'000))
      << clinic.answers << notary.log();
  EXPECT_GT(clinic.busy, 0);
  EXPECT_LT(clinic.busy, kLetters) << "what is within the rate is answered";
  EXPECT_TRUE(test::until([&] {
    return canonicalJson(notary.runJson({"incidents"})).find("more than 20 requests in a second") != std::string::npos;
  })) << notary.log();
  // A partner that takes everything and answers nothing: who asks is told, and the node goes on.
  EXPECT_THAT(notary.run({"market", "find", "--at", "clinic"}).err, HasSubstr("clinic does not answer"));
  clinic.answers = 0;
  ASSERT_TRUE(clinic.door->send({"clinic", "notary", "later", "view", {{"entity", "none"}}}));
  ASSERT_TRUE(clinic.loop.runUntil([&] { return clinic.answers > 0; }, 60'000)) << notary.log();
  EXPECT_EQ(textOf(notary.get("/.well-known/agent-card.json").as_object(), "name"), "notary");
  // The end of trust ends what is up.
  ASSERT_EQ(notary.run({"market", "untrust", "clinic"}).exitCode, 0);
  EXPECT_TRUE(clinic.loop.runUntil([&] { return !clinic.door->isConnected("notary"); }, 60'000)) << notary.log();
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

// Its word comes by hand once, and then by itself; it ends with its place in the roster, and its partners hear of it
// from the device that revoked it.
TEST(MarketLive, ADeviceWithoutTheRootServesUntilItIsRevoked) {
  const Scratch scratch;
  const std::string address = test::freeAddress(), clinicAddress = test::freeAddress();
  Node begun(scratch, "begun", "[market]\norg = \"notary\"\npartners = [\"clinic=" + clinicAddress + "\"]\n");
  Node serving(scratch, "serving", "[market]\norg = \"notary\"\nlisten = \"" + address + "\"\n");
  ASSERT_EQ(begun.init().exitCode, 0);
  net::Loop loop;
  Partner clinic(loop, {{"notary", rootOf(begun)}});
  const std::string root = toHex(clinic.root.publicKey());
  ASSERT_EQ(begun.run({"market", "trust", "clinic", root}).exitCode, 0);
  ASSERT_TRUE(begun.up()) << begun.log();
  ASSERT_TRUE(serving.joins(begun));
  scratch.write("request.json", serving.run({"market", "enrol", "notary"}).out);
  ASSERT_EQ(begun.stop(), 0);
  const auto granted = begun.run({"market", "grant", scratch / "request.json"});
  ASSERT_EQ(granted.exitCode, 0) << granted.err;
  scratch.write("word.json", granted.out);
  ASSERT_EQ(serving.run({"market", "enrol", "notary", "--with", scratch / "word.json"}).exitCode, 0);
  const std::string word = test::contentOf(serving.dir() + "/market.pass");
  ASSERT_EQ(serving.run({"market", "trust", "clinic", root}).exitCode, 0);
  // Two words of one second are the same, so the one that comes by itself is of a later one.
  for (const std::time_t second = std::time(nullptr); std::time(nullptr) == second;) ::usleep(10'000);
  ASSERT_TRUE(begun.up()) << begun.log();
  ASSERT_TRUE(serving.up()) << serving.log();
  ASSERT_TRUE(clinic.connects(address)) << serving.log();
  EXPECT_TRUE(clinic.until([&] { return test::contentOf(serving.dir() + "/market.pass") != word; }))
      << "a newer pass has come by itself";
  ASSERT_TRUE(clinic.door->send({"clinic", "notary", "v", "view", {{"entity", "none"}}}));
  ASSERT_TRUE(clinic.until([&] { return clinic.answers > 0; })) << serving.log();
  ASSERT_TRUE(clinic.door->listen(clinicAddress).ok());  // of the two devices the first one speaks
  ASSERT_EQ(begun.run({"device", "revoke", "serving", "--reason", "lost"}).exitCode, 0);
  ASSERT_TRUE(clinic.until([&] { return !clinic.lists.empty(); })) << begun.log();
  const auto pass = market::openEnvelope<DevicePass>(market::valueOf(word));
  EXPECT_THAT(keysIn(clinic.lists[0]), Contains(std::string(pass->document.key)));
  EXPECT_EQ(test::contentOf(begun.dir() + "/market.granted"), "[]\n");
  EXPECT_TRUE(clinic.until([&] {
    return test::contentOf(serving.dir() + ".log").find("nothing more is done") != std::string::npos;
  })) << serving.log();
}

// A contract between two who are not connected: what ties them is the holder.
Letter openingOf(const market::MarketToy& toy, market::Moment now) {
  market::Contract contract = toy.contract;
  contract.signedAt = contract.notBefore = now;
  contract.expiry = {now.seconds + kDaySeconds};
  const std::array keys{toy.clinic, toy.lab};
  json::array grants;
  for (const auto& [org, key, root] :
       {std::tuple{"clinic", toy.clinic, toy.clinicRoot}, {"lab", toy.lab, toy.labRoot}}) {
    market::Grant grant;
    grant.org = org;
    grant.key = market::hexOf(key);
    grant.use = market::GrantUse::contract;
    grant.notBefore = {now.seconds - 300}, grant.notAfter = contract.expiry;
    grants.push_back(market::valueOf(market::sealedDocument(grant, {&root, 1})));
  }
  return {"clinic",
          "notary",
          "o",
          "open",
          {{"contract", market::valueOf(market::sealedDocument(contract, keys))}, {"grants", std::move(grants)}}};
}

// A thief holds the clinic's device and its pass, and is connected; the clinic's other device comes.
TEST(MarketLive, WhoIsRevokedIsCutOffAndTheHolderTellsWhomAContractTies) {
  const Scratch scratch;
  const std::string address = test::freeAddress();
  Node notary(scratch, "notary", "[market]\norg = \"notary\"\nlisten = \"" + address + "\"\n");
  ASSERT_EQ(notary.init(1).exitCode, 0);
  ASSERT_TRUE(notary.up()) << notary.log();
  const market::MarketToy toy;
  net::Loop loop;
  const market::Roots trusted{{"notary", rootOf(notary)}};
  Partner stolen(loop, trusted, "clinic", toy.clinicRoot, liveKey('d')),
      honest(loop, trusted, "clinic", toy.clinicRoot, liveKey('h')),
      lab(loop, trusted, "lab", toy.labRoot, liveKey('l')), other(loop, trusted, "other", liveKey('o'), liveKey('p'));
  for (const auto& [org, root] : {std::pair{"clinic", stolen.root}, {"lab", lab.root}, {"other", other.root}})
    ASSERT_EQ(notary.run({"market", "trust", org, toHex(root.publicKey())}).exitCode, 0);
  for (const Partner* each : {&stolen, &lab, &other}) ASSERT_TRUE(each->connects(address)) << notary.log();
  ASSERT_TRUE(stolen.door->send(openingOf(toy, market::momentOf(SystemClock().now()))));
  ASSERT_TRUE(stolen.until([&] { return stolen.answers > 0; }));
  ASSERT_EQ(textOf(stolen.last, "outcome"), "approved") << canonicalJson(stolen.last);

  ASSERT_TRUE(honest.connects(address));
  const MarketEnrolment thief{{}, "clinic", "device", toHex(stolen.device.publicKey()), market::hexOf(toy.clinic),
                              {}, {}};
  const auto revoked = withRevoked({}, {thief}, honest.root, market::momentOf(SystemClock().now()));
  const Letter told{"clinic", "notary", "r", std::string(kRevokedLetter), {{"list", market::valueOf(*revoked)}}};
  ASSERT_TRUE(honest.door->send(told));
  ASSERT_TRUE(lab.until([&] { return !lab.lists.empty(); })) << "by the holder\n" << notary.log();
  EXPECT_THAT(keysIn(lab.lists[0]), UnorderedElementsAre(std::string(thief.key), std::string(thief.contract)));
  ASSERT_TRUE(lab.door->send(openingOf(toy, market::momentOf(SystemClock().now()))));
  ASSERT_TRUE(lab.until([&] { return lab.answers > 0; }));
  EXPECT_EQ(textOf(lab.last, "message"), "a key of this contract is revoked");
  const auto isHeard = [&](Partner& partner) {
    const int before = partner.answers, busy = partner.busy;
    (void)partner.door->send({"x", "notary", concat("v", before), "view", {{"entity", "none"}}});
    (void)loop.runUntil([&] { return partner.answers > before; }, 300);
    return partner.answers > before && partner.busy == busy;
  };
  EXPECT_TRUE(honest.until([&] { return isHeard(honest); })) << "it speaks now\n" << notary.log();
  EXPECT_FALSE(isHeard(stolen));
  EXPECT_TRUE(other.lists.empty()) << "no contract ties it to the clinic";
  // After a restart too, and whoever comes first.
  ASSERT_EQ(notary.stop(), 0);
  honest.door->close();
  ASSERT_TRUE(notary.up()) << notary.log();
  lab.lists.clear();
  ASSERT_TRUE(lab.until([&] { return !lab.lists.empty(); })) << "whoever was away hears of it when it is back";
  EXPECT_FALSE(isHeard(stolen));
  EXPECT_THAT(notary.log(), HasSubstr("the device is revoked"));
  EXPECT_EQ(notary.runJson({"incidents"}).at("incidents").as_array().size(), 0u);
}

// It takes no part in the market itself: what it has are the ledgers.
TEST(MarketLive, AnotherDeviceOfTheHolderShowsItsEscrows) {
  const Scratch scratch;
  const std::string address = test::freeAddress();
  Node notary(scratch, "notary", "[market]\norg = \"notary\"\nlisten = \"" + address + "\"\n");
  Node reader(scratch, "reader");
  ASSERT_TRUE(test::begin(notary)) << notary.log();
  ASSERT_TRUE(test::enrol(notary, reader)) << reader.log();
  const market::MarketToy toy;
  net::Loop loop;
  Partner clinic(loop, {{"notary", rootOf(notary)}}, "clinic", toy.clinicRoot);
  for (const auto& [org, root] : {std::pair{"clinic", toy.clinicRoot}, {"lab", toy.labRoot}})
    ASSERT_EQ(notary.run({"market", "trust", org, toHex(root.publicKey())}).exitCode, 0);
  ASSERT_TRUE(clinic.connects(address)) << notary.log();
  const Letter opening = openingOf(toy, market::momentOf(SystemClock().now()));
  ASSERT_TRUE(clinic.door->send(opening));
  ASSERT_TRUE(clinic.until([&] { return clinic.answers > 0; }));
  const std::string entity = market::openEnvelope<market::Contract>(opening.body.at("contract")).value().digest;
  const auto shown = [&](const Node& node) { return node.run({"market", "show", entity}).out; };
  EXPECT_THAT(shown(notary), HasSubstr("phase OPEN"));
  EXPECT_TRUE(test::until([&] { return shown(reader) == shown(notary); })) << shown(reader) << reader.log();
  EXPECT_THAT(reader.run({"market", "contract", "list"}).err, HasSubstr("takes no part in the market"));
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
