// ToolService: the tools outside that simulated agents call. Most calls are answered soon; some are refused, fail, are
// answered too late, or never. It takes one operation for one, however often it comes.
#pragma once

#include <string>
#include <vector>

#include "agents/host/host_effects.h"
#include "sim/cluster/seat.h"
#include "sim/sim_agents.h"

namespace witan::sim {

class Cluster;

struct ToolAnswer {
  std::uint32_t device = 0;
  std::uint64_t life = 0;
  agents::ToolCall call;
  ToolSays says = ToolSays::done;
  std::string content;
  std::int64_t tokens = 0;  // that the model took
};

class ToolService {
 public:
  explicit ToolService(Cluster& cluster) : c_(cluster) {}
  // The name under which a call is counted: its operation, or its run and span.
  static std::string nameOf(const agents::ToolCall& call);
  void call(Seat& at, agents::ToolCall call);
  // An answer is on its way no longer. None: the device that asked has stopped since.
  void arrived(std::uint64_t number);
  const ToolAnswer& answer(std::uint64_t number) const { return answers_[number]; }
  // The agents of a device get an answer.
  void hand(Seat& at, const ToolAnswer& answer);

 private:
  Cluster& c_;
  std::vector<ToolAnswer> answers_;
};

}  // namespace witan::sim
