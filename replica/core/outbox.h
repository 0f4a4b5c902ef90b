// Outbox: requests that this device has accepted and that their owners have not answered yet.
//
// Durable (rows "o/" + operation id of the ledgers' store): what was accepted is answered once, however often the
// device or the owner crashes, since every try carries the same operation id. What people ask is mostly answered sooner
// than a disk is worth: it gets its row only if it has waited for kUnsavedMs, and until then nobody was told that it
// waits here. Tries are spaced by exponential backoff with jitter that derives from the operation id and the number of
// the try, so nothing is drawn. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replica/core/messages.h"
#include "store/store.h"

namespace witan::node {

inline constexpr std::size_t kMaxOutbox = 10'000;
inline constexpr std::int64_t kFirstRetryMs = 1'000;
inline constexpr std::int64_t kLastRetryMs = 60'000;
inline constexpr std::int64_t kParkMs = 15 * 60'000;
inline constexpr std::int64_t kUnsavedMs = 250;

inline constexpr std::size_t kMaxAsked = 8;

// When a request gets its row: at once, or if nobody has answered it for kUnsavedMs.
enum class Keep : std::uint8_t { now, ifLate };

class Outbox {
 public:
  struct Waiting {
    Request request;
    std::int64_t dueMs = 0;  // of the next try
    unsigned tries = 0;
    std::uint64_t place = 0;    // in the order of arrival: of what is due at once, what came first goes first
    bool saved = false;         // it has its row
    bool reportFreeze = false;  // who asked is told if its entity is frozen; else it outlasts that
    // The devices that this request was sent to since the start, the latest last: an answer counts from these alone. At
    // most kMaxAsked; the oldest are forgotten.
    std::vector<std::string> asked;
    std::string partition;  // of the request, once somebody has asked for it
  };

  Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Errors: corrupt, naming the row.
  Status load(const store::Reader& store);

  // Accepts a request; its row goes to `out`, now or with saveLate(). The same one again is fine, and is kept as the
  // more careful of the two says. Errors: full; the id names another request.
  Result<Waiting*> accept(const Request& request, Keep keep, std::int64_t nowMs, store::WriteBatch& out);
  // The rows of what has waited for long enough, or of everything.
  void saveLate(std::int64_t nowMs, store::WriteBatch& out);
  void saveAll(store::WriteBatch& out) { saveLate(std::numeric_limits<std::int64_t>::max(), out); }
  // The owner has answered. Whether it was waiting.
  bool settle(std::string_view operationId, store::WriteBatch& out);

  Waiting* find(std::string_view operationId);
  // By operation id.
  const std::map<std::string, Waiting, std::less<>>& all() const { return waiting_; }
  // Visits what is due now, by due time, then arrival (after a restart: by operation id). What a visit settles or puts
  // off is not visited any more; what it hurries waits for the next call.
  void visitDue(std::int64_t nowMs, const std::function<void(Waiting&)>& visit);
  // Notes a try and when the next is due.
  void tried(Waiting& waiting, std::int64_t nowMs);
  // Notes that it was sent to a device.
  void sentTo(Waiting& waiting, const std::string& device);
  // There is no way to the owner: nothing was tried. Due when expedite() says so, or after kParkMs.
  void park(Waiting& waiting, std::int64_t nowMs);
  void tryAt(Waiting& waiting, std::int64_t ms);
  // Everything is due now: the way to some owner has changed.
  void expedite(std::int64_t nowMs);
  // The earliest time at which something is due, or to be saved; none if nothing waits.
  std::optional<std::int64_t> dueMs() const;
  std::size_t size() const { return waiting_.size(); }

 private:
  using Due = std::pair<std::int64_t, std::uint64_t>;  // time, place
  static void save(Waiting& waiting, store::WriteBatch& out);

  std::map<std::string, Waiting, std::less<>> waiting_;
  std::map<Due, Waiting*> due_;                            // the same by due time
  std::deque<std::pair<std::int64_t, std::string>> late_;  // of what had no row, when it gets one
  std::uint64_t nextPlace_ = 0;
};

}  // namespace witan::node
