// Workload: one kind of work on the devices of a simulated cluster. It acts when an event of its kinds reaches a
// device (onEvent) and before the first step (onFounded), through Clients. A new one is a file here and a line in
// workload_list.cpp.
#pragma once

#include "sim/cluster/clients.h"

namespace witan::sim {

class Workload : public ClusterObserver {
 protected:
  Workload(Cluster& cluster, Clients& clients) : c_(cluster), clients_(clients) {}
  Cluster& c_;
  Clients& clients_;
};

// A person at the device answers the n-th question that it shows; with `ofSomethingElse` about another effect, which is
// no answer.
void answerQuestion(Cluster& cluster, Seat& at, std::uint64_t n, bool yes, bool ofSomethingElse);

// An agent is paused, or resumed, on every device that hears of it; or is to sleep for so long.
void setPaused(Cluster& cluster, Seat& at, std::string_view agentId, bool paused, Micros sleeps = 0);

// People at the owner of the graph answer all that it asks, and its documents are there again, whatever disks were
// lost.
void attendToGraphs(Cluster& cluster, Clients& clients, Seat& at, std::uint64_t turn);

// Every workload of a run, in the order in which they act.
std::vector<std::unique_ptr<Workload>> makeWorkloads(Cluster& cluster, Clients& clients);

}  // namespace witan::sim
