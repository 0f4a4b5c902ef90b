// docs/SIMULATION.md names everything that a scenario, a plan or a failure may name.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "sim/catalog.h"
#include "sim/mutants.h"
#include "sim/options.h"
#include "sim/plan.h"

#include "tests/paths.h"

namespace witan::docs_test {
namespace {

using namespace witan;
using namespace witan::sim;

std::string document() {
  std::ifstream in(std::string(witan::tests::kSourceDir) + "/docs/SIMULATION.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string code(std::string_view name) { return "`" + std::string(name) + "`"; }

TEST(SimulationDocument, NamesEveryOption) {
  const std::string text = document();
  const Options options;
  forEachOption(options, [&](std::string_view table, std::string_view member, const auto&) {
    const std::size_t from = text.find("| `[" + std::string(table) + "]`");
    ASSERT_NE(from, std::string::npos) << table;
    EXPECT_LT(text.find(code(member), from), text.find("\n\n", from)) << table << "." << member;
  });
}

TEST(SimulationDocument, NamesEveryEventAndChecker) {
  const std::string text = document();
  for (std::string_view kind : enumNames<EventKind>()) EXPECT_NE(text.find(code(kind)), std::string::npos) << kind;
  for (const CheckerInfo& checker : checkers())
    EXPECT_NE(text.find(code(checker.name)), std::string::npos) << checker.name;
}

TEST(SimulationDocument, NamesOnlyMutantsThatExist) {
  static const std::regex said("mutants? (`[A-Za-z]+`(,\\s+`[A-Za-z]+`)*)"), word("`([A-Za-z]+)`");
  const std::string text = document();
  std::size_t found = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), said), end; at != end; ++at) {
    const std::string list = (*at)[1];
    for (std::sregex_iterator name(list.begin(), list.end(), word); name != end; ++name, ++found)
      EXPECT_TRUE(isMutant((*name)[1].str())) << (*name)[1];
  }
  EXPECT_GT(found, 15u);
}

}  // namespace
}  // namespace witan::docs_test
