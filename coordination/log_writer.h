// LogWriter: the log of a run as canonical JSON (RFC 8785), epoch by epoch. The form is that of docs/coordination.md;
// two runs are equal when their texts are. The setup must outlive it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordination/epoch_record.h"

namespace witan::kernel::joint {

class LogWriter {
 public:
  explicit LogWriter(const Setup& setup);

  // One element of "epochs"; `state` is the world after it. Records come in order. O(agents * keys): each observation
  // has the whole world.
  std::string epoch(const EpochRecord& record, const std::vector<Value>& state);

  // {"key":value,...}
  std::string world(const std::vector<Value>& state) const;

 private:
  std::string observation(const Observed& observed, std::uint32_t epoch, std::string_view heard) const;
  std::string messages(const std::vector<Message>& messages) const;
  std::string action(const Submission& submission, std::uint32_t epoch) const;
  std::string actionId(AgentIndex agent, std::uint32_t epoch, std::string_view end) const;

  const Setup* setup_;
  std::vector<std::string> quotedKeys_;
  std::string world_;  // as the agents see it in the coming epoch
};

}  // namespace witan::kernel::joint
