// What a graph is checked against on this node, before it is deployed and, on the owner's, before its ledger takes the
// deployment. Main thread.
#pragma once

#include "kernel/graph/artefact.h"
#include "kernel/graph/environment.h"

namespace witan::node {

class Daemon;

// Agents and tools of this build and of this device's files, domains of this cluster, boundaries of the device's
// policy, graphs that are deployed.
graph::Environment graphEnvironmentOf(Daemon& daemon);

// Those that the cluster's admin signed, by key.
std::map<std::string, graph::Artefact> artefactsOf(Daemon& daemon);

}  // namespace witan::node
