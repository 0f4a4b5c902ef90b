// What an invariant says of a state (seed 000, Def. A.12): pass, reject(message) or escalate(message).
#pragma once

#include <string>
#include <utility>

#include "base/reflect.h"

namespace witan::kernel {

// notEvaluated appears in ledger entries only: the last verdict stands because the write set misses the footprint (F8).
WITAN_ENUM(InvResult, notEvaluated, pass, reject, escalate)

class Verdict {
 public:
  static Verdict pass() { return {}; }
  static Verdict reject(std::string message) { return {InvResult::reject, std::move(message)}; }
  static Verdict escalate(std::string message) { return {InvResult::escalate, std::move(message)}; }

  Verdict() = default;
  InvResult result() const { return result_; }
  bool passed() const { return result_ == InvResult::pass; }
  const std::string& message() const { return message_; }
  std::string takeMessage() && { return std::move(message_); }

  friend bool operator==(const Verdict&, const Verdict&) = default;

 private:
  Verdict(InvResult result, std::string message) : result_(result), message_(std::move(message)) {}

  InvResult result_ = InvResult::pass;
  std::string message_;
};

// Thrown by a mutation that meets input it cannot apply; the kernel turns it into a KERNEL_INTEGRITY rejection.
struct Fault {
  std::string message;
};

}  // namespace witan::kernel
