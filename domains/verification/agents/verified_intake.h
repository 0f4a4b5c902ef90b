// The agent that hands verified findings to the domain disclosure.
#pragma once

#include "agents/agent.h"

namespace witan::domains::verification::workers {

const agents::Agent& verifiedIntake();

}  // namespace witan::domains::verification::workers
