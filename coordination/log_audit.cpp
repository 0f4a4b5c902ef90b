#include "coordination/log_audit.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/check.h"
#include "base/json_codec.h"
#include "base/json_cut.h"
#include "base/quote.h"
#include "coordination/coordinate.h"
#include "coordination/json_members.h"

namespace witan::kernel::joint {

namespace {

Result<json::value> parsedPart(const JsonPart& part, const std::string& path, std::size_t values) {
  if (part.values > values) return invalid(concat(path, ": more than ", values, " values"));
  auto value = parseJson(part.text, {.bytes = part.text.size()});
  if (!value.ok()) return invalid(path + ": " + value.error().message);
  return value;
}

// The members of a log, cut out of its text (base/json_cut.h). Borrows the text.
class LogParts {
 public:
  // Errors: no object; members that are missing, unknown or there twice; "epochs" is no list; a member (but epochs) of
  // more than `values` values.
  static Result<LogParts> cut(std::string_view log, std::size_t values) {
    LogParts parts;
    parts.log_ = log;
    parts.values_ = values;
    JsonCut cut(log);
    for (;;) {
      WITAN_TRY(part, cut.next());
      if (!part) break;
      const std::string_view name = part->key.empty() ? part->key : part->key.substr(1, part->key.size() - 2);
      const std::string path = memberPath("$", name);
      if (part->key.empty()) return invalid("$: expected an object, found a list");
      if (std::find(names().begin(), names().end(), name) == names().end()) return invalid(path + ": unknown member");
      if (!parts.members_.emplace(name, *part).second) return invalid(path + ": is there twice");
    }
    for (const std::string_view name : names())
      if (!parts.members_.contains(name)) return invalid(memberPath("$", name) + ": is missing");
    if (!parts.members_.at("epochs").text.starts_with('[')) return invalid("$.epochs: expected a list");
    return parts;
  }

  // The names of the members, in canonical order.
  static const std::vector<std::string_view>& names() {
    static const std::vector<std::string_view> names{"authority_artifacts",
                                                     "condition",
                                                     "epochs",
                                                     "experiment_result",
                                                     "final_state",
                                                     "initial_state",
                                                     "kernel_classification",
                                                     "terminal_classification"};
    return names;
  }

  Result<json::value> read(std::string_view name) const {
    return parsedPart(members_.at(name), memberPath("$", name), values_);
  }

  // The elements of "epochs"; a fresh walk.
  JsonCut epochs() const {
    const JsonPart& part = members_.at("epochs");
    return JsonCut(part.text, static_cast<std::size_t>(part.text.data() - log_.data()));
  }

  // One element.
  Result<json::value> readEpoch(const JsonPart& part, std::size_t number) const {
    return parsedPart(part, elementPath("$.epochs", number), values_);
  }

 private:
  std::string_view log_;
  std::size_t values_ = 0;
  std::map<std::string_view, JsonPart> members_;
};

// ---- a log by itself ----

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
  const bool isClass = said.is_string() && std::ranges::find(kClasses, said.get_string()) != kClasses.end();
  if (!isClass && !said.is_null())
    wrong.push_back("$.kernel_classification: is no class and not null");
  else if (said.is_null() ? found.has_value()
                          : said.get_string() != found.value_or("") && !seenInNoLog(std::string(said.get_string())))
    wrong.push_back("$.kernel_classification: the epochs show " + orNull(found) + ", the log says " +
                    canonicalJson(said));
  return wrong;
}

// ---- a log held against a run of its vector ----

std::string shortened(const json::value* value) {
  if (value == nullptr) return "nothing";
  const std::string text = canonicalJson(*value);
  return text.size() <= 80 ? text : inQuotes(text, 80);
}

using Difference = std::optional<std::string>;

// The first place where they differ, in canonical order; null stands for a value that is not there.
Difference between(const json::value* log, const json::value* run, const std::string& path) {
  if (log != nullptr && run != nullptr) {
    if (log->is_object() && run->is_object()) {
      std::set<std::string> names;
      for (const json::value* side : {log, run})
        for (const auto& member : side->get_object()) names.emplace(member.key());
      for (const std::string& name : names)
        if (Difference found = between(log->get_object().if_contains(name), run->get_object().if_contains(name),
                                       memberPath(path, name)))
          return found;
      return std::nullopt;
    }
    if (log->is_array() && run->is_array()) {
      const json::array &a = log->get_array(), &b = run->get_array();
      for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
        if (Difference found = between(a.if_contains(i), b.if_contains(i), elementPath(path, i))) return found;
      return std::nullopt;
    }
    if (canonicalJson(*log) == canonicalJson(*run)) return std::nullopt;
  }
  return path + ": the log says " + shortened(log) + ", a run of the vector " + shortened(run);
}

Result<Difference> betweenEpochs(const LogParts& log, const LogParts& run, std::uint64_t& epoch) {
  JsonCut left = log.epochs(), right = run.epochs();
  for (epoch = 0;; ++epoch) {
    WITAN_TRY(a, left.next());
    WITAN_TRY(b, right.next());
    if (!a && !b) return Difference();
    if (!a || !b)
      return Difference(elementPath("$.epochs", epoch) + ": is only in the " + (a ? "log" : "run of the vector"));
    if (a->text == b->text) continue;
    WITAN_TRY(logged, log.readEpoch(*a, epoch));
    WITAN_TRY(ran, run.readEpoch(*b, epoch));
    if (Difference found = between(&logged, &ran, elementPath("$.epochs", epoch))) return found;
  }
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

Result<std::optional<Finding>> compareWithRun(std::string_view text, const Setup& vector, LogLimits limits) {
  WITAN_TRY(log, LogParts::cut(text, limits.values));
  std::string told;
  coordinate(vector, [&](std::string_view piece) { told += piece; });
  const auto run = LogParts::cut(told, limits.values);
  WITAN_CHECK(run.ok(), "what coordinate() writes is a log");
  std::uint64_t epoch = 0;
  for (const std::string_view name : LogParts::names()) {
    Difference found;
    if (name == "epochs") {
      WITAN_SET(found, betweenEpochs(log, *run, epoch));
    } else {
      WITAN_TRY(logged, log.read(name));
      WITAN_TRY(ran, run->read(name));
      found = between(&logged, &ran, memberPath("$", name));
    }
    if (found) return std::optional(Finding{kIncomplete, epoch, *std::move(found)});
  }
  return std::optional<Finding>();
}

}  // namespace witan::kernel::joint
