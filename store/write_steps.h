// WriteSteps: counts the steps of a crashable store and strikes with the faults that were armed. For the
// implementations of store/crashable_store.h, which has the words; to be used under their mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/crashable_store.h"

namespace witan::store {

class WriteSteps {
 public:
  // `what` is the store in error messages.
  explicit WriteSteps(std::string what) : what_(std::move(what)) {}

  // One write step; `effect` returns a Status, and a failure of its own closes the store too (S5).
  template <class Effect>
  Status step(const char* name, Effect effect) {
    if (closed_) return *closed_;
    if (!strikes(1)) {
      ++writeSteps_;
      return note(effect());
    }
    const std::uint64_t n = writeSteps_++;
    if (full_) return close(name, n, "disk full: no space left", "free some space, then reopen the store");
    const bool crashes = crash_ && crash_->at == n;
    if ((crashes ? crash_ : fail_)->moment == Moment::after) WITAN_DO(note(effect()));
    powerLost_ = crashes;
    return close(name, n, crashes ? "the power was lost" : "an injected fault", "reopen the store");
  }

  // `steps` steps at once that nothing strikes. Requires: !strikes(steps), and the store is not closed.
  void pass(std::uint64_t steps) { writeSteps_ += steps; }
  bool strikes(std::uint64_t steps) const {
    const auto within = [&](const std::optional<Fault>& fault) { return fault && fault->at - writeSteps_ < steps; };
    return full_ || within(fail_) || within(crash_);
  }

  Status countRead() {
    if (powerLost_) return *closed_;
    const std::uint64_t n = reads_++;
    if (failRead_ != n) return okStatus();
    failRead_.reset();
    return ioFailed("read " + std::to_string(n) + " of " + what_ + " failed (an injected fault)");
  }

  void failAt(std::uint64_t n, Moment moment) { fail_ = Fault{writeSteps_ + n, moment}; }
  void crashAt(std::uint64_t n, Moment moment) { crash_ = Fault{writeSteps_ + n, moment}; }
  void failReadAt(std::uint64_t n) { failRead_ = reads_ + n; }
  void setFull(bool full) { full_ = full; }
  bool full() const { return full_; }

  // The store could not be opened: everything fails with `error`, reads too.
  void breakDown(Error error) {
    closed_ = std::move(error);
    powerLost_ = true;
  }
  // The store is open again.
  void reset() {
    closed_.reset();
    powerLost_ = false;
    fail_.reset();
    crash_.reset();
    failRead_.reset();
  }

  const std::optional<Error>& closed() const { return closed_; }
  std::uint64_t writeSteps() const { return writeSteps_; }
  std::uint64_t reads() const { return reads_; }

 private:
  struct Fault {
    std::uint64_t at;
    Moment moment;
  };

  Status note(Status status) {
    if (!status.ok()) closed_ = status.error();
    return status;
  }
  Status close(const char* name, std::uint64_t n, const char* why, const char* hint) {
    closed_ = ioFailed(
        what_ + "'s " + name + " (write step " + std::to_string(n) + ") failed (" + std::string(why) + ")", hint);
    return *closed_;
  }

  const std::string what_;
  std::optional<Error> closed_;  // S5
  bool powerLost_ = false;
  bool full_ = false;
  std::optional<Fault> fail_, crash_;
  std::optional<std::uint64_t> failRead_;
  std::uint64_t writeSteps_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace witan::store
