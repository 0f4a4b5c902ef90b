#include "kernel/record/log_batch.h"

#include <cstring>

#include "kernel/record/merkle.h"

namespace witan::kernel {

namespace {

constexpr char kMagic[4] = {'W', 'L', 'O', 'G'};
constexpr std::uint16_t kVersion = 1;

template <class T>
void put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T take(std::string_view value, std::size_t at) {
  T out;
  std::memcpy(&out, value.data() + at, sizeof out);
  return out;
}

std::size_t padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

// The leaf's first bytes, and in the last of them the kind: an entry that calls itself a note must not pass.
void putCheck(char* to, RecordKind kind, const Hash& leaf) {
  std::memcpy(to, leaf.data(), 8);
  to[7] = static_cast<char>(to[7] ^ (static_cast<char>(kind) - 1));
}

void writeHeader(std::string& value, std::uint64_t firstSeq, std::uint32_t records) {
  std::memcpy(value.data(), kMagic, 4);
  put<std::uint16_t>(value.data() + 4, kVersion);
  put<std::uint16_t>(value.data() + 6, 0);
  put<std::uint64_t>(value.data() + 8, firstSeq);
  put<std::uint32_t>(value.data() + 16, records);
  put<std::uint32_t>(value.data() + 20, static_cast<std::uint32_t>(value.size()));
}

}  // namespace

void LogBatch::reset(std::uint64_t firstSeq) {
  value_.assign(kBatchHeader, '\0');
  entries_.clear();
  firstSeq_ = firstSeq;
  records_ = 0;
}

void LogBatch::add(RecordKind kind, std::string_view payload, const Hash& leaf) {
  WITAN_CHECK(payload.size() <= kRecordMax, "a record within its limit");
  const std::size_t at = value_.size();
  value_.resize(at + kRecordHeader + padded(payload.size()));
  put<std::uint32_t>(value_.data() + at, static_cast<std::uint32_t>(payload.size()));
  value_[at + 4] = static_cast<char>(kind);
  putCheck(value_.data() + at + 8, kind, leaf);
  std::memcpy(value_.data() + at + kRecordHeader, payload.data(), payload.size());
  if (kind == RecordKind::entry) entries_.emplace_back(at + kRecordHeader, payload.size());
  ++records_;
}

std::string LogBatch::take() {
  writeHeader(value_, firstSeq_, records_);
  return std::move(value_);
}

void LogBatch::reuse(std::string&& value) {
  if (records_ != 0 || value.capacity() <= value_.capacity()) return;
  value_ = std::move(value);
  value_.assign(kBatchHeader, '\0');
}

std::string_view LogBatch::entry(std::size_t n) const {
  return std::string_view(value_).substr(entries_.at(n).first, entries_.at(n).second);
}

Result<LogBatchInfo> readLogBatch(std::string_view value, const std::function<Status(const LogRecord&)>& visit) {
  LogBatchInfo info;
  if (value.size() < kBatchHeader) {
    info.torn = true;
    return info;
  }
  if (std::memcmp(value.data(), kMagic, 4) != 0) return corrupt("the batch does not start with WLOG");
  if (take<std::uint16_t>(value, 4) != kVersion)
    return corrupt(concat("the batch has format version ", take<std::uint16_t>(value, 4)),
                   "this build reads version 1");
  if (take<std::uint16_t>(value, 6) != 0) return corrupt("the batch's header is damaged");
  info.firstSeq = take<std::uint64_t>(value, 8);
  const auto records = take<std::uint32_t>(value, 16);
  const auto stated = take<std::uint32_t>(value, 20);
  if (value.size() > stated) return corrupt("the batch is longer than it says");
  info.torn = value.size() < stated;
  std::size_t at = kBatchHeader;
  std::uint64_t seq = info.firstSeq;
  for (; info.records < records; ++info.records) {
    if (value.size() - at < kRecordHeader) break;
    const auto length = take<std::uint32_t>(value, at);
    const auto kind = static_cast<std::uint8_t>(value[at + 4]);
    const auto altered = [&](std::string_view what) {
      return corrupt(concat("record ", info.records + 1, " of the batch at entry ", info.firstSeq, what),
                     concat("entry ", seq, " or its frame was altered"));
    };
    if (length > kRecordMax || kind < 1 || kind > 4 || value[at + 5] != 0 || value[at + 6] != 0 || value[at + 7] != 0)
      return altered(" has an impossible header");
    if (value.size() - at - kRecordHeader < padded(length)) break;
    LogRecord record{static_cast<RecordKind>(kind), value.substr(at + kRecordHeader, length), {}};
    record.leaf = leafHash(record.payload);
    char check[8];
    putCheck(check, record.kind, record.leaf);
    bool intact = std::memcmp(check, value.data() + at + 8, 8) == 0;
    for (std::size_t i = at + kRecordHeader + length; i < at + kRecordHeader + padded(length); ++i)
      intact = intact && value[i] == 0;
    if (!intact) return altered(" is damaged");
    WITAN_DO(visit(record));
    if (record.kind == RecordKind::entry) ++seq;
    at += kRecordHeader + padded(length);
  }
  info.goodBytes = at;
  if (info.torn && info.records == records)
    return corrupt(concat("the batch at entry ", info.firstSeq, " is whole and says that it is longer"),
                   "its header was altered; no crash leaves that");
  if (!info.torn && (info.records != records || at != value.size()))
    return corrupt(concat("the batch at entry ", info.firstSeq, " has a wrong count of records"));
  return info;
}

std::string cutTornBatch(std::string_view value, const LogBatchInfo& info) {
  std::string cut(value.substr(0, info.goodBytes));
  writeHeader(cut, info.firstSeq, info.records);
  return cut;
}

}  // namespace witan::kernel
