#include "lab/conformance/laws.h"

#include <algorithm>
#include <set>

#include "base/json_codec.h"

namespace witan::agents::conformance {

using episode::Entry;
using episode::EntryKind;
using episode::Locale;

namespace {

std::string textAt(const json::object& body, std::string_view name) {
  const json::value* found = body.if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::int64_t numberAt(const json::object& body, std::string_view name) {
  const json::value* found = body.if_contains(name);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

// Allowed as it stands, or with less; an answer of a person is judged in the same way.
bool passed(const Entry& entry) {
  const json::value* verdict = entry.body.if_contains("verdict");
  if (verdict == nullptr || !verdict->is_object()) return false;
  const std::string kind = textAt(verdict->get_object(), "kind");
  return kind == "allow" || kind == "redact";
}

bool announces(const Entry& entry) {
  return entry.kind == EntryKind::look || entry.kind == EntryKind::intended || entry.kind == EntryKind::answer;
}

Result<std::vector<Entry>> entriesOf(const std::vector<std::string>& transcript) {
  std::vector<Entry> out;
  for (const std::string& content : transcript) {
    WITAN_TRY(entry, episode::parseEntry(content));
    out.push_back(std::move(entry));
  }
  if (out.empty() || out.front().kind != EntryKind::begin) return invalid("a transcript that does not begin");
  return out;
}

template <class Visit>
Status forEachTranscript(const ToyDisk& disk, Visit visit) {
  for (const auto& [device, transcript] : disk.transcripts) {
    if (transcript.empty()) continue;  // died before its first entry
    WITAN_TRY(entries, entriesOf(transcript));
    if (const Status status = visit(device, entries); !status.ok())
      return invalid(device + ": " + status.error().message);
  }
  return okStatus();
}

template <class T>
Result<T> memberOf(const Entry& entry, std::string_view name) {
  T value;
  const json::value* found = entry.body.if_contains(name);
  if (found == nullptr) return invalid(concat("\"", name, "\" is missing"));
  WITAN_DO(readJson(*found, value, name));
  return value;
}

// Spent up to now, by what the entries say.
Status spendOn(const Entry& entry, std::map<std::string, Budget>& costs, Budget& spent) {
  if (entry.kind == EntryKind::look || entry.kind == EntryKind::intended) {
    const json::value* verdict = entry.body.if_contains("verdict");
    if (verdict == nullptr || !verdict->is_object()) return invalid("a call without a verdict");
    if (textAt(verdict->get_object(), "kind") == "deny") return okStatus();
    const Budget cost{0, numberAt(entry.body, "tokens"), numberAt(entry.body, "seconds")};
    if (cost.tokens < 0 || cost.seconds < 0) return invalid("a negative cost gives something back");
    costs[textAt(entry.body, "span")] = cost;
    spent.tokens += cost.tokens;
    spent.seconds += cost.seconds;
  }
  return okStatus();
}

// What an answer did cost beyond the estimate, as far as there was anything left.
void overrun(const Entry& entry, const std::map<std::string, Budget>& costs, const Budget& limit, Budget& spent) {
  if (entry.kind != EntryKind::observation && entry.kind != EntryKind::outcome) return;
  const auto cost = costs.find(textAt(entry.body, "span"));
  if (cost == costs.end()) return;
  const auto more = [](std::int64_t actual, std::int64_t estimate, std::int64_t left) {
    return std::clamp<std::int64_t>(actual - estimate, 0, std::max<std::int64_t>(left, 0));
  };
  spent.tokens += more(numberAt(entry.body, "tokens"), cost->second.tokens, limit.tokens - spent.tokens);
  spent.seconds += more(numberAt(entry.body, "seconds"), cost->second.seconds, limit.seconds - spent.seconds);
}

}  // namespace

Status effectsAreContained(const ToyDisk& disk) {
  std::set<std::string> let;
  WITAN_DO(forEachTranscript(disk, [&](const std::string&, const std::vector<Entry>& entries) -> Status {
    std::set<std::string> announced;
    for (const Entry& entry : entries) {
      const std::string span = textAt(entry.body, "span");
      if (announces(entry)) announced.insert(span);
      if (announces(entry) && passed(entry)) let.insert(span);
      if ((entry.kind == EntryKind::observation || entry.kind == EntryKind::outcome) && !announced.contains(span))
        return invalid("the agent was answered under " + span + ", which was never announced");
    }
    return okStatus();
  }));
  for (const Step& step : disk.history)
    if ((step.kind == StepKind::looked || step.kind == StepKind::acted) && !let.contains(step.span))
      return invalid("hidden I/O: " + step.span + " was done and never let pass");
  return okStatus();
}

Status auditedBeforeMutation(const ToyDisk& disk) {
  std::map<std::string, std::set<std::string>> let;  // by device
  bool planned = false;
  for (const Step& step : disk.history) {
    if (step.kind == StepKind::planWritten) planned = true;
    if (step.kind == StepKind::entryWritten) {
      const auto transcript = disk.transcripts.find(step.device);
      if (transcript == disk.transcripts.end() || step.entry >= transcript->second.size())
        return invalid("an entry was written and is gone");
      WITAN_TRY(entry, episode::parseEntry(transcript->second[step.entry]));
      if (announces(entry) && passed(entry)) let[step.device].insert(textAt(entry.body, "span"));
    }
    const bool effect = step.kind == StepKind::looked || step.kind == StepKind::acted;
    if (effect && !let[step.device].contains(step.span))
      return invalid(step.span + " was done before its announcement was durable");
    if (step.kind == StepKind::acted && !planned) return invalid(step.span + " was done before the plan was durable");
  }
  return okStatus();
}

Status quotaIsMonotone(const ToyDisk& disk) {
  return forEachTranscript(disk, [](const std::string&, const std::vector<Entry>& entries) -> Status {
    WITAN_TRY(grant, memberOf<episode::Grant>(entries.front(), "grant"));
    std::map<std::string, Budget> costs;
    Budget spent{0, 0, 0};
    for (const Entry& entry : entries) {
      const Budget before = spent;
      WITAN_DO(spendOn(entry, costs, spent));
      overrun(entry, costs, grant.budget, spent);
      if (entry.kind == EntryKind::fork) {
        WITAN_TRY(sub, memberOf<episode::Grant>(entry, "grant"));
        spent = {spent.steps + sub.budget.steps, spent.tokens + sub.budget.tokens, spent.seconds + sub.budget.seconds};
      }
      if (spent.tokens < before.tokens || spent.seconds < before.seconds) return invalid("what was spent shrank");
      if (spent.tokens > grant.budget.tokens || spent.seconds > grant.budget.seconds)
        return invalid(concat("more was spent than there was, with no denial: ", spent.tokens, " of ",
                              grant.budget.tokens, " tokens"));
      if (entry.kind != EntryKind::end) continue;
      WITAN_TRY(said, memberOf<Budget>(entry, "spent"));
      if (said.tokens != spent.tokens || said.seconds != spent.seconds || said.steps > grant.budget.steps)
        return invalid(concat("the end says that ", said.tokens, " tokens were spent, and the entries ", spent.tokens));
    }
    return okStatus();
  });
}

Status localeOnlyNarrows(const ToyDisk& disk) {
  return forEachTranscript(disk, [](const std::string&, const std::vector<Entry>& entries) -> Status {
    WITAN_TRY(grant, memberOf<episode::Grant>(entries.front(), "grant"));
    WITAN_TRY(tools, memberOf<std::vector<episode::ToolInfo>>(entries.front(), "tools"));
    for (const Entry& entry : entries) {
      if (entry.kind == EntryKind::fork) {
        WITAN_TRY(sub, memberOf<episode::Grant>(entry, "grant"));
        if (!episode::isSubset(sub.locale, grant.locale)) return invalid("a fork reaches further than its parent");
      }
      if ((entry.kind != EntryKind::look && entry.kind != EntryKind::intended) || !passed(entry)) continue;
      for (const episode::ToolInfo& tool : tools)
        if (tool.name == textAt(entry.body, "tool") && !episode::isSubset(tool.locale, grant.locale))
          return invalid(tool.name + " took data to where the episode's locale does not reach");
    }
    return okStatus();
  });
}

Status appliedExactlyOnce(const ToyDisk& disk) {
  for (const auto& [operation, times] : disk.mutations)
    if (times != 1) return invalid(concat("operation ", operation.hex(), " changed the world ", times, " times"));
  std::set<std::string> done, told;
  for (const auto& [operation, times] : disk.mutations) done.insert(operation.hex());
  bool allEnded = std::ranges::none_of(disk.transcripts, [](const auto& one) { return one.second.empty(); });
  WITAN_DO(forEachTranscript(disk, [&](const std::string&, const std::vector<Entry>& entries) -> Status {
    allEnded = allEnded && entries.back().kind == EntryKind::end;
    for (const Entry& entry : entries) {
      if (entry.kind != EntryKind::outcome || textAt(entry.body, "outcome") != "applied") continue;
      const std::string span = textAt(entry.body, "span");
      told.insert(span);
      if (!done.contains(span)) return invalid("operation " + span + " is said to be applied, and nothing changed");
    }
    return okStatus();
  }));
  for (const std::string& span : done)
    if (allEnded && !told.contains(span))
      return invalid("operation " + span + " changed the world, and nobody was told");
  return okStatus();
}

}  // namespace witan::agents::conformance
