// RangeRepair: makes two copies of a space equal although their vectors cannot tell the difference, by comparing digests
// of ranges of hashes (range-based set reconciliation). The asking side; answers are pure functions of a space.
//
// When: the digests differ at equal vectors (an alarm: a bug, or a disk that lost something), or this device's store
// went back in time (adopt). Three to four round trips at a million records.
//
// Sans-I/O: frames in, frames out. The space outlives it. Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replication/space_sync.h"

namespace witan::replication {

enum class RepairMode {
  unite,  // both send what the other lacks; nothing is taken away
  adopt,  // what the other's vector covers and the other lacks was superseded while this store was away: dropped
};

// Records as ITEMS frames, cut between versions: with the gate open each version stands for itself.
class ItemFrames {
 public:
  ItemFrames(SpaceSync& sync, std::uint16_t space, std::string& out, WordWriter& words)
      : sync_(sync), space_(space), out_(out), words_(words) {}
  Status add(const Record& record);
  // The last frame. Without rows none, unless it ends an answer.
  void finish(bool evenIfEmpty = false);

 private:
  void send(bool more);

  SpaceSync& sync_;
  const std::uint16_t space_;
  std::string& out_;
  WordWriter& words_;
  std::string rows_;
  bool sent_ = false;
};

class RangeRepair {
 public:
  RangeRepair(SpaceSync& sync, std::uint16_t space, RepairMode mode) : sync_(sync), space_(space), mode_(mode) {}

  RepairMode mode() const { return mode_; }
  // The first question: everything.
  void start(std::string& out, WordWriter& words);
  // The end of an answer; the parts that differ are asked for again.
  Status onRanges(const Ranges& answer, std::string& out, WordWriter& words);
  Status onList(const RangeList& list, std::string& out, WordWriter& words);
  // After the rows of ITEMS were applied.
  void onItems(bool more);
  bool done() const { return outstanding_ == 0; }

 private:
  Status compare(const RangeList& list, const VersionVector& theirs, std::vector<std::uint64_t>& wanted,
                 ItemFrames& mine);
  void dropCovered(Record& record, const VersionVector& theirs);

  SpaceSync& sync_;
  const std::uint16_t space_;
  const RepairMode mode_;
  std::size_t outstanding_ = 0;  // questions and needs without an answer
};

// --- the answering side

// Appends the LISTs and the closing RANGES.
Status answerRanges(SpaceSync& sync, std::uint16_t space, const Ranges& question, std::string& out, WordWriter& words);
// Appends ITEMS.
Status answerNeed(SpaceSync& sync, std::uint16_t space, const Need& need, std::string& out, WordWriter& words);

}  // namespace witan::replication
