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
  using Roles = RoleList<ReporterCoordination, PatchTracking, CommitmentManagement, Disclosure>;
  using Invariants =
      InvariantList<RefIntegrity, PhasePath, MaintainerRateLimit, CommitmentRegistryConsistency,
                    DisclosureTimelineConsistency, ReceivingOrgConfinement, EmbargoEnforcement, PatchBeforeDisclosure,
                    CveAttributionConsistency, CveAttributionUniqueness, DisclosureCompleteness>;
  static const Extension& extension();

  static std::vector<std::string> counselors() { return {"psirt.lead"}; }

  using AnyAction = AnyActionOf<Roles>;
  static AnyAction sample(const State&, Random&, Time);
  // The human's part: a waiver for what is early or leaked, the right CVE id.
  static std::string sampleEdit(const State&, const AnyAction&, std::string_view counselor, Random&, Time);
  // One portfolio of so many vulnerabilities.
  static std::string generate(const DomainModule&, std::size_t vulnerabilities, std::size_t days, std::uint64_t seed);
};

// The typed state of an entity of this domain. Requires: a disclosure module made it.
const State& stateOf(const EntityState& entity);

// "disclosure.next" (domains/disclosure/advice.cpp).
const agents::LedgerTool& adviceTool();

}  // namespace witan::domains::disclosure
