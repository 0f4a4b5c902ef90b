// Frames in words, for traces: what is in them, without their contents. Bytes may be anything; what is no frame is said
// to be none. Pure function.
#pragma once

#include <string>
#include <string_view>

namespace witan::sim {

// "request op-1 (propose budget-2); segment, ack" and how many bytes.
std::string frameWords(std::string_view frames);

}  // namespace witan::sim
