#include "replication/space_rows.h"

namespace witan::replication::rows {

namespace {

constexpr std::uint8_t kTombstone = 1;

}  // namespace

void putBigEndian(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t bigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::string versionKey(std::string_view prefix, const VersionKey& key) {
  std::string out;
  out.reserve(prefix.size() + key.key.size() + 15);
  out.append(prefix);
  out.push_back(kRecord);
  out.push_back(static_cast<char>(key.kind));
  out.append(key.key);
  out.push_back('\0');
  putBigEndian(out, key.writer, 4);
  putBigEndian(out, key.seq, 8);
  return out;
}

Result<VersionKey> parseVersionKey(std::string_view row) {
  if (row.size() < 14 || row[row.size() - 13] != '\0') return corrupt("a version's row has a damaged key");
  VersionKey out{.kind = static_cast<Kind>(row[0]),
                 .key = row.substr(1, row.size() - 14),
                 .writer = static_cast<WriterIndex>(bigEndian(row.substr(row.size() - 12, 4))),
                 .seq = bigEndian(row.substr(row.size() - 8))};
  return out;
}

std::string encodeVersion(const Held& held, std::string_view body) {
  std::string out;
  out.reserve(body.size() + 16 + 8 * held.context().size());
  DenseWriter to(out);
  to.byte(held.tombstone ? kTombstone : 0);
  to.varint(held.context().size());
  for (const ContextEntry& e : held.context()) to.varint(e.writer), to.varint(e.seq);
  to.varint(held.base());
  to.varint(held.changed());
  to.raw(body);
  return out;
}

Status decodeVersion(std::string_view value, Held& held, std::string_view& body) {
  DenseReader from(value);
  held.tombstone = (from.byte() & kTombstone) != 0;
  Context context(from.count(value.size()));
  for (ContextEntry& e : context) {
    e.writer = static_cast<WriterIndex>(from.count(kMaxWriters));
    e.seq = from.varint();
  }
  held.setContext(std::move(context));
  const Seq base = from.varint();
  held.setBase(base, static_cast<std::uint32_t>(from.count(~std::uint32_t{0})));
  WITAN_DO(from.status("a version's row"));
  body = value.substr(from.position());
  return okStatus();
}

std::string encodeVector(const VersionVector& vector) {
  std::string out;
  DenseWriter to(out);
  to.varint(vector.end());
  for (WriterIndex w = 0; w < vector.end(); ++w) to.varint(vector.at(w));
  return out;
}

Result<VersionVector> decodeVector(std::string_view value) {
  DenseReader from(value);
  const std::uint64_t n = from.count(kMaxWriters);
  VersionVector vector;
  for (std::uint64_t w = 0; w < n && from.ok(); ++w) {
    const Seq seq = from.varint();
    if (seq > 0) vector.raise(static_cast<WriterIndex>(w), seq);
  }
  WITAN_DO(from.finish("a version vector's row"));
  return vector;
}

}  // namespace witan::replication::rows
