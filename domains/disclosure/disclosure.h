// Vulnerability disclosure, assembled (seed 000, section 3.2). One entity is one portfolio of a discovering
// organisation; roles ReporterCoordination, PatchTracking, CommitmentManagement and Disclosure; a human decides only
// what escalates.
#pragma once

#include "base/seams.h"
#include "domains/disclosure/actions.h"
#include "domains/disclosure/invariants.h"
#include "domains/registry.h"
#include "kernel/domain_module.h"

namespace witan::agents {
class LedgerTool;
}

namespace witan::domains::disclosure {

struct DisclosureDomain {
  static constexpr std::string_view name = "disclosure";
  static constexpr std::string_view title =
      "Security vulnerability disclosure: reports, embargoes, commitments and publication of one portfolio";
  using Fields = disclosure::Fields;
  using Instances = Footprint<VulnPhase>;  // a question about one vulnerability freezes that one
  using Roles = RoleList<ReporterCoordination, PatchTracking, CommitmentManagement, Disclosure>;
  using Invariants =
      InvariantList<RefIntegrity, PhasePath, MaintainerRateLimit, CommitmentRegistryConsistency,
                    DisclosureTimelineConsistency, ReceivingOrgConfinement, EmbargoEnforcement, PatchBeforeDisclosure,
                    CveAttributionConsistency, CveAttributionUniqueness, DisclosureCompleteness>;
  static const Extension& extension();
  // A row belongs to the receiving organisations of its vulnerability; a report to that which it went to.
  static Texts keysOf(const State&, std::string_view v, const VulnRow&);
  static Texts keysOf(const State&, std::string_view r, const ReportRow&);
  static Texts keysOf(const State&, std::string_view g, const GroupRow&);
  static Texts keysOf(const State&, std::string_view fact, const CommitRow&);
  static Texts keysOf(const State&, std::string_view fact, const ResolveRow&);

  static std::vector<std::string> counselors() { return {"psirt.lead"}; }

  using AnyAction = AnyActionOf<Roles>;
  static AnyAction sample(const State&, Random&, Time);
  static std::string sampleInit(Random&, Time at);
  // The human's part: a waiver for what is early or leaked, the right CVE id.
  static std::string sampleEdit(const State&, const AnyAction&, std::string_view counselor, Random&, Time);
  // A year of a lab that discloses what it finds, from 2026-01-01, of one portfolio ("portfolio"): about 33
  // vulnerabilities an organisation, at most 300 of those. Workers act by their rules (domains/disclosure/rules.h) on
  // what happens outside, and a human answers what escalates. It drives a partition of its own. Deterministic.
  // O(vulnerabilities) decisions.
  static std::string generate(const DomainModule&, std::size_t vulnerabilities, std::size_t days, std::uint64_t seed);
};

// The typed state of an entity of this domain. Requires: a disclosure module made it.
const State& stateOf(const EntityState& entity);

// The journal of such a lab: what people and bridges would enter, for the agents of domains/disclosure/agents/.
// JSON Lines {"at", "id", "type", "payload"} in order of time, as `witan agent run --feed` reads them: one portfolio of
// `vulnerabilities`, found within the first half of `days`, from 2026-01-01 on. The last line is a note at the
// end of the last day, until when agents that are fed it work. Errors: invalid, too many.
Result<std::string> portfolioFeed(std::size_t vulnerabilities, std::size_t days, std::uint64_t seed);

// "disclosure.next" (domains/disclosure/advice.cpp).
const agents::LedgerTool& adviceTool();

}  // namespace witan::domains::disclosure
