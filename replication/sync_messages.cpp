#include "replication/sync_messages.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/identity.h"

namespace witan::replication {

namespace {

constexpr std::uint8_t kTombstone = 1;
constexpr std::uint8_t kDelta = 2;
constexpr std::uint8_t kSealed = 4;
constexpr std::uint8_t kShortened = 8;

std::uint8_t flagsOf(const VersionRow& row) {
  return static_cast<std::uint8_t>((row.tombstone ? kTombstone : 0) | (row.base > 0 ? kDelta : 0) |
                                   (row.sealed ? kSealed : 0) | (row.whole ? kShortened : 0));
}

}  // namespace

void appendFrameBytes(std::string& out, FrameType type, std::string_view message) {
  witan::appendFrame(out, static_cast<std::uint8_t>(type), kProtocol, message);
}

void appendLive(std::string& out, const Segment& segment) {
  std::string message;
  DenseWriter to(message);
  to.varint(segment.space + 1u);
  to.varint(segment.attempt);
  to.raw(asText(segment.rows));
  message.insert(0, (8 - message.size() % 8) % 8, '\0');
  appendFrameBytes(out, FrameType::live, message);
}

Result<Segment> readLive(std::string_view message) {
  const std::size_t start = message.find_first_not_of('\0');
  if (start >= 8) return invalid("LIVE with a whole word of zeros before its space");
  DenseReader from(message.substr(start));
  Segment segment;
  segment.space = static_cast<std::uint16_t>(from.count(kMaxSpaces) - 1);  // no shortest varint of 0 begins otherwise
  segment.attempt = static_cast<std::uint16_t>(from.count(0xffff));
  WITAN_DO(from.status("LIVE"));
  segment.rows = asData(message.substr(start + from.position()));
  return segment;
}

void appendWriterRow(std::string& rows, std::string_view name) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::writer));
  to.idText(name);
}

void appendSealRow(std::string& rows, Seq first, std::string_view seal) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::seal));
  to.varint(first);
  to.text(seal);
}

void appendCountRow(std::string& rows, std::uint64_t writer, Seq count, std::uint64_t seal, std::uint32_t leaf) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::count));
  to.varint(writer), to.varint(count);
  to.varint(seal), to.varint(leaf);
}

void appendAliasRow(std::string& rows, std::uint8_t alias, Kind kind, std::string_view key) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::alias));
  to.byte(alias);
  to.byte(static_cast<std::uint8_t>(kind));
  to.idText(key);
}

void appendVersionRow(std::string& rows, const VersionRow& row) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(row.alias ? RowTag::update : RowTag::version));
  if (row.alias)
    to.byte(*row.alias);
  else
    to.byte(static_cast<std::uint8_t>(row.kind)), to.idText(row.key);
  to.varint(row.writer);
  to.varint(row.seq);
  to.byte(flagsOf(row));
  to.varint(row.context.size());
  for (const auto& [writer, seq] : row.context) to.varint(writer), to.varint(seq);
  if (row.base > 0) to.varint(row.seq - row.base);
  if (row.sealed) to.varint(row.seal), to.varint(row.leaf);
  if (row.whole) to.raw(asView(*row.whole));
  to.text(row.body);
}

void appendClockRow(std::string& rows, RowTag tag, std::span<const std::pair<std::uint64_t, Seq>> entries) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(tag));
  to.varint(entries.size());
  for (const auto& [writer, seq] : entries) to.varint(writer), to.varint(seq);
}

namespace {

// Numbers that follow on each other, and have one counter, are a run. `with`: counters are told.
using Entries = std::vector<std::pair<std::uint64_t, Seq>>;

void appendRuns(DenseWriter& to, const Entries& entries, bool with) {
  const auto endOf = [&](std::size_t at) {
    std::size_t end = at + 1;
    while (end < entries.size() && entries[end].first == entries[end - 1].first + 1 &&
           entries[end].second == entries[at].second)
      ++end;
    return end;
  };
  std::size_t runs = 0;
  for (std::size_t at = 0; at < entries.size(); at = endOf(at)) ++runs;
  to.varint(runs);
  std::uint64_t next = 0;
  for (std::size_t at = 0; at < entries.size(); at = endOf(at)) {
    const std::size_t length = endOf(at) - at;
    to.varint(entries[at].first - next), to.varint(length);
    if (with) to.varint(entries[at].second);
    next = entries[at].first + length;
  }
}

Entries readRuns(DenseReader& from, std::uint64_t limit, bool with) {
  Entries entries;
  std::uint64_t next = 0;
  for (std::uint64_t runs = from.count(limit); runs > 0 && from.ok(); --runs) {
    next += from.count(limit - next);
    const std::uint64_t length = from.count(limit - next);
    const Seq counter = with ? from.count(kMaxSeq) : 0;
    for (std::uint64_t i = 0; i < length && from.ok(); ++i) entries.emplace_back(next++, counter);
  }
  return entries;
}

}  // namespace

void appendAcksRow(std::string& rows, AcksRow& row) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::acks));
  std::ranges::sort(row.clock), std::ranges::sort(row.writers);
  appendRuns(to, row.clock, true);
  to.varint(row.devices.size());
  for (const std::string& device : row.devices) to.idText(device);
  Entries writers;
  for (const std::uint64_t writer : row.writers) writers.emplace_back(writer, 0);
  appendRuns(to, writers, false);
}

AcksRow readAcksRow(DenseReader& from, std::uint64_t writers) {
  AcksRow row;
  row.clock = readRuns(from, writers, true);
  for (std::uint64_t n = from.count(kMaxWriters); n > 0 && from.ok(); --n)
    row.devices.push_back(from.idText(kMaxIdBytes));
  for (const auto& [writer, none] : readRuns(from, writers, false)) row.writers.push_back(writer);
  return row;
}

namespace {

void readProof(DenseReader& from, std::uint8_t flags, VersionRow& row) {
  row.sealed = (flags & kSealed) != 0;
  row.seal = row.sealed ? from.varint() : 0;
  row.leaf = row.sealed ? from.count(kMaxSealLeaves) : 0;
  row.whole.reset();
  if ((flags & kShortened) == 0) return;
  if (!row.sealed || !row.context.empty()) from.fail("a context that is not shortened");
  const std::string_view whole = from.raw(sizeof(Hash));
  if (whole.size() == sizeof(Hash)) std::ranges::copy(whole, row.whole.emplace().begin());
}

}  // namespace

void readVersionRow(DenseReader& from, VersionRow& row) {
  row.kind = static_cast<Kind>(from.byte());
  row.key = from.idText(kMaxIdBytes);
  readUpdateRow(from, row);
}

void readUpdateRow(DenseReader& from, VersionRow& row) {
  row.writer = from.count(kMaxWriters);
  row.seq = from.count(kMaxSeq);
  const std::uint8_t flags = from.byte();
  row.tombstone = (flags & kTombstone) != 0;
  if (flags > (kTombstone | kDelta | kSealed | kShortened)) from.fail("a version with unknown flags");
  if ((flags & kTombstone) != 0 && (flags & kDelta) != 0) from.fail("a tombstone is no delta");
  if (row.seq == 0) from.fail("a counter of 0");
  readClock(from, row.context);
  row.base = 0;
  if ((flags & kDelta) != 0) {
    const Seq back = from.varint();
    if (back == 0 || back >= row.seq)
      from.fail("a base that is not older");
    else
      row.base = row.seq - back;
  }
  readProof(from, flags, row);
  row.body = from.text(kMaxBodyBytes);
  if (row.tombstone && !row.body.empty()) from.fail("a tombstone with a body");
}

void readClock(DenseReader& from, std::vector<std::pair<std::uint64_t, Seq>>& entries) {
  entries.clear();
  const std::uint64_t n = from.count(kMaxWriters);
  for (std::uint64_t i = 0; i < n && from.ok(); ++i) {
    const std::uint64_t writer = from.count(kMaxWriters);
    entries.emplace_back(writer, from.count(kMaxSeq));
  }
}

}  // namespace witan::replication
