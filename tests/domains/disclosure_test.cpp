// Disclosure: commitments, embargo regimes at their exact instants, one-vulnerability slices, coverage of the
// scenarios.
#include "domains/disclosure/disclosure.h"

#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "domains/disclosure/commitment.h"
#include "domains/disclosure/rules.h"
#include "kernel/typed_module.h"
#include "tests/domains/scenario_run.h"

namespace witan::domains::disclosure::disclosure_test {
namespace {

using test::objectOf;
using Module = TypedModule<DisclosureDomain>;

Time day(std::int64_t n) { return Time{n * kMicrosPerDay}; }

// "Test vector: nonce 32x00, artifact "report for V1", SHA3-256" (domain rules, 2.1).
TEST(DisclosureCommitment, GoldenVectors) {
  const Hash digest = sha256("report for V1");
  EXPECT_EQ(toHex(digest), "ffb02d6343bcb8d11d3be6443b5a266135f00a1411180910bb077c6db844e741");
  EXPECT_EQ(toHex(commitmentOf(CommitmentHash::sha3_256, Hash{}, digest)),
            "e6f118d2e40a2dc29c722398fab07986d5431b1b2a7ff3565cdbfeb74c2d5540");
  EXPECT_EQ(toHex(commitmentOf(CommitmentHash::sha256, Hash{}, digest)),
            toHex(sha256(std::string("AR-COMMIT-v1\0", 13) + std::string(32, '\0') + std::string(asView(digest)))));
}

TEST(DisclosureCommitment, OnlyItsOpeningOpensIt) {
  const Hash digest = sha256("report for V1");
  const std::string hash = toHex(commitmentOf(CommitmentHash::sha256, Hash{}, digest));
  const std::string nonce(64, '0');
  EXPECT_TRUE(opens(hash, "SHA-256", nonce, toHex(digest)));
  EXPECT_FALSE(opens(hash, "SHA3-256", nonce, toHex(digest)));
  EXPECT_FALSE(opens(hash, "sha-256", nonce, toHex(digest)));
  EXPECT_FALSE(opens(hash, "SHA-256", std::string(63, '0') + "1", toHex(digest)));
  EXPECT_FALSE(opens(hash, "SHA-256", nonce.substr(1), toHex(digest)));
  EXPECT_FALSE(opens(hash, "SHA-256", nonce, toHex(sha256("report for V2"))));
  EXPECT_FALSE(opens(hash, "SHA-256", nonce, "zz" + toHex(digest).substr(2)));
}

// releaseAt(v, T) of 2.2, for each regime: patch before the deadline, at it, after it, not yet, none.
TEST(DisclosureEmbargo, RegimesAtTheirExactInstants) {
  const Time deadline = day(90), late = day(500);
  const auto of = [&](Preset preset, std::optional<Time> patch, Time disclosed) {
    return specOf(preset).releaseAt(deadline, patch, disclosed);
  };
  EXPECT_EQ(of(Preset::PAPER, day(47), late), day(90));
  EXPECT_EQ(of(Preset::PAPER, day(113), late), day(113)) << "the later of patch and deadline";
  EXPECT_EQ(of(Preset::PAPER, std::nullopt, late), day(90)) << "an absent patch ends with the deadline";
  EXPECT_EQ(of(Preset::PAPER, day(113), day(100)), day(90)) << "a patch after T does not count";
  EXPECT_EQ(of(Preset::ANTHROPIC, day(47), late), day(47)) << "whichever first";
  EXPECT_EQ(of(Preset::ANTHROPIC, day(113), late), day(90));
  EXPECT_EQ(of(Preset::P0, day(47), late), day(77)) << "47 -> 77";
  EXPECT_EQ(of(Preset::P0, day(83), late), day(113)) << "83 -> 113";
  EXPECT_EQ(of(Preset::P0, day(90), late), day(120)) << "patched on the last day";
  EXPECT_EQ(of(Preset::P0, Time{day(90).micros + 1}, late), day(90));
  EXPECT_EQ(of(Preset::CERTCC, day(10), late), day(90)) << "its deadline only";
  EXPECT_EQ(specOf(Preset::CERTCC).baseDays, 45);
  EXPECT_FALSE(specOf(Preset::CERTCC).maxExtensionDays) << "negotiable";
}

// One history under each regime: reported on day 0, patched on day 10.
std::string outcomeUnder(std::string_view policy, Time disclosed) {
  const auto module = makeDomain("disclosure", objectOf(policy)).value();
  Partition partition(*module);
  partition.init("P", {}, day(0));
  std::string last;
  const auto propose = [&](const char* role, const char* action, Time at) {
    const ActionPtr parsed = kernel::test::actionOf(*module, action);
    Proposal p{.entity = "P", .role = role, .action = parsed.get(), .at = at};
    const std::string id = "op" + std::to_string(partition.size());
    p.operationId = id;
    const Decision d = partition.propose(p);
    last = std::string(enumName(d.outcome)) + (d.invariant.empty() ? "" : ":" + d.invariant);
  };
  propose("ReporterCoordination", R"({"type":"Intake","v":"V","orgs":["o"]})", day(0));
  propose("ReporterCoordination", R"({"type":"SubmitReport","r":"R","v":"V","org":"o","maint":"m"})", day(0));
  propose("ReporterCoordination", R"({"type":"RecordAcknowledgment","r":"R"})", day(1));
  propose("PatchTracking", R"({"type":"ReleaseFix","v":"V","ref":"x"})", day(10));
  EXPECT_EQ(last, "approved");
  propose("Disclosure", R"({"type":"ExecuteDisclosure","v":"V","patchLink":"x","attribution":["lab"]})", disclosed);
  return last;
}

TEST(DisclosureEmbargo, PresetsAreConfiguration) {
  const std::string early = "rejected:EMBARGO_ENFORCEMENT";
  const std::map<std::string, std::int64_t> firstDay{{R"({"preset":"PAPER"})", 90},
                                                     {R"({"preset":"CERTCC"})", 45},
                                                     {R"({"preset":"P0"})", 40},
                                                     {R"({"preset":"ANTHROPIC"})", 10},
                                                     {R"({"preset":"P0","bufferDays":0,"baseDays":60})", 10},
                                                     {R"({"baseDays":20})", 20},
                                                     {R"({"combine":"FIRST_OF"})", 10}};
  for (const auto& [policy, first] : firstDay) {
    EXPECT_EQ(outcomeUnder(policy, day(first)), "approved") << policy;
    const Time tooEarly{day(first).micros - 1};
    if (first > 10) {
      EXPECT_EQ(outcomeUnder(policy, tooEarly), early) << policy;
    }
  }
}

TEST(ProcedureCodes, OneFormEach) {
  for (const auto& [written, form] : std::vector<std::pair<const char*, const char*>>{
           {"80307", "80307"}, {" g0480 ", "G0480"}, {"0001u", "0001U"}, {"V5364", "V5364"}})
    EXPECT_EQ(rules::canonicalProcedureCode(written), form);
  for (const char* none : {"", "8030", "803070", "80307-QW", "G048", "W0480", "0480G", "G04A0", "8030X", "٨0307"})
    EXPECT_FALSE(rules::canonicalProcedureCode(none)) << none;
}

TEST(DisclosureNames, OneFormEach) {
  for (const auto& [written, form] : std::vector<std::pair<const char*, const char*>>{
           {"CVE-2026-1111", "CVE-2026-1111"},
           {" cve-2026-1111\t", "CVE-2026-1111"},
           {"CVE-2026-7", "CVE-2026-0007"},
           {"CVE-1999-1234567890123456789", "CVE-1999-1234567890123456789"}}) {
    EXPECT_EQ(canonicalCveId(written), form);
    EXPECT_TRUE(isCveId(canonicalCveId(written))) << written;
  }
  for (const char* none : {"", "CVE-", "not a cve", "CVE-26-1111", "CVE-2026-", "CVE-2026-12345678901234567890",
                           "CVE-2026-11 11", "CVE-2026-111x", "XCVE-2026-1111"})
    EXPECT_FALSE(isCveId(canonicalCveId(none))) << none;
  EXPECT_FALSE(isCveId("cve-2026-1111")) << "only the canonical form is one";
  EXPECT_EQ(canonicalName(" The\u00a0 Kernel  Team "), "the kernel team");
  EXPECT_EQ(canonicalName("\u2003"), "");
  EXPECT_EQ(canonicalName(" Net+CVE@Kernel.ORG. "), "net@kernel.org") << "one person, one rate limit";
  for (const char* name : {"core", "@core", "net@kernel.org", "o'hara@xn--bcher-kva.example"})
    EXPECT_TRUE(isPartyName(name)) << name;
  for (const char* none : {"", "Core", "net+cve@kernel.org", "net@kernel", "a..b@kernel.org", "a@-kernel.org", "a@b@",
                           "a b@kernel.org", "\"a b\"@kernel.org", "net@[10.0.0.1]"})
    EXPECT_FALSE(isPartyName(none)) << none;
  EXPECT_EQ(canonicalName("\u00c4rger"), "\u00c4rger") << "letters beyond ASCII have no case here";
}

TEST(DisclosurePolicy, AbsurdOnesAreRefused) {
  for (const char* bad :
       {R"({"preset":"NOBODY"})", R"({"baseDays":-1})", R"({"baseDays":99999})", R"({"rate":{"N":-1}})",
        R"({"rate":{"W":0}})", R"({"maxExtensionDays":-1})", R"({"bufferDays":4000})", R"({"grace":3})"})
    EXPECT_FALSE(makeDomain("disclosure", objectOf(bad)).ok()) << bad;
}

TEST(DisclosureScenarios, AllEighteenAreThereAndEveryInvariantIsAWitness) {
  const auto module = makeDomain("disclosure").value();
  std::set<std::string> entities;
  std::string expectations;
  for (const auto& line : test::scenarioLines(module->scenarios())) {
    entities.insert(line.event.entity);
    expectations += line.expect + "\n";
  }
  for (int i = 1; i <= 18; ++i) EXPECT_TRUE(entities.contains((i < 10 ? "V0" : "V") + std::to_string(i))) << i;
  for (const auto& invariant : module->signature().invariants)
    EXPECT_NE(expectations.find("rejected:" + invariant.id + "\n"), std::string::npos) << invariant.id;
  for (const char* id : {"DISCLOSURE_TIMELINE_CONSISTENCY", "EMBARGO_ENFORCEMENT", "CVE_ATTRIBUTION_CONSISTENCY",
                         "CVE_ATTRIBUTION_UNIQUENESS"})
    EXPECT_NE(expectations.find(std::string("escalated:") + id + "\n"), std::string::npos) << id;
}

// Whatever column an unknown vulnerability would get, it is refused for being unknown: the rule reads them all
// (docs/FINDINGS.md, D14).
TEST(DisclosureInvariants, RefIntegrity_EveryColumnIsOfAKnownVulnerability) {
  const auto module = makeDomain("disclosure").value();
  for (const auto& [role, action] : std::vector<std::pair<const char*, const char*>>{
           {"PatchTracking", R"({"type":"ReviseSeverity","v":"X","sev":"HIGH"})"},
           {"PatchTracking", R"({"type":"DevelopPatch","v":"X"})"},
           {"PatchTracking", R"({"type":"ReleaseFix","v":"X","ref":"r"})"},
           {"PatchTracking", R"({"type":"ObserveExternalFact","v":"X","what":"public"})"},
           {"PatchTracking", R"({"type":"ObserveExternalFact","v":"X","what":"exploited"})"},
           {"PatchTracking", R"({"type":"ObserveExternalFact","v":"X","what":"cve","value":"CVE-2026-1"})"},
           {"PatchTracking", R"({"type":"ObserveExternalFact","v":"X","what":"dedup","value":"CVE-2026-1"})"},
           {"PatchTracking", R"({"type":"ObserveExternalFact","v":"X","what":"request"})"},
           {"Disclosure", R"({"type":"AssertReadiness","v":"X"})"}}) {
    Partition partition(*module);
    ASSERT_EQ(partition.init("p", {}, day(1)).outcome, Outcome::initialised);
    const ActionPtr parsed = module->parseAction(objectOf(action)).value();
    const Decision d =
        partition.propose({.entity = "p", .role = role, .operationId = "o", .action = parsed.get(), .at = day(2)});
    EXPECT_EQ(d.outcome, Outcome::rejected) << action;
    EXPECT_EQ(d.invariant, "VULN_REF_INTEGRITY") << action;
  }
}

TEST(DisclosureInvariants, OrderIsTable2AfterTheStructuralOnes) {
  std::vector<std::string> ids;
  const auto module = makeDomain("disclosure").value();
  for (const auto& invariant : module->signature().invariants) {
    ids.push_back(invariant.id);
    EXPECT_TRUE(invariant.incremental) << invariant.id << " would rescan the portfolio";
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"VULN_REF_INTEGRITY", "VULN_PHASE_PATH", "MAINTAINER_RATE_LIMIT",
                                           "COMMITMENT_REGISTRY_CONSISTENCY", "DISCLOSURE_TIMELINE_CONSISTENCY",
                                           "RECEIVING_ORG_CONFINEMENT", "EMBARGO_ENFORCEMENT",
                                           "PATCH_BEFORE_DISCLOSURE", "CVE_ATTRIBUTION_CONSISTENCY",
                                           "CVE_ATTRIBUTION_UNIQUENESS", "DISCLOSURE_COMPLETENESS"}));
}

// ---- slices

template <class Reader, auto TablePointer, class Field>
concept RowCanRead = requires(const RowView<Reader, TablePointer>& r) {
  r.template get<Field>();
};
static_assert(RowCanRead<RoleReader<PatchTracking>, kVulns, PatchRef>);
static_assert(!RowCanRead<RoleReader<PatchTracking>, kVulns, VulnOrgs>, "who is told is the reporter's");
static_assert(!RowCanRead<RoleReader<PatchTracking>, kVulns, DiscAt>);
static_assert(!RowCanRead<RoleReader<PatchTracking>, kReports, ReportOrg>);
static_assert(!RowCanRead<RoleReader<CommitmentManagement>, kVulns, VulnPhase>);
static_assert(!RowCanRead<RoleReader<ReporterCoordination>, kCommits, CommitLog>);
static_assert(!RowCanRead<RoleReader<Disclosure>, kCommits, CommitLog>);
template <class R>
concept SeesReports = requires(const Instance<R>& i) {
  i.reports();
};
static_assert(SeesReports<ReporterCoordination> && !SeesReports<PatchTracking> && !SeesReports<Disclosure>);

// What an instance shows, as text.
template <class R>
std::string pictureOf(const EntityState& entity, const std::string& v) {
  const auto& box = Module::boxOf(entity);
  static const Policy policy;
  const Slice<R> slice(box.state, box.shared, policy);
  const Instance<R> instance(slice, v);
  std::string out;
  const auto show = [&](std::string_view name, const auto& cell) {
    if (cell) out += std::string(name) + "=" + toJson(*cell) + ";";
  };
  forEachField<typename RoleReader<R>::Reads>([&]<class F>() {
    if constexpr (livesIn<F, kVulns>()) {
      if (const auto row = instance.vulnerability()) show(F::name, row->template get<F>());
    }
  });
  if constexpr (SeesReports<R>)
    for (const auto& r : instance.reports()) out += std::string(r.key()) + toJson(*r.template get<ReportOrg>());
  if constexpr (contains<CommitLog, typename RoleReader<R>::Reads>)
    for (const auto& c : instance.commitments())
      out += toJson(*c.template get<CommitLog>()) + (instance.isOpened(*c.template get<CommitLog>()) ? "!" : "");
  return out;
}

// Table 3: "Slice is confined to one vulnerability so concurrent disclosures cannot leak across receiving
// organizations." An action on another vulnerability changes nothing that an instance sees.
TEST(DisclosureSlices, Table3_InstancesOfTwoVulnerabilitiesAreDisjoint) {
  const auto module = makeDomain("disclosure").value();
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SeededRandom random(seed);
    Time at = day(20'000);
    EntityPtr entity = module->create({}, at).value();
    Evaluation out;
    for (int step = 0; step < 120; ++step) {
      at.micros += static_cast<std::int64_t>(random.below(20)) * 3600 * kMicrosPerSecond;
      const ActionPtr action = module->sample(*entity, random, at);
      std::string text;
      module->writeAction(text, *action);
      const auto pictures = [&] {
        return pictureOf<ReporterCoordination>(*entity, "V1") + pictureOf<PatchTracking>(*entity, "V1") +
               pictureOf<CommitmentManagement>(*entity, "V1") + pictureOf<Disclosure>(*entity, "V1");
      };
      const std::string before = pictures();
      module->evaluate(*entity, module->signature().processes[action->process].role, *action, at, out);
      if (out.tag != Evaluation::Tag::approved) continue;
      // A report that is sent anew about another vulnerability leaves the first one's case.
      const bool takesOver = text.find("SubmitReport") != std::string::npos;
      const bool opensIts = text.find("ResolveCommitment") != std::string::npos;
      const bool acknowledges = text.find("RecordAcknowledgment") != std::string::npos;
      if (text.find("\"V1\"") != std::string::npos || takesOver || opensIts || acknowledges) continue;
      ASSERT_EQ(pictures(), before) << text;
      ++seen;
    }
  }
  EXPECT_GT(seen, 500);
}

TEST(DisclosureSlices, RateStatusIsANumberForOneMaintainer) {
  const auto module = makeDomain("disclosure").value();
  EntityPtr entity = module->create({}, day(0)).value();
  ASSERT_TRUE(module
                  ->applyWrites(*entity, objectOf(R"({"report.org":{"R1":"o","R2":"o","R3":"p"},
      "report.maintainer":{"R1":"m","R2":"m","R3":"m"},"report.vuln":{"R1":"V1","R2":"V2","R3":"V3"},
      "report.submittedAt":{"R1":"1970-01-02T00:00:00Z","R2":"1970-01-08T23:59:59Z","R3":"1970-01-08T00:00:00Z"}})"))
                  .ok());
  const auto& box = Module::boxOf(*entity);
  const Policy policy;
  const Slice<ReporterCoordination> slice(box.state, box.shared, policy);
  const Instance<ReporterCoordination> instance(slice, "V9");
  EXPECT_EQ(instance.recentReports("o", "m", parseTime("1970-01-08T23:59:59Z").value()), 2);
  EXPECT_EQ(instance.recentReports("o", "m", parseTime("1970-01-09T00:00:00Z").value()), 1)
      << "the window is open at its start";
  EXPECT_EQ(instance.recentReports("q", "m", day(8)), 0);
  EXPECT_TRUE(instance.reports().empty());
}

}  // namespace
}  // namespace witan::domains::disclosure::disclosure_test
