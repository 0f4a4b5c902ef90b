// Auditor: was a run of joint admissibility what it claims to be? Reads the log and nothing else, epoch by epoch, and
// recomputes what should have been; there is an auditor for each class of failure (docs/coordination.md says what each
// means, which fault makes it fire, and which test shows it).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordination/judge.h"

namespace witan::kernel::joint {

// Classes of kernel failures and of invalid runs (seed 001 and its frozen tokens).
inline constexpr const char* kImplicitArbitration = "IX2_FAIL / IMPLICIT_ARBITRATION";
inline constexpr const char* kImplicitPriority = "IX2_FAIL / IMPLICIT_PRIORITY";
inline constexpr const char* kAuthorityTheft = "IX2_FAIL / AUTHORITY_THEFT";
inline constexpr const char* kConstraintProbing = "IX2_FAIL / CONSTRAINT_PROBING";
inline constexpr const char* kUnauthorizedExecution = "IX2_FAIL / UNAUTHORIZED_EXECUTION";
inline constexpr const char* kTemporalAggregation = "IX2_FAIL / TEMPORAL_AGGREGATION";
inline constexpr const char* kInfiniteRetry = "IX2_FAIL / INFINITE_RETRY";
inline constexpr const char* kNondeterministic = "INVALID_RUN / NONDETERMINISTIC_EXECUTION";
inline constexpr const char* kNonterminating = "INVALID_RUN / NONTERMINATING_CONDITION";
inline constexpr const char* kIncomplete = "INVALID_RUN / INSTRUMENTATION_INCOMPLETE";

struct Finding {
  std::string kernelClass;
  std::uint64_t epoch = 0;
  std::string detail;
};

class Auditor {
 public:
  // From the head of the log; what cannot be read is a finding.
  Auditor(const json::value& authorities, const json::value& initialState);

  // One element of "epochs", in order.
  void epoch(const json::value& epoch);
  // After the last: the class that the log gives the run, null or a word.
  void end(const json::value& terminal, const json::value& finalState);

  // In order of epochs.
  const std::vector<Finding>& findings() const { return findings_; }
  // The class of the run: that of the first epoch with a finding, a kernel's failure before an invalid run.
  std::optional<std::string> kernelClass() const;

 private:
  struct Case;  // one epoch with what should have come of it
  struct Memory {
    std::string outcome, action, scope;  // JSON of what the agent has to be told
  };

  void report(const char* kernelClass, std::string detail);
  void auditArbitration(const Case& c);
  void auditPriority(const Case& c);
  void auditTheft(const Case& c);
  void auditUnauthorized(const Case& c);
  void auditTemporal(const Case& c);
  void auditProbing(const Case& c);
  void auditRetry(const Case& c);
  void auditInstruments(const Case& c);
  void auditAttendance(const Case& c);
  void remember(const Case& c);
  bool refusedBefore(const Case& c, const LoggedAction& action, const Judged& judged) const;

  std::optional<Judge> judge_;
  World world_;
  std::string worldText_, messages_ = "[]";
  std::uint64_t epochs_ = 0;
  std::set<std::string> agents_, active_;
  std::map<std::string, Memory> memories_;                 // by agent
  std::set<std::pair<std::string, std::string>> refused_;  // requests and their circumstances
  std::uint64_t fruitless_ = 0;
  std::string terminal_ = "null";  // what the epochs so far show, as JSON
  bool ended_ = false;             // by a class that ends a run
  std::vector<Finding> findings_;
};

}  // namespace witan::kernel::joint
