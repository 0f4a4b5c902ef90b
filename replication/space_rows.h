// The rows of a space in the store. All of a space's keys begin with its prefix; the next byte says what the row is.
//
//   w <writer u32>                               -> the writer's name
//   v                                            -> the version vector
//   d                                            -> how far notification batches were delivered and consumed
//   o                                            -> how often versions arrived out of order (varint)
//   p <number u64>                               -> a seal and the versions that it proves (replication/row_seals.h)
//   f <writer u32>                               -> from which counter on the writer's versions are sealed (varint)
//   r <kind> <key> 00 <writer u32> <seq u64>     -> a version: flags, context, base, changed fields, body
//
// Integers in keys are big-endian. Writers are this store's own numbers. For replication/space.cpp, and the simulator.
#pragma once

#include <string>
#include <string_view>

#include "base/dense.h"
#include "base/result.h"
#include "replication/record_table.h"

namespace witan::replication::rows {

inline constexpr char kWriter = 'w';
inline constexpr char kVector = 'v';
inline constexpr char kDelivered = 'd';
inline constexpr char kOutOfOrder = 'o';
inline constexpr char kRecord = 'r';
inline constexpr char kSeal = 'p';
inline constexpr char kFirstSealed = 'f';

void putBigEndian(std::string& out, std::uint64_t value, unsigned bytes);
std::uint64_t bigEndian(std::string_view bytes);

struct VersionKey {
  Kind kind{};
  std::string_view key;
  WriterIndex writer = 0;
  Seq seq = 0;
};

std::string versionKey(std::string_view prefix, const VersionKey& key);
// `row` is what follows the prefix and its 'r'.
Result<VersionKey> parseVersionKey(std::string_view row);

std::string encodeVersion(const Held& held, std::string_view body);
// Fills all but record, writer, seq and fingerprint; `body` views into `value`.
Status decodeVersion(std::string_view value, Held& held, std::string_view& body);

std::string encodeVector(const VersionVector& vector);
Result<VersionVector> decodeVector(std::string_view value);

}  // namespace witan::replication::rows
