// What one check of the policy monitor costs (agents/policy/monitor.h): a typical request against a policy of a hundred
// grants, for each kind of verdict.
//
//   build/bench/witan_policy_bench [--rounds N] [--checks N]
#include "agents/policy/monitor.h"
#include "bench/bench_tools.h"

namespace {

using namespace witan;
using namespace witan::agents;

Policy policyOf(std::size_t agents, Excess excess) {
  Policy policy{.name = "bench", .version = 7};
  for (std::size_t b = 0; b < 12; ++b) {
    Boundary boundary{concat("boundary-", b), {"device", "eu"}, {}};
    for (const char* name : {"chat", "embed", "append"}) {
      OperationRule rule;
      rule.name = name;
      rule.allow = {"messages[].role", "messages[].content", "temperature", "topP",      "maxTokens",
                    "patient.id",      "patient.birthYear",  "visit.on",    "visit.tag", "visit.notes[]"};
      rule.excess = excess;
      rule.inference = true;
      rule.secrets = {"key-a", "key-b"};
      boundary.operation.push_back(rule);
    }
    policy.boundary.push_back(boundary);
  }
  for (std::size_t a = 0; a < agents; ++a) {
    Grant grant{concat("agent-", a), "health", {"device", "eu"}, {}, {}, {}, {}};
    for (std::size_t i = 0; i < 12; ++i) {
      grant.tools.push_back(concat("tool-", i));
      grant.boundaries.push_back(concat("boundary-", i));
      grant.scopes.push_back(concat("journal:", i));
      grant.models.push_back({concat("provider-", i % 3), concat("model-", i)});
    }
    policy.grant.push_back(grant);
  }
  return policy;
}

// Twelve fields in six messages, six others.
constexpr const char* kPayload = R"({"maxTokens":512,"messages":[
  {"content":"You summarise visits.","role":"system"},{"content":"What happened on Monday?","role":"user"},
  {"content":"He came at nine.","role":"assistant"},{"content":"And then?","role":"user"},
  {"content":"He slept well.","role":"assistant"},{"content":"Thank you.","role":"user"}],
  "patient":{"birthYear":1971,"id":"P-17"},"temperature":0.2,"visit":{"notes":["slept well"],"on":"2026-03-23"}})";

struct Case {
  const char* name;
  Excess excess = Excess::block;
  const char* surplus = nullptr;  // a field that is not allowed
  VerdictKind expected = VerdictKind::allow;
};

double nanosOf(const Case& c, std::uint64_t rounds, std::uint64_t checks) {
  const Policy policy = policyOf(100, c.excess);
  const Monitor monitor = bench::must(Monitor::compile(policy), "the policy");
  const PolicyScope held = grantedScope(policy, "agent-42", "health");
  const std::vector<std::string> scopes{"journal:3", "journal:8"};
  const ModelName model{"provider-1", "model-7"};
  ReceiptBook receipts;
  for (const Boundary& boundary : policy.boundary)
    bench::must(receipts.add(confirm(policy, "agent-42", &model, boundary.name, "anna", 1)), "a receipt");
  const SecretNames secrets{"key-a", "key-b", "key-c"};
  json::value payload = bench::must(parseJson(kPayload), "the payload");
  if (c.surplus != nullptr) payload.as_object()[c.surplus] = "x";

  PolicyRequest request{.agent = "agent-42",
                        .category = "health",
                        .tool = "tool-5",
                        .scopes = scopes,
                        .held = &held,
                        .boundary = "boundary-6",
                        .operation = "chat",
                        .model = &model,
                        .secret = "key-b",
                        .payload = &payload};

  std::vector<double> nanos;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::uint64_t expected = 0;
    const bench::ThreadStopwatch watch;
    for (std::uint64_t i = 0; i < checks; ++i)
      expected += monitor.check(request, receipts, secrets).kind == c.expected ? 1 : 0;
    nanos.push_back(watch.seconds() * 1e9 / static_cast<double>(checks));
    if (expected != checks) bench::fail(concat(c.name, ": another verdict"));
  }
  return bench::median(nanos);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv, {"--rounds", "--checks"});
  const std::uint64_t rounds = arguments.number("--rounds", 15), checks = arguments.number("--checks", 100'000);
  for (const Case& c : {Case{"allow"}, Case{"deny: a field too many", Excess::block, "ssn", VerdictKind::deny},
                        Case{"redact: one field left out", Excess::redact, "ssn", VerdictKind::redact}})
    std::printf("%-28s %6.0f ns\n", c.name, nanosOf(c, rounds, checks));
}
