// Lint (kernel/lint.h) and history checks (kernel/history_check.h) on toys: each finding fires, and stays silent where
// nothing is wrong.
#include "kernel/lint.h"

#include <gtest/gtest.h>

#include <variant>

#include "kernel/history_check.h"
#include "kernel/typed_module.h"
#include "tests/kernel/toy_domain.h"

namespace witan::kernel::lint_test {
namespace {

// ---- classification, on a signature written down as data ----

constexpr FieldMask kA = 1, kB = 2, kC = 4, kPhase = 8, kOrphan = 16;

ProcessInfo process(const char* name, const char* role, FieldMask reads, FieldMask writes) {
  ProcessInfo info;
  info.name = name;
  info.role = role;
  info.reads = reads;
  info.writes = writes;
  return info;
}

InvariantInfo invariant(const char* id, FieldMask footprint, InvResult onFailure = InvResult::reject) {
  InvariantInfo info;
  info.id = id;
  info.footprint = footprint;
  info.onFailure = onFailure;
  return info;
}

Signature toySignature() {
  Signature s;
  s.domain = "toy";
  for (const char* name : {"a", "b", "c", "phase", "orphan"})
    s.fields.push_back({name, "integer", false, std::string(name) == "phase"});
  s.processes = {process("WriteA", "One", kA, kA | kPhase), process("SeeB", "One", kB, 0),
                 process("WriteBC", "Two", kB | kC, kB | kC), process("Counsel", "", kA, kOrphan)};
  s.roles = {{"One", kA | kB | kPhase, kA | kPhase}, {"Two", kB | kC, kB | kC}};
  s.invariants = {invariant("ONLY_A", kA), invariant("ONLY_B", kB), invariant("A_AND_C", kA | kC),
                  invariant("A_AND_ORPHAN", kA | kOrphan)};
  return s;
}

TEST(LintSignature, ClassifiesInBothReadings) {
  const SignatureLint lint = lintSignature(toySignature());
  const InvariantLint& onlyA = lint.invariants[0];
  EXPECT_FALSE(onlyA.crossCutting());
  EXPECT_EQ(onlyA.containedIn, std::vector<std::string>{"One"});
  EXPECT_EQ(onlyA.section23(), "local");
  EXPECT_EQ(onlyA.enforcer, "One");

  // In both roles' footprints: local to each by A.10, and cross-cutting by section 2.3. Role Two writes it alone.
  const InvariantLint& onlyB = lint.invariants[1];
  EXPECT_EQ(onlyB.containedIn, (std::vector<std::string>{"One", "Two"}));
  EXPECT_EQ(onlyB.section23(), "local and cross-cutting");
  EXPECT_EQ(onlyB.enforcer, "Two");

  const InvariantLint& aAndC = lint.invariants[2];
  EXPECT_TRUE(aAndC.crossCutting());
  EXPECT_EQ(aAndC.section23(), "cross-cutting");
  EXPECT_EQ(aAndC.enforcer, "");
  EXPECT_EQ(aAndC.writers, (std::vector<std::string>{"One", "Two"}));

  // Touches one role and holds a field of none: cross-cutting by A.10, neither by section 2.3.
  const InvariantLint& orphan = lint.invariants[3];
  EXPECT_TRUE(orphan.crossCutting());
  EXPECT_EQ(orphan.section23(), "neither");
  EXPECT_EQ(orphan.orphans, std::vector<std::string>{"orphan"});
}

TEST(LintSignature, LocalToItsReaderIsNotEnforceableWhenAnotherWrites) {
  Signature s = toySignature();
  s.processes[0].writes |= kB;
  s.roles[0].writes |= kB;
  EXPECT_EQ(lintSignature(s).invariants[1].enforcer, "");
}

TEST(LintSignature, FindsOrphansAndExcess) {
  const SignatureLint lint = lintSignature(toySignature());
  EXPECT_EQ(lint.inNoRole, std::vector<std::string>{"orphan"});
  EXPECT_EQ(lint.neverWritten, std::vector<std::string>{});
  EXPECT_EQ(lint.neverRead, std::vector<std::string>{"phase"});
  // WriteA needs a of {a, b, phase}: the lifecycle field is left out of F(p).
  EXPECT_EQ(lint.processes[0].excess, 2u);
  EXPECT_EQ(lint.processes[0].of, 3u);
  EXPECT_EQ(lint.processes[2].excess, 0u);
  EXPECT_EQ(lint.processes[3].role, "");
  EXPECT_EQ(lint.problems, std::vector<std::string>{});
}

TEST(LintSignature, FindsWhatIsWrong) {
  Signature s = toySignature();
  s.invariants.insert(s.invariants.begin(), invariant("ONLY_A", 0, InvResult::escalate));
  s.invariants.push_back(invariant("KERNEL_INTEGRITY", kA, InvResult::escalate));
  s.fields[2].name = "clock";
  s.processes.push_back(process("SeeB", "One", 0, 0));
  s.roles.push_back({"Idle", 0, 0});
  std::string all;
  for (const std::string& problem : lintSignature(s).problems) all += problem + "\n";
  for (const char* wanted : {"two invariants are called ONLY_A", "two processes are called SeeB",
                             "field clock has the name of a public field", "process SeeB has an empty footprint",
                             "role Idle performs no process", "has the kernel's own id",
                             "invariant ONLY_A has an empty footprint", "rejects but stands after ONLY_A"})
    EXPECT_NE(all.find(wanted), std::string::npos) << wanted << " in\n" << all;
}

TEST(LintSignature, TextNamesEverything) {
  const Signature s = toySignature();
  const std::string text = lintText(s, lintSignature(s));
  for (const char* wanted :
       {"A_AND_ORPHAN", "neither (meets One)", "fields in no role: orphan", "performed by counselors", "One 2/3"})
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << " in\n" << text;
}

// ---- write skew ----

struct NoPolicy {
  static constexpr std::size_t required = 0;
  std::int64_t limit = 10;
  WITAN_MEMBERS(NoPolicy, limit)
};
struct State {
  using Policy = NoPolicy;
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::uint64_t huge = 0;
};
struct Left : Scalar<"left", &State::left> {};
struct Right : Scalar<"right", &State::right> {};
struct Huge : Scalar<"huge", &State::huge> {};
using FieldsOfToy = FieldList<Left, Right, Huge>;
using Fields = FieldsOfToy;

template <class F, FixedString Name>
struct Add {
  static constexpr std::string_view name = Name.view();
  using Reads = Footprint<F>;
  using Writes = Footprint<F>;
  std::int64_t n = 0;
  WITAN_MEMBERS(Add, n)
  void apply(Mutator<Fields>& m, Time) const { m.set<F>(m.get<F>() + n); }
};
using AddLeft = Add<Left, "AddLeft">;
using AddRight = Add<Right, "AddRight">;
using AlsoLeft = Add<Left, "AlsoLeft">;

template <class P, FixedString Name>
struct Doing {
  static constexpr std::string_view name = Name.view();
  using Processes = ProcessList<P>;
};
using LeftHand = Doing<AddLeft, "LeftHand">;

template <class F, FixedString Name>
struct AtMostTen {
  static constexpr std::string_view id = Name.view();
  static constexpr std::string_view rule = "at most the limit";
  using Reads = Footprint<F>;
  static Verdict check(const View<AtMostTen>& s) {
    return s.template get<F>() <= s.policy().limit ? Verdict::pass() : Verdict::reject("more");
  }
};
using LeftCap = AtMostTen<Left, "LEFT_CAP">;
using RightCap = AtMostTen<Right, "RIGHT_CAP">;

// Each role keeps an invariant of its own: confluent.
struct Confluent {
  static constexpr std::string_view name = "confluent";
  using Fields = FieldsOfToy;
  using Roles = RoleList<LeftHand, Doing<AddRight, "RightHand">>;
  using Invariants = InvariantList<LeftCap, RightCap>;
  static std::vector<std::string> counselors() { return {}; }
  static std::variant<AddLeft, AddRight> sample(const State&, Random& random, Time) {
    const auto n = static_cast<std::int64_t>(random.below(6));
    if (random.below(2) == 0) return AddLeft{n};
    return AddRight{n};
  }
};

// Two roles write one counter.
struct Shared {
  static constexpr std::string_view name = "shared";
  using Fields = FieldsOfToy;
  using Roles = RoleList<LeftHand, Doing<AlsoLeft, "OtherHand">>;
  using Invariants = InvariantList<LeftCap>;
  static std::vector<std::string> counselors() { return {}; }
  static std::variant<AddLeft, AlsoLeft> sample(const State&, Random& random, Time) {
    const auto n = static_cast<std::int64_t>(random.below(6));
    if (random.below(2) == 0) return AddLeft{n};
    return AlsoLeft{n};
  }
};

struct Mute {
  static constexpr std::string_view name = "mute";
  using Fields = FieldsOfToy;
  using Roles = RoleList<LeftHand>;
  using Invariants = InvariantList<LeftCap>;
  static std::vector<std::string> counselors() { return {}; }
};

template <class D>
std::unique_ptr<DomainModule> make() {
  return makeModule<D>().value();
}

TEST(FindWriteSkew, ConfluentInvariantsYieldNoWitness) {
  const SkewReport report = findWriteSkew(*make<Confluent>(), {.seed = 3, .steps = 2'000});
  EXPECT_TRUE(report.searched);
  EXPECT_GT(report.pairs, 1'000u);
  EXPECT_TRUE(report.witnesses.empty());
  EXPECT_FALSE(report.lostUpdate);
  EXPECT_NE(skewText(report).find("no witness found"), std::string::npos);
}

TEST(FindWriteSkew, OneCellOfTwoWritersIsALostUpdateAndNoSkew) {
  const SkewReport report = findWriteSkew(*make<Shared>(), {.seed = 3, .steps = 200});
  EXPECT_TRUE(report.witnesses.empty());
  ASSERT_TRUE(report.lostUpdate);
  EXPECT_EQ(report.lostUpdate->cell, "left");
  EXPECT_NE(skewText(report).find("lost update"), std::string::npos);
}

TEST(FindWriteSkew, ACrossCuttingInvariantYieldsAWitness) {
  const SkewReport report = findWriteSkew(*chest::module(), {.seed = 3, .steps = 1'000});
  bool covered = false;
  for (const SkewWitness& witness : report.witnesses) {
    EXPECT_NE(witness.first.role, witness.second.role);
    EXPECT_TRUE(parseJson(witness.state).ok() && parseJson(witness.merged).ok()) << witness.state;
    EXPECT_NE(witness.state, witness.merged);
    covered = covered || witness.invariant == "ITEMS_COVERED";
  }
  EXPECT_TRUE(covered) << skewText(report);
}

TEST(FindWriteSkew, TheSameSeedGivesTheSameReport) {
  const auto module = chest::module();
  EXPECT_EQ(skewText(findWriteSkew(*module, {.seed = 5, .steps = 300})),
            skewText(findWriteSkew(*module, {.seed = 5, .steps = 300})));
}

TEST(FindWriteSkew, WithoutSamplesNothingIsSearched) {
  const SkewReport report = findWriteSkew(*make<Mute>(), {});
  EXPECT_FALSE(report.searched);
  EXPECT_NE(skewText(report).find("not searched"), std::string::npos);
}

// ---- history checks ----

const PropertyResult& named(const std::vector<PropertyResult>& all, std::string_view part) {
  for (const PropertyResult& one : all)
    if (one.name.find(part) != std::string::npos) return one;
  return all.at(99);
}

TEST(CheckHistories, ALawfulDomainHasEveryProperty) {
  for (const PropertyResult& property : checkHistories(*chest::module(), {.seed = 1, .histories = 60})) {
    EXPECT_EQ(property.failure, "") << property.name;
    EXPECT_GT(property.checked, 0u) << property.name;
  }
}

TEST(CheckHistories, FindsAWrongShortcut) {
  const auto module =
      chest::module<chest::Chest<InvariantList<chest::GoldPositive, chest::GoldHigh, chest::Shy, chest::ItemLawful,
                                               chest::WrongItemsCovered, chest::OwnerKnown>>>();
  const auto results = checkHistories(*module, {.seed = 1, .histories = 400});
  EXPECT_NE(named(results, "incremental").failure, "");
}

// Proves what is not so, in every state: committed states come to violate it.
struct Gullible {
  static constexpr std::string_view id = "LEFT_CAP";
  static constexpr std::string_view rule = "left is at most the limit";
  using Reads = Footprint<Left>;
  static Verdict check(const View<Gullible>& s) {
    return s.get<Left>() <= s.policy().limit ? Verdict::pass() : Verdict::reject("more");
  }
  static bool stillPasses(const View<Gullible>&, const Touched<Gullible, Fields>&) { return true; }
};
struct Careless : Shared {
  using Invariants = InvariantList<Gullible>;
};

TEST(CheckHistories, FindsACommittedStateThatBreaksAnInvariant) {
  const auto results = checkHistories(*make<Careless>(), {.seed = 1, .histories = 3});
  EXPECT_NE(named(results, "invariants hold").failure.find("LEFT_CAP"), std::string::npos);
}

TEST(CheckHistories, FindsAnInvariantThatTimeBreaks) {
  const auto module =
      chest::module<chest::Chest<InvariantList<chest::GoldPositive, chest::ItemLawful, chest::ItemFresh>>>();
  EXPECT_NE(named(checkHistories(*module, {.seed = 1, .histories = 10}), "time stability").failure.find("ITEM_FRESH"),
            std::string::npos);
}

// A number that JSON of ours does not read back: neither the action's forms nor a replay come out the same.
struct Grow {
  static constexpr std::string_view name = "Grow";
  using Reads = Footprint<Huge>;
  using Writes = Footprint<Huge>;
  std::uint64_t to = 0;
  WITAN_MEMBERS(Grow, to)
  void apply(Mutator<Fields>& m, Time) const { m.set<Huge>(to); }
};
struct Unreadable {
  static constexpr std::string_view name = "unreadable";
  using Fields = FieldsOfToy;
  using Roles = RoleList<Doing<Grow, "Grower">>;
  using Invariants = InvariantList<LeftCap>;
  static std::vector<std::string> counselors() { return {}; }
  static std::variant<Grow> sample(const State&, Random& random, Time) {
    return Grow{~std::uint64_t{0} - random.below(1'000)};
  }
};

TEST(CheckHistories, FindsFormsThatDoNotReadBack) {
  const auto results = checkHistories(*make<Unreadable>(), {.seed = 1, .histories = 2, .steps = 5});
  EXPECT_NE(named(results, "read back").failure, "");
  EXPECT_NE(named(results, "replay").failure, "");
}

TEST(CheckHistories, WithoutSamplesNothingIsChecked) {
  const auto results = checkHistories(*make<Mute>(), {.histories = 2});
  EXPECT_EQ(named(results, "incremental").checked, 0u);
}

}  // namespace
}  // namespace witan::kernel::lint_test
