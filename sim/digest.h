// A rolling digest of everything that happens in a run: two runs are equal when their digests are, step by step.
// Not cryptographic. O(bytes / 8).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace witan::sim {

class RollingDigest {
 public:
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  void add(std::string_view bytes) {
    add(bytes.size());
    while (bytes.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      add(word);
      bytes.remove_prefix(8);
    }
    std::uint64_t rest = 0;
    if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
    add(rest);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x6a09e667f3bcc908u;
};

}  // namespace witan::sim
