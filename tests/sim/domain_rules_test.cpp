// The simulator's own reading of the domains' rules: what the domains decide passes, and each rule has a state that
// only it refuses.
#include "sim/check/domain_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seams.h"
#include "domains/registry.h"
#include "kernel/partition.h"

namespace witan::sim::domain_rules_test {
namespace {

using ::testing::HasSubstr;

json::object parse(std::string_view text) {
  return parseJson(text, {.bytes = 16 << 20, .depth = 64}).value().as_object();
}

json::object stateOf(const kernel::DomainModule& module, const kernel::Partition& partition) {
  std::string text;
  module.writeState(text, *partition.state("e"));
  return parse(text);
}

// A random history with a counselor who commits safely; the state after each step of it.
std::string firstWrong(const kernel::DomainModule& module, std::uint64_t seed, int steps) {
  SeededRandom random(seed);
  kernel::Partition partition(module);
  Time now{1'770'000'000'000'000};
  const json::object init = parse(module.sampleInit(random, now));
  if (partition.init("e", init, now).outcome != kernel::Outcome::initialised) return "no beginning";
  for (int step = 0; step < steps; ++step) {
    now.micros += static_cast<std::int64_t>(random.below(36 * 3600)) * kMicrosPerSecond;
    const std::string id = "o" + std::to_string(step);
    if (const auto pending = partition.pending("e")) {
      const auto action = module.parseAction(*parseJson(pending->action)).value();
      const json::object edit =
          parse(module.sampleEdit(*partition.state("e"), *action, module.signature().counselors.front(), random, now));
      const auto decided = partition.decide({.entity = "e",
                                             .counselor = module.signature().counselors.front(),
                                             .operationId = id,
                                             .commit = true,
                                             .edit = &edit,
                                             .reason = "r",
                                             .at = now});
      if (!decided.safe.value_or(true)) return {};  // from here on the rules may be broken
    } else if (const auto action = module.sample(*partition.state("e"), random, now)) {
      const std::string& role = module.signature().processes[action->process].role;
      (void)partition.propose({.entity = "e", .role = role, .operationId = id, .action = action.get(), .at = now});
    }
    if (step % 10 != 0) continue;
    if (std::string why = checkDomainState(module.signature().domain, stateOf(module, partition)); !why.empty())
      return why + " (step " + std::to_string(step) + ")";
  }
  return {};
}

TEST(DomainRules, WhatTheDomainsDecidePasses) {
  for (const char* domain : {"disclosure", "verification", "moderation", "joint"}) {
    const auto module = domains::makeDomain(domain).value();
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
      ASSERT_EQ(firstWrong(*module, seed, 300), "") << domain << " " << seed;
  }
  EXPECT_EQ(checkDomainState("budget", parse(R"({"spentA":200000})")), "");
}

struct Broken {
  const char* domain;
  const char* state;
  const char* because;
};

class EachRule : public ::testing::TestWithParam<Broken> {};

TEST_P(EachRule, HasAStateThatItRefuses) {
  const Broken& one = GetParam();
  EXPECT_THAT(checkDomainState(one.domain, parse(one.state)), HasSubstr(one.because));
}

#define LIVED                                                                                     \
  R"("phase.log":{"F":[["SUBMITTED","2026-01-01T00:00:00Z"],["TRIAGED","2026-01-01T00:00:00Z"],)" \
  R"(["REPRODUCED","2026-01-01T00:00:00Z"],["VERIFIED","2026-01-02T00:00:00Z"]]},"finding.phase":{"F":"VERIFIED"})"
#define TOLD                                                                                           \
  R"("phase.log":{"V":[["DISCOVERED","2026-01-01T00:00:00Z"],["DISCLOSED","2026-02-01T00:00:00Z"]]},)" \
  R"("vuln.phase":{"V":"DISCLOSED"},"disc.at":{"V":"2026-02-01T00:00:00Z"})"

INSTANTIATE_TEST_SUITE_P(
    Verification, EachRule,
    ::testing::Values(
        Broken{"verification",
               R"({"finding.phase":{"F":"TRIAGED"},"phase.log":{"F":[["TRIAGED","2026-01-01T00:00:00Z"]]}})",
               "went from \"\" to TRIAGED"},
        Broken{"verification",
               R"({"finding.phase":{"F":"TRIAGED"},"phase.log":{"F":[["SUBMITTED","2026-01-01T00:00:00Z"]]}})",
               "its history ends with"},
        Broken{"verification", "{" LIVED "}", "no human said so"},
        Broken{
            "verification",
            "{" LIVED
            R"(,"verdict.by":{"F":"human.a"},"repro.log":{"0000000001":{"f":"F","env":"a","seed":1,"ok":true,"trace":"t"},"0000000002":{"f":"F","env":"a","seed":1,"ok":true,"trace":"t"}}})",
            "without two reproductions"},
        Broken{
            "verification",
            "{" LIVED
            R"(,"verdict.by":{"F":"human.a"},"repro.log":{"0000000001":{"f":"F","env":"a","seed":1,"ok":true,"trace":"t"},"0000000002":{"f":"F","env":"a","seed":2,"ok":true,"trace":"t"}}})",
            "without a location"}));

INSTANTIATE_TEST_SUITE_P(
    Disclosure, EachRule,
    ::testing::Values(
        Broken{
            "disclosure",
            R"({"report.submittedAt":{"R1":"2026-01-01T00:00:00Z","R2":"2026-01-02T00:00:00Z","R3":"2026-01-03T00:00:00Z","R4":"2026-01-04T00:00:00Z"}})",
            "more than three reports"},
        Broken{"disclosure", R"({"commit.log":{"0000000001":{"hash":"a"},"0000000002":{"hash":"a"}}})", "stands twice"},
        Broken{"disclosure", R"({"resolve.log":{"0000000001":{"hash":"a"}}})", "was never made"},
        Broken{"disclosure", R"({"cve.observed":{"V":"CVE-1","W":"CVE-1"}})", "names V and W"},
        Broken{"disclosure", "{" TOLD R"(,"embargo.deadline":{"V":"2026-03-01T00:00:00Z"}})",
               "before its embargo let go"},
        Broken{"disclosure", "{" TOLD "}", "came before a patch"},
        Broken{"disclosure",
               "{" TOLD R"(,"patch.status":{"V":"RELEASED"},"patch.releasedAt":{"V":"2026-01-05T00:00:00Z"},)"
               R"("patch.ref":{"V":"r"},"disc.patchLink":{"V":"another"}})",
               "where the patch is"},
        Broken{"disclosure", "{" TOLD R"(,"patch.releasedAt":{"V":"2026-01-05T00:00:00Z"}})", "not released"},
        Broken{"disclosure",
               "{" TOLD R"(,"pub.knownAt":{"V":"2026-01-05T00:00:00Z"},"disc.noPatchReason":{"V":"EMBARGO_ELAPSED"}})",
               "an untrue reason"},
        Broken{"disclosure",
               "{" TOLD R"(,"pub.knownAt":{"V":"2026-01-05T00:00:00Z"},"disc.attribution":{"V":["lab"," "]}})",
               "credits nobody"},
        Broken{"disclosure",
               "{" TOLD R"(,"embargo.startAt":{"V":"2026-01-01T00:00:00Z"},"embargo.baseDays":{"V":90},)"
               R"("embargo.extensionDays":{"V":-89}})",
               "shorter than 90 days"},
        Broken{"disclosure", "{" TOLD R"(,"pub.knownAt":{"V":"2026-01-05T00:00:00Z"}})", "credits nobody"},
        Broken{"disclosure", R"({"vuln.phase":{"V":"TRIAGED"}})", "not where its history ends"}));

#define DID R"("action.at":{"A":"2026-01-01T00:00:00Z"},"action.item":{"A":"I"},"action.policy":{"A":"spam"})"
#define WHY                                                                                         \
  R"("notice.action":{"N":"A"},"notice.at":{"N":"2026-01-01T00:00:00Z"},"notice.facts":{"N":"f"},)" \
  R"("notice.clause":{"N":"c"},"notice.redress":{"N":"r"})"

INSTANTIATE_TEST_SUITE_P(
    Moderation, EachRule,
    ::testing::Values(
        Broken{"moderation", "{" DID R"(,"action.kind":{"A":"SUSPEND"}})", "nobody was told why"},
        Broken{"moderation", "{" DID "," WHY R"(,"action.kind":{"A":"SUSPEND"}})", "strikes where it must not"},
        Broken{"moderation", "{" DID "," WHY R"(,"action.kind":{"A":"BAN"},"strike.weight":{"A":1}})",
               "no human looked"},
        Broken{"moderation", "{" DID "," WHY R"(,"action.kind":{"A":"SUSPEND"},"strike.weight":{"A":1}})",
               "not what its live actions make it"},
        Broken{
            "moderation",
            R"({"action.kind":{"A":"WARN","B":"WARN"},"action.at":{"A":"2026-01-01T00:00:00Z","B":"2026-01-01T00:00:00Z"}})",
            "a second time"},
        Broken{"moderation", R"({"appeal.action":{"P":"A"},"appeal.status":{"P":"OPEN"}})", "is of no action"},
        Broken{"moderation",
               "{" DID R"(,"action.kind":{"A":"WARN"},"appeal.action":{"P":"A"},"appeal.status":{"P":"OVERTURNED"}})",
               "its action stands"},
        Broken{"moderation",
               "{" DID R"(,"action.kind":{"A":"WARN"},"appeal.action":{"P":"A"},"appeal.status":{"P":"UPHELD"}})",
               "decided by no human"}));

#define HELD                                                                                  \
  R"("authority.commitment":{"C":"ALLOW","D":"ALLOW"},"authority.holder":{"C":"a","D":"b"},)" \
  R"("authority.writes":{"C":["K"],"D":["K"]})"

INSTANTIATE_TEST_SUITE_P(
    Joint, EachRule,
    ::testing::Values(
        // The first of two that collide executed: arbitration.
        Broken{
            "joint",
            "{" HELD R"(,"world.value":{"K":"of a"},"world.before":{"K":"free"},)"
            R"("agent.closed":{"a":[0,"WRITE",["K"],[["K","of a"]],["C"]],"b":[0,"WRITE",["K"],[["K","of b"]],["D"]]},)"
            R"("agent.outcome":{"a":"EXECUTED","b":"JOINT_ADMISSIBILITY_FAILURE"}})",
            "what a did came out as EXECUTED, due is JOINT_ADMISSIBILITY_FAILURE"},
        Broken{"joint",
               "{" HELD R"(,"world.value":{"K":"free"},"agent.closed":{"a":[0,"WRITE",["K"],[["K","of a"]],["C"]]},)"
               R"("agent.outcome":{"a":"EXECUTED"}})",
               "not what the executed actions made of it"},
        Broken{"joint",
               "{" HELD R"(,"world.value":{"K":"free"},"agent.closed":{"a":[0,"WRITE",["K"],[],["D"]]},)"
               R"("agent.outcome":{"a":"EXECUTED"}})",
               "due is ACTION_FAULT"},
        Broken{
            "joint",
            R"({"world.value":{"K":"free"},"agent.closed":{"a":[0,"READ",["K"],[],[]]},"agent.outcome":{"a":"EXECUTED"}})",
            "due is JOINT_ADMISSIBILITY_FAILURE"}));

}  // namespace
}  // namespace witan::sim::domain_rules_test
