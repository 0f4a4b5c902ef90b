// BaseTransfer: a new copy of a partition begins where another copy's log begins that was pruned, not with the first
// entry. Only where the domain has a retention (replica/core/placement.h) and this device need not keep every entry.
//
// B1  Two devices say what the copy begins with, and sign it: one that goes on from this base itself, and the
//     partition's owner, which has every entry.
// B2  The owner says what its log adds up to after some batch: states, operations, runs, notes, epochs, the place and
//     the digest of each batch, the tree (Partition::folded()). The new copy decides again each batch between the base
//     and there, and compares. Until then it is no copy: no other part of this device knows of it.
// B3  Where there is no such pair of devices, where one of them does not answer, and where the digests differ, the
//     whole log comes instead, as to every other new copy.
//
// Who may ask: devices that are to keep a copy. Bounds: one answer a round for each of them, of 1 MB or one row; an
// owner folds one partition a round, and each at most once a minute; a new copy takes no more than twice the bytes that
// the owner names, and waits ten minutes, and a second for each 100 KB of these.
//
// A part of Replica; the state, the engine and the exchange outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernel/ledger/pruned_log.h"
#include "replica/core/folded_log.h"
#include "replica/core/partition_host.h"
#include "replica/core/questions.h"
#include "replica/core/replica_state.h"
#include "replica/ownership/ownership_engine.h"
#include "store/prefix_store.h"

namespace witan::node {

class BaseTransfer {
 public:
  BaseTransfer(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership)
      : state_(state), ownership_(ownership) {}

  // Takes out what a crash left. Errors: of the store.
  Status open();
  // Answers peers, and takes each copy that begins one step on. Returns the partitions whose rows are complete: their
  // copies are to be opened. O(state and log of what is folded). Requires: as CopyPruning::round(). Errors: of the
  // store.
  Result<std::vector<std::string>> round(Now now);
  std::int64_t nextMs() const { return asked_.empty() && questions_.empty() && rows_.empty() ? nextMs_ : 0; }
  bool quiet() const;
  // Notes which copies begin so, before they ask for their logs. In each round, whether or not round() follows.
  void watch();

  void onAskFolded(const Peer& peer, const AskFolded& asked);
  void onFolded(const std::string& from, const Folded& folded);
  void onAskBase(const Peer& peer, AskBase asked);
  void onBase(const std::string& from, const Base& base);
  // Whether the batches are for a copy that begins.
  bool onPast(const std::string& from, const Past& past);

 private:
  enum class Step : std::uint8_t { choose, askOwner, rows, batches };
  struct Beginning {
    Step step = Step::choose;
    std::int64_t sinceMs = 0;  // when some peer's position was known; 0: none is
    std::string from, owner;   // whose base it is, and who says what it adds up to
    kernel::Epoch epoch;       // the owner's
    std::uint64_t base = 0;    // batches
    FoldedLog said;            // by the owner
    std::string after;         // the last key
    std::uint64_t bytes = 0;   // that came
    bool complete = false;     // all rows are in the store
    kernel::PrunedLog pruned;  // as the other one signed it
    std::unique_ptr<PartitionHost> copy;
    std::int64_t askedMs = 0;  // 0: what was asked is here
    int tries = 0;             // of one question
    int begun = 0;             // how often from the start
    std::string wrong;         // why it is given up; empty: it goes on
    bool differs = false;      // from what the owner says
  };
  // Of this device's own log.
  struct Folding {
    std::uint64_t batches = 0;
    Hash chain{};  // of them
    std::int64_t ms = 0;
    std::string note;
  };

  bool mayBegin(const PartitionHost& host) const;
  store::PrefixStore rowsOf(std::string_view place, std::string_view partition) const;
  bool mayAsk(const Peer& peer, std::string_view partition) const;
  void answer(Peer& peer, const AskBase& asked);
  void answerFolded(Now now);

  void choose(Beginning& one, const PartitionHost& host, Now now);
  // Whether the question goes out, first or again.
  bool mayAskAgain(Beginning& one, std::string_view device, Now now);
  Status startAgain(const std::string& id, Beginning& one);
  Result<bool> step(const std::string& id, Beginning& one, PartitionHost& host, Now now);
  std::uint64_t mostBytes(const Beginning& one) const;
  bool fits(const Beginning& one, std::string_view key) const;
  // Opens what came, if it is what its device signed. Errors: corrupt, it is not.
  Result<std::unique_ptr<PartitionHost>> openBegun(const std::string& id, Beginning& one,
                                                   const PartitionHost& host) const;
  void takeBatch(Beginning& one, const std::string& id, const PastBatch& batch);
  Status place(const std::string& id, const Beginning& one, Now now);
  Status end(const std::string& id);
  void giveUp(const std::string& id, const Beginning& one);

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  std::map<std::string, Beginning, std::less<>> begun_;
  std::set<std::string, std::less<>> givenUp_;  // the whole log comes
  Questions<AskBase> asked_;
  std::map<std::string, std::map<std::string, std::uint64_t, std::less<>>, std::less<>> questions_;  // by partition
  std::map<std::string, Folding, std::less<>> foldings_;
  store::WriteBatch rows_;  // of copies that begin, until the next round
  std::int64_t nextMs_ = 0;
};

}  // namespace witan::node
