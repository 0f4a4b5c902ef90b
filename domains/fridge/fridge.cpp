// Vaccine fridge: doses of each lot, and the cold chain
//
// Begun from the ontology fridge.ttl (Procedure 1, theta 1/2: 3 roles).
// It says which fields, processes, roles and rules there are. What it does not say is yours: each process
// below writes its arguments as they come, and each invariant passes until you write when it holds.
// docs/ADD_A_DOMAIN.md shows how; hold it against the ontology with
//   witan domain lint fridge --against fridge.ttl
#include "domains/registry.h"
#include "kernel/typed_module.h"

namespace witan::domains::fridge {

using namespace kernel;

// Constants of the domain; add members and name them here. Each may be replaced with --policy.
struct Policy {
  WITAN_NO_MEMBERS
};

// The state of one entity: tables of rows by key, and scalars.
struct LotRow {
  Cell<std::int64_t> doses;
  Cell<std::int64_t> given;
};
struct ReadingRow {
  Cell<std::int64_t> tenths;
  Cell<std::string> verdict;
};
struct State {
  using Policy = fridge::Policy;
  Table<LotRow> lots;
  Table<ReadingRow> readings;
};

// Its fields, one for each atomic component.
struct LotDosesField : Column<"lot.doses", &State::lots, &LotRow::doses> {};
struct LotGivenField : Column<"lot.given", &State::lots, &LotRow::given> {};
struct ReadingTenthsField : Column<"reading.tenths", &State::readings, &ReadingRow::tenths> {};
struct ReadingVerdictField : Column<"reading.verdict", &State::readings, &ReadingRow::verdict> {};
using Fields = FieldList<LotDosesField, LotGivenField, ReadingTenthsField, ReadingVerdictField>;

// Processes are the actions. A Fault is answered with KERNEL_INTEGRITY.

struct Give {
  static constexpr std::string_view name = "Give";
  using Reads = Footprint<LotGivenField>;
  using Writes = Footprint<LotGivenField>;
  std::string lot{};
  std::int64_t given{};
  WITAN_MEMBERS(Give, lot, given)

  void apply(Mutator<Fields>& m, Time) const {
    m.edit<&State::lots>(lot)
        .set<LotGivenField>(given);
  }
};

struct ReadThermometer {
  static constexpr std::string_view name = "ReadThermometer";
  using Reads = Footprint<ReadingTenthsField, ReadingVerdictField>;
  using Writes = Footprint<ReadingTenthsField>;
  std::string reading{};
  std::int64_t tenths{};
  WITAN_MEMBERS(ReadThermometer, reading, tenths)

  void apply(Mutator<Fields>& m, Time) const {
    m.edit<&State::readings>(reading)
        .set<ReadingTenthsField>(tenths);
  }
};

struct Stock {
  static constexpr std::string_view name = "Stock";
  using Reads = Footprint<LotDosesField>;
  using Writes = Footprint<LotDosesField>;
  std::string lot{};
  std::int64_t doses{};
  WITAN_MEMBERS(Stock, lot, doses)

  void apply(Mutator<Fields>& m, Time) const {
    m.edit<&State::lots>(lot)
        .set<LotDosesField>(doses);
  }
};

// What only a counselor writes, by the edit of a commit.
struct JudgeReading {
  static constexpr std::string_view name = "JudgeReading";
  using Reads = Footprint<ReadingTenthsField>;
  using Writes = Footprint<ReadingVerdictField>;
};

// Roles: who performs what. What a role can see is what its processes read and write.
struct LotRole {
  static constexpr std::string_view name = "Lot";
  using Processes = ProcessList<Give>;
};
struct ReadingRole {
  static constexpr std::string_view name = "Reading";
  using Processes = ProcessList<ReadThermometer>;
};
struct PharmacistRole {
  static constexpr std::string_view name = "Pharmacist";
  using Processes = ProcessList<Stock>;
};

// Invariants, in list order: structure first, then rejections, then escalations. Each sees its Reads only:
// s.get<Field>() of a scalar, s.rows<&State::table>() of a table, s.policy().
struct FridgeDosesExistRule {
  static constexpr std::string_view id = "FRIDGE_DOSES_EXIST";
  static constexpr std::string_view rule =
      "of no lot are more doses given than there are";
  using Reads = Footprint<LotDosesField, LotGivenField>;
  static Verdict check(const View<FridgeDosesExistRule>&) { return Verdict::pass(); }
};

struct FridgeColdChainRule {
  static constexpr std::string_view id = "FRIDGE_COLD_CHAIN";
  static constexpr std::string_view rule =
      "a human judges every reading outside the limits";
  static constexpr InvResult onFailure = InvResult::escalate;
  using Reads = Footprint<ReadingTenthsField, ReadingVerdictField>;
  static Verdict check(const View<FridgeColdChainRule>&) { return Verdict::pass(); }
};

struct FridgeDomain {
  static constexpr std::string_view name = "fridge";
  static constexpr std::string_view title =
      "Vaccine fridge: doses of each lot, and the cold chain";
  using Fields = fridge::Fields;
  using Roles = RoleList<LotRole, ReadingRole, PharmacistRole>;
  using CounselorProcesses = ProcessList<JudgeReading>;
  using Invariants = InvariantList<FridgeDosesExistRule, FridgeColdChainRule>;
  static std::vector<std::string> counselors() { return {"counselor"}; }

  // Workload of lint, property tests and the simulator; make it plausible.
  using AnyAction = std::variant<Give, ReadThermometer, Stock>;
  static AnyAction sample(const State&, Random& random, Time) {
    switch (random.below(3)) {
      case 0:
        return Give{"K" + std::to_string(1 + random.below(3)), static_cast<std::int64_t>(random.below(100))};
      case 1:
        return ReadThermometer{"K" + std::to_string(1 + random.below(3)), static_cast<std::int64_t>(random.below(100))};
      default:
        return Stock{"K" + std::to_string(1 + random.below(3)), static_cast<std::int64_t>(random.below(100))};
    }
  }
};

}  // namespace witan::domains::fridge

WITAN_DEFINE_DOMAIN(fridge, fridge::FridgeDomain)
