// A whole run of joint admissibility: made twice, compared, audited, and told as one canonical JSON object.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "coordination/audit.h"
#include "coordination/run.h"

namespace witan::kernel::joint {

struct Verdict {
  std::uint64_t epochs = 0;
  std::string finalState;               // canonical JSON
  std::optional<std::string> terminal;  // STATE_DEADLOCK, ...
  std::optional<std::string> kernel;    // IX2_FAIL / ... or INVALID_RUN / ...
  bool pass = false;                    // experiment_result
  std::string why;                      // of a result that is not PASS
  std::vector<Finding> findings;
  Hash digest{};  // of the object
};

// Where the object goes, in pieces and in order.
using LogSink = std::function<void(std::string_view)>;

// The object of docs/coordination.md, without a line end. Two runs of the setup step side by side and have to write the
// same bytes; the auditor reads what was written. `earlierRuns` and `deciders` as in Run. O(epochs * agents * keys).
Verdict coordinate(const Setup& setup, const LogSink& sink, std::uint32_t earlierRuns = 0,
                   const Deciders& deciders = {});

// The class that the auditors must find for an injected fault; none without one.
std::optional<std::string> dueKernelClass(Injection injection);

}  // namespace witan::kernel::joint
