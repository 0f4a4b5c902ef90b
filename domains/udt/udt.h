// UDT compliance, assembled. One entity is one patient; roles LabOrder, Clinical and Billing have disjoint slices
// (seed 000, Table 1), and a human answers every relapse.
#pragma once

#include "base/seams.h"
#include "domains/registry.h"
#include "domains/udt/actions.h"
#include "domains/udt/invariants.h"
#include "kernel/domain_module.h"

namespace witan::agents {
class Agent;
}

namespace witan::domains::udt {

struct Udt {
  static constexpr std::string_view name = "udt";
  static constexpr std::string_view title =
      "UDT compliance (AHCCCS): orders, results, abstinence tiers and claims of one patient";
  using Fields = udt::Fields;
  using Roles = RoleList<LabOrder, Clinical, Billing>;
  using CounselorProcesses = ProcessList<RespondToRelapse>;
  using Invariants = InvariantList<RefIntegrity, CodeKind, NoImmunoassayConfirmation, ClinicalRationale,
                                   AbstinenceDerivation, OnePerDos, PresumptiveLimit, DefinitiveLimit, ClaimUnique,
                                   ClaimAfterResult, ClaimMatchesOrder, SameDayDefinitive, RelapseResponseGiven>;
  static const Extension& extension();

  static std::vector<std::string> counselors() { return {"dr.supervising"}; }

  // Fields that `init` did not name: no baseline means a positive on the day of entry, the strictest reading; the
  // derived ones follow.
  static void complete(State&, const Policy&, FieldMask given, Time at);

  using AnyAction = AnyActionOf<Roles>;
  static AnyAction sample(const State&, Random&, Time);
  static std::string sampleInit(Random&, Time at);
  // The human's part: a plan for a relapse, a waiver for a same-day test.
  static std::string sampleEdit(const State&, const AnyAction&, std::string_view counselor, Random&, Time);
  // A realistic month of a clinic, David's story among it (seed 000, section 3.1), from 2026-03-23: "David" is one of
  // the patients, the others are "patient-001" and so on. It drives a partition of its own, so that counselors answer
  // what really escalates and no caller keeps pressing a frozen patient. Deterministic. O(patients * days).
  static std::string generate(const DomainModule&, std::size_t patients, std::size_t days, std::uint64_t seed);
};

// The journal of that clinic: what its front desk would enter while those events happen, for agents to act on
// (domains/udt/agents.cpp): JSON Lines {"at", "id", "type", "payload"} in order of time. Deterministic. Pure.
Result<std::string> clinicFeed(std::size_t patients, std::size_t days, std::uint64_t seed);

namespace workers {
std::vector<const agents::Agent*> clinicAgents();   // domains/udt/agents.cpp
std::vector<const agents::Agent*> relapseAgents();  // domains/udt/relapse_agents.cpp
}  // namespace workers

}  // namespace witan::domains::udt
