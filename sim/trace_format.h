// What happens in a run in the words of a trace: frames, faults, requests, decisions and answers. Pure functions. Bytes
// may be anything; long texts are cut.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "kernel/record/entry.h"
#include "replica/core/messages.h"
#include "sim/plan.h"

namespace witan::sim {

// Calls visit(frame) for each frame that `bytes` begin with, the last one cut where they end. Returns a rest that is
// too short for a header.
template <class Visit>
std::string_view forEachFrame(std::string_view bytes, Visit visit) {
  while (bytes.size() >= kFrameHeaderBytes) {
    std::uint32_t length = 0;
    for (unsigned i = 0; i < 4; ++i)
      length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    const std::size_t size = std::min<std::size_t>(bytes.size(), kFrameHeaderBytes + length);
    visit(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return bytes;
}

// The name of a type of frames, of either protocol: "segment", "request"; "": there is none.
std::string_view frameName(std::uint8_t type);

// "request op-1 (propose budget-2); segment, ack" and how many bytes.
std::string frameWords(std::string_view frames);

// What a trace says beside the kind: "device-1 | device-0", "back by 12s". May be empty.
std::string faultWords(const Event& fault);

// Canonical JSON of a proposal's action; "" if it is no action of the domain.
std::string actionText(const kernel::DomainModule& module, const node::Request& request);

// "op-7 budget-1: A {"n":5,"type":"SpendA"}"; of a counselor who, about which entry, and with which edit. Null: a
// domain that nobody has.
std::string formatRequest(const node::Request& request, const kernel::DomainModule* module);

// "entry 12, op-7 budget-1: rejected by BUDGET_CAP, "105 of 100 are spent"; A {...} at 2026-03-23T08:00:05.000Z"
std::string formatEntry(const kernel::Entry& entry);

// "op-7: rejected by BUDGET_CAP, "105 of 100 are spent" (entry 12)"
std::string answerWords(const node::Answer& answer);

}  // namespace witan::sim
