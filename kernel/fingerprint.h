// The fingerprint of a domain: what its rules demand of whoever runs it (seed 000, section 2; witan domain
// fingerprint).
//
//   needs adjudication   some reachable state has two actions of different roles, lawful each and not both (Def. A.11);
//   auditable            every decision is one ledger entry, and the ledger alone gives the states back (Theorem 2);
//   pipeline-like        no reachable state was found in which two roles can act: then write skew is impossible.
//
// And the reason, on one set of random traces: the same proposals go to services that check what they see
// (kernel/baseline.h) and to the kernel. Pure: the same module and options give the same answer. "Not found" proves
// nothing; how far was searched is part of the answer.
#pragma once

#include <map>
#include <string>

#include "kernel/history_check.h"
#include "kernel/lint.h"

namespace witan::kernel {

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
