// HolderQuestions: questions about partitions that only others keep copies of, each put to one holder after the
// other until an answer holds. Sans-I/O: the caller sends, checks and keeps time. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "node/ledgers/held_entry.h"

namespace witan::node {

class HolderQuestions {
 public:
  static constexpr std::size_t kOpen = 64;           // at once
  static constexpr std::int64_t kAnswerMs = 3'000;   // then the next holder is asked
  static constexpr std::int64_t kGiveUpMs = 10'000;  // of the whole question
  using Done = std::function<void(const Result<HeldEntry>&)>;
  // Whether the device is linked: the question went to it.
  using Send = std::function<bool(const std::string& device, const EntryAsk&)>;
  using Check = std::function<Result<HeldEntry>(const EntryAsk&, const EntryTold&, const LogHead* known)>;

  // `holders`: whom to ask, in this order. `done` is called once, by one of the functions below. Errors: unavailable,
  // kOpen questions wait.
  Status ask(EntryAsk question, std::vector<std::string> holders, Now now, Done done);
  // Asks whom it is time to ask, and gives up what no holder answers.
  void work(Now now, const Send& send);
  // An answer to no open question is dropped.
  void told(const std::string& device, const EntryTold& told, const Check& check);
  // All are refused: the node stops.
  void stop();
  bool idle() const { return open_.empty(); }

 private:
  struct Open {
    EntryAsk question;
    std::vector<std::string> holders;
    std::int64_t sinceMs = 0;
    Done done;
    std::size_t at = 0;        // whom it is put to
    std::int64_t sentMs = -1;  // -1: it is not
    std::size_t answers = 0;   // that did not hold
    Error why;                 // of the last
  };
  // Whether it is over.
  static bool goesOn(Open& open, Now now, const Send& send);

  std::map<std::uint64_t, Open> open_;  // by EntryAsk::id
  std::uint64_t next_ = 1;
  std::map<std::string, LogHead> heads_;  // the last that held, by partition
};

}  // namespace witan::node
