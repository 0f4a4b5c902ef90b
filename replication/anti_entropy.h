// AntiEntropy: makes two copies of a space equal although their vectors cannot tell the difference, by comparing
// digests of ranges of hashes (range-based set reconciliation). The asking side; answers are pure functions of a space.
//
// When: the digests differ at equal vectors (an alarm: a bug, or a disk that lost something), or this device's store
// went back in time (adopt). Three to four round trips at a million records.
//
// Sans-I/O: frames in, frames out. The space outlives it. Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replication/space_sync.h"

namespace witan::replication {

enum class RepairMode {
  unite,  // both send what the other lacks; nothing is taken away
  // What the other's vector covers and the other lacks was superseded while this store was away, or written under
  // counters that this device had used before: dropped. So events of this device are the other's, too, from the first
  // such counter on. What is in records that the other lists goes when the other's item comes or its answer ends, not
  // before: a change made meanwhile replaces what it has seen only, and a third device's copy may be taken over first.
  adopt,
};

// Rows of the agents' database: "tookBack/{space}|{kind}|{key}", a record of this device's own of a guarded kind, of
// which `adopt` dropped a version. What it says may have gone back. For who knows what follows from that, and erases
// them then.
inline constexpr std::string_view kTookBackRow = "tookBack/";
std::string tookBackRow(std::string_view space, Kind kind, std::string_view key);

// Records to be sent whole, as ITEMS, when there is room: what the peer asked for with NEED, and what it lacks.
class ItemsQueue {
 public:
  // Errors: the bytes of no hashes, or more than the peer can honestly ask for at once.
  Status add(const Need& need);
  // Not asked for: `more` stays true in these ITEMS, they end no answer.
  void push(std::uint64_t hash);
  bool empty() const { return lots_.empty(); }
  // Appends ITEMS until nothing is left or `out` has `limit` bytes.
  Status send(SpaceSync& sync, std::uint16_t space, std::string& out, WordWriter& words, std::size_t limit);

 private:
  struct Lot {
    std::string hashes;
    bool asked = false;
  };
  std::deque<Lot> lots_;
  std::size_t at_ = 0;     // in the first one's hashes
  std::size_t bytes_ = 0;  // of all hashes
};

class AntiEntropy {
 public:
  // `tookBack`: hears of each record that loses a version of this device's own.
  AntiEntropy(SpaceSync& sync, std::uint16_t space, RepairMode mode, std::function<void(const Record&)> tookBack)
      : sync_(sync), space_(space), mode_(mode), tookBack_(std::move(tookBack)), adoption_{&sync, sync.peerClock()} {
    if (mode_ == RepairMode::adopt) sync_.space().beginAdoption(adoption_);
  }
  ~AntiEntropy() { sync_.space().endAdoption(adoption_); }
  AntiEntropy(const AntiEntropy&) = delete;
  AntiEntropy& operator=(const AntiEntropy&) = delete;

  RepairMode mode() const { return mode_; }
  // The first question: everything.
  void start(std::string& out, WordWriter& words);
  // The end of an answer; the parts that differ are asked for again.
  Status onRanges(const Ranges& answer, std::string& out, WordWriter& words);
  // `mine`: where records go that the peer lacks.
  Status onList(const RangeList& list, ItemsQueue& mine, std::string& out, WordWriter& words);
  // Before a row of ITEMS is applied, unless `outrun`.
  void onItem(const Incoming& item);
  // After the rows of ITEMS were applied. `outrun`: another peer's copy was taken over meanwhile, so what is held
  // stays.
  void onItems(bool more, bool outrun);
  bool done() const { return outstanding_ == 0; }
  // Whether to ask again from the start: since it began, or said so last, another session brought what the other had.
  // A member that goes on sending old versions holds a comparison up as long as it does.
  bool disturbed() { return std::exchange(adoption_.disturbed, false); }

 private:
  struct Doubted {  // a version of this writer that the other covers, until it is known whether the other holds it
    std::uint64_t hash = 0;
    WriterIndex writer = 0;
    Seq seq = 0;
    auto operator<=>(const Doubted&) const = default;
  };
  using Doubts = std::set<Doubted>;

  Status compare(const RangeList& list, const VersionVector& theirs, std::vector<std::uint64_t>& wanted, Doubts& doubts,
                 ItemsQueue& mine);
  bool isOwn(const Held& held) const;  // of this device
  void dropCovered(Record& record, const VersionVector& theirs, Doubts* doubts);
  void drop(const Doubted& one, const std::function<bool(const Held&)>& gone);
  void wantEvents(std::vector<std::uint64_t>& wanted);

  SpaceSync& sync_;
  const std::uint16_t space_;
  const RepairMode mode_;
  const std::function<void(const Record&)> tookBack_;
  Space::Adoption adoption_;
  struct Events {   // of a writer of this device
    Seq from = 0;   // on, they are the other's
    Seq asked = 0;  // so far; 0: none
  };
  std::map<WriterIndex, Events> events_;
  std::map<std::uint64_t, Doubts> doubts_;  // by the number of the NEED that asks for their records
  Doubts doubted_;                          // all of them: each is in one NEED, however often a LIST names its record
  std::uint64_t needs_ = 0, answered_ = 0;
  std::size_t outstanding_ = 0;  // questions and needs without an answer
};

// --- the answering side

// Appends the LISTs and the closing RANGES. What would make too long an answer is answered by its digest: it is asked
// for again.
Status answerRanges(SpaceSync& sync, std::uint16_t space, const Ranges& question, std::string& out, WordWriter& words);

}  // namespace witan::replication
