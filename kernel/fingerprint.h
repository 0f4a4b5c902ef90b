// NaiveServices: the control experiment of Corollary 1 (seed 000, A.2.3). One service a role, and no meta-agent.
//
// Each service looks at its slice of the shared state, applies its proposal to it, checks the invariants that are local
// to its role (Def. A.10) and writes. Services that act together all look before any writes. What it shows is why there
// is a kernel: where a domain has write skew, this architecture reaches states that break invariants. For lint tools
// and tests; never adjudicates anything real. The module outlives it; one strand.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"
#include "kernel/history_check.h"
#include "kernel/lint.h"

namespace witan::kernel {

class NaiveServices {
 public:
  struct Act {
    std::string_view role;
    const Action* action = nullptr;
    Time at;
  };
  // What the person writes whom a service asks when its own checks escalate: sees the slice, answers with an edit.
  using Person = std::function<json::object(const EntityState& slice, const Act&)>;

  NaiveServices(const DomainModule& module, EntityPtr state) : module_(module), state_(std::move(state)) {}

  // For each act "" if its service committed it, else who held it back: an invariant's id, or KERNEL_INTEGRITY for a
  // proposal that cannot be applied. O(acts * state).
  std::vector<std::string> commitTogether(const std::vector<Act>& acts, const Person& person = {});

  // What somebody who sees everything commits, whatever it breaks. Errors: as DomainModule::counselorCommit.
  Status commitByHand(const Act& act, const json::object& edit);

  // Ids of the invariants that do not pass, in list order.
  std::vector<std::string> violated() const;
  const EntityState& state() const { return *state_; }

 private:
  std::string tryOnSlice(const Act& act, const json::object& edit, std::string& writes, bool& escalates) const;
  EntityPtr sliceOf(const RoleInfo& role) const;

  const DomainModule& module_;
  EntityPtr state_;
};

// The fingerprint of a domain: what its rules demand of whoever runs it (seed 000, section 2; witan domain
// fingerprint).
//
//   needs adjudication   some reachable state has two actions of different roles, lawful each and not both (Def. A.11);
//   auditable            every decision is one ledger entry, and the ledger alone gives the states back (Theorem 2);
//   pipeline-like        no reachable state was found in which two roles can act: then write skew is impossible.
//
// And the reason, on one set of random traces: the same proposals go to services that check what they see
// (kernel/fingerprint.h) and to the kernel. Pure: the same module and options give the same answer. "Not found" proves
// nothing; how far was searched is part of the answer.

struct FingerprintOptions {
  std::uint64_t seed = 1;
  std::size_t steps = 4'000;  // states visited in search of write skew
  std::size_t traces = 50;    // of proposals, for both architectures
  std::size_t rounds = 40;    // of a trace; in each several roles act on what they saw before it
};

// What one architecture did with the traces.
struct TraceReport {
  std::uint64_t committed = 0;                      // proposals
  std::uint64_t tracesViolating = 0;                // traces in which some state broke an invariant
  std::map<std::string, std::uint64_t> violations;  // invariant -> traces in which it was broken
  std::string example;                              // the first violation, with trace and round
};

struct Fingerprint {
  SkewReport skew;
  std::vector<PropertyResult> audit;  // one entry a decision, replay, forms that read back
  std::uint64_t proposals = 0;        // in all traces
  TraceReport naive, kernel;

  bool needsAdjudication() const { return !skew.witnesses.empty(); }
  bool auditable() const;
  bool pipelineLike() const { return skew.searched && skew.severalRoles == 0; }
};

// O(steps * (actions + pairs) + traces * rounds * state). A domain without sample actions has an empty fingerprint.
Fingerprint fingerprintOf(const DomainModule&, const FingerprintOptions&);

std::string fingerprintText(const DomainModule&, const FingerprintOptions&, const Fingerprint&);

}  // namespace witan::kernel
