// Every kept input of the fuzz targets through its target's function, without libFuzzer. A finding aborts the process,
// so each target runs as a test of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/fuzz/target_action.h"
#include "tests/fuzz/target_advisory.h"
#include "tests/fuzz/target_agent_snapshot.h"
#include "tests/fuzz/target_agents_policy.h"
#include "tests/fuzz/target_checkpoint.h"
#include "tests/fuzz/target_cluster_frame.h"
#include "tests/fuzz/target_entry.h"
#include "tests/fuzz/target_etcd_json.h"
#include "tests/fuzz/target_event_line.h"
#include "tests/fuzz/target_evidence.h"
#include "tests/fuzz/target_frontier.h"
#include "tests/fuzz/target_graph.h"
#include "tests/fuzz/target_joint_setup.h"
#include "tests/fuzz/target_json.h"
#include "tests/fuzz/target_log_batch.h"
#include "tests/fuzz/target_market.h"
#include "tests/fuzz/target_mcp.h"
#include "tests/fuzz/target_owner_proofs.h"
#include "tests/fuzz/target_policy.h"
#include "tests/fuzz/target_revocation.h"
#include "tests/fuzz/target_rules.h"
#include "tests/fuzz/target_secure_store.h"
#include "tests/fuzz/target_sync_frame.h"
#include "tests/fuzz/target_text.h"
#include "tests/fuzz/target_tools.h"
#include "tests/fuzz/target_tunnel_frame.h"
#include "tests/fuzz/target_turtle.h"
#include "tests/paths.h"

namespace witan::node::fuzz_corpus_test {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  void (*run)(std::string_view);
};
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

constexpr Target kTargets[] = {
    {"action_capnp", fuzz::fuzzAction},
    {"checkpoint", fuzz::fuzzCheckpoint},
    {"cluster_frame", fuzz::fuzzClusterFrame},
    {"entry", fuzz::fuzzEntry},
    {"etcd_json", fuzz::fuzzEtcdJson},
    {"event_line", fuzz::fuzzEventLine},
    {"evidence", fuzz::fuzzEvidence},
    {"expression", fuzz::fuzzExpression},
    {"frontier", fuzz::fuzzFrontier},
    {"graph", fuzz::fuzzGraph},
    {"joint_setup", fuzz::fuzzJointSetup},
    {"json", fuzz::fuzzJson},
    {"log_batch", fuzz::fuzzLogBatch},
    {"market", fuzz::fuzzMarket},
    {"mcp", fuzz::fuzzMcp},
    {"mcp_client", fuzz::fuzzMcpClient},
    {"schema", fuzz::fuzzSchema},
    {"model_reply", fuzz::fuzzModelReply},
    {"oauth", fuzz::fuzzOAuth},
    {"openapi", fuzz::fuzzOpenApi},
    {"agent_file", fuzz::fuzzAgentFile},
    {"owner_proofs", fuzz::fuzzOwnerProofs},
    {"policy", fuzz::fuzzPolicy},
    {"proposal", fuzz::fuzzProposal},
    {"revocation", fuzz::fuzzRevocation},
    {"rule_file", fuzz::fuzzRuleFile},
    {"text", fuzz::fuzzText},
    {"sync_frame", fuzz::fuzzSyncFrame},
    {"tunnel_frame", fuzz::fuzzTunnelFrame},
    {"advisory", fuzz::fuzzAdvisory},
    {"agent_snapshot", fuzz::fuzzAgentSnapshot},
    {"agents_policy", fuzz::fuzzAgentsPolicy},
    {"secure_store", fuzz::fuzzSecureStore},
    {"turtle", fuzz::fuzzTurtle},
};

fs::path corpus() { return fs::path(witan::tests::kSourceDir) / "tests" / "fuzz" / "corpus"; }

std::string readAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FuzzCorpus : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzCorpus, EveryKeptInputPasses) {
  std::size_t files = 0;
  for (const auto& file : fs::directory_iterator(corpus() / GetParam().name)) {
    SCOPED_TRACE(file.path().filename().string());
    GetParam().run(readAll(file.path()));
    ++files;
  }
  EXPECT_GT(files, 3u);
}

// The start of every kept input, and each with one byte turned: what a fuzzer tries first.
TEST_P(FuzzCorpus, SoDoTheirNeighbours) {
  for (const auto& file : fs::directory_iterator(corpus() / GetParam().name)) {
    SCOPED_TRACE(file.path().filename().string());
    std::string text = readAll(file.path());
    const std::size_t step = 1 + text.size() / 24;
    for (std::size_t at = 0; at < text.size(); at += step) {
      GetParam().run(std::string_view(text).substr(0, at));
      text[at] = static_cast<char>(text[at] ^ 0x55);
      GetParam().run(text);
      text[at] = static_cast<char>(text[at] ^ 0x55);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, ::testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(FuzzTargets, AllAreRun) {
  // Those of net/ run in its own tests (tests/net/fuzz_corpus_test.cpp).
  std::set<std::string> known{"fuzz_frame_stream.cpp", "fuzz_http_request.cpp", "fuzz_http_response.cpp",
                              "fuzz_http_text.cpp"};
  for (const Target& target : kTargets) known.insert(std::string("fuzz_") + target.name + ".cpp");
  for (const auto& file : fs::directory_iterator(corpus().parent_path())) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("fuzz_")) {
      EXPECT_TRUE(known.contains(name)) << name;
    }
  }
}

}  // namespace
}  // namespace witan::node::fuzz_corpus_test
