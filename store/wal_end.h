// Where the records of a zero-filled write-ahead log end.
//
// RocksDB's log is made of 32 KiB blocks; a block holds records of a 7-byte header (CRC, length, type) and a payload
// (RocksDB wiki, "Write Ahead Log File Format"). Its reader skips a zero header and goes on with the next block. In a
// log that grew that is harmless; in a zero-filled log after a power loss the zeroes may be un-synced records that did
// not reach the disk while later ones did, and reading on would break S4 (a prefix of the writes survives). So the
// first zero header is the end. Synced records are never behind it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace witan::store {

inline constexpr std::size_t kWalBlockBytes = 32 * 1024;

// Offset of the first zero header of one block (its last may be shorter than kWalBlockBytes). None: the records fill
// the block, or something stands there that only RocksDB can judge. O(records).
std::optional<std::size_t> findWalEnd(std::string_view block);

}  // namespace witan::store
