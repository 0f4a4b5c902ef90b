// Every checker of a run, in the order in which they look: of several failures in one moment the first is reported.
#pragma once

#include <memory>
#include <vector>

#include "sim/checkers/checker.h"

namespace witan::sim {

std::vector<std::unique_ptr<Checker>> makeCheckers(Cluster& cluster);

}  // namespace witan::sim
