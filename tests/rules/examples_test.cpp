// The event domains as rule files (docs/examples/) against the compiled ones: the same actions give the same verdicts,
// witnesses and states, counselors' commits included; and the shipped scenarios hold.
#include <gtest/gtest.h>

#include <filesystem>

#include "domains/registry.h"
#include "node/events/rule_check.h"
#include "tests/paths.h"

namespace witan::rules {
namespace {

using namespace kernel;

struct Pair {
  std::unique_ptr<DomainModule> compiled, rules;
};

std::string pathOf(const std::string& domain) {
  return concat(tests::kSourceDir, "/docs/examples/", domain, ".domain.toml");
}

Pair pairOf(const std::string& domain) {
  auto rules = domains::makeDomain(pathOf(domain));
  EXPECT_TRUE(rules.ok()) << (rules.ok() ? "" : rules.error().message);
  if (!rules.ok()) return {};
  return {domains::makeDomain(domain).value(), *std::move(rules)};
}

std::string stateOf(const DomainModule& module, const EntityState& entity) {
  std::string out;
  module.writeState(out, entity);
  return out;
}

std::string wordsOf(const DomainModule& module, const Evaluation& found) {
  if (found.tag == Evaluation::Tag::approved) return "approved";
  return concat(found.tag == Evaluation::Tag::rejected ? "rejected:" : "escalated:", module.invariantId(found.witness));
}

std::string violatedOf(const DomainModule& module, const Evaluation& found) {
  std::string out;
  for (const Finding& one : found.findings) out += concat(module.invariantId(one.invariant), " ");
  return out;
}

// One entity under both; every step is compared.
class Twins {
 public:
  Twins(const Pair& pair, std::uint64_t seed) : c_(*pair.compiled), r_(*pair.rules), random_(seed) {
    const json::object init = parseJson(c_.sampleInit(random_, at_)).value().as_object();
    compiled_ = c_.create(init, at_).value();
    auto made = r_.create(init, at_);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    if (made.ok()) rules_ = *std::move(made);
  }

  // False: they differ.
  bool step() {
    if (!rules_) return false;
    at_.micros += static_cast<std::int64_t>(random_.below(20)) * kMicrosPerHour + 1000;
    const ActionPtr action = c_.sample(*compiled_, random_, at_);
    if (!action) return true;
    std::string text;
    c_.writeAction(text, *action);
    auto same = r_.parseAction(parseJson(text).value());
    EXPECT_TRUE(same.ok()) << text << ": " << (same.ok() ? "" : same.error().message);
    if (!same.ok()) return false;
    const std::string& role = c_.signature().processes[action->process].role;
    Evaluation x, y;
    c_.evaluate(*compiled_, role, *action, at_, x);
    // The incremental walk decides as the full one.
    const EntityPtr copy = r_.clone(*rules_);
    Evaluation full;
    r_.evaluateFully(*copy, role, **same, at_, full);
    r_.evaluate(*rules_, role, **same, at_, y);
    EXPECT_EQ(wordsOf(r_, y), wordsOf(r_, full)) << text << "\n" << full.message << "\n" << stateOf(r_, *rules_);
    if (x.tag == Evaluation::Tag::escalated && y.tag == x.tag && random_.below(2) == 0) commit(*action, **same);
    return compare(text, x, y) && wordsOf(r_, y) == wordsOf(r_, full);
  }

 private:
  void commit(const Action& compiled, const Action& rules) {
    const std::string edit = c_.sampleEdit(*compiled_, compiled, "human.lead", random_, at_);
    const json::object parsed = parseJson(edit).value().as_object();
    Evaluation x, y;
    const Status a = c_.counselorCommit(*compiled_, CommitBase::candidate, &compiled, parsed, "human.lead", at_, x);
    const Status b = r_.counselorCommit(*rules_, CommitBase::candidate, &rules, parsed, "human.lead", at_, y);
    EXPECT_EQ(a.ok(), b.ok()) << edit << (a.ok() ? "" : a.error().message) << (b.ok() ? "" : b.error().message);
    EXPECT_EQ(violatedOf(c_, x), violatedOf(r_, y)) << edit;
  }
  bool compare(const std::string& text, const Evaluation& x, const Evaluation& y) {
    const std::string a = stateOf(c_, *compiled_), b = stateOf(r_, *rules_);
    EXPECT_EQ(wordsOf(c_, x), wordsOf(r_, y)) << text << "\n" << x.message << "\n" << y.message << "\n" << a;
    EXPECT_EQ(a, b) << text;
    return a == b && wordsOf(c_, x) == wordsOf(r_, y);
  }

  const DomainModule &c_, &r_;
  SeededRandom random_;
  Time at_ = kSampleStart;
  EntityPtr compiled_, rules_;
};

class Examples : public testing::TestWithParam<const char*> {};

TEST_P(Examples, RandomHistoriesGiveTheSameDecisionsAndStates) {
  const Pair pair = pairOf(GetParam());
  ASSERT_NE(pair.rules, nullptr);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Twins twins(pair, seed);
    for (int i = 0; i < 60; ++i)
      if (!twins.step()) FAIL() << "seed " << seed << ", step " << i;
  }
}

TEST_P(Examples, ShippedScenariosHold) {
  const Pair pair = pairOf(GetParam());
  ASSERT_NE(pair.rules, nullptr);
  for (const PropertyResult& check : node::checkScenarios(*pair.rules, domains::scenariosOf(GetParam()), GetParam()))
    EXPECT_TRUE(check.failure.empty()) << check.name << ": " << check.failure;
}

// Roles, processes, invariants and what each reads and writes: a slice shows the same.
TEST_P(Examples, SameDeclaration) {
  const Pair pair = pairOf(GetParam());
  ASSERT_NE(pair.rules, nullptr);
  const Signature &c = pair.compiled->signature(), &r = pair.rules->signature();
  const auto sorted = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_EQ(sorted(c.fieldNames(~FieldMask{0})), sorted(r.fieldNames(~FieldMask{0})));
  ASSERT_EQ(c.roles.size(), r.roles.size());
  for (std::size_t i = 0; i < c.roles.size(); ++i) {
    EXPECT_EQ(c.roles[i].name, r.roles[i].name);
    EXPECT_EQ(sorted(c.fieldNames(c.roles[i].footprint)), sorted(r.fieldNames(r.roles[i].footprint)))
        << c.roles[i].name;
    EXPECT_EQ(sorted(c.fieldNames(c.roles[i].writes)), sorted(r.fieldNames(r.roles[i].writes))) << c.roles[i].name;
  }
  ASSERT_EQ(c.invariants.size(), r.invariants.size());
  for (std::size_t i = 0; i < c.invariants.size(); ++i) EXPECT_EQ(c.invariants[i].id, r.invariants[i].id);
}

INSTANTIATE_TEST_SUITE_P(Domains, Examples,
                         testing::Values("budget", "udt", "disclosure", "moderation", "verification"),
                         [](const auto& test) { return std::string(test.param); });

// Every rule file of the documentation loads.
TEST(RuleFileExamples, AllLoad) {
  std::size_t seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(concat(tests::kSourceDir, "/docs/examples"))) {
    if (!file.path().string().ends_with(".domain.toml")) continue;
    const auto module = domains::makeDomain(file.path().string());
    EXPECT_TRUE(module.ok()) << file.path() << (module.ok() ? "" : ": " + module.error().message);
    ++seen;
  }
  EXPECT_GE(seen, 6u);
}

}  // namespace
}  // namespace witan::rules
