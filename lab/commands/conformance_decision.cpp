#include "lab/commands/conformance.h"
#include "lab/proof/theorem.h"

namespace witan::node {

void runDecisionSuite(const ConformanceOptions& options, const EmitRow& emit) {
  using namespace agents::proof;
  for (const Theorem& theorem : theorems()) {
    if (!theorem.id.starts_with(options.only)) continue;
    const Verdict proven = prove(theorem);
    emit({std::string(theorem.id), std::string(theorem.title), proven.asItMustBe, proven.detail});
    if (!options.proveIt) continue;
    const Verdict refuted = refuteTwin(theorem);
    emit({std::string(theorem.id) + "/twin", "must fail: " + std::string(theorem.twinTitle), refuted.asItMustBe,
          refuted.detail});
  }
}

}  // namespace witan::node
