// The messages of replication/sync.capnp as plain structs, their frames, and the dense rows inside.
//
// Pure functions, any thread. A message that was read borrows its bytes. Structs have the members of the schema in the
// order of its ordinals; a test holds both against each other.
#pragma once

#include <cstdint>
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

inline constexpr std::uint16_t kProtocol = 1;
using witan::kFrameHeaderBytes;
inline constexpr std::size_t kMaxFrameBytes = 2 * 1024 * 1024;  // header not included
inline constexpr std::size_t kMaxSpaces = 256;                  // in one session
inline constexpr std::size_t kMaxRanges = 4096;                 // in one message

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
};

// A digest as its parts travel.
inline Digest digestOf(std::uint64_t count, std::uint64_t sumHigh, std::uint64_t sumLow) {
  return {count, static_cast<Uint128>(sumHigh) << 64 | sumLow};
}

using Bytes = std::span<const std::uint8_t>;
inline Bytes asData(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view asText(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

struct SpaceSummary {
  std::uint16_t database = 0;
  bool settled = false;
  std::uint64_t writersHash = 0;
  std::uint64_t count = 0;
  std::uint64_t sumHigh = 0;
  std::uint64_t sumLow = 0;
  std::uint64_t acksHash = 0;
  std::string_view scope;
  Bytes vector;
  Bytes resume;
  WITAN_MEMBERS(SpaceSummary, database, settled, writersHash, count, sumHigh, sumLow, acksHash, scope, vector, resume)
};

struct Hello {
  static constexpr FrameType frameType = FrameType::hello;
  std::uint16_t protocol = kProtocol;
  std::uint16_t oldest = kProtocol;
  std::uint32_t maxFrame = kMaxFrameBytes;
  std::uint32_t window = 0;
  std::string_view cluster;
  std::string_view device;
  std::uint64_t keyCheck = 0;
  WITAN_MEMBERS(Hello, protocol, oldest, maxFrame, window, cluster, device, keyCheck)
};

struct Spaces {
  static constexpr FrameType frameType = FrameType::spaces;
  std::vector<SpaceSummary> spaces;
  WITAN_MEMBERS(Spaces, spaces)
};

struct Writers {
  static constexpr FrameType frameType = FrameType::writers;
  std::uint16_t space = 0;
  Bytes rows;
  WITAN_MEMBERS(Writers, space, rows)
};

struct Segment {
  static constexpr FrameType frameType = FrameType::segment;
  std::uint16_t space = 0;
  std::uint16_t attempt = 0;
  Bytes rows;
  Bytes resume;
  WITAN_MEMBERS(Segment, space, attempt, rows, resume)
};

struct AckedSpace {
  std::uint16_t space = 0;
  bool settled = false;
  std::uint64_t count = 0;
  std::uint64_t sumHigh = 0;
  std::uint64_t sumLow = 0;
  Bytes rows;
  WITAN_MEMBERS(AckedSpace, space, settled, count, sumHigh, sumLow, rows)
};

struct Ack {
  static constexpr FrameType frameType = FrameType::ack;
  std::uint64_t received = 0;
  std::vector<AckedSpace> spaces;
  WITAN_MEMBERS(Ack, received, spaces)
};

struct Retry {
  static constexpr FrameType frameType = FrameType::retry;
  std::uint16_t space = 0;
  std::uint16_t attempt = 0;
  Bytes rows;
  WITAN_MEMBERS(Retry, space, attempt, rows)
};

struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t count = 0;
  std::uint64_t sumHigh = 0;
  std::uint64_t sumLow = 0;
  WITAN_MEMBERS(Range, first, last, count, sumHigh, sumLow)
};

struct Ranges {
  static constexpr FrameType frameType = FrameType::ranges;
  std::uint16_t space = 0;
  bool question = false;
  std::vector<Range> ranges;
  WITAN_MEMBERS(Ranges, space, question, ranges)
};

struct RangeList {
  static constexpr FrameType frameType = FrameType::rangeList;
  std::uint16_t space = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  Bytes records;
  Bytes rows;
  WITAN_MEMBERS(RangeList, space, first, last, records, rows)
};

struct Need {
  static constexpr FrameType frameType = FrameType::need;
  std::uint16_t space = 0;
  Bytes hashes;
  WITAN_MEMBERS(Need, space, hashes)
};

struct Items {
  static constexpr FrameType frameType = FrameType::items;
  std::uint16_t space = 0;
  bool more = false;
  Bytes rows;
  WITAN_MEMBERS(Items, space, more, rows)
};

struct Acks {
  static constexpr FrameType frameType = FrameType::acks;
  std::uint16_t space = 0;
  Bytes rows;
  WITAN_MEMBERS(Acks, space, rows)
};

struct Bye {
  static constexpr FrameType frameType = FrameType::bye;
  std::string_view code;
  std::string_view reason;
  WITAN_MEMBERS(Bye, code, reason)
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

// --- the rows of sync.capnp

enum class RowTag : std::uint8_t { writer = 1, version = 2, commit = 3, deviceAck = 4 };

// A version as it travels; writers are the sender's numbers. Borrows.
struct VersionRow {
  Kind kind{};
  std::string key;  // packed on the wire, so it is a copy
  std::uint64_t writer = 0;
  Seq seq = 0;
  bool tombstone = false;
  Seq base = 0;  // > 0: the body is a field delta against this counter
  std::vector<std::pair<std::uint64_t, Seq>> context;
  std::string_view body;
};

void appendWriterRow(std::string& rows, std::string_view name);
void appendVersionRow(std::string& rows, const VersionRow& row);
void appendClockRow(std::string& rows, RowTag tag, std::span<const std::pair<std::uint64_t, Seq>> entries);

// Reads the next row's parts; the tag has been read. Errors stay in the reader.
void readVersionRow(DenseReader& from, VersionRow& row);
void readClock(DenseReader& from, std::vector<std::pair<std::uint64_t, Seq>>& entries);

}  // namespace witan::replication
