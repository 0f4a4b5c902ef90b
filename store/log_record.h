// The records of RocksDB's logs, which its write-ahead logs and its manifest are: 32 KiB blocks of records with a
// 7-byte header (CRC-32C, length, type) and a payload (RocksDB wiki, "Write Ahead Log File Format"). For finding damage
// that RocksDB itself takes for a torn end, and the end of a log that was zero-filled.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace witan::store {

inline constexpr std::size_t kWalBlockBytes = 32 * 1024;
inline constexpr std::size_t kLogHeaderBytes = 7;
enum class LogRecordType : unsigned char { full = 1, first = 2, middle = 3, last = 4 };

struct LogRecord {
  LogRecordType type;
  std::size_t bytes;  // with its header
};

// The whole record at `at` of a block; none: none stands there.
std::optional<LogRecord> logRecordAt(std::string_view block, std::size_t at);

// Whether the block ends with a whole record at `at` of which only the length is wrong: its CRC does not cover that.
bool lastButForItsLength(std::string_view block, std::size_t at);

// Offset of the first zero header of one block (its last may be shorter than kWalBlockBytes): where the records of a
// zero-filled log end. None: the records fill the block, or something stands there that only RocksDB can judge.
//
// RocksDB's reader skips a zero header and goes on with the next block. In a log that grew that is harmless; in a
// zero-filled log after a power loss the zeroes may be un-synced records that did not reach the disk while later ones
// did, and reading on would break S4 (a prefix of the writes survives). Synced records are never behind it. O(records).
std::optional<std::size_t> findWalEnd(std::string_view block);

}  // namespace witan::store
