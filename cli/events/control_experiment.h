// Control experiment: the same events through services that check what they see, and through the kernel (seed 000,
// Corollary 1; kernel/fingerprint.h). Pure. For `witan domain fingerprint --events`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::node {

struct ControlLine {
  std::uint64_t number = 0;
  std::string entity, what;           // "OrderTest of LabOrder"
  std::string kernel, naive;          // outcomes in words
  std::vector<std::string> violated;  // by the naive services' state after it
};

struct ControlReport {
  std::vector<ControlLine> lines;  // of proposals
  // Entities in which some state broke an invariant; of the kernel's unsafe commits are the person's own.
  std::uint64_t kernelViolations = 0, naiveViolations = 0;
};

// Lines as `witan run` reads them. A proposal that a service's own check escalates gets the edit of the entity's next
// commit line, as a person who is asked would answer. Errors: a line that cannot be read, with its number.
Result<ControlReport> controlExperiment(const kernel::DomainModule& module, std::string_view lines);

std::string controlText(const kernel::DomainModule& module, const ControlReport& report);
json::object controlJson(const kernel::DomainModule& module, const ControlReport& report);

}  // namespace witan::node
