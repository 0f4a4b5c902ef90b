// The calculus of A.1.14 and A.3 over the real kernel: Theorems 1, 2, 3, 4 and Proposition 1 (ii) on its executions.
#include "lab/redux/calculus_kernel.h"

#include <gtest/gtest.h>

#include <set>

#include "lab/redux/theorem_checks.h"
#include "tests/kernel/state_checks.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::test::calculus_kernel_test {
namespace {

// "Preservation ... Progress ..." (Theorem 3, A.2.5; 3+, A.3.2), "<coordinate, s, w> --> <(r, a), s', w'> : s' = s"
// (Proposition 1 (ii), A.2.2), and every statement about histories, on programs that drive the kernel itself.
TEST(CalculusOverKernel, Theorem1_2_3_4_Proposition1ii) {
  const auto module = chest::module();
  std::vector<calculus::Rule> rules;
  for (std::uint64_t seed = 0; seed < 1200; ++seed) {
    KernelArchitecture architecture(*module, seed, seed % 2 == 0);
    ASSERT_EQ(runProgram(architecture, seed, calculus::System::withCounselor, &rules), "") << seed;
    for (const NamedCheck& check : everyCheck())
      ASSERT_EQ(check.run(*module, architecture.history.steps), "") << check.name;
  }
  EXPECT_EQ(std::set<calculus::Rule>(rules.begin(), rules.end()).size(), 8u) << "every rule fires";
}

// In the base calculus the kernel's freeze shows as an undefined kappa: no second proposal is ever queued.
TEST(CalculusOverKernel, Theorem3_BaseCalculus) {
  const auto module = chest::module();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    KernelArchitecture architecture(*module, seed, false);
    ASSERT_EQ(runProgram(architecture, seed, calculus::System::base), "") << seed;
    for (const NamedCheck& check : everyCheck())
      ASSERT_EQ(check.run(*module, architecture.history.steps), "") << check.name;
  }
}

// The checks fire: an architecture whose pi writes, and one whose kappa appends twice.
class Meddler final : public calculus::Architecture {
 public:
  explicit Meddler(KernelArchitecture& inner) : inner_(inner) {}
  bool isRole(std::string_view role) const override { return inner_.isRole(role); }
  bool isAction(std::string_view action) const override { return inner_.isAction(action); }
  std::size_t queueLength() const override { return inner_.queueLength(); }
  std::optional<calculus::Proposal> coordinate(calculus::Oracle& oracle) override {
    (void)inner_.adjudicate({"Treasurer", R"({"type":"Earn","n":1})"}, inner_.history.now());
    return inner_.coordinate(oracle);
  }
  std::optional<calculus::Outcome> adjudicate(const calculus::Proposal& p, Time t) override {
    return inner_.adjudicate(p, t);
  }
  calculus::CounselorAnswer awaitCounselor(calculus::Oracle& oracle) override { return inner_.awaitCounselor(oracle); }

 private:
  KernelArchitecture& inner_;
};

TEST(CalculusOverKernel, Proposition1ii_ACoordinateThatWritesIsSeen) {
  const auto module = chest::module();
  KernelArchitecture architecture(*module, 1, false);
  Meddler meddler(architecture);
  calculus::Oracle oracle({"Treasurer 5"});
  const std::uint64_t before = architecture.history.partition().size();
  const auto result = calculus::step(calculus::makeCoordinate(), meddler, oracle, calculus::System::withCounselor);
  ASSERT_EQ(result.rule, calculus::Rule::eCoordinate);
  EXPECT_NE(architecture.history.partition().size(), before);
}

// ---- Proposition 1 (i) ----

// "for every pair of domain states s1, s2 with project_D(s1, r) = project_D(s2, r): if alpha_r(project_D(s1, r), w) is
// defined then alpha_r(project_D(s2, r), w) is defined and equal." (Proposition 1 (i), A.2.2)
TEST(Confinement, Proposition1i_ObservationConfinement) {
  const auto module = chest::module();
  int defined = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const EntityPtr one = anyState(*module, seed, 15, true);
    const EntityPtr donor = anyState(*module, seed + 5000, 15, true);
    for (const RoleInfo& role : module->signature().roles) {
      const EntityPtr two = withHiddenFieldsOf(*module, *one, *donor, role.footprint);
      ASSERT_EQ(stateJson(*module, one.get(), role.footprint), stateJson(*module, two.get(), role.footprint));
      const auto first = KernelArchitecture::agent(*module, *one, role.name, seed, one->shared.clock);
      const auto second = KernelArchitecture::agent(*module, *two, role.name, seed, one->shared.clock);
      ASSERT_EQ(first, second) << role.name;
      defined += first.has_value();
    }
  }
  EXPECT_GT(defined, 100);
}

// The existence of a key is information too: a row that holds hidden cells only is not there.
TEST(Confinement, Proposition1i_ARowOfHiddenCellsIsInvisible) {
  using D = chest::Chest<>;
  const auto module = chest::module();
  const EntityPtr entity = module->create({}, Time{}).value();
  ASSERT_TRUE(
      module->applyWrites(*entity, objectOf(R"({"item.secret":{"a":"x","c":"y"},"item.value":{"b":1,"c":2}})")).ok());
  const auto& box = TypedModule<D>::boxOf(*entity);
  const auto& typed = static_cast<const TypedModule<D>&>(*module);
  const Slice<chest::Keeper> slice(box.state, box.shared, typed.policy());
  std::vector<std::string> keys;
  for (auto row : slice.rows<chest::kItems>()) keys.emplace_back(row.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"b", "c"}));
  EXPECT_FALSE(slice.row<chest::kItems>("a").has_value());
  EXPECT_TRUE(slice.row<chest::kItems>("c").has_value());
  EXPECT_EQ(stateJson(*module, entity.get(), module->signature().roles[1].footprint).find("\"a\""), std::string::npos);
}

// ... nor is an erased one, nor one whose insertion was undone.
TEST(Confinement, Proposition1i_ErasedAndUndoneRowsAreInvisible) {
  const auto module = chest::module();
  const EntityPtr entity = module->create({}, Time{}).value();
  const std::string before = stateJson(*module, entity.get());
  Evaluation out;
  for (const char* text : {R"({"type":"PutItem","item":"a","value":-1})", R"({"type":"PutItem","item":"b","value":1})",
                           R"({"type":"DropItem","item":"b"})"})
    module->evaluate(*entity, "Keeper", *actionOf(*module, text), Time{}, out);
  EXPECT_EQ(stateJson(*module, entity.get()), before);
  const auto& box = TypedModule<chest::Chest<>>::boxOf(*entity);
  EXPECT_EQ(box.state.items.find("a"), kNoSlot);
}

// ---- what does not compile (Def. A.7: the slice is exactly the footprint) ----

template <class ViewOf, class Field>
concept CanRead = requires(const ViewOf& v) {
  v.template get<Field>();
};
template <class RowOf, class Field>
concept RowCanRead = requires(const RowOf& r) {
  r.template get<Field>();
};

static_assert(CanRead<View<chest::GoldHigh>, chest::Gold> && CanRead<View<chest::GoldHigh>, chest::SealedBy>);
static_assert(!CanRead<View<chest::GoldHigh>, chest::Diary>, "a scalar outside of the footprint");
static_assert(!CanRead<View<chest::ItemLawful>, chest::ItemOwner>, "a column is no scalar");
static_assert(!CanRead<Slice<chest::Keeper>, chest::Gold> && CanRead<Slice<chest::Treasurer>, chest::Gold>);
static_assert(RowCanRead<RowView<chest::ItemLawful, chest::kItems>, chest::ItemValue>);
static_assert(!RowCanRead<RowView<chest::ItemLawful, chest::kItems>, chest::ItemSecret>,
              "a column outside of the footprint");
static_assert(!RowCanRead<RowView<RoleReader<chest::Treasurer>, chest::kItems>, chest::ItemValue>);

}  // namespace
}  // namespace witan::kernel::test::calculus_kernel_test
