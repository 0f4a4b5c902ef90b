// Budget: the smallest domain, and the paper's write-skew example (seed 000, Introduction).
//
// Two agents spend from one allowance; neither sees what the other spent. Each proposal alone keeps the cap, both
// together may not: the invariant is cross-cutting and needs coordination (Def. A.11). Two fields and not one shared
// counter, because two writers of one counter would be a lost update (Berenson P4), not write skew (A5B).
#include <limits>

#include "domains/registry.h"
#include "kernel/typed_module.h"

namespace witan::domains::budget {

using namespace kernel;

struct Policy {
  static constexpr std::size_t required = 0;
  std::int64_t cap = 100'000;
  WITAN_MEMBERS(Policy, cap)
};

struct State {
  using Policy = budget::Policy;
  std::int64_t spentA = 0;
  std::int64_t spentB = 0;
};

struct SpentA : Scalar<"spentA", &State::spentA> {};
struct SpentB : Scalar<"spentB", &State::spentB> {};
using Fields = FieldList<SpentA, SpentB>;

// What was spent, and n more. A negative n would make room for the other role.
std::int64_t spend(std::int64_t spent, std::int64_t n) {
  if (n < 0) throw Fault{"a spend of " + std::to_string(n) + " is negative: nothing is given back"};
  std::int64_t sum = 0;
  if (__builtin_add_overflow(spent, n, &sum)) throw Fault{"the sum does not fit into 64 bits"};
  return sum;
}

struct SpendA {
  static constexpr std::string_view name = "SpendA";
  using Reads = Footprint<SpentA>;
  using Writes = Footprint<SpentA>;
  std::int64_t n = 0;
  WITAN_MEMBERS(SpendA, n)
  void apply(Mutator<Fields>& m, Time) const { m.set<SpentA>(spend(m.get<SpentA>(), n)); }
};

struct SpendB {
  static constexpr std::string_view name = "SpendB";
  using Reads = Footprint<SpentB>;
  using Writes = Footprint<SpentB>;
  std::int64_t n = 0;
  WITAN_MEMBERS(SpendB, n)
  void apply(Mutator<Fields>& m, Time) const { m.set<SpentB>(spend(m.get<SpentB>(), n)); }
};

struct RoleA : Role<"A", SpendA> {};
struct RoleB : Role<"B", SpendB> {};

struct BudgetCap : NamedInvariant<"BUDGET_CAP"> {
  static constexpr std::string_view rule =
      "neither has spent less than nothing, and spentA + spentB never exceed the cap";
  using Reads = Footprint<SpentA, SpentB>;
  static Verdict check(const View<BudgetCap>& s) {
    const auto negative = [](std::string_view who, std::int64_t n) {
      return Verdict::reject(std::string(who) + " is " + std::to_string(n) + ", and nothing is below 0");
    };
    if (s.get<SpentA>() < 0) return negative("spentA", s.get<SpentA>());
    if (s.get<SpentB>() < 0) return negative("spentB", s.get<SpentB>());
    __extension__ using Wide = __int128;  // the sum of two 64-bit numbers always fits
    const Wide total = Wide{s.get<SpentA>()} + s.get<SpentB>();
    if (total <= s.policy().cap) return Verdict::pass();
    const bool printable = total <= std::numeric_limits<std::int64_t>::max();
    return Verdict::reject("spent " +
                           (printable ? std::to_string(static_cast<std::int64_t>(total)) : "more than 64 bits hold") +
                           ", the cap is " + std::to_string(s.policy().cap));
  }
};

struct Budget {
  static constexpr std::string_view name = "budget";
  static constexpr std::string_view title = "Budget toy: two agents, one cap";
  using Fields = budget::Fields;
  using Roles = RoleList<RoleA, RoleB>;
  using Invariants = InvariantList<BudgetCap>;
  static std::vector<std::string> counselors() { return {}; }

  static std::variant<SpendA, SpendB> sample(const State&, Random& random, Time) {
    const std::int64_t n = static_cast<std::int64_t>(random.below(14)) * 5'000;
    if (random.below(2) == 0) return SpendA{n};
    return SpendB{n};
  }
};

}  // namespace witan::domains::budget

WITAN_DEFINE_DOMAIN(budget, budget::Budget)
