// The fingerprint: a domain with write skew, one without, a pipeline, and a kernel's ledger that tells it all.
#include "kernel/fingerprint.h"

#include <gtest/gtest.h>

#include "kernel/typed_module.h"

namespace witan::kernel::fingerprint_test {
namespace {

// Letters: a clerk writes them, a sealer seals what is written. In turns (a pipeline) or whenever they like.
struct LetterPolicy {
  static constexpr std::size_t required = 0;
  bool inTurns = false;
  bool onlySoMany = false;  // then both together may be too many: write skew
  WITAN_MEMBERS(LetterPolicy, inTurns, onlySoMany)
};
struct LetterState {
  using Policy = LetterPolicy;
  std::int64_t written = 0;
  std::int64_t sealed = 0;
};
struct Written : Scalar<"written", &LetterState::written> {};
struct Sealed : Scalar<"sealed", &LetterState::sealed> {};
using LetterFields = FieldList<Written, Sealed>;

struct WriteLetters {
  static constexpr std::string_view name = "WriteLetters";
  using Reads = Footprint<Written>;
  using Writes = Footprint<Written>;
  std::int64_t n = 1;
  WITAN_MEMBERS(WriteLetters, n)
  void apply(Mutator<LetterFields>& m, Time) const { m.set<Written>(m.get<Written>() + n); }
};
struct SealLetters {
  static constexpr std::string_view name = "SealLetters";
  using Reads = Footprint<Sealed>;
  using Writes = Footprint<Sealed>;
  std::int64_t n = 1;
  WITAN_MEMBERS(SealLetters, n)
  void apply(Mutator<LetterFields>& m, Time) const { m.set<Sealed>(m.get<Sealed>() + n); }
};
struct Clerk {
  static constexpr std::string_view name = "Clerk";
  using Processes = ProcessList<WriteLetters>;
};
struct Sealer {
  static constexpr std::string_view name = "Sealer";
  using Processes = ProcessList<SealLetters>;
};
struct InTurns {
  static constexpr std::string_view id = "IN_TURNS";
  static constexpr std::string_view rule = "one is written, then it is sealed";
  using Reads = Footprint<Written, Sealed>;
  static Verdict check(const View<InTurns>& s) {
    const std::int64_t open = s.get<Written>() - s.get<Sealed>();
    return !s.policy().inTurns || open == 0 || open == 1 ? Verdict::pass() : Verdict::reject("out of turn");
  }
};
struct OnlySoMany {
  static constexpr std::string_view id = "ONLY_SO_MANY";
  static constexpr std::string_view rule = "a desk holds twenty letters";
  using Reads = Footprint<Written, Sealed>;
  static Verdict check(const View<OnlySoMany>& s) {
    const bool fits = !s.policy().onlySoMany || s.get<Written>() + s.get<Sealed>() <= 20;
    return fits ? Verdict::pass() : Verdict::reject("the desk is full");
  }
};
struct Letters {
  static constexpr std::string_view name = "letters";
  using Fields = LetterFields;
  using Roles = RoleList<Clerk, Sealer>;
  using Invariants = InvariantList<InTurns, OnlySoMany>;
  static std::vector<std::string> counselors() { return {}; }
  static std::variant<WriteLetters, SealLetters> sample(const LetterState&, Random& random, Time) {
    if (random.below(2) == 0) return WriteLetters{};
    return SealLetters{};
  }
};
struct Silent : Letters {
  static void sample(const LetterState&) {}
};

Fingerprint of(const char* policy) {
  const auto module = makeModule<Letters>(parseJson(policy).value().as_object()).value();
  return fingerprintOf(*module, {.steps = 400, .traces = 20});
}

TEST(Fingerprint, WriteSkewNeedsAdjudication) {
  const Fingerprint print = of(R"({"onlySoMany":true})");
  EXPECT_TRUE(print.needsAdjudication());
  EXPECT_FALSE(print.pipelineLike());
  EXPECT_TRUE(print.auditable());
  EXPECT_GT(print.naive.tracesViolating, 0u);
  EXPECT_GT(print.naive.violations.at("ONLY_SO_MANY"), 0u);
  EXPECT_NE(print.naive.example.find("the desk is full"), std::string::npos);
  EXPECT_EQ(print.kernel.tracesViolating, 0u);
  EXPECT_LT(print.kernel.committed, print.proposals);
}

TEST(Fingerprint, NoRuleBetweenTheRolesNeedsNone) {
  const Fingerprint print = of("{}");
  EXPECT_FALSE(print.needsAdjudication());
  EXPECT_FALSE(print.pipelineLike());
  EXPECT_EQ(print.naive.tracesViolating, 0u);
  EXPECT_EQ(print.naive.committed, print.proposals);
  EXPECT_EQ(print.kernel.committed, print.proposals);
  EXPECT_EQ(print.skew.states, 400u);
}

// "All execution is sequential in a pipeline" makes write skew impossible (seed 000, section 2).
TEST(Fingerprint, APipelineHasNoWriteSkew) {
  const Fingerprint print = of(R"({"inTurns":true})");
  EXPECT_TRUE(print.pipelineLike());
  EXPECT_EQ(print.skew.severalRoles, 0u);
  EXPECT_FALSE(print.needsAdjudication());
  EXPECT_EQ(print.kernel.tracesViolating, 0u);
}

TEST(Fingerprint, TheSameSeedFindsTheSame) {
  const auto module = makeModule<Letters>(parseJson(R"({"onlySoMany":true})").value().as_object()).value();
  const FingerprintOptions options{.steps = 200, .traces = 5};
  EXPECT_EQ(fingerprintText(*module, options, fingerprintOf(*module, options)),
            fingerprintText(*module, options, fingerprintOf(*module, options)));
}

TEST(Fingerprint, WithoutSamplesNothingIsKnown) {
  const auto module = makeModule<Silent>().value();
  const Fingerprint print = fingerprintOf(*module, {.steps = 10, .traces = 2});
  EXPECT_FALSE(print.needsAdjudication());
  EXPECT_FALSE(print.pipelineLike());
  EXPECT_FALSE(print.auditable());
}

}  // namespace
}  // namespace witan::kernel::fingerprint_test
