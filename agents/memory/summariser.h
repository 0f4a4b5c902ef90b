// Summariser: what turns the beginning of a thread into one text. Its contract:
//
//   pure       the same request gives the same text: no clock, no chance, nothing kept;
//   versioned  version() changes whenever the text for any request may change; it is part of the summary id (seed 003,
//              section 8), so texts of two contracts are two summaries, never a conflict;
//   bounded    at most kMaxSummaryBytes of UTF-8.
//
// One that cannot keep the first (a model) is allowed: F4 settles which of several texts counts. It need not answer at
// once either: the compactor hands out requests and takes answers (agents/memory/compactor.h).
#pragma once

#include <string>
#include <vector>

#include "base/identity.h"
#include "base/result.h"
#include "replication/records/records.h"

namespace witan::agents {

inline constexpr std::size_t kMaxSummaryBytes = 64 * 1024;

struct SummaryRequest {
  SummaryId id;
  std::string agentId;
  std::string threadId;
  std::string previous;  // the text of the summary before, which the new one takes the place of; may be empty
  struct Line {
    replication::MessageKind kind = replication::MessageKind::user;
    std::string content;
  };
  std::vector<Line> messages;
};

class Summariser {
 public:
  virtual ~Summariser() = default;
  virtual std::string version() const = 0;
  virtual Result<std::string> summarise(const SummaryRequest& request) const = 0;
};

// The built-in one: the first words of what was said, newest kept longest. Extracts, invents nothing.
class ExtractSummariser final : public Summariser {
 public:
  explicit ExtractSummariser(std::size_t bytes = 4096) : bytes_(bytes) {}
  std::string version() const override { return "extract-1/" + std::to_string(bytes_); }
  Result<std::string> summarise(const SummaryRequest& request) const override;

 private:
  std::size_t bytes_;
};

}  // namespace witan::agents
