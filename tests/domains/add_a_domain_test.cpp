// docs/ADD_A_DOMAIN.md, held against the domain that it builds: its code is the file that is compiled here, and what it
// shows of lint, run and test is what comes out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernel/history_check.h"
#include "kernel/lint.h"
#include "lab/ontology/against.h"
#include "lab/ontology/ontology.h"
#include "lab/ontology/report.h"
#include "tests/domains/scenario_run.h"
#include "tests/paths.h"

namespace witan::domains {

Result<std::unique_ptr<kernel::DomainModule>> make_fridge(const json::object& policy,
                                                          std::vector<std::string> counselors);

namespace test {
namespace add_a_domain_test {
namespace {

std::string fileText(const std::string& path) {
  std::ifstream file(std::filesystem::path(witan::tests::kSourceDir) / path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The fenced blocks of a Markdown text, without their fences.
std::vector<std::string> blocksOf(const std::string& markdown) {
  std::vector<std::string> blocks;
  bool inside = false;
  std::istringstream in(markdown);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

const std::vector<std::string>& blocks() {
  static const std::vector<std::string> all = blocksOf(fileText("docs/ADD_A_DOMAIN.md"));
  return all;
}

bool shown(const std::string& block) { return std::find(blocks().begin(), blocks().end(), block) != blocks().end(); }

std::unique_ptr<DomainModule> fridge() { return make_fridge({}, {}).value(); }

TEST(AddADomain, TheCodeIsTheFileThatIsCompiled) { EXPECT_TRUE(shown(fileText("tests/domains/toy_domain.cpp"))); }

TEST(AddADomain, TheOntologyIsTheFileThatIsReadAndSaysWhatIsShown) {
  const std::string text = fileText("tests/domains/toy_domain.ttl");
  EXPECT_TRUE(shown(text));
  ontology::Diagnostics found;
  const auto model = ontology::readOntology(text, found);
  ASSERT_TRUE(model.has_value());
  ontology::review(*model, found);
  EXPECT_TRUE(shown("$ witan ontology check fridge.ttl\n" + ontology::checkText("fridge.ttl", found)));
  const ontology::Derivation roles = ontology::declaredRoles(*model);
  EXPECT_TRUE(shown("$ witan ontology derive --pinned fridge.ttl\n" + ontology::deriveText(derivedOf(*model, roles))));
  const auto module = fridge();
  const ontology::Comparison comparison = ontology::compareWith(module->signature(), *model);
  EXPECT_TRUE(shown("$ witan domain lint fridge --against fridge.ttl\n" +
                    ontology::againstText("fridge.ttl", module->signature(), comparison)));
}

TEST(AddADomain, TheCheckFiresWhenTheDocumentDiffers) {
  EXPECT_EQ(blocksOf("a\n```cpp\nint x;\n```\nb\n```\ny\nz\n```\n"), (std::vector<std::string>{"int x;\n", "y\nz\n"}));
  EXPECT_FALSE(shown(blocks().at(0) + " "));
}

TEST(AddADomain, TheRegistryLineIsShown) { EXPECT_TRUE(shown("WITAN_DOMAIN(fridge)\n")); }

TEST(AddADomain, LintPrintsWhatIsShown) {
  const auto module = fridge();
  const std::string text =
      lintText(module->signature(), lintSignature(module->signature())) + skewText(findWriteSkew(*module, {}));
  EXPECT_TRUE(shown(text)) << text;
}

TEST(AddADomain, TestPrintsWhatIsShown) {
  const auto module = fridge();
  std::string text;
  const std::size_t lines = scenarioLines(module->scenarios()).size();
  text += "ok     scenarios: expectations of the shipped events (" + std::to_string(lines) + ")\n";
  text += "ok     time stability of the scenarios' end states (1)\n";
  for (const PropertyResult& property : checkHistories(*module, {})) {
    EXPECT_EQ(property.failure, "") << property.name;
    text += "ok     " + property.name + " (" + std::to_string(property.checked) + ")\n";
  }
  EXPECT_TRUE(shown(text)) << text;
}

TEST(AddADomain, ScenariosHold) {
  const auto module = fridge();
  EXPECT_EQ(differencesOf(*module, scenarioLines(module->scenarios())), "");
}

}  // namespace
}  // namespace add_a_domain_test
}  // namespace test
}  // namespace witan::domains
