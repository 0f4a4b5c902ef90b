// The messages of replication/sync.capnp as plain structs, their frames, and the dense rows inside.
//
// Pure functions, any thread. A message that was read borrows its bytes. Structs have the members of the schema in the
// order of its ordinals; a test holds both against each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/capnp_codec.h"
#include "base/dense.h"
#include "base/frame.h"
#include "replication/fingerprint.h"
#include "replication/space.h"

namespace witan::replication {

// 2: versions may be sealed (replication/row_seals.h). Devices without keys speak 1 as well.
inline constexpr std::uint16_t kProtocol = 1;
inline constexpr std::uint16_t kSealedProtocol = 2;
using witan::kFrameHeaderBytes;
inline constexpr std::size_t kMaxFrameBytes = 2 * 1024 * 1024;  // header not included
inline constexpr std::size_t kMaxSpaces = 256;                  // in one session
inline constexpr std::size_t kMaxRanges = 4096;                 // in one message

// In ACKS, where else a device is named: what all had when some forgot what it had removed or replaced. A copy that
// does not cover it may hold that still, and no version that comes would take it away.
inline constexpr std::string_view kForgotten = "+forgotten";

enum class FrameType : std::uint8_t {
  hello = 1,
  writers = 2,
  segment = 3,
  ack = 4,
  retry = 5,
  ranges = 6,
  rangeList = 7,
  need = 8,
  items = 9,
  acks = 10,
  bye = 11,
  spaces = 12,
  tree = 13,
  live = 14,
};

// A digest as its parts travel.
inline Digest digestOf(std::uint64_t count, std::uint64_t sumHigh, std::uint64_t sumLow) {
  return {count, static_cast<Uint128>(sumHigh) << 64 | sumLow};
}

using Bytes = std::span<const std::uint8_t>;
inline Bytes asData(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view asText(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

struct SpaceSummary {
  WITAN_DECLARED(SpaceSummary, (std::uint16_t, database), (bool, settled), (std::uint64_t, writersHash),
                 (std::uint64_t, count), (std::uint64_t, sumHigh), (std::uint64_t, sumLow), (std::uint64_t, acksHash),
                 (std::string_view, scope), (Bytes, vector), (Bytes, resume))
};

struct Hello {
  static constexpr FrameType frameType = FrameType::hello;
  WITAN_DECLARED(Hello, (std::uint16_t, protocol, kProtocol), (std::uint16_t, oldest, kProtocol),
                 (std::uint32_t, maxFrame, kMaxFrameBytes), (std::uint32_t, window), (std::string_view, cluster),
                 (std::string_view, device), (std::uint64_t, keyCheck), (bool, trees), (bool, alike), (bool, live))
};

struct Spaces {
  static constexpr FrameType frameType = FrameType::spaces;
  WITAN_DECLARED(Spaces, (std::vector<SpaceSummary>, spaces))
};

struct Writers {
  static constexpr FrameType frameType = FrameType::writers;
  WITAN_DECLARED(Writers, (std::uint16_t, space), (Bytes, rows))
};

struct Segment {
  static constexpr FrameType frameType = FrameType::segment;
  WITAN_DECLARED(Segment, (std::uint16_t, space), (std::uint16_t, attempt), (Bytes, rows), (Bytes, resume))
};

struct AckedSpace {
  WITAN_DECLARED(AckedSpace, (std::uint16_t, space), (bool, settled), (std::uint64_t, count), (std::uint64_t, sumHigh),
                 (std::uint64_t, sumLow), (Bytes, rows))
};

struct Ack {
  static constexpr FrameType frameType = FrameType::ack;
  WITAN_DECLARED(Ack, (std::uint64_t, received), (std::vector<AckedSpace>, spaces))
};

struct Retry {
  static constexpr FrameType frameType = FrameType::retry;
  WITAN_DECLARED(Retry, (std::uint16_t, space), (std::uint16_t, attempt), (Bytes, rows))
};

struct Range {
  WITAN_DECLARED(Range, (std::uint64_t, first), (std::uint64_t, last), (std::uint64_t, count), (std::uint64_t, sumHigh),
                 (std::uint64_t, sumLow))
};

struct Ranges {
  static constexpr FrameType frameType = FrameType::ranges;
  WITAN_DECLARED(Ranges, (std::uint16_t, space), (bool, question), (std::vector<Range>, ranges))
};

struct RangeList {
  static constexpr FrameType frameType = FrameType::rangeList;
  WITAN_DECLARED(RangeList, (std::uint16_t, space), (std::uint64_t, first), (std::uint64_t, last), (Bytes, records),
                 (Bytes, rows))
};

struct Need {
  static constexpr FrameType frameType = FrameType::need;
  WITAN_DECLARED(Need, (std::uint16_t, space), (Bytes, hashes))
};

struct Items {
  static constexpr FrameType frameType = FrameType::items;
  WITAN_DECLARED(Items, (std::uint16_t, space), (bool, more), (Bytes, rows))
};

struct Acks {
  static constexpr FrameType frameType = FrameType::acks;
  WITAN_DECLARED(Acks, (std::uint16_t, space), (Bytes, rows))
};

struct Tree {
  static constexpr FrameType frameType = FrameType::tree;
  WITAN_DECLARED(Tree, (std::uint16_t, space), (bool, eager))
};

struct Bye {
  static constexpr FrameType frameType = FrameType::bye;
  WITAN_DECLARED(Bye, (std::string_view, code), (std::string_view, reason))
};

using witan::FrameHeader;
using witan::readFrameHeader;

void appendFrameBytes(std::string& out, FrameType type, std::string_view message);

template <class T>
void appendFrame(std::string& out, WordWriter& words, const T& message) {
  appendFrameBytes(out, T::frameType, words.message(message));
}

// Decodes the message of a frame, 8-aligned; `into` borrows it.
template <class T>
Status readFrame(std::string_view alignedMessage, T& into) {
  return withMessage(alignedMessage, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, into, "frame"); });
}

// LIVE: a segment without a token, in dense bytes. What was read borrows the message.
void appendLive(std::string& out, const Segment& segment);
Result<Segment> readLive(std::string_view message);

// --- the rows of sync.capnp

enum class RowTag : std::uint8_t {
  writer = 1,
  version = 2,
  commit = 3,
  deviceAck = 4,
  seal = 5,
  count = 6,
  alike = 7,
  alias = 8,
  update = 9,
  acks = 10,
};

// A version as it travels; writers are the sender's numbers. Borrows.
struct VersionRow {
  Kind kind{};
  std::string key;                    // packed on the wire, so it is a copy
  std::optional<std::uint8_t> alias;  // goes in place of kind and key
  std::uint64_t writer = 0;
  Seq seq = 0;
  bool tombstone = false;
  Seq base = 0;  // > 0: the body is a field delta against this counter
  std::vector<std::pair<std::uint64_t, Seq>> context;
  std::string_view body;
  bool sealed = false;
  std::uint64_t seal = 0;  // among those of the frame
  std::uint64_t leaf = 0;
  std::optional<Hash> whole;  // digest of the context, where that was shortened
};

void appendWriterRow(std::string& rows, std::string_view name);
void appendSealRow(std::string& rows, Seq first, std::string_view seal);
// `seal`: the number of the seal in this frame.
void appendCountRow(std::string& rows, std::uint64_t writer, Seq count, std::uint64_t seal, std::uint32_t leaf);
void appendAliasRow(std::string& rows, std::uint8_t alias, Kind kind, std::string_view key);
void appendVersionRow(std::string& rows, const VersionRow& row);
void appendClockRow(std::string& rows, RowTag tag, std::span<const std::pair<std::uint64_t, Seq>> entries);

// What devices have acknowledged, all the same: some by name, the others as writers of theirs.
struct AcksRow {
  std::vector<std::pair<std::uint64_t, Seq>> clock;
  std::vector<std::string> devices;
  std::vector<std::uint64_t> writers;
};
// Sorts what it is given.
void appendAcksRow(std::string& rows, AcksRow& row);
// All numbers below `writers`.
AcksRow readAcksRow(DenseReader& from, std::uint64_t writers);

// Reads the next row's parts; the tag has been read. Errors stay in the reader.
void readVersionRow(DenseReader& from, VersionRow& row);
// What stands behind kind and key, or behind the alias.
void readUpdateRow(DenseReader& from, VersionRow& row);
void readClock(DenseReader& from, std::vector<std::pair<std::uint64_t, Seq>>& entries);

}  // namespace witan::replication
