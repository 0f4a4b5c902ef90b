// Whole nodes as processes on loopback: enrolled, at work, attacked, killed. Each starts its own; nothing waits for
// luck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "cli/client/control_client.h"
#include "net/http_client.h"
#include "node/cluster/device_key.h"
#include "node/enrolment/joining.h"
#include "tests/node/node_process.h"

namespace witan::node::deployment_test {
namespace {

using test::begin;
using test::enrol;
using test::Finished;
using test::Node;
using test::runWitan;
using test::Scratch;
using test::until;
using ::testing::HasSubstr;
using ::testing::Not;

std::string entriesOf(const Node& node) { return node.run({"ledger", "verify"}).out; }

Finished propose(const Node& node, const std::string& operation, int amount) {
  return node.run({"propose", "budget", "team", "A", "{\"type\":\"SpendA\",\"n\":" + std::to_string(amount) + "}",
                   "--operation-id", operation, "--json"});
}

TEST(Deployment, AProposalOfOneDeviceIsDecidedByAnotherAndOnAllLedgers) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  EXPECT_EQ(second.run({"begin", "budget", "team"}).exitCode, 0);
  EXPECT_THAT(propose(second, "op-1", 100).out, HasSubstr("\"outcome\":\"approved\""));
  // The same operation again is answered from the ledger.
  EXPECT_THAT(propose(second, "op-1", 100).out, HasSubstr("\"duplicate\":true"));
  EXPECT_THAT(propose(first, "op-2", 200'000).out, HasSubstr("BUDGET_CAP"));
  EXPECT_TRUE(until([&] { return entriesOf(first) == entriesOf(second); }));
  EXPECT_THAT(entriesOf(second), HasSubstr("ok 2 "));
  EXPECT_EQ(second.stop(), 0);
  EXPECT_EQ(first.stop(), 0);
  // Stopped, the directories verify as well, every decision made again.
  EXPECT_EQ(first.run({"ledger", "verify", "--replay"}).out, second.run({"ledger", "verify", "--replay"}).out);
}

TEST(Deployment, KilledAtAnyTimeNothingAcknowledgedIsLost) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  ASSERT_EQ(first.run({"begin", "budget", "team"}).exitCode, 0);
  std::vector<std::string> acknowledged;
  for (int i = 0; i < 6; ++i) {
    const std::string operation = "op-" + std::to_string(i);
    if (propose(i % 2 == 0 ? first : second, operation, 1).exitCode == 0) acknowledged.push_back(operation);
    Node& victim = i % 3 == 0 ? first : second;
    victim.kill();
    ASSERT_TRUE(victim.up()) << victim.log();
    ASSERT_TRUE(first.waitUntil("connected") && second.waitUntil("connected")) << first.log() << second.log();
  }
  EXPECT_EQ(acknowledged.size(), 6u);
  for (const std::string& operation : acknowledged)
    EXPECT_THAT(propose(first, operation, 1).out, HasSubstr("\"duplicate\":true")) << operation;
  EXPECT_TRUE(until([&] { return entriesOf(first) == entriesOf(second); }));
  EXPECT_THAT(entriesOf(first), HasSubstr("ok 6 "));
}

TEST(Deployment, AProposalMadeWhileCutOffWaitsAndIsDecidedOnce) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  ASSERT_EQ(first.run({"begin", "budget", "team"}).exitCode, 0);
  ASSERT_EQ(first.run({"peers", "cut", "second"}).exitCode, 0);
  const Finished waits = second.run({"propose", "budget", "team", "A", "{\"type\":\"SpendA\",\"n\":5}",
                                     "--operation-id", "op-cut", "--wait-ms", "50", "--json"});
  EXPECT_THAT(waits.out, HasSubstr("\"outcome\":\"waiting\"")) << waits.err;
  second.kill();  // the outbox is durable
  ASSERT_TRUE(second.up()) << second.log();
  EXPECT_THAT(second.run({"status"}).out, HasSubstr("1 in the outbox"));
  ASSERT_EQ(first.run({"peers", "heal", "second"}).exitCode, 0);
  EXPECT_TRUE(until([&] { return entriesOf(first).starts_with("ok 1 "); }));
  EXPECT_TRUE(second.waitUntil("quiet"));
  EXPECT_THAT(propose(first, "op-other", 5).out, HasSubstr("approved"));
  EXPECT_THAT(entriesOf(first), HasSubstr("ok 2 "));
}

// Who answered was told that it waits, and is not there any more.
TEST(Deployment, AnAnswerThatTheOwnerRefusesLaterComesBackAsANotice) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  ASSERT_EQ(first.run({"begin", "moderation", "L"}).exitCode, 0);
  for (const auto& [role, action] :
       {std::pair("SignalTriage",
                  R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"r"})"),
        std::pair("UserNotice",
                  R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"f","clause":"c","redress":"r"})"),
        std::pair("Enforcement",
                  R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"i","evidence":["L1"]})")})
    ASSERT_EQ(first.run({"propose", "moderation", "L", role, action}).exitCode, 0);
  const auto items = [&] {
    const json::value inbox = second.runJson({"inbox"});
    return inbox.as_object().contains("items") ? inbox.at("items").as_array() : json::array();
  };
  ASSERT_TRUE(until([&] { return items().size() == 1; })) << second.log();
  const json::value item = items()[0];
  EXPECT_FALSE(item.as_object().contains("answer"));
  ASSERT_EQ(first.run({"peers", "cut", "second"}).exitCode, 0);
  json::object answer = item.at("choices").at(1).at("request").as_object();
  answer["counselor"] = "human.lead";
  answer["reason"] = "no evidence";
  answer["waitMs"] = 50;
  const auto waits = second.post("/v1/queue/decide", answer);
  ASSERT_TRUE(waits.ok()) << waits.error().message;
  ASSERT_EQ(waits->at("outcome"), "waiting");
  json::object otherwise = answer;
  otherwise["decision"] = "commit";
  const auto stands = second.post("/v1/queue/decide", otherwise);
  ASSERT_FALSE(stands.ok());
  EXPECT_THAT(stands.error().message, HasSubstr("human.lead (reject)"));
  second.kill();
  ASSERT_TRUE(second.up()) << second.log();
  const json::value waiting = items()[0];
  ASSERT_TRUE(waiting.as_object().contains("answer")) << canonicalJson(waiting);
  EXPECT_EQ(waiting.at("answer").at("by"), "human.lead");
  EXPECT_EQ(waiting.at("answer").at("choice"), "reject");
  // Meanwhile the owner's own counselor decides.
  ASSERT_EQ(first.run({"queue", "reject", "L", "--counselor", "human.lead", "--operation-id", "desk"}).exitCode, 0);
  ASSERT_EQ(first.run({"peers", "heal", "second"}).exitCode, 0);
  ASSERT_TRUE(until([&] { return items().size() == 1 && items()[0].at("kind") == "refusal"; })) << second.log();
  const json::value notice = items()[0];
  EXPECT_THAT(std::string(notice.at("what").as_string()), HasSubstr("the owner refused the answer of human.lead"));
  EXPECT_EQ(notice.at("detail").at("answer").at("reason"), "no evidence");
  second.kill();
  ASSERT_TRUE(second.up()) << second.log();
  const std::string id(items()[0].at("id").as_string());
  EXPECT_EQ(id, std::string(notice.at("id").as_string()));
  EXPECT_EQ(second.run({"inbox", id, "seen"}).exitCode, 0);
  EXPECT_EQ(items().size(), 0u);
  EXPECT_FALSE(second.post("/v1/inbox/seen", {{"item", id}}).ok());
  EXPECT_FALSE(second.post("/v1/inbox/seen", {{"item", item.at("id")}}).ok());
}

TEST(Deployment, ARevokedDeviceIsCutOffAtOnceAndStaysOut) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second"), third(scratch, "third");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  ASSERT_TRUE(enrol(first, third)) << third.log();
  ASSERT_EQ(first.run({"device", "revoke", "second", "--reason", "stolen"}).exitCode, 0);
  EXPECT_TRUE(until([&] { return second.run({"status"}).out.find("0 of") != std::string::npos; }));
  EXPECT_TRUE(until([&] { return third.run({"device", "roster"}).out.find("stolen") != std::string::npos; }));
  // Started again, it tries, and is refused for the stated reason.
  second.kill();
  ASSERT_TRUE(second.up());
  EXPECT_TRUE(until([&] {
    return first.log().find("this device was revoked") != std::string::npos ||
           third.log().find("this device was revoked") != std::string::npos;
  })) << first.log();
  EXPECT_THAT(first.run({"peers"}).out, Not(HasSubstr("second")));
  EXPECT_TRUE(third.waitUntil("connected"));
}

TEST(Deployment, AStolenTokenAndAWrongFingerprintAreRefused) {
  const Scratch scratch;
  Node first(scratch, "first"), thief(scratch, "thief"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  const std::string token = first.invite();
  ASSERT_EQ(second.join(token).exitCode, 0);
  const Finished stolen = thief.join(token);
  EXPECT_EQ(stolen.exitCode, 1);
  EXPECT_THAT(stolen.err, HasSubstr("the invitation was used up"));
  EXPECT_THAT(first.log(), HasSubstr("the invitation was used up"));
  // Somebody in between: the address answers with another key than the token names.
  JoinToken forged = *readToken(first.invite());
  forged.key = std::string(64, 'a');
  const Finished between = thief.join(writeToken(forged));
  EXPECT_NE(between.exitCode, 0);
  EXPECT_THAT(between.err, HasSubstr("another device answers there"));
  EXPECT_FALSE(std::filesystem::exists(thief.dir() + "/cluster.json"));
}

TEST(Deployment, WithoutATokenAPersonApproves) {
  const Scratch scratch;
  Node first(scratch, "first"), phone(scratch, "phone");
  ASSERT_TRUE(begin(first)) << first.log();
  const json::value status = first.runJson({"device", "roster"});
  const std::string key(status.at("devices").at(0).at("keys").at(0).as_string());
  const std::string fingerprint = fingerprintOf(*publicKeyFromHex(key, "key"));
  Finished joined;
  std::thread asks([&] {
    joined = phone.run({"join", "--address", first.address(), "--fingerprint", fingerprint, "--name", "phone"});
  });
  EXPECT_TRUE(until([&] { return first.run({"device", "pending"}).out.find("phone") != std::string::npos; }));
  EXPECT_EQ(first.run({"device", "approve", "phone", "--role", "budget.A"}).exitCode, 0);
  asks.join();
  EXPECT_EQ(joined.exitCode, 0) << joined.err;
  ASSERT_TRUE(phone.up({"--listen", "127.0.0.1:0"})) << phone.log();
  EXPECT_TRUE(phone.waitUntil("connected"));
}

TEST(Deployment, ACertificateOfAnotherClusterGetsNothing) {
  const Scratch scratch;
  Node first(scratch, "first"), foreign(scratch, "foreign");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(foreign.init().exitCode == 0 && foreign.up({"--dial", first.address()})) << foreign.log();
  EXPECT_TRUE(until([&] { return first.log().find("has this key") != std::string::npos; })) << first.log();
  EXPECT_THAT(foreign.run({"status"}).out, HasSubstr("0 of 0 connected"));
}

// Seed 000, P1 (observation confinement), across the network: a device without a role never receives a field outside
// of it. Its whole directory is searched.
TEST(Deployment, ADeviceGetsTheSlicesOfItsRolesAndNotAByteMore) {
  const Scratch scratch;
  Node first(scratch, "first"), lab(scratch, "lab");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, lab, {"--role", "udt.LabOrder"})) << lab.log();
  ASSERT_EQ(first.run({"begin", "udt", "David", "--init", R"({"baselinePositiveOn":"2026-01-17"})"}).exitCode, 0);
  const auto act = [](const Node& node, const std::string& role, const std::string& action) {
    return node.run({"propose", "udt", "David", role, action}).out;
  };
  EXPECT_THAT(act(lab, "LabOrder", R"({"type":"DocumentRationale","order":"O1","text":"visible to the laboratory"})"),
              HasSubstr("approved"));
  EXPECT_THAT(
      act(lab, "LabOrder",
          R"({"type":"OrderTest","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-06-01"})"),
      HasSubstr("approved"));
  EXPECT_THAT(act(first, "Clinical", R"({"type":"RecordResult","order":"O1","outcome":"NEGATIVE","on":"2026-06-02"})"),
              HasSubstr("approved"));
  EXPECT_EQ(first.run({"journal", "put", "n1", "--type", "note", "--text", "not for the laboratory"}).exitCode, 0);
  EXPECT_TRUE(until([&] {
    return lab.run({"slice", "udt", "David", "--role", "LabOrder"}).out.find("visible to the laboratory") !=
           std::string::npos;
  })) << lab.log();
  EXPECT_THAT(lab.run({"slice", "udt", "David", "--role", "Clinical"}).err, HasSubstr("no slice"));
  // It may not act in another role either.
  EXPECT_THAT(lab.run({"propose", "udt", "David", "Billing", R"({"type":"VoidClaim","claim":"C1"})"}).err,
              HasSubstr("this device may not propose as udt.Billing"));
  lab.stop();
  std::size_t files = 0;
  bool visible = false;
  for (const auto& file : std::filesystem::recursive_directory_iterator(lab.dir())) {
    if (!file.is_regular_file()) continue;
    const std::string content = test::contentOf(file.path());
    ++files;
    visible = visible || content.find("visible to the laboratory") != std::string::npos;
    for (const char* secret :
         {"NEGATIVE", "2026-06-02", "2026-01-17", "baselinePositiveOn", "RecordResult", "not for the laboratory"})
      EXPECT_EQ(content.find(secret), std::string::npos) << secret << " in " << file.path();
  }
  EXPECT_GT(files, 10u);
  EXPECT_TRUE(visible);  // the search does find what is there
}

TEST(Deployment, TheControlApiAsksForAToken) {
  const Scratch scratch;
  Node first(scratch, "first");
  ASSERT_TRUE(begin(first, {"--control", "127.0.0.1:0"})) << first.log();
  const json::value file = *parseJson(test::contentOf(first.dir() + "/control.json"));
  const net::HttpEndpoint endpoint{.address = std::string(file.at("address").as_string())};
  const json::value tokens = *parseJson(test::contentOf(first.dir() + "/control.tokens"));
  const auto call = [&](const std::string& method, const std::string& target, const std::string& role,
                        const std::string& body = {}) {
    net::HttpRequest request{.method = method, .target = target, .body = body};
    if (!role.empty()) request.headers["authorization"] = "Bearer " + std::string(tokens.at(role).as_string());
    const auto answer = net::httpCall(endpoint, request, 10'000);
    return answer.ok() ? answer->status : -1;
  };
  EXPECT_EQ(call("GET", "/livez", ""), 200);
  EXPECT_EQ(call("GET", "/readyz?verbose=1", ""), 200);
  EXPECT_EQ(call("GET", "/v1/status", ""), 401);
  EXPECT_EQ(call("GET", "/metrics", ""), 401);
  EXPECT_EQ(call("GET", "/v1/status", "observer"), 200);
  EXPECT_EQ(call("POST", "/v1/devices/invite", "operator", R"({"roles":["*"]})"), 403);
  EXPECT_EQ(call("POST", "/v1/devices/invite", "admin", R"({"roles":["*"]})"), 200);
  EXPECT_EQ(call("POST", "/v1/devices/invite", "admin", R"({"roles":[]})"), 400);
  EXPECT_EQ(call("POST", "/v1/devices/invite", "admin", "{}"), 400);
  EXPECT_EQ(call("POST", "/v1/devices/invite", "admin", "{\"tll\":1}"), 400);
  EXPECT_EQ(call("POST", "/v1/devices/invite", "admin", "{"), 400);
  EXPECT_EQ(call("GET", "/v1/nothing", "admin"), 404);
  EXPECT_EQ(call("DELETE", "/v1/status", "admin"), 405);
  EXPECT_EQ(call("GET", "/v1/journal/list", "observer"), 200);
  EXPECT_EQ(call("POST", "/v1/journal/put", "observer", R"({"id":"x","payload":1})"), 403);
  EXPECT_EQ(call("POST", "/v1/agent/create", "observer", R"({"id":"x"})"), 403);
  EXPECT_EQ(call("POST", "/v1/sync/admit", "operator", R"({"device":"x"})"), 403);
  net::HttpRequest elsewhere{.method = "GET", .target = "/livez"};
  elsewhere.headers["host"] = "evil.example";  // a name that a hostile page has made point here
  EXPECT_EQ(net::httpCall(endpoint, elsewhere, 10'000)->status, 421);
}

// Where the cluster was begun, once it has heard of it.
void acceptKeyOf(const Node& first, const std::string& member) {
  EXPECT_TRUE(until([&] { return first.run({"device", "accept-key", member}).exitCode == 0; })) << first.log();
}

TEST(Deployment, AMemberChangesItsKeyAndStaysWhoItIs) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  for (Node* node : {&second, &first}) {
    const std::string before = test::contentOf(node->dir() + "/device.key");
    EXPECT_EQ(node->run({"device", "rotate-key"}).exitCode, 0);
    if (node == &second) acceptKeyOf(first, "second");
    EXPECT_TRUE(until([&] { return test::contentOf(node->dir() + "/device.key") != before; })) << node->log();
    EXPECT_TRUE(first.waitUntil("connected") && second.waitUntil("connected")) << first.log() << second.log();
  }
  second.stop();
  ASSERT_TRUE(second.up()) << second.log();
  EXPECT_TRUE(second.waitUntil("connected")) << second.log();
  EXPECT_FALSE(std::filesystem::exists(second.dir() + "/device.key.next"));
}

// A next key that nobody was asked to take, since the roster could not be written, is asked for when it can.
TEST(Deployment, ANextKeyIsAskedForOnceTheRosterIsWritten) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second"), third(scratch, "third");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  const std::filesystem::path beside = second.dir() + "/roster.new";
  ASSERT_TRUE(std::filesystem::create_directory(beside));
  ASSERT_TRUE(enrol(first, third)) << third.log();
  ASSERT_TRUE(until([&] { return second.log().find("could not be written") != std::string::npos; })) << second.log();
  ASSERT_TRUE(until([&] { return second.log().find("connected device=third") != std::string::npos; })) << second.log();
  const std::string before = test::contentOf(second.dir() + "/device.key");
  EXPECT_EQ(second.run({"device", "rotate-key"}).exitCode, 0);
  std::filesystem::remove(beside);
  ASSERT_TRUE(until([&] { return second.log().find("is written now") != std::string::npos; })) << second.log();
  acceptKeyOf(first, "second");
  EXPECT_TRUE(until([&] { return test::contentOf(second.dir() + "/device.key") != before; })) << second.log();
}

// The roster that names the next key cannot be written: the node has the key, and starts with it.
TEST(Deployment, AKeyIsRotatedWhereTheRosterCannotBeWritten) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  const auto exists = [&](const std::string& name) { return std::filesystem::exists(second.dir() + "/" + name); };
  const std::filesystem::path beside = second.dir() + "/roster.new";
  ASSERT_TRUE(std::filesystem::create_directory(beside));
  const std::string before = test::contentOf(second.dir() + "/device.key");
  EXPECT_EQ(second.run({"device", "rotate-key"}).exitCode, 0);
  acceptKeyOf(first, "second");
  ASSERT_TRUE(until([&] { return second.log().find("another key now") != std::string::npos; })) << second.log();
  EXPECT_NE(test::contentOf(second.dir() + "/device.key"), before);
  EXPECT_EQ(test::contentOf(second.dir() + "/device.key.previous"), before);
  EXPECT_FALSE(exists("device.key.next"));
  second.kill();
  EXPECT_EQ(second.run({"doctor"}).exitCode, 0) << second.run({"doctor"}).out;
  EXPECT_EQ(second.run({"backup", "--with-keys", "--to", scratch / "copy"}).exitCode, 0);
  const Finished restored = runWitan({"restore", "--from", scratch / "copy", "--dir", scratch / "restored"});
  EXPECT_EQ(restored.exitCode, 0) << restored.err;
  EXPECT_THAT(runWitan({"doctor", "--dir", scratch / "restored"}).out, HasSubstr("they are those of this device"));

  ASSERT_TRUE(second.up()) << second.log();
  ASSERT_TRUE(until([&] { return second.connectedTo(1); })) << second.log();
  EXPECT_TRUE(exists("device.key.previous"));
  // Nor since the restart: the roster comes a moment after the link.
  ASSERT_TRUE(until([&] {
    const std::string log = second.log();
    return log.find("could not be written") != log.rfind("could not be written");
  })) << second.log();
  std::filesystem::remove(beside);
  EXPECT_TRUE(until([&] { return !exists("device.key.previous"); })) << second.log();
  EXPECT_THAT(second.log(), HasSubstr("is written now"));
  EXPECT_EQ(second.stop(), 0);
  ASSERT_TRUE(second.up()) << second.log();

  // Without it nothing shows whose the key is.
  EXPECT_EQ(second.stop(), 0);
  const std::string key = test::contentOf(second.dir() + "/device.key");
  std::ofstream(second.dir() + "/device.key") << std::string(64, '1') << "\n";
  EXPECT_THAT(second.run({"doctor"}).out, HasSubstr("does not know it"));
}

TEST(Deployment, TwoDaemonsDoNotShareADirectory) {
  const Scratch scratch;
  Node first(scratch, "first");
  ASSERT_TRUE(begin(first)) << first.log();
  const Finished second = first.run({"up", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.exitCode, 1);
  EXPECT_THAT(second.err, HasSubstr("already open by another process"));
  EXPECT_EQ(first.run({"status"}).exitCode, 0);
}

TEST(Deployment, CommandsOnTheDirectoryReachTheRunningNode) {
  const Scratch scratch;
  Node first(scratch, "first");
  ASSERT_TRUE(begin(first)) << first.log();
  EXPECT_EQ(first.run({"journal", "put", "n1", "--type", "note", "--text", "over the running node"}).exitCode, 0);
  EXPECT_THAT(first.run({"journal", "get", "n1"}).out, HasSubstr("over the running node"));
  EXPECT_EQ(first.run({"journal", "get", "n2"}).exitCode, 1);
  EXPECT_EQ(first.stop(), 0);
  EXPECT_THAT(first.run({"journal", "get", "n1"}).out, HasSubstr("over the running node"));
  EXPECT_EQ(first.run({"status"}).exitCode, 4);
}

}  // namespace
}  // namespace witan::node::deployment_test
