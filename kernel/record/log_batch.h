// LogBatch: the framing of one value of the log: a batch of records that became durable together.
//
//   header   "WLOG", u16 version, u16 zero, u64 first sequence number, u32 records, u32 bytes of the whole value
//   record   u32 length, u8 kind, 3 zero bytes, 8 bytes of check; payload, zero-padded to 8
//   check    the first 8 bytes of SHA-256(0x00 || payload), the last of them xor (kind - 1)
//
// All numbers little-endian. The stated size tells a torn value (a crash cut it: the complete records before the cut
// stand) from a damaged one (the size is right, a check is not: nothing may be guessed). Payloads are 8-aligned, so
// that they can be read in place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

namespace witan::kernel {

enum class RecordKind : std::uint8_t { entry = 1, genesis = 2, note = 3, epoch = 4 };

inline constexpr std::size_t kBatchHeader = 24;
inline constexpr std::size_t kRecordHeader = 16;
inline constexpr std::size_t kRecordMax = 16 << 20;  // bytes of one payload
inline constexpr std::size_t kBatchMax = 64 << 20;   // bytes of one value

class LogBatch {
 public:
  explicit LogBatch(std::uint64_t firstSeq = 1) { reset(firstSeq); }

  void reset(std::uint64_t firstSeq);
  // `leaf` is SHA-256(0x00 || payload), which entries need anyhow. Requires: payload at most kRecordMax.
  void add(RecordKind kind, std::string_view payload, const Hash& leaf);
  bool empty() const { return records_ == 0; }
  std::uint64_t firstSeq() const { return firstSeq_; }
  std::size_t bytes() const { return value_.size(); }
  // The finished value; the batch must be reset afterwards.
  std::string take();
  // Memory for the next value: one that was taken and is no longer needed. Without it every batch grows a new one.
  void reuse(std::string&& value);

  // Payload of the n-th entry added (0-based), borrowed until the next change.
  std::string_view entry(std::size_t n) const;

 private:
  std::string value_;
  std::vector<std::pair<std::size_t, std::size_t>> entries_;  // offset and size of each entry's payload
  std::uint64_t firstSeq_ = 1;
  std::uint32_t records_ = 0;
};

struct LogRecord {
  RecordKind kind = RecordKind::entry;
  std::string_view payload;  // borrowed from the value; 8-aligned when the value is
  Hash leaf{};               // computed while checking
};

struct LogBatchInfo {
  std::uint64_t firstSeq = 0;
  std::uint32_t records = 0;  // complete and checked
  bool torn = false;          // the value ends before its stated size
  std::size_t goodBytes = 0;  // up to the end of the last complete record
};

// Checks a value and visits its records in order. Errors: damaged (corrupt), or the visitor's own. A torn value is no
// error here: the records before the cut are visited and `torn` is set.
Result<LogBatchInfo> readLogBatch(std::string_view value, const std::function<Status(const LogRecord&)>& visit);

// The value cut after its last complete record, with a header that says so.
std::string cutTornBatch(std::string_view value, const LogBatchInfo& info);

}  // namespace witan::kernel
