// Comparison: the same traces of proposals under four architectures (lab/compare/architectures.h), as a table, as JSON
// and as a drawing. The proposals are those that roles make who see the kernel's state. Pure but for the measured
// times.
#pragma once

#include <string>
#include <vector>

#include "base/message.h"
#include "base/result.h"
#include "lab/compare/architectures.h"

namespace witan::compare {

struct ComparisonOptions {
  std::uint64_t seed = 1;
  std::size_t traces = 40, rounds = 30;
  double errorRate = 0.05;
  Latencies latencies;
};

WITAN_STRUCT(ComparisonRow, (std::string, architecture, "naive services, judge, sagas or kernel"),
             (std::uint64_t, committed, "Proposals"), (std::uint64_t, denied, "Proposals"),
             (std::uint64_t, wrongDenials, "Denied, although they broke nothing"),
             (std::uint64_t, violations, "Times that an invariant was broken"),
             (std::uint64_t, tracesBroken, "Traces in which one was"),
             (std::uint64_t, compensations, "Commits that were undone"),
             (std::uint64_t, escalations, "Questions to people"),
             (std::uint64_t, meanMicros, "Mean microseconds to an answer"),
             (std::uint64_t, p99Micros, "99 of 100 answers come within"))

struct Comparison {
  std::uint64_t proposals = 0;
  std::vector<ComparisonRow> rows;
};

// Errors: invalid, the domain offers no sample actions.
Result<Comparison> compareArchitectures(const kernel::DomainModule& module, const ComparisonOptions& options);

std::string comparisonTable(const std::string& domain, const ComparisonOptions& options, const Comparison& comparison);
std::string comparisonSvg(const std::string& domain, const Comparison& comparison);

}  // namespace witan::compare
