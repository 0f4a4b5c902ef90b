#include "coordination/audit_text.h"

#include <algorithm>
#include <array>

#include "base/json_codec.h"
#include "coordination/log_parts.h"

namespace witan::kernel::joint {

namespace {

constexpr std::array kClasses{kImplicitArbitration,   kImplicitPriority,    kAuthorityTheft, kConstraintProbing,
                              kUnauthorizedExecution, kTemporalAggregation, kInfiniteRetry,  kNondeterministic,
                              kNonterminating,        kIncomplete};

// Only who ran the vector can know these.
bool seenInNoLog(const std::string& word) { return word == kNondeterministic || word == kNonterminating; }

// What is wrong with the words that the log says of itself, in the order of its members.
Result<std::vector<std::string>> wrongWords(const LogParts& log, const std::optional<std::string>& found) {
  std::vector<std::string> wrong;
  std::string word;
  WITAN_TRY(condition, log.read("condition"));
  if (const Status text = readText(condition, word, "$.condition"); !text.ok()) wrong.push_back(text.error().message);
  WITAN_TRY(result, log.read("experiment_result"));
  if (result != "PASS" && result != "FAIL") wrong.push_back("$.experiment_result: is neither PASS nor FAIL");
  WITAN_TRY(said, log.read("kernel_classification"));
  const bool isClass =
      said.is_string() && std::find(kClasses.begin(), kClasses.end(), said.get_string()) != kClasses.end();
  if (!isClass && !said.is_null())
    wrong.push_back("$.kernel_classification: is no class and not null");
  else if (said.is_null() ? found.has_value()
                          : said.get_string() != found.value_or("") && !seenInNoLog(std::string(said.get_string())))
    wrong.push_back("$.kernel_classification: the epochs show " + orNull(found) + ", the log says " +
                    canonicalJson(said));
  return wrong;
}

}  // namespace

Result<LogAudit> auditLog(std::string_view text, LogLimits limits) {
  WITAN_TRY(log, LogParts::cut(text, limits.values));
  WITAN_TRY(authorities, log.read("authority_artifacts"));
  WITAN_TRY(initial, log.read("initial_state"));
  Auditor auditor(authorities, initial);
  JsonCut epochs = log.epochs();
  for (;;) {
    WITAN_TRY(part, epochs.next());
    if (!part) break;
    WITAN_TRY(epoch, log.readEpoch(*part, epochs.count() - 1));
    auditor.epoch(epoch);
  }
  WITAN_TRY(terminal, log.read("terminal_classification"));
  WITAN_TRY(final, log.read("final_state"));
  auditor.end(terminal, final);
  LogAudit audit{auditor.kernelClass(), auditor.findings()};
  WITAN_TRY(wrong, wrongWords(log, audit.kernelClass));
  const std::uint64_t last = epochs.count() == 0 ? 0 : epochs.count() - 1;
  for (std::string& detail : wrong) audit.findings.push_back({kIncomplete, last, std::move(detail)});
  if (!audit.kernelClass && !wrong.empty()) audit.kernelClass = kIncomplete;
  return audit;
}

}  // namespace witan::kernel::joint
