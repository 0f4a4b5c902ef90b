// Seals: what a client carries from a question to its answer and may not change: bound, expiring, used once.
//
// A state is content, a number and an expiry under an HMAC that also covers the binding: who asked what. Only numbers
// that are out and unused are taken, so a state of before a restart is refused. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/json.h"
#include "base/seams.h"

namespace witan::mcp {

struct SealLimits {
  std::int64_t lifeMs = 15 * 60 * 1000;
  std::size_t out = 1024;  // states; the oldest expires early
};

class Seals {
 public:
  explicit Seals(Random& random, SealLimits limits = {});

  std::string seal(json::object content, std::string_view binding, std::int64_t nowMs);
  // The content, once. Errors: unauthorised; the state is of another server or binding, changed, expired or used.
  Result<json::object> open(std::string_view state, std::string_view binding, std::int64_t nowMs);

 private:
  std::string proofOf(std::string_view body, std::string_view binding) const;

  std::string key_;
  const SealLimits limits_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::int64_t> out_;  // expiries
};

}  // namespace witan::mcp
