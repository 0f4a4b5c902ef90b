#include "store/log_record.h"

#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>
#include <cstdint>

#include "base/bytes.h"

namespace witan::store {
namespace {

using Crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

// RocksDB keeps a CRC rotated, since what is stored may contain CRCs itself.
std::uint32_t unmasked(std::uint32_t masked) {
  const std::uint32_t turned = masked - 0xa282ead8U;
  return turned >> 17 | turned << 15;
}

// The record at `at` if its payload has so many bytes, which are there.
std::optional<LogRecord> recordOf(std::string_view block, std::size_t at, std::size_t length) {
  const char* header = block.data() + at;
  const auto type = static_cast<unsigned char>(header[6]);
  if (type < static_cast<unsigned char>(LogRecordType::full) || type > static_cast<unsigned char>(LogRecordType::last))
    return std::nullopt;
  Crc32c crc;
  crc.process_bytes(header + 6, 1 + length);
  if (crc.checksum() != unmasked(boost::endian::load_little_u32(asBytes(block).data() + at))) return std::nullopt;
  return LogRecord{static_cast<LogRecordType>(type), kLogHeaderBytes + length};
}

}  // namespace

std::optional<LogRecord> logRecordAt(std::string_view block, std::size_t at) {
  if (block.size() - at < kLogHeaderBytes) return std::nullopt;
  const std::size_t length = boost::endian::load_little_u16(asBytes(block).data() + at + 4);
  if (length > block.size() - at - kLogHeaderBytes) return std::nullopt;
  return recordOf(block, at, length);
}

bool lastButForItsLength(std::string_view block, std::size_t at) {
  if (block.size() - at < kLogHeaderBytes || logRecordAt(block, at)) return false;
  return recordOf(block, at, block.size() - at - kLogHeaderBytes).has_value();
}

std::optional<std::size_t> findWalEnd(std::string_view block) {
  constexpr auto kLastPlainType = static_cast<unsigned char>(LogRecordType::last);
  constexpr unsigned char kCompressionType = 9;  // announces compression; same header
  std::size_t at = 0;
  while (block.size() - at >= kLogHeaderBytes) {
    const unsigned char* header = asBytes(block).data() + at;
    const std::size_t length = boost::endian::load_little_u16(header + 4);
    const unsigned char type = header[6];
    if (type == 0) return length == 0 ? std::optional(at) : std::nullopt;
    if (type > kLastPlainType && type != kCompressionType) return std::nullopt;
    if (length > block.size() - at - kLogHeaderBytes) return std::nullopt;
    at += kLogHeaderBytes + length;
  }
  return std::nullopt;
}

}  // namespace witan::store
