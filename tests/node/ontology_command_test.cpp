// `witan ontology` and `witan domain lint --against` on the command lines that people type.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::ontology_command_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;

const std::string kUdt = std::string(witan::tests::kSourceDir) + "/domains/udt/udt.ttl";

Finished ontology(std::vector<std::string> words) {
  words.insert(words.begin(), "ontology");
  return runWitan(words);
}

json::value jsonOf(const std::string& text) { return parseJson(text, {.bytes = 16 << 20}).value(); }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(OntologyCommand, CheckTellsOfOddities) {
  const Finished plain = ontology({"check", kUdt});
  EXPECT_EQ(plain.exitCode, 0) << plain.err;
  EXPECT_TRUE(has(plain.out, "warning: field programPhase is written by no process")) << plain.out;
  EXPECT_TRUE(has(plain.out, "udt.ttl: 0 errors, 3 warnings\n")) << plain.out;
  EXPECT_EQ(jsonOf(ontology({"check", kUdt, "--json"}).out).at("ok"), true);
}

TEST(OntologyCommand, CheckNamesTheFirstBrokenPlaceAndTheExitCodeSaysSo) {
  Scratch scratch;
  scratch.write("bad.ttl", "@prefix d: <urn:d:> .\nd:a d:p d:b .\nd:a d:p x:b .\nd:a ] .\n");
  const Finished plain = ontology({"check", scratch / "bad.ttl"});
  EXPECT_EQ(plain.exitCode, 1);
  EXPECT_TRUE(has(plain.out, "bad.ttl:3:9: error: prefix \"x\" is not declared\n")) << plain.out;
  EXPECT_TRUE(has(plain.out, "bad.ttl:4:5: error: syntax: ")) << plain.out;
  const json::value found = jsonOf(ontology({"check", scratch / "bad.ttl", "--json"}).out);
  EXPECT_EQ(found.at("ok"), false);
  EXPECT_EQ(found.at("diagnostics").at(0).at("line"), 3);
  EXPECT_EQ(found.at("diagnostics").at(0).at("column"), 9);
}

TEST(OntologyCommand, NothingIsDerivedFromABrokenFile) {
  Scratch scratch;
  scratch.write("bad.ttl", "@prefix d: <urn:d:> .\nd:a d:p d:b .\nd:a d:p\n");
  for (const char* verb : {"derive", "scaffold"}) {
    const Finished run = ontology({verb, scratch / "bad.ttl"});
    EXPECT_EQ(run.exitCode, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(has(run.err, "bad.ttl:3:8: error: syntax: ")) << run.err;
    EXPECT_TRUE(
        has(ontology({verb, scratch / "bad.ttl", "--json"}).err, R"({"error":{"code":"invalidInput","message":)"));
  }
}

TEST(OntologyCommand, DeriveGivesTheAgreedMembers) {
  const Finished run = ontology({"derive", kUdt, "--json"});
  EXPECT_EQ(run.exitCode, 0) << run.err;
  const json::value derived = jsonOf(run.out);
  ASSERT_EQ(derived.at("roles").as_array().size(), 3u);
  EXPECT_EQ(derived.at("roles").at(0).at("name"), "Clinical");
  EXPECT_EQ(derived.at("roles").at(0).at("processes"), (json::array{"AdvanceAbstinence", "RecordResult"}));
  EXPECT_EQ(derived.at("roles").at(0).at("footprint").as_array().size(), 9u);
  EXPECT_EQ(derived.at("invariants").at(0).at("id"), "UDT_REF_INTEGRITY");
  EXPECT_EQ(derived.at("invariants").at(0).at("class"), "cross-cutting");
  const Finished plain = ontology({"derive", kUdt});
  EXPECT_TRUE(has(plain.out, "udt: 3 roles, theta 1/2\n") && has(plain.out, "locally enforceable by LabOrder"))
      << plain.out;
}

TEST(OntologyCommand, DeriveTakesACapAndPinnedRoles) {
  EXPECT_TRUE(has(ontology({"derive", kUdt, "--max-excess", "1/9"}).out, "theta 1/1"));
  EXPECT_TRUE(has(ontology({"derive", kUdt, "--pinned"}).out, "udt: 3 roles, as declared\n"));
  EXPECT_TRUE(has(ontology({"derive", kUdt, "--max-excess", "2"}).err, "--max-excess: \"2\" is no share"));
  Scratch scratch;
  scratch.write("none.ttl",
                "@prefix ar: <https://example.org/agentic-redux/ns#> .\n<urn:d> a ar:Domain ; ar:name \"n\" .\n");
  EXPECT_TRUE(has(ontology({"derive", scratch / "none.ttl", "--pinned"}).err, "no ar:Role is declared"));
}

TEST(OntologyCommand, ScaffoldWritesAFileOnce) {
  const Finished shown = ontology({"scaffold", kUdt});
  EXPECT_EQ(shown.exitCode, 0) << shown.err;
  EXPECT_TRUE(has(shown.out, "WITAN_DEFINE_DOMAIN(udt, udt::UdtDomain)\n"));
  Scratch scratch;
  const Finished written = ontology({"scaffold", kUdt, "--out", scratch / "domains"});
  EXPECT_EQ(written.exitCode, 0) << written.err;
  EXPECT_EQ(written.out, "");
  EXPECT_TRUE(has(written.err, "add WITAN_DOMAIN(udt) to domains/registry.inc")) << written.err;
  EXPECT_TRUE(std::filesystem::exists(scratch / "domains/udt/udt.cpp"));
  const Finished again = ontology({"scaffold", kUdt, "--out", scratch / "domains"});
  EXPECT_EQ(again.exitCode, 1);
  EXPECT_TRUE(has(again.err, "udt.cpp exists already")) << again.err;
  EXPECT_EQ(jsonOf(ontology({"scaffold", kUdt, "--json"}).out).at("source"), json::value(shown.out));
}

TEST(OntologyCommand, LintComparesWithAnOntology) {
  const Finished agrees = runWitan({"domain", "lint", "udt", "--against", kUdt});
  EXPECT_EQ(agrees.exitCode, 0) << agrees.out << agrees.err;
  EXPECT_TRUE(has(agrees.out, "udt agrees: 24 fields, 7 processes, 3 roles, 13 invariants\n")) << agrees.out;
  const Finished differs = runWitan({"domain", "lint", "budget", "--against", kUdt});
  EXPECT_EQ(differs.exitCode, 1);
  EXPECT_TRUE(has(differs.out, "differs: field spentA is not in the ontology\n")) << differs.out;
  const json::value found = jsonOf(runWitan({"domain", "lint", "budget", "--against", kUdt, "--json"}).out);
  EXPECT_EQ(found.at("agrees"), false);
  EXPECT_EQ(runWitan({"domain", "lint", "udt", "--against", "/nonexistent.ttl"}).exitCode, 1);
}

TEST(OntologyCommand, EveryVerbHelpsWithAnExample) {
  for (const char* verb : {"check", "derive", "scaffold"}) {
    const Finished help = ontology({verb, "--help"});
    EXPECT_EQ(help.exitCode, 0);
    EXPECT_TRUE(has(help.out, std::string("Example: witan ontology ") + verb)) << help.out;
    EXPECT_TRUE(has(help.out, "--json"));
  }
  EXPECT_EQ(ontology({}).exitCode, 2);
  EXPECT_EQ(ontology({"derive"}).exitCode, 2);
}

}  // namespace
}  // namespace witan::node::ontology_command_test
