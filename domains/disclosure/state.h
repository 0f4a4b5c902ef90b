// Vulnerability disclosure: the constants of the domain. An embargo regime is one of four presets, any number of which
// may be replaced: {"preset":"P0","baseDays":60}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"
#include "kernel/domain.h"
#include "rules/program/names.h"

namespace witan::domains::disclosure {

// When an embargo permits disclosure; D is its deadline, P the release of the patch if it was before the disclosure.
//   LATER_OF       P ? max(D, P) : D             seed 000, Table 2
//   FIRST_OF       P ? min(D, P) : D             whichever comes first
//   P0_90_30       P and P <= D ? P + buffer : D
//   DEADLINE_ONLY  D
WITAN_ENUM(Combine, LATER_OF, FIRST_OF, P0_90_30, DEADLINE_ONLY)
// PAPER: seed 000. CERTCC: 45 days, extensions by negotiation. P0: Google Project Zero's 90+30 without its grace case.
// ANTHROPIC: its policy of 2026-03-06 without the later stage of full technical details.
WITAN_ENUM(Preset, PAPER, CERTCC, P0, ANTHROPIC)

// An embargo regime, resolved.
struct EmbargoSpec {
  std::int64_t baseDays = 90;
  std::optional<std::int64_t> maxExtensionDays = 14;  // none: by negotiation
  Combine combine = Combine::LATER_OF;
  std::int64_t bufferDays = 30;  // between patch and details, where the regime has one

  // The first instant at which the regime permits disclosure, as known at `disclosedAt`.
  Time releaseAt(Time deadline, std::optional<Time> patchReleasedAt, Time disclosedAt) const;
};

EmbargoSpec specOf(Preset preset);

// At most N reports to one maintainer of one organisation in any W days (MAINTAINER_RATE_LIMIT).
struct RateLimit {
  static constexpr std::size_t required = 0;
  std::int64_t N = 3;
  std::int64_t W = 7;
  WITAN_MEMBERS(RateLimit, N, W)
};

struct Policy {
  static constexpr std::size_t required = 0;
  Preset preset = Preset::PAPER;
  // Instead of the preset's.
  std::optional<std::int64_t> baseDays;
  std::optional<std::int64_t> maxExtensionDays;
  std::optional<Combine> combine;
  std::optional<std::int64_t> bufferDays;
  RateLimit rate;
  WITAN_MEMBERS(Policy, preset, baseDays, maxExtensionDays, combine, bufferDays, rate)

  EmbargoSpec embargo() const;
  Status validate() const;
};

// Vulnerability disclosure (seed 000, section 3.2): state and fields. The entity is one portfolio.
//
// All columns of a vulnerability share its row; reports, groups and the two registries have tables of their own. The
// registries are logs, not maps keyed by hash: a map could not even represent a duplicate. Every fact carries its own
// time, which is that of its adjudication.

using namespace kernel;
using rules::canonicalCveId, rules::canonicalName, rules::isCveId, rules::isPartyName;

WITAN_ENUM(Phase, DISCOVERED, TRIAGED, REPORTED, ACKNOWLEDGED, EMBARGOED, DISCLOSED, WITHDRAWN)
WITAN_ENUM(PatchStatus, IN_DEVELOPMENT, UNDER_REVIEW, RELEASED)

struct PhaseChange {
  static constexpr bool asTuple = true;
  Phase phase = Phase::DISCOVERED;
  Time at;
  WITAN_MEMBERS(PhaseChange, phase, at)
};

// A published commitment to an artifact, and its opening (domains/disclosure/commitment.h).
struct Commitment {
  std::string hash;
  std::string alg;
  std::string artifact;
  std::string vuln;
  Time at;
  WITAN_MEMBERS(Commitment, hash, alg, artifact, vuln, at)
};
struct Resolution {
  std::string hash;
  std::string nonce;
  std::string digest;  // SHA-256 of the artifact
  Time at;
  WITAN_MEMBERS(Resolution, hash, nonce, digest, at)
};

using Texts = std::vector<std::string>;

// What most invariants compare comes first.
struct VulnRow {
  Cell<Phase> phase;
  Cell<PatchStatus> patchStatus;
  Cell<Time> discAt;
  Cell<Time> deadline;
  Cell<Time> patchReleasedAt;
  Cell<Time> pubKnownAt;
  Cell<Time> exploitObservedAt;
  Cell<Time> embargoStartAt;
  Cell<std::int64_t> embargoBaseDays;
  Cell<std::int64_t> embargoExtensionDays;
  Cell<Time> readyAt;
  Cell<Time> cveObservedAt;
  Cell<Time> cveRequestedAt;
  Cell<std::string> groupOf;
  Cell<std::string> cveObserved;
  Cell<std::string> cveDedup;
  Cell<std::string> discCve;
  Cell<Texts> orgs;
  Cell<Texts> ptRefs;
  Cell<std::vector<PhaseChange>> phaseLog;
  Cell<Texts> discHashes;
  Cell<Texts> discAttribution;
  Cell<std::string> discPatchLink;
  Cell<std::string> discNoPatchReason;
  Cell<std::string> patchRef;
  Cell<std::string> severity;
};

struct ReportRow {
  Cell<Time> submittedAt;
  Cell<Time> ackAt;
  Cell<std::string> vuln;
  Cell<std::string> org;
  Cell<std::string> maintainer;
};

struct GroupRow {
  Cell<Time> plannedAt;
};
struct CommitRow {
  Cell<Commitment> fact;
};
struct ResolveRow {
  Cell<Resolution> fact;
};

using ByGroup = HashIndex<Key<&VulnRow::groupOf>>;
using ByCveObserved = HashIndex<Key<&VulnRow::cveObserved>>;
using ByCveDedup = HashIndex<Key<&VulnRow::cveDedup>>;
using ByCveDisclosed = HashIndex<Key<&VulnRow::discCve>>;
using ByReportVuln = HashIndex<Key<&ReportRow::vuln>>;
using ByMaintainer = HashIndex<Key<&ReportRow::org>, Key<&ReportRow::maintainer>>;
using ByCommitHash = HashIndex<Key<&CommitRow::fact, &Commitment::hash>>;
using ByCommitVuln = HashIndex<Key<&CommitRow::fact, &Commitment::vuln>>;
using ByResolveHash = HashIndex<Key<&ResolveRow::fact, &Resolution::hash>>;

struct State {
  using Policy = disclosure::Policy;
  Table<VulnRow, ByGroup, ByCveObserved, ByCveDedup, ByCveDisclosed> vulns;
  Table<ReportRow, ByReportVuln, ByMaintainer> reports;
  Table<GroupRow> groups;
  Table<CommitRow, ByCommitHash, ByCommitVuln> commits;
  Table<ResolveRow, ByResolveHash> resolves;
};

inline constexpr auto kVulns = &State::vulns;
inline constexpr auto kReports = &State::reports;
inline constexpr auto kGroups = &State::groups;
inline constexpr auto kCommits = &State::commits;
inline constexpr auto kResolves = &State::resolves;

template <FixedString Name, auto Cell>
using VulnColumn = Column<Name, kVulns, Cell>;

struct VulnPhase : VulnColumn<"vuln.phase", &VulnRow::phase> {
  static constexpr bool lifecycle = true;
};
struct PhaseLog : VulnColumn<"phase.log", &VulnRow::phaseLog> {
  static constexpr bool lifecycle = true;
};
struct VulnOrgs : VulnColumn<"vuln.orgs", &VulnRow::orgs> {};
struct VulnSeverity : VulnColumn<"vuln.severity", &VulnRow::severity> {};
struct PtRefs : VulnColumn<"pt.refs", &VulnRow::ptRefs> {};
struct PatchStatusOf : VulnColumn<"patch.status", &VulnRow::patchStatus> {};
struct PatchReleasedAt : VulnColumn<"patch.releasedAt", &VulnRow::patchReleasedAt> {};
struct PatchRef : VulnColumn<"patch.ref", &VulnRow::patchRef> {};
struct PubKnownAt : VulnColumn<"pub.knownAt", &VulnRow::pubKnownAt> {};
struct ExploitObservedAt : VulnColumn<"exploit.observedAt", &VulnRow::exploitObservedAt> {};
struct CveObserved : VulnColumn<"cve.observed", &VulnRow::cveObserved> {};
struct CveObservedAt : VulnColumn<"cve.observedAt", &VulnRow::cveObservedAt> {};
struct CveDedup : VulnColumn<"cve.dedup", &VulnRow::cveDedup> {};
struct CveRequestedAt : VulnColumn<"cve.requestedAt", &VulnRow::cveRequestedAt> {};
struct EmbargoStartAt : VulnColumn<"embargo.startAt", &VulnRow::embargoStartAt> {};
struct EmbargoBaseDays : VulnColumn<"embargo.baseDays", &VulnRow::embargoBaseDays> {};
struct EmbargoExtensionDays : VulnColumn<"embargo.extensionDays", &VulnRow::embargoExtensionDays> {};
struct EmbargoDeadline : VulnColumn<"embargo.deadline", &VulnRow::deadline> {};
struct GroupOf : VulnColumn<"group.of", &VulnRow::groupOf> {};
struct ReadyAt : VulnColumn<"ready.at", &VulnRow::readyAt> {};
struct DiscAt : VulnColumn<"disc.at", &VulnRow::discAt> {};
struct DiscPatchLink : VulnColumn<"disc.patchLink", &VulnRow::discPatchLink> {};
struct DiscNoPatchReason : VulnColumn<"disc.noPatchReason", &VulnRow::discNoPatchReason> {};
struct DiscHashes : VulnColumn<"disc.hashes", &VulnRow::discHashes> {};
struct DiscCve : VulnColumn<"disc.cve", &VulnRow::discCve> {};
struct DiscAttribution : VulnColumn<"disc.attribution", &VulnRow::discAttribution> {};

struct ReportVuln : Column<"report.vuln", kReports, &ReportRow::vuln> {};
struct ReportOrg : Column<"report.org", kReports, &ReportRow::org> {};
struct ReportMaintainer : Column<"report.maintainer", kReports, &ReportRow::maintainer> {};
struct ReportSubmittedAt : Column<"report.submittedAt", kReports, &ReportRow::submittedAt> {};
struct ReportAckAt : Column<"report.ackAt", kReports, &ReportRow::ackAt> {};
struct GroupPlannedAt : Column<"group.plannedAt", kGroups, &GroupRow::plannedAt> {};
struct CommitLog : LogColumn<"commit.log", kCommits, &CommitRow::fact> {};
struct ResolveLog : LogColumn<"resolve.log", kResolves, &ResolveRow::fact> {};

using Fields =
    FieldList<VulnPhase, PhaseLog, VulnOrgs, VulnSeverity, PtRefs, PatchStatusOf, PatchReleasedAt, PatchRef, PubKnownAt,
              ExploitObservedAt, CveObserved, CveObservedAt, CveDedup, CveRequestedAt, EmbargoStartAt, EmbargoBaseDays,
              EmbargoExtensionDays, EmbargoDeadline, GroupOf, ReadyAt, DiscAt, DiscPatchLink, DiscNoPatchReason,
              DiscHashes, DiscCve, DiscAttribution, ReportVuln, ReportOrg, ReportMaintainer, ReportSubmittedAt,
              ReportAckAt, GroupPlannedAt, CommitLog, ResolveLog>;

using PhaseFields = Footprint<VulnPhase, PhaseLog>;
using ReportFields = Footprint<ReportVuln, ReportOrg, ReportMaintainer, ReportSubmittedAt>;
using EmbargoFields = Footprint<EmbargoStartAt, EmbargoBaseDays, EmbargoExtensionDays, EmbargoDeadline>;
using PatchFields = Footprint<PatchStatusOf, PatchReleasedAt, PatchRef>;
using ObservedFields = Footprint<PubKnownAt, ExploitObservedAt, CveObserved, CveObservedAt, CveDedup, CveRequestedAt>;
using GroupFields = Footprint<GroupOf, GroupPlannedAt>;
using DiscFields = Footprint<DiscAt, DiscPatchLink, DiscNoPatchReason, DiscHashes, DiscCve, DiscAttribution>;
using Registries = Footprint<CommitLog, ResolveLog>;

}  // namespace witan::domains::disclosure
