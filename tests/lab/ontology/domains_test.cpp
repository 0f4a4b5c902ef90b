// The ontologies that our domains ship, and others' ontologies where they are at hand: the roles that Procedure 1 must
// give, under any naming and order.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "domains/registry.h"
#include "lab/ontology/against.h"
#include "lab/ontology/ontology.h"
#include "lab/ontology/report.h"
#include "tests/lab/ontology/turtle_texts.h"

namespace witan::ontology::domains_test {
namespace {

using namespace test;

std::string shipped(std::string_view domain) {
  return fileText(root() / "domains" / domain / (std::string(domain) + ".ttl"));
}

std::string derived(const std::string& text) {
  const Model model = modelOf(text);
  const Derivation roles = deriveRoles(model);
  return deriveJson(derivedOf(model, roles));
}

// Folders of domains/ with an ontology: at least those of the registry.
std::vector<std::string> shippedNames() {
  std::vector<std::string> names;
  for (const auto& folder : std::filesystem::directory_iterator(root() / "domains")) {
    const std::string name = folder.path().filename().string();
    if (std::filesystem::exists(folder.path() / (name + ".ttl"))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(ShippedOntologies, EveryDomainHasOneWithoutErrorsWhoseRolesAreDerivedAsDeclared) {
  const std::vector<std::string> names = shippedNames();
  for (std::string_view name : domains::domainNames())
    EXPECT_TRUE(name == "joint" || name == "escrow" || name == "graph" ||
                std::find(names.begin(), names.end(), name) != names.end())
        // joint and graph are machinery, not domains that somebody described; the roles of escrow are organisations,
        // which no procedure derives from fields.
        << name << " ships no ontology";
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Model model = modelOf(shipped(name));
    EXPECT_EQ(model.domain.name, name);
    EXPECT_FALSE(model.roles.empty());
    const Derivation d = deriveRoles(model);
    EXPECT_EQ(d.roles.size(), model.roles.size());
    for (const DerivedRole& role : d.roles) EXPECT_TRUE(role.declared) << role.name;
    EXPECT_FALSE(d.dependsOnIris);
  }
}

RC_GTEST_PROP(ShippedOntologies, PropIrisAndOrderChangeNothing, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  for (const std::string& name : shippedNames()) {
    const std::string text = shipped(name);
    RC_ASSERT(derived(shuffled(graphOf(text), random)) == derived(text));
  }
}

// Ontologies that others wrote of the same domains: their folder is named by WITAN_ONTOLOGIES.
class OthersOntologies : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("WITAN_ONTOLOGIES");
    if (folder == nullptr) GTEST_SKIP() << "WITAN_ONTOLOGIES names no folder with domain_udt.ttl and its like";
    folder_ = folder;
  }
  static constexpr std::pair<const char*, std::size_t> kRoles[] = {{"domain_udt.ttl", 3},
                                                                   {"domain_vuln.ttl", 4},
                                                                   {"domain_ucm.ttl", 4},
                                                                   {"domain_verif.ttl", 4},
                                                                   {"domain_budget.ttl", 2}};
  std::filesystem::path folder_;
};

TEST_F(OthersOntologies, GiveTheRolesTheyWereWrittenFor) {
  for (const auto& [file, roles] : kRoles)
    EXPECT_EQ(deriveRoles(modelOf(fileText(folder_ / file))).roles.size(), roles) << file;
}

// 300 namings each, as the reference measured.
TEST_F(OthersOntologies, AreDerivedAlikeUnderAnyNamingAndOrder) {
  std::mt19937_64 random(20260301);
  for (const auto& [file, roles] : kRoles) {
    const std::string text = fileText(folder_ / file);
    const std::string expected = derived(text);
    const Graph graph = graphOf(text);
    for (int i = 0; i < 300; ++i) ASSERT_EQ(derived(shuffled(graph, random)), expected) << file;
  }
}

// Where the others' words on a footprint are too few for what their own rules say (docs/FINDINGS.md, D14 and D15).
TEST_F(OthersOntologies, DifferFromOurDomainsOnlyWhereTheyAreTooNarrow) {
  const std::pair<const char*, const char*> kFiles[] = {{"udt", "domain_udt.ttl"},
                                                        {"disclosure", "domain_vuln.ttl"},
                                                        {"moderation", "domain_ucm.ttl"},
                                                        {"verification", "domain_verif.ttl"},
                                                        {"budget", "domain_budget.ttl"}};
  std::vector<std::string> differences;
  for (const auto& [domain, file] : kFiles) {
    const auto module = domains::makeDomain(domain).value();
    for (const std::string& one : compareWith(module->signature(), modelOf(fileText(folder_ / file))).differences)
      differences.push_back(std::string(domain) + ": " + one.substr(0, one.find(" reads")));
  }
  EXPECT_EQ(differences,
            (std::vector<std::string>{"disclosure: invariant VULN_REF_INTEGRITY", "verification: process LocateDefect",
                                      "verification: process AssessSeverity"}));
}

}  // namespace
}  // namespace witan::ontology::domains_test
