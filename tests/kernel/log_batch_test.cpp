// LogBatch: the framing of the log. Every truncation is torn and keeps the complete records, every altered byte is
// seen.
#include "kernel/record/log_batch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "kernel/record/merkle.h"

namespace witan::kernel::log_batch_test {
namespace {

struct Record {
  RecordKind kind;
  std::string payload;
};

std::string valueOf(const std::vector<Record>& records, std::uint64_t firstSeq = 7) {
  LogBatch batch(firstSeq);
  for (const Record& r : records) batch.add(r.kind, r.payload, leafHash(r.payload));
  return batch.take();
}

struct Read {
  std::vector<std::string> payloads;
  Result<LogBatchInfo> info;
};
Read readAll(std::string_view value) {
  std::vector<std::string> payloads;
  auto info = readLogBatch(value, [&](const LogRecord& r) {
    EXPECT_EQ(r.leaf, leafHash(r.payload));
    payloads.emplace_back(r.payload);
    return okStatus();
  });
  return {std::move(payloads), std::move(info)};
}

const std::vector<Record> kSome{{RecordKind::genesis, "beginning"},
                                {RecordKind::entry, std::string(16, 'e')},
                                {RecordKind::note, ""},
                                {RecordKind::entry, std::string("\0x", 2)}};

TEST(LogBatch, RoundTrip) {
  const Read read = readAll(valueOf(kSome));
  ASSERT_TRUE(read.info.ok());
  EXPECT_EQ(read.info->firstSeq, 7u);
  EXPECT_EQ(read.info->records, 4u);
  EXPECT_FALSE(read.info->torn);
  ASSERT_EQ(read.payloads.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(read.payloads[i], kSome[i].payload);
}

TEST(LogBatch, EntriesByNumber) {
  LogBatch batch(3);
  EXPECT_TRUE(batch.empty());
  for (const Record& r : kSome) batch.add(r.kind, r.payload, leafHash(r.payload));
  EXPECT_EQ(batch.entry(0), kSome[1].payload);  // genesis and notes are no entries
  EXPECT_EQ(batch.entry(1), kSome[3].payload);
  batch.reset(5);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.firstSeq(), 5u);
}

TEST(LogBatch, EveryTruncationIsTornAndKeepsTheCompleteRecords) {
  const std::string value = valueOf(kSome);
  std::vector<std::size_t> ends{kBatchHeader};
  for (const Record& r : kSome) ends.push_back(ends.back() + kRecordHeader + (r.payload.size() + 7) / 8 * 8);
  for (std::size_t cut = 0; cut < value.size(); ++cut) {
    const Read read = readAll(std::string_view(value).substr(0, cut));
    ASSERT_TRUE(read.info.ok()) << cut;
    EXPECT_TRUE(read.info->torn) << cut;
    const std::size_t complete =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), cut) - ends.begin());
    EXPECT_EQ(read.payloads.size(), complete == 0 ? 0 : complete - 1) << cut;
    if (read.payloads.empty()) continue;
    const Read again = readAll(cutTornBatch(std::string_view(value).substr(0, cut), *read.info));
    ASSERT_TRUE(again.info.ok()) << cut;
    EXPECT_FALSE(again.info->torn);
    EXPECT_EQ(again.payloads, read.payloads);
  }
}

// No single flipped bit is taken for what was written, or for a torn end. Another first sequence number is for the
// partition to refuse.
TEST(LogBatch, EveryFlippedBitIsSeen) {
  const std::string value = valueOf(kSome);
  for (std::size_t at = 0; at < value.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = value;
      altered[at] = static_cast<char>(altered[at] ^ 1 << bit);
      const Read read = readAll(altered);
      if (!read.info.ok()) {
        EXPECT_EQ(read.info.error().code, ErrorCode::corrupt);
        continue;
      }
      EXPECT_TRUE(at >= 8 && at < 16 && read.info->firstSeq != 7) << "byte " << at << " bit " << bit;
    }
}

TEST(LogBatch, DamageNamesTheEntry) {
  std::string value = valueOf(kSome);
  value[value.size() - 8] ^= 1;  // the last record, which is the second entry: number 8
  const Read read = readAll(value);
  ASSERT_FALSE(read.info.ok());
  EXPECT_EQ(read.info.error().message, "record 4 of the batch at entry 7 is damaged");
  EXPECT_EQ(read.info.error().hint, "entry 8 or its frame was altered");
}

TEST(LogBatch, AVisitorsErrorStopsTheReading) {
  int visited = 0;
  auto info = readLogBatch(valueOf(kSome), [&](const LogRecord&) -> Status {
    return ++visited == 2 ? Status(corrupt("enough")) : okStatus();
  });
  EXPECT_EQ(visited, 2);
  EXPECT_EQ(info.error().message, "enough");
}

RC_GTEST_PROP(LogBatch, AnyBytesGiveRecordsOrAnError, (std::vector<std::uint8_t> noise, bool withMagic)) {
  std::string value(noise.begin(), noise.end());
  if (withMagic) {
    value.insert(0, std::string("WLOG\1\0\0\0", 8));
    value.resize(std::max<std::size_t>(value.size(), kBatchHeader));
    const auto size = static_cast<std::uint32_t>(value.size());
    std::memcpy(value.data() + 20, &size, 4);
  }
  (void)readLogBatch(value, [](const LogRecord&) { return okStatus(); });
}

}  // namespace
}  // namespace witan::kernel::log_batch_test
