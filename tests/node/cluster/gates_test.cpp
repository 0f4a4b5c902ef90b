// Least privilege between devices (docs/SECURITY.md): who leaves a cluster, whose roster counts for how long, and what
// a member may ask how often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/seams.h"
#include "node/cluster/device_key.h"
#include "node/daemon/request_rights.h"
#include "node/data_dir/replica_dir.h"
#include "node/slices/bound_roles.h"
#include "tests/node/node_process.h"

namespace witan::node::gates_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

std::string idOf(const Node& node) { return readReplicaIdentity(node.dir())->device; }

std::string digestOfStatements(const Node& node) {
  const json::value status = node.runJson({"sync", "status"});
  for (const json::value& space : status.at("spaces").as_array())
    if (space.at("space").as_string() == "agents/cluster") return std::string(space.at("digest").as_string());
  return "none";
}

std::string standingOf(const Node& node, const std::string& device) {
  const json::value list = node.runJson({"device", "list"});
  for (const json::value& row : list.at("devices").as_array())
    if (row.at("device").as_string() == device) return std::string(row.at("standing").as_string());
  return "unknown";
}

// Members 7: a limited device states that another one is gone for good.
TEST(Gates, OnlyTheRosterSaysWhoLeaves) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second"), lab(scratch, "lab");
  ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  ASSERT_TRUE(enrol(first, lab, {"--role", "budget.A"})) << lab.log();
  const std::string target = idOf(second);
  ASSERT_TRUE(until([&] { return standingOf(lab, target) == "active"; })) << lab.log();
  ASSERT_EQ(lab.stop(), 0);
  EXPECT_THAT(lab.run({"device", "retire", target}).err, HasSubstr("witan device revoke"));
  {
    auto dir = ReplicaDir::open(lab.dir());
    ASSERT_TRUE(dir.ok()) << dir.error().message;
    replication::LocalReplica& replica = (*dir)->replica();
    const auto known = replica.statements();
    ASSERT_TRUE(replica.addStatement(replication::proposeRetire(*known, replica.writer(), target, 1)).ok());
    EXPECT_EQ(replica.membership()->standing(target), replication::Standing::retiring) << "the attack does something";
    ASSERT_TRUE((*dir)->close().ok());
  }
  ASSERT_TRUE(lab.up() && lab.waitUntil("connected")) << lab.log();
  ASSERT_TRUE(until([&] { return digestOfStatements(first) == digestOfStatements(lab); })) << first.log();
  for (const Node* node : {&first, &second}) EXPECT_EQ(standingOf(*node, target), "active") << node->log();
  ASSERT_EQ(second.run({"begin", "budget", "team"}).exitCode, 0);
  EXPECT_THAT(second.run({"propose", "budget", "team", "A", R"({"type":"SpendA","n":1})"}).out, HasSubstr("approved"));
  // The admin's word counts.
  ASSERT_EQ(first.run({"device", "revoke", "second", "--reason", "sold"}).exitCode, 0);
  EXPECT_TRUE(until([&] { return standingOf(first, target) != "active"; })) << first.log();
}

bool isServed(const Node& lost) {
  const std::string out =
      lost.run({"propose", "budget", "team", "A", R"({"type":"SpendA","n":1})", "--wait-ms", "5000"}).out;
  return out.find("approved") != std::string::npos;
}

// Members 15. The keeper was away while the lost device was revoked.
void callANodeThatHasNotHeard(int leaseSeconds) {
  const Scratch scratch;
  const std::string lease = "[peers]\nroster_lease_seconds = " + std::to_string(leaseSeconds) + "\n";
  Node first(scratch, "first", "[peers]\nroster_lease_seconds = 2\n"), keeper(scratch, "keeper", lease),
      lost(scratch, "lost", "[peers]\nroster_lease_seconds = 0\n");
  ASSERT_TRUE(first.init(1).exitCode == 0 && first.up()) << first.log();
  ASSERT_TRUE(enrol(first, keeper) && enrol(first, lost)) << keeper.log() << lost.log();
  ASSERT_TRUE(until([&] { return lost.connectedTo(2); })) << lost.log();
  ASSERT_EQ(first.run({"begin", "budget", "team"}).exitCode, 0);
  ASSERT_EQ(first.run({"partition", "move", "budget/0", "keeper"}).exitCode, 0);
  ASSERT_TRUE(until([&] { return keeper.owned() == 1; })) << keeper.log();
  EXPECT_TRUE(isServed(lost)) << lost.log();
  ASSERT_TRUE(until([&] { return std::filesystem::exists(keeper.dir() + "/roster.date"); }));
  ASSERT_TRUE(keeper.stop() == 0 && lost.stop() == 0);
  ASSERT_EQ(first.run({"device", "revoke", "lost", "--reason", "stolen"}).exitCode, 0);
  ASSERT_EQ(first.stop(), 0);

  RosterDate date;
  ASSERT_TRUE(readJson(*parseJson(contentOf(keeper.dir() + "/roster.date")), date, "date").ok());
  // The lost one may have heard of the roster later, and its word counts as long.
  ASSERT_TRUE(until([&] { return SystemClock().now().micros > date.at.micros + 4'000'000; }));
  ASSERT_TRUE(keeper.up() && lost.up()) << keeper.log() << lost.log();
  if (leaseSeconds == 0) {
    EXPECT_TRUE(isServed(lost)) << "without a lease the attack succeeds\n" << keeper.log();
    return;
  }
  ASSERT_TRUE(until([&] { return keeper.log().find("older than its lease") != std::string::npos; })) << keeper.log();
  EXPECT_FALSE(isServed(lost)) << keeper.log();
  ASSERT_TRUE(first.up()) << first.log();
  EXPECT_TRUE(until([&] { return keeper.log().find("this device was revoked: stolen") != std::string::npos; }))
      << keeper.log();
  EXPECT_TRUE(until([&] { return keeper.connectedTo(1); })) << keeper.log();
  EXPECT_THAT(first.run({"propose", "budget", "team", "A", R"({"type":"SpendA","n":1})"}).out, HasSubstr("approved"));
}

TEST(Leases, ANodeThatWasAwayForLongerServesNobodyBeforeItHeardOfTheRoster) { callANodeThatHasNotHeard(2); }

TEST(Leases, WithoutOneARevokedDeviceIsServed) { callANodeThatHasNotHeard(0); }

constexpr const char* kRoles[] = {
    "*", "udt.LabOrder", "udt.begin", "udt.LabOrder:read", "graph.ingress", "graph.Person", "graph.Operator"};

struct Rights : ::testing::Test {
  Rights() {
    std::filesystem::create_directories(dir);
    Roster roster{clusterIdOf(admin.publicKey()), 1, {}};
    for (unsigned char seed = 1; seed <= std::size(kRoles); ++seed) {
      const PublicKey key = SigningKey::fromSeed(std::string(32, static_cast<char>(seed)))->publicKey();
      RosterDevice device;
      device.device = deviceIdOf(key);
      device.name = std::string(1, static_cast<char>('a' + seed));
      device.keys = {toHex(key)};
      device.roles = {kRoles[seed - 1]};
      ids.push_back(device.device);
      roster.devices.push_back(device);
    }
    std::ranges::sort(roster.devices, {}, &RosterDevice::device);
    rosters.emplace(*RosterStore::create(dir, admin.publicKey(), *signRoster(roster, admin)));
    rights.emplace(
        *rosters, ids[0], [](const Request&, std::span<const std::string> keys) { return keys.front() == "acme"; },
        [this](const std::string& device) { abusers.push_back(device); });
  }
  static Request request(RequestKind kind) {
    Request made;
    made.kind = kind;
    made.domain = "udt", made.entity = "David", made.role = "Billing";
    return made;
  }

  const Scratch scratch;
  const std::string dir = scratch / "node";
  const SigningKey admin = *SigningKey::fromSeed(std::string(32, 'x'));
  std::vector<std::string> ids, abusers;  // this device and others, by kRoles
  std::optional<RosterStore> rosters;
  std::optional<RequestRights> rights;
};

// Members 11: with or without fields.
TEST_F(Rights, WhoBeginsEntitiesIsARoleOfItsOwn) {
  EXPECT_THAT(rights->mayAsk(ids[1], request(RequestKind::init), 0).error().message, HasSubstr("udt.begin"));
  EXPECT_TRUE(rights->mayAsk(ids[2], request(RequestKind::init), 0).ok());
  EXPECT_TRUE(rights->mayAsk(ids[0], request(RequestKind::init), 0).ok());
  EXPECT_FALSE(rights->mayAsk(ids[2], request(RequestKind::propose), 0).ok()) << "and nothing else";
}

TEST_F(Rights, AReaderSeesAndAsksForNothing) {
  RosterDevice reader;
  reader.roles = {"udt.LabOrder:read"};
  EXPECT_TRUE(reader.maySee("udt", "LabOrder"));
  EXPECT_FALSE(reader.maySee("udt", "Billing"));
  EXPECT_FALSE(reader.mayAct("udt", "LabOrder"));
  EXPECT_TRUE(checkDeviceRoles(reader.roles).ok());
  EXPECT_TRUE(keysOf(reader, "udt", "LabOrder").empty() && !isBound(reader)) << "\"read\" is no key";
  for (const RequestKind kind : {RequestKind::propose, RequestKind::init, RequestKind::commit, RequestKind::ingress}) {
    Request asked = request(kind);
    asked.role = "LabOrder";
    EXPECT_FALSE(rights->mayAsk(ids[3], asked, 0).ok());
    EXPECT_EQ(rights->mayAsk(ids[1], asked, 0).ok(), kind == RequestKind::propose)
        << "a graph is sent to with graph.ingress";
  }
}

TEST_F(Rights, WhoSendsToAGraphIsNotWhoAnswersIt) {
  Request asked = request(RequestKind::ingress);
  asked.domain = "graph", asked.entity = "g", asked.role = "in";
  for (const int may : {0, 4, 6}) EXPECT_TRUE(rights->mayAsk(ids[may], asked, 0).ok()) << kRoles[may];
  EXPECT_THAT(rights->mayAsk(ids[5], asked, 0).error().message, HasSubstr("that needs the role graph.ingress"));
  asked.kind = RequestKind::propose, asked.role = "Person";
  for (const int n : {0, 4, 5, 6}) EXPECT_EQ(rights->mayAsk(ids[n], asked, 0).ok(), n == 0 || n == 5) << kRoles[n];
}

TEST_F(Rights, WhoMayBeginDoesNotFillALedger) {
  std::int64_t begun = 0;
  for (int n = 0; n < 5000; ++n) begun += rights->mayAsk(ids[2], request(RequestKind::init), 1'000).ok();
  EXPECT_EQ(begun, kBegunAtOnce);
  EXPECT_TRUE(rights->mayAsk(ids[2], request(RequestKind::init), 3'000).ok()) << "some time later";
  for (int n = 0; n < 5000; ++n) EXPECT_TRUE(rights->mayAsk(ids[0], request(RequestKind::init), 1'000).ok());
}

// Members 18.
TEST_F(Rights, AMemberThatAsksForWhatItMayNotIsAnAbuserAndThisDeviceIsNot) {
  for (std::int64_t n = 0; n < kRefusedAtOnce; ++n) (void)rights->mayAsk(ids[1], request(RequestKind::propose), 1'000);
  EXPECT_TRUE(abusers.empty());
  (void)rights->mayAsk(ids[1], request(RequestKind::propose), 1'000);
  EXPECT_EQ(abusers, std::vector<std::string>{ids[1]});
  Request wrong = request(RequestKind::propose);
  wrong.domain = "graph", wrong.role = "Runtime";
  for (std::int64_t n = 0; n < 2 * kRefusedAtOnce; ++n) EXPECT_FALSE(rights->mayAsk(ids[0], wrong, 1'000).ok());
  EXPECT_EQ(abusers.size(), 1u);
}

// Such as for a key, again and again.
TEST_F(Rights, AsksOfAnotherKindCountWithThem) {
  for (std::int64_t n = 0; n < kRefusedAtOnce; ++n) rights->refused(ids[1], 1'000);
  EXPECT_TRUE(abusers.empty());
  (void)rights->mayAsk(ids[1], request(RequestKind::propose), 1'000);
  EXPECT_EQ(abusers, std::vector<std::string>{ids[1]});
  rights->refused(ids[1], 1'000);
  EXPECT_EQ(abusers.size(), 2u);
}

}  // namespace
}  // namespace witan::node::gates_test
