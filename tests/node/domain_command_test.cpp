// `witan domain` on the command lines that people type.
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::domain_command_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;

Finished domain(std::vector<std::string> words, std::string_view input = {}) {
  words.insert(words.begin(), "domain");
  return runWitan(words, input);
}

json::value jsonOf(const Finished& run) { return parseJson(run.out, {.bytes = 16 << 20}).value(); }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(DomainCommand, ListsEveryDomain) {
  const Finished plain = domain({"list"});
  EXPECT_EQ(plain.exitCode, 0) << plain.err;
  EXPECT_TRUE(has(plain.out, "budget") && has(plain.out, "udt"));
  const json::value listed = jsonOf(domain({"list", "--json"})).at("domains");
  EXPECT_EQ(listed.at(0).at("name"), "budget");
}

TEST(DomainCommand, ShowsTheDeclaration) {
  const Finished plain = domain({"show", "udt"});
  EXPECT_EQ(plain.exitCode, 0) << plain.err;
  for (const char* part : {"OrderTest(order: text", "relapse.response", "UDT_RELAPSE_RESPONSE", "escalate",
                           "dr.supervising", "RespondToRelapse", "\"tier3MinDays\":91"})
    EXPECT_TRUE(has(plain.out, part)) << part;
  const json::value shown = jsonOf(domain({"show", "udt", "--json"}));
  EXPECT_EQ(shown.at("fields").as_array().size(), 24u);
  EXPECT_EQ(shown.at("invariants").at(0).at("id"), "UDT_REF_INTEGRITY");
  EXPECT_EQ(shown.at("processes").at(1).at("arguments").at(5).at("required"), false);
}

TEST(DomainCommand, ShowsTheActionsSchema) {
  const Finished schema = domain({"show", "budget", "--capnp"});
  EXPECT_EQ(schema.exitCode, 0) << schema.err;
  EXPECT_TRUE(has(schema.out, "struct SpendA {\n  n @0 :Int64;\n}\n")) << schema.out;
  EXPECT_EQ(jsonOf(domain({"show", "budget", "--capnp", "--json"})).at("capnp"), json::value(schema.out));
}

TEST(DomainCommand, ShowsTheGivenPolicy) {
  Scratch scratch;
  scratch.write("policy.json", R"({"cap":7})");
  const Finished run = domain({"show", "budget", "--policy", scratch / "policy.json"});
  EXPECT_TRUE(has(run.out, "{\"cap\":7}")) << run.out << run.err;
}

TEST(DomainCommand, LintFindsTheBudgetsWitness) {
  const Finished plain = domain({"lint", "budget", "--steps", "300"});
  EXPECT_EQ(plain.exitCode, 0) << plain.err;
  EXPECT_TRUE(has(plain.out, "witness against BUDGET_CAP")) << plain.out;
  const json::value found = jsonOf(domain({"lint", "budget", "--steps", "300", "--json"}));
  EXPECT_EQ(found.at("invariants").at(0).at("class"), "cross-cutting");
  const json::value& witness = found.at("writeSkew").at("witnesses").at(0);
  EXPECT_EQ(witness.at("invariant"), "BUDGET_CAP");
  EXPECT_GT(witness.at("merged").at("spentA").to_number<std::int64_t>() +
                witness.at("merged").at("spentB").to_number<std::int64_t>(),
            100'000);
  EXPECT_EQ(domain({"lint", "budget", "--steps", "300", "--seed", "4"}).out,
            domain({"lint", "budget", "--steps", "300", "--seed", "4"}).out);
}

TEST(DomainCommand, TestRunsScenariosAndHistories) {
  for (const char* name : {"budget", "udt", "verification", "moderation"}) {
    const Finished plain = domain({"test", name, "--histories", "20"});
    EXPECT_EQ(plain.exitCode, 0) << plain.out << plain.err;
    EXPECT_FALSE(has(plain.out, "FAILED"));
    const json::value checks = jsonOf(domain({"test", name, "--histories", "20", "--json"}));
    EXPECT_EQ(checks.at("passed"), true);
    EXPECT_EQ(checks.at("checks").as_array().size(), 7u);
  }
}

// Under another policy the shipped expectations do not hold, and that is what it says.
TEST(DomainCommand, TestFailsWhenAnExpectationDoes) {
  Scratch scratch;
  scratch.write("policy.json", R"({"cap":1000000})");
  const Finished run = domain({"test", "budget", "--histories", "1", "--policy", scratch / "policy.json"});
  EXPECT_EQ(run.exitCode, 1);
  EXPECT_TRUE(has(run.out, "FAILED scenarios: ") && has(run.out, "expected rejected:BUDGET_CAP, got approved"))
      << run.out;
  EXPECT_EQ(jsonOf(domain({"test", "budget", "--histories", "1", "--json", "--policy", scratch / "policy.json"}))
                .at("passed"),
            false);
}

TEST(DomainCommand, GeneratedEventsRunWithoutRefusals) {
  for (const char* name : {"budget", "udt", "verification", "moderation"}) {
    const Finished events = domain({"generate", name, "--entities", "12", "--days", "20", "--seed", "5"});
    EXPECT_EQ(events.exitCode, 0) << events.err;
    EXPECT_EQ(domain({"generate", name, "--entities", "12", "--days", "20", "--seed", "5"}).out, events.out);
    EXPECT_NE(domain({"generate", name, "--entities", "12", "--days", "20", "--seed", "6"}).out, events.out);
    const Finished run = runWitan({"run", "--domain", name, "--events", "-"}, events.out);
    EXPECT_EQ(run.exitCode, 0) << run.err;
    EXPECT_TRUE(has(run.out, "\"approved\""));
    EXPECT_FALSE(has(run.out, "\"refused\""));
  }
}

// A file of scenarios names its domain by its own name, or is told.
TEST(DomainCommand, TestsAFileOfScenarios) {
  Scratch scratch;
  const std::string begin = R"({"at":"2026-01-01T00:00:00Z","entity":"e","init":{},"expect":"initialised"})";
  const auto spend = [](const char* expect) {
    return std::string(
               R"({"at":"2026-01-02T00:00:00Z","entity":"e","role":"A","action":{"type":"SpendA","n":100001},)") +
           "\"expect\":\"" + expect + "\"}\n";
  };
  scratch.write("budget.jsonl", begin + "\n" + spend("rejected:BUDGET_CAP"));
  const Finished held = domain({"test", scratch / "budget.jsonl"});
  EXPECT_EQ(held.exitCode, 0) << held.out << held.err;
  EXPECT_TRUE(has(held.out, "ok     scenarios: expectations of budget.jsonl (2)")) << held.out;
  scratch.write("mine.jsonl", begin + "\n" + spend("approved"));
  const Finished failed = domain({"test", scratch / "mine.jsonl", "--domain", "budget"});
  EXPECT_EQ(failed.exitCode, 1);
  EXPECT_TRUE(has(failed.out, "expected approved, got rejected:BUDGET_CAP")) << failed.out;
  EXPECT_TRUE(has(domain({"test", scratch / "mine.jsonl"}).err, "no domain \"mine\""));
  EXPECT_EQ(domain({"test", scratch / "gone.jsonl", "--domain", "budget"}).exitCode, 1);
}

TEST(DomainCommand, FingerprintOfTheBudget) {
  const std::vector<std::string> words{"fingerprint", "--domain", "budget", "--steps", "200", "--traces", "5"};
  const Finished plain = domain(words);
  EXPECT_EQ(plain.exitCode, 0) << plain.err;
  EXPECT_TRUE(has(plain.out, "needs adjudication  yes: write skew against BUDGET_CAP")) << plain.out;
  std::vector<std::string> asJson = words;
  asJson.push_back("--json");
  const json::value print = jsonOf(domain(asJson)).at("fingerprints").at(0);
  EXPECT_EQ(print.at("needsAdjudication"), true);
  EXPECT_EQ(print.at("auditable"), true);
  EXPECT_EQ(print.at("pipelineLike"), false);
  EXPECT_EQ(print.at("traces").at("kernel").at("tracesViolating"), 0);
  EXPECT_EQ(print.at("traces").at("naive").at("tracesViolating"), 5);
}

TEST(DomainCommand, RefusesWhatItDoesNotKnow) {
  const Finished unknown = domain({"show", "nope"});
  EXPECT_EQ(unknown.exitCode, 1);
  EXPECT_TRUE(has(unknown.err, "no domain \"nope\"") && has(unknown.err, "known domains: budget, ")) << unknown.err;
  EXPECT_TRUE(has(domain({"show", "nope", "--json"}).err, R"({"error":{"code":)"));
  EXPECT_EQ(domain({}).exitCode, 2);
  EXPECT_EQ(domain({"show"}).exitCode, 2);
  EXPECT_EQ(domain({"lint", "udt", "--steps", "0"}).exitCode, 2);
  EXPECT_EQ(domain({"generate", "udt", "--entities", "-3"}).exitCode, 2);
  EXPECT_EQ(domain({"show", "budget", "--policy", "/nonexistent"}).exitCode, 1);
}

TEST(DomainCommand, EveryVerbHelpsWithAnExample) {
  for (const char* verb : {"list", "show", "lint", "test", "generate"}) {
    const Finished help = domain({verb, "--help"});
    EXPECT_EQ(help.exitCode, 0);
    EXPECT_TRUE(has(help.out, std::string("Example: witan domain ") + verb)) << help.out;
    EXPECT_TRUE(has(help.out, "--json"));
  }
}

}  // namespace
}  // namespace witan::node::domain_command_test
