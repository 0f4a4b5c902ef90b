#include "lab/commands/conformance.h"
#include "lab/conformance/kernels.h"

namespace witan::node {

void runKernelsSuite(const ConformanceOptions& options, const EmitRow& emit) {
  using namespace agents::conformance;
  for (const KernelCheck& check : kernelChecks()) {
    if (!check.id.starts_with(options.only)) continue;
    const Finding held = check.run();
    emit({std::string(check.id), std::string(check.title), held.pass, held.detail});
    if (!options.proveIt) continue;
    const Finding found = check.twin();
    emit({std::string(check.id) + "/twin", "must be found out: " + std::string(check.twinTitle), found.pass,
          found.detail});
  }
}

}  // namespace witan::node
