// The agents of a clinic. Each is described in its own file.
#pragma once

#include "agents/agent.h"

namespace witan::domains::udt::workers {

const agents::Agent& udtBilling();
const agents::Agent& udtClinical();
const agents::Agent& udtLab();

}  // namespace witan::domains::udt::workers
