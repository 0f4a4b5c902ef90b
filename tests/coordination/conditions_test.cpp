// The ten conditions of seed 001 as shipped: what has to come of each, epoch by epoch (rounds 4 to 6; finding F12).
#include "coordination/setup.h"
#include "tests/coordination/scene.h"

namespace witan::kernel::joint::conditions_test {
namespace {

using namespace test;

json::object shipped(std::string_view name, Verdict* verdict = nullptr) {
  for (const ShippedVector& vector : shippedVectors())
    if (vector.name == name) return runText(std::string(vector.text), verdict);
  ADD_FAILURE() << name;
  return {};
}

constexpr const char* kFree = R"({"resource_A":"free","resource_B":"free"})";

struct Due {
  const char* name;
  std::size_t epochs;
  const char *terminal, *kernel, *finalState;
  std::vector<std::string> first, second;  // outcomes of agent_1 and agent_2, epoch by epoch
};

const std::string R = kRefused, X = kExecuted, N = "NO_ACTION", gone = "none";

const std::vector<Due> kDue{
    {"A", 1, "null", "null", R"({"resource_A":"owned_by_1","resource_B":"owned_by_2"})", {X}, {X}},
    {"B", 3, "STATE_LIVELOCK", "null", kFree, {R, R, R}, {R, R, R}},
    {"C", 1, "null", "null", R"({"resource_A":"free","resource_B":"owned_by_2"})", {R}, {X}},
    {"D", 3, "STATE_DEADLOCK", "null", kFree, {R, R, R}, {N, N, N}},
    {"E", 1, "null", kImplicitArbitration, R"({"resource_A":"owned_by_1","resource_B":"free"})", {X}, {R}},
    {"F", 5, "STATE_DEADLOCK", "null", kFree, {R, R, R, R, R}, {R, R, R, R, R}},
    {"G", 2, "ORPHANING", "null", R"({"resource_A":"owned_by_2","resource_B":"owned_by_1"})", {X, R}, {X, gone}},
    {"H", 2, "COLLAPSE", "null", kFree, {R, gone}, {R, gone}},
    {"I.a", 3, "STATE_LIVELOCK", "null", kFree, {R, R, R}, {R, R, R}},
    {"I.b",
     5,
     "null",
     "null",
     R"({"resource_A":"owned_by_1","resource_B":"owned_by_2"})",
     {R, X, X, X, X},
     {R, X, X, X, X}},
};

std::string either(const json::object& log, std::size_t epoch, const std::string& agent) {
  const std::string id = agent + ":" + std::to_string(epoch) + ":";
  const std::string acted = outcome(log, epoch, id + "0");
  return acted == "none" ? outcome(log, epoch, id + "none") : acted;
}

TEST(Conditions, TheTenAreAsTheSeedSays) {
  ASSERT_EQ(shippedVectors().size(), kDue.size());
  for (std::size_t i = 0; i < kDue.size(); ++i) {
    const Due& due = kDue[i];
    SCOPED_TRACE(due.name);
    EXPECT_EQ(shippedVectors()[i].name, due.name);
    const auto log = shipped(due.name);
    ASSERT_EQ(epochs(log), due.epochs);
    EXPECT_EQ(terminal(log), due.terminal);
    EXPECT_EQ(kernelClass(log), due.kernel);
    EXPECT_EQ(finalState(log), due.finalState);
    EXPECT_EQ(word(log, "experiment_result"), "PASS");
    for (std::size_t epoch = 0; epoch < due.epochs; ++epoch) {
      EXPECT_EQ(either(log, epoch, "agent_1"), due.first[epoch]) << epoch;
      EXPECT_EQ(either(log, epoch, "agent_2"), due.second[epoch]) << epoch;
    }
  }
}

// I24, I25: bit-identical.
TEST(Conditions, I24_ARunIsTheSameTwice) {
  for (const ShippedVector& vector : shippedVectors()) {
    Verdict first, second;
    EXPECT_EQ(canonicalJson(shipped(vector.name, &first)), canonicalJson(shipped(vector.name, &second)));
    EXPECT_EQ(first.digest, second.digest) << vector.name;
  }
}

TEST(Conditions, FQ37_EachBroadcastsItsRoleOnceAndHearsBothInTheNextEpoch) {
  const auto log = shipped("I.b");
  const char* roles = R"([{"content":{"role":0},"epoch":0,"sender":"agent_1"},)"
                      R"({"content":{"role":1},"epoch":0,"sender":"agent_2"}])";
  const json::array& all = log.at("epochs").as_array();
  EXPECT_EQ(canonicalJson(all.at(0).at("messages")), roles);
  for (std::size_t epoch = 1; epoch < 5; ++epoch) EXPECT_TRUE(all.at(epoch).at("messages").as_array().empty());
  for (const char* agent : {"agent_1", "agent_2"}) {
    EXPECT_TRUE(all.at(0).at("observations").at(agent).at("messages").as_array().empty());
    EXPECT_EQ(canonicalJson(all.at(1).at("observations").at(agent).at("messages")), roles);
  }
  EXPECT_EQ(canonicalJson(all.at(1).at("actions").at(1).at("authorities_cited")), R"(["CUD-004"])");
}

// F19: by the keys' hashes there is no second bucket, by the agents' the first draw does not separate them.
TEST(F19, WhyRolesFallBackAndKeysAreIndexed) {
  const auto odd = [](std::string_view text) { return sha256(text).back() % 2 == 1; };
  EXPECT_TRUE(odd("agent_1") && odd("agent_2")) << "the literal rule gives both role 1";
  EXPECT_TRUE(odd("resource_A") && odd("resource_B")) << "the literal rule gives nobody a key of bucket 0";
  EXPECT_TRUE(!odd("agent_1:1") && odd("agent_2:1"));
}

// The example of the design, with the log in full: the form of everything.
TEST(Conditions, TheLogToTheByte) {
  const auto log = runText(R"({"condition":"B","initial_state":{"resource_A":"free","resource_B":"free"},
 "authority_artifacts":[{"authority_id":"CUD-001","commitment":"ALLOW","created_epoch":0,"holder_agent_id":"agent_1","issuer_agent_id":"harness","scope":[{"operation":"WRITE","target":"STATE:/resource_A"}],"status":"ACTIVE"}],
 "communication_enabled":false,"max_epochs":3,"injection":null,
 "agents":{"agent_1":{"strategy":"scripted","epochs":[{"action_type":"WRITE","declared_scope":["resource_A"],"proposed_delta":{"resource_A":"owned_by_1"},"authorities_cited":["CUD-001"]}],"repeat_last":true},
           "agent_2":{"strategy":"scripted","epochs":[null,"EXIT"],"repeat_last":true}}})");
  std::string last = canonicalJson(log);
  const std::string head =
      R"({"authority_artifacts":[{"authority_id":"CUD-001","commitment":"ALLOW","created_epoch":0,"holder_agent_id":"agent_1","issuer_agent_id":"harness","scope":[{"operation":"WRITE","target":"STATE:/resource_A"}],"status":"ACTIVE"}],"condition":"B","epochs":[)"
      R"({"actions":[{"action_id":"agent_1:0:0","action_type":"WRITE","agent_id":"agent_1","authorities_cited":["CUD-001"],"declared_scope":["resource_A"],"proposed_delta":{"resource_A":"owned_by_1"}}],"epoch":0,"exits":[],"messages":[],)"
      R"("observations":{"agent_1":{"epoch":0,"messages":[],"own_last_action_id":null,"own_last_declared_scope":null,"own_last_outcome":null,"world_state":{"resource_A":"free","resource_B":"free"}},)"
      R"("agent_2":{"epoch":0,"messages":[],"own_last_action_id":null,"own_last_declared_scope":null,"own_last_outcome":null,"world_state":{"resource_A":"free","resource_B":"free"}}},)"
      R"("outcomes":{"agent_1:0:0":"EXECUTED","agent_2:0:none":"NO_ACTION"},"pass1_results":{"agent_1:0:0":"PASS"},"pass2_results":{"agent_1:0:0":"PASS"},"state_after":{"resource_A":"owned_by_1","resource_B":"free"}},)";
  EXPECT_EQ(last.substr(0, head.size()), head);
  const std::string tail =
      R"({"actions":[{"action_id":"agent_1:2:0","action_type":"WRITE","agent_id":"agent_1","authorities_cited":["CUD-001"],"declared_scope":["resource_A"],"proposed_delta":{"resource_A":"owned_by_1"}}],"epoch":2,"exits":[],"messages":[],)"
      R"("observations":{"agent_1":{"epoch":2,"messages":[],"own_last_action_id":"agent_1:1:0","own_last_declared_scope":["resource_A"],"own_last_outcome":"EXECUTED","world_state":{"resource_A":"owned_by_1","resource_B":"free"}}},)"
      R"("outcomes":{"agent_1:2:0":"EXECUTED"},"pass1_results":{"agent_1:2:0":"PASS"},"pass2_results":{"agent_1:2:0":"PASS"},"state_after":{"resource_A":"owned_by_1","resource_B":"free"}}],)"
      R"("experiment_result":"PASS","final_state":{"resource_A":"owned_by_1","resource_B":"free"},"initial_state":{"resource_A":"free","resource_B":"free"},"kernel_classification":null,"terminal_classification":null})";
  ASSERT_GT(last.size(), tail.size());
  EXPECT_EQ(last.substr(last.size() - tail.size()), tail);
}

}  // namespace
}  // namespace witan::kernel::joint::conditions_test
