// Fridge: vaccines in one fridge. The pharmacist puts doses in and throws doses out, the nurse gives doses and reads
// the thermometer; neither sees what the other writes.
#include "domains/registry.h"
#include "kernel/typed_module.h"

namespace witan::domains::fridge {

using namespace kernel;

// Constants of the domain. Each may be replaced with --policy.
struct Policy {
  static constexpr std::size_t required = 0;
  std::int64_t coldest = 20;  // tenths of a degree Celsius
  std::int64_t warmest = 80;
  WITAN_MEMBERS(Policy, coldest, warmest)
};

// The state of one entity: tables of rows by key, and scalars.
struct LotRow {
  Cell<std::int64_t> doses;  // in the fridge, at first
  Cell<std::int64_t> given;
};
// What a person says of a reading. The kernel writes the first two.
struct Judgement {
  static constexpr bool asTuple = true;
  std::string by;
  Time at;
  std::string why;
  WITAN_MEMBERS(Judgement, by, at, why)
};
struct ReadingRow {
  Cell<std::int64_t> tenths;
  Cell<Judgement> verdict;
};
struct State {
  using Policy = fridge::Policy;
  Table<LotRow> lots;
  Table<ReadingRow> readings;
};

// Its fields, one for each atomic component. A footprint is a list of them.
struct LotDoses : Column<"lot.doses", &State::lots, &LotRow::doses> {};
struct LotGiven : Column<"lot.given", &State::lots, &LotRow::given> {};
struct ReadingTenths : Column<"reading.tenths", &State::readings, &ReadingRow::tenths> {};
struct ReadingVerdict : HumanColumn<"reading.verdict", &State::readings, &ReadingRow::verdict> {};
using Fields = FieldList<LotDoses, LotGiven, ReadingTenths, ReadingVerdict>;

// Processes are the actions: {"type":"Stock","lot":"L1","doses":10}. A Fault is answered with KERNEL_INTEGRITY.
struct Stock {
  static constexpr std::string_view name = "Stock";
  using Reads = Footprint<LotDoses>;
  using Writes = Footprint<LotDoses>;
  std::string lot;
  std::int64_t doses = 0;  // in it from now on
  WITAN_MEMBERS(Stock, lot, doses)
  void apply(Mutator<Fields>& m, Time) const { m.edit<&State::lots>(lot).set<LotDoses>(doses); }
};

struct Give {
  static constexpr std::string_view name = "Give";
  using Reads = Footprint<LotGiven>;
  using Writes = Footprint<LotGiven>;
  std::string lot;
  std::int64_t n = 1;
  WITAN_MEMBERS(Give, lot, n)
  void apply(Mutator<Fields>& m, Time) const {
    auto row = m.edit<&State::lots>(lot);
    if (n < 1 || n > 1000) throw Fault{"one gives 1 to 1000 doses at a time"};
    row.set<LotGiven>(row.get<LotGiven>().value_or(0) + n);
  }
};

struct ReadThermometer {
  static constexpr std::string_view name = "ReadThermometer";
  using Reads = Footprint<ReadingTenths, ReadingVerdict>;
  using Writes = Footprint<ReadingTenths>;
  std::string reading;
  std::int64_t tenths = 0;
  WITAN_MEMBERS(ReadThermometer, reading, tenths)
  void apply(Mutator<Fields>& m, Time) const { m.edit<&State::readings>(reading).set<ReadingTenths>(tenths); }
};

// Roles: who performs what. What a role can see is what its processes read and write, and nothing else.
struct Pharmacist {
  static constexpr std::string_view name = "Pharmacist";
  using Processes = ProcessList<Stock>;
};
struct Nurse {
  static constexpr std::string_view name = "Nurse";
  using Processes = ProcessList<Give, ReadThermometer>;
};

// What only a counselor writes, by the edit of a commit.
struct JudgeReading {
  static constexpr std::string_view name = "JudgeReading";
  using Reads = Footprint<ReadingTenths>;
  using Writes = Footprint<ReadingVerdict>;
};

// Invariants. The first one reads what two roles write, so neither role can keep it alone.
struct DosesExist {
  static constexpr std::string_view id = "FRIDGE_DOSES_EXIST";
  static constexpr std::string_view rule = "of no lot are more doses given than there are";
  static constexpr auto table = &State::lots;  // it holds iff it holds for each row: checked row by row
  using Reads = Footprint<LotDoses, LotGiven>;
  static Verdict checkRow(const View<DosesExist>&, const RowView<DosesExist, table>& lot) {
    const std::int64_t doses = lot.get<LotDoses>().value_or(0);
    const std::int64_t given = lot.get<LotGiven>().value_or(0);
    if (0 <= given && given <= doses) return Verdict::pass();
    return Verdict::reject("lot " + std::string(lot.key()) + ": " + std::to_string(given) + " given of " +
                           std::to_string(doses));
  }
};

struct ColdChain {
  static constexpr std::string_view id = "FRIDGE_COLD_CHAIN";
  static constexpr std::string_view rule = "a human judges every reading outside the limits";
  static constexpr InvResult onFailure = InvResult::escalate;
  static constexpr auto table = &State::readings;
  using Reads = Footprint<ReadingTenths, ReadingVerdict>;
  static Verdict checkRow(const View<ColdChain>& s, const RowView<ColdChain, table>& reading) {
    const auto& tenths = reading.get<ReadingTenths>();
    const bool fine = !tenths || (s.policy().coldest <= *tenths && *tenths <= s.policy().warmest);
    if (fine || reading.has<ReadingVerdict>()) return Verdict::pass();
    return Verdict::escalate("reading " + std::string(reading.key()) + " is outside the limits");
  }
};

struct Fridge {
  static constexpr std::string_view name = "fridge";
  static constexpr std::string_view title = "Vaccine fridge: doses of each lot, and the cold chain";
  using Fields = fridge::Fields;
  using Roles = RoleList<Pharmacist, Nurse>;
  using CounselorProcesses = ProcessList<JudgeReading>;
  using Invariants = InvariantList<DosesExist, ColdChain>;  // in list order: escalations last
  static std::vector<std::string> counselors() { return {"pharmacist.in.charge"}; }

  // Everything below is optional. Scenarios: what must come of what.
  static constexpr std::string_view scenarios =
      R"({"at":"2026-05-04T08:00:00Z","entity":"F1","init":{"lot.doses":{"L1":10}},"title":"doses run out","expect":"initialised"}
{"at":"2026-05-04T09:00:00Z","entity":"F1","role":"Nurse","action":{"type":"Give","lot":"L1","n":8},"expect":"approved"}
{"at":"2026-05-04T09:10:00Z","entity":"F1","role":"Pharmacist","action":{"type":"Stock","lot":"L1","doses":5},"expect":"rejected:FRIDGE_DOSES_EXIST"}
{"at":"2026-05-04T09:20:00Z","entity":"F1","role":"Pharmacist","action":{"type":"Give","lot":"L1","n":1},"expect":"rejected:KERNEL_INTEGRITY"}
{"at":"2026-05-05T07:00:00Z","entity":"F1","role":"Nurse","action":{"type":"ReadThermometer","reading":"R1","tenths":93},"expect":"escalated:FRIDGE_COLD_CHAIN"}
{"at":"2026-05-05T07:05:00Z","entity":"F1","role":"Nurse","action":{"type":"Give","lot":"L1","n":1},"expect":"frozen"}
{"at":"2026-05-05T08:00:00Z","entity":"F1","counselor":"pharmacist.in.charge","decision":"commit","edit":{"reading.verdict":{"R1":"door left open"}},"expect":"cCommitted:safe"}
)";

  // Workload of property tests, lint, `domain generate` and the simulator: plausible, lawful and unlawful actions.
  using AnyAction = std::variant<Stock, Give, ReadThermometer>;
  static AnyAction sample(const State& s, Random& random, Time) {
    const std::string lot = "L" + std::to_string(1 + random.below(3));
    if (random.below(3) == 0) return Stock{lot, static_cast<std::int64_t>(random.below(20))};
    if (random.below(3) != 0) return Give{lot, static_cast<std::int64_t>(1 + random.below(9))};
    return ReadThermometer{"R" + std::to_string(1 + s.readings.size()),
                           static_cast<std::int64_t>(15 + random.below(70))};
  }
  // The human's part: the edit with which a counselor commits what was escalated.
  static std::string sampleEdit(const State&, const AnyAction& pending, std::string_view, Random&, Time) {
    const auto* reading = std::get_if<ReadThermometer>(&pending);
    return reading == nullptr ? "{}" : R"({"reading.verdict":{")" + reading->reading + R"(":"checked"}})";
  }
};

}  // namespace witan::domains::fridge

WITAN_DEFINE_DOMAIN(fridge, fridge::Fridge)
