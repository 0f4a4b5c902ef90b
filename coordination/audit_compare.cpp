// A log held against a run of its vector.
#include <set>

#include "base/check.h"
#include "base/quote.h"
#include "coordination/audit_text.h"
#include "coordination/coordinate.h"
#include "coordination/json_members.h"
#include "coordination/log_parts.h"

namespace witan::kernel::joint {

namespace {

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
      WITAN_TRY(difference, betweenEpochs(log, *run, epoch));
      found = difference;
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
