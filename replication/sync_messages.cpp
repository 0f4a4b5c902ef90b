#include "replication/sync_messages.h"

#include <cstring>

#include "base/identity.h"

namespace witan::replication {

namespace {

constexpr std::uint8_t kTombstone = 1;
constexpr std::uint8_t kDelta = 2;

}  // namespace

void appendFrameBytes(std::string& out, FrameType type, std::string_view message) {
  witan::appendFrame(out, static_cast<std::uint8_t>(type), kProtocol, message);
}

void appendWriterRow(std::string& rows, std::string_view name) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::writer));
  to.idText(name);
}

void appendVersionRow(std::string& rows, const VersionRow& row) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(RowTag::version));
  to.byte(static_cast<std::uint8_t>(row.kind));
  to.idText(row.key);
  to.varint(row.writer);
  to.varint(row.seq);
  to.byte(static_cast<std::uint8_t>((row.tombstone ? kTombstone : 0) | (row.base > 0 ? kDelta : 0)));
  to.varint(row.context.size());
  for (const auto& [writer, seq] : row.context) to.varint(writer), to.varint(seq);
  if (row.base > 0) to.varint(row.seq - row.base);
  to.text(row.body);
}

void appendClockRow(std::string& rows, RowTag tag, std::span<const std::pair<std::uint64_t, Seq>> entries) {
  DenseWriter to(rows);
  to.byte(static_cast<std::uint8_t>(tag));
  to.varint(entries.size());
  for (const auto& [writer, seq] : entries) to.varint(writer), to.varint(seq);
}

void readVersionRow(DenseReader& from, VersionRow& row) {
  row.kind = static_cast<Kind>(from.byte());
  row.key = from.idText(kMaxIdBytes);
  row.writer = from.count(kMaxWriters);
  row.seq = from.count(kMaxSeq);
  const std::uint8_t flags = from.byte();
  row.tombstone = (flags & kTombstone) != 0;
  if (flags > (kTombstone | kDelta)) from.fail("a version with unknown flags");
  if (flags == (kTombstone | kDelta)) from.fail("a tombstone is no delta");
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
