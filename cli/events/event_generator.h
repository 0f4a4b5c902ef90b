// EventGenerator: a plausible workload of any domain, in the form that `witan run` reads.
//
// Deterministic: the same module, numbers and seed give the same lines. It drives a partition of its own, so that a
// counselor answers what really escalates; the domain's samples decide what is proposed. A domain with a generator of
// its own (D::generate) is asked instead.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/domain_module.h"

namespace witan::node {

struct GenerateOptions {
  std::size_t entities = 10;
  std::size_t days = 30;
  std::uint64_t seed = 1;
};

// JSON Lines in order of time. Errors: the domain offers no sample actions. O(entities * days) decisions.
Result<std::string> generateEvents(const kernel::DomainModule&, const GenerateOptions&);

}  // namespace witan::node
