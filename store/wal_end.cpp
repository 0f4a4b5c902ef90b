#include "store/wal_end.h"

namespace witan::store {

std::optional<std::size_t> findWalEnd(std::string_view block) {
  constexpr std::size_t kHeaderBytes = 7;
  constexpr unsigned char kLastPlainType = 4;    // full, first, middle, last
  constexpr unsigned char kCompressionType = 9;  // announces compression; same header
  std::size_t at = 0;
  while (block.size() - at >= kHeaderBytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(block[at + i]); };
    const std::size_t length = byte(4) | static_cast<std::size_t>(byte(5)) << 8;
    const unsigned char type = byte(6);
    if (type == 0) return length == 0 ? std::optional(at) : std::nullopt;
    if (type > kLastPlainType && type != kCompressionType) return std::nullopt;
    if (length > block.size() - at - kHeaderBytes) return std::nullopt;
    at += kHeaderBytes + length;
  }
  return std::nullopt;
}

}  // namespace witan::store
