// SagaRows: the rows of sagas in a device's agents database, beside the replicated records and never replicated.
//
//   saga/open/<operation>   under way: all that a start has to read
//   saga/held/<operation>   waits for a person: out of the way, however many there are
//   saga/done/<place>       the last few that ended, for people to look at: the n-th to end is put at n mod `keepDone`,
//                           over the one that goes
//
// Changes go into the database's pending batch. Not thread-safe. The database outlives it.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "replication/database.h"
#include "saga/saga_row.h"

namespace witan::saga {

class SagaRows {
 public:
  // Of those that ended, the last `keepDone` stay.
  SagaRows(replication::Database& agents, std::uint32_t keepDone) : agents_(agents), keepDone_(keepDone) {}

  using Visitor = std::function<void(SagaRow&&)>;
  // In order of the operations. Errors: corrupt, naming the row. O(rows).
  Status visitOpen(const Visitor& visit) const;
  Status visitHeld(const Visitor& visit) const;
  // By the time they ended.
  Status visitDone(const Visitor& visit) const;
  // Wherever it is. Errors: notFound; corrupt.
  Result<SagaRow> find(const OperationId& operation);
  Result<std::optional<SagaRow>> held(const OperationId& operation);
  Result<std::optional<SagaRow>> open(const OperationId& operation) const;

  void putOpen(const SagaRow& row);
  // Moves it from or to the open ones.
  void hold(const SagaRow& row);
  void release(const SagaRow& row);
  // Reads what end() and find() need. Once is enough. O(rows that ended).
  Status prepare();
  // Takes it out of the open ones; gives it its number. Requires: prepare().
  void end(SagaRow& row);
  // One that ended was undone since. Nothing if it is not kept any more. Requires: prepare().
  void noteUndone(const OperationId& operation, std::int64_t nowMs);

 private:
  // An operation's id is a digest: eight of its bytes are a hash.
  struct ByBytes {
    std::size_t operator()(const Hash& hash) const noexcept {
      std::size_t word = 0;
      std::memcpy(&word, hash.data(), sizeof word);
      return word;
    }
  };

  Status visit(std::string_view prefix, const Visitor& visit) const;

  replication::Database& agents_;
  const std::uint32_t keepDone_;
  std::optional<bool> anyHeld_;  // false: none is held, which spares each beginning saga a read of the store
  bool prepared_ = false;
  struct Done {
    Hash operation;
    std::uint64_t place;
  };
  void forget(std::map<std::uint64_t, Done>::iterator done);

  std::map<std::uint64_t, Done> done_;                         // by number
  std::map<std::uint64_t, std::uint64_t> numberAt_;            // by place
  std::unordered_map<Hash, std::uint64_t, ByBytes> numberOf_;  // by operation; only ever looked up
};

}  // namespace witan::saga
