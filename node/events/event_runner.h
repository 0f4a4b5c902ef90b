// EventRunner: feeds event lines to a partition and words the answers. No I/O: bytes in, an answer line out.
//
// An answer may be shown only after the partition's open batch is durable. Used from one strand; the partition
// outlives it.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "kernel/partition.h"
#include "node/events/event_line.h"

namespace witan::node {

struct EventTally {
  std::array<std::uint64_t, 9> outcomes{};  // by Outcome
  std::uint64_t lines = 0;
  std::uint64_t expectations = 0;
  std::uint64_t differences = 0;  // expectations that did not hold
  std::uint64_t unexpectedRefusals = 0;
};

class EventRunner {
 public:
  // `note` hears what has no line of its own: differences from expectations, expired proposals.
  EventRunner(kernel::Partition& partition, bool check, std::function<void(const std::string&)> note)
      : partition_(partition), check_(check), note_(std::move(note)) {}

  // The answer to input line `number` (from 1), one line of JSON without newline; "" for a blank line.
  std::string feed(std::uint64_t number, std::string_view text);
  // For a line that was too long to keep.
  std::string refuseOverlong(std::uint64_t number);

  const EventTally& tally() const { return tally_; }

 private:
  kernel::Decision decide(const EventLine& line, std::uint64_t number, std::string_view text);
  void compare(const EventLine& line, std::uint64_t number, const kernel::Decision& decision);
  std::string answer(const EventLine& line, std::uint64_t number, const kernel::Decision& decision);

  kernel::Partition& partition_;
  bool check_;
  std::function<void(const std::string&)> note_;
  EventTally tally_;
};

// "outcome", or with detail "outcome:INVARIANT", "cCommitted:safe", "cCommitted:UNSAFE[A,B]".
std::string outcomeText(kernel::Outcome outcome, const kernel::Decision& decision, bool detail);

}  // namespace witan::node
