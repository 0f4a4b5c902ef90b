#include "domains/extension.h"

#include "domains/verification/agents/verified_intake.h"
#include "domains/verification/verification.h"

namespace witan::domains::verification {

const Extension& Verification::extension() {
  static const Extension extension{.agents = {&workers::verifiedIntake()}};
  return extension;
}

}  // namespace witan::domains::verification
