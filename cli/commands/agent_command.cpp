// `witan agent create|list|show|set|pause|resume|destroy|usage|prune|reset`.
#include <charconv>

#include "base/identity.h"
#include "base/quote.h"
#include "base/time.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/format/agent_format.h"
#include "node/operations/agent_retention.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;
using replication::kMaxStateCounter;

namespace {

struct AgentArguments : ReplicaArguments {
  std::string id;
  std::optional<std::string> goal;
  std::string lifecycle, sleepUntil, nextWake, failures, mode;
  std::vector<std::string> slots, timers;
  bool history = false;
  std::uint64_t days = 0;
};

// Read here: the option parser takes -1 and numbers that are too large for the largest there is.
std::optional<std::uint64_t> readCounter(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc{} && stop == end && number <= kMaxStateCounter ? std::optional(number) : std::nullopt;
}

// Milliseconds since 1970, or RFC 3339.
Result<std::uint64_t> readMoment(const std::string& text) {
  if (const auto number = readCounter(text)) return *number;
  auto time = parseTime(text);
  if (time.ok() && time->micros >= 0) return static_cast<std::uint64_t>(time->micros / 1000);
  return invalid(inQuotes(text) + " is no moment", "give milliseconds since 1970, or a time like 2026-03-26T10:00:00Z");
}

// NAME=JSON, into an object of them.
Status readSlot(const std::string& text, json::object& slots) {
  const std::size_t equals = text.find('=');
  const auto name = slotNamed(std::string_view(text).substr(0, equals));
  if (!name.ok() || equals == std::string::npos)
    return invalid(inQuotes(text) + " sets no slot",
                   "give NAME=JSON, NAME one of primaryGoal, activeTaskId, openLoopIds, preferenceByKey, extension");
  WITAN_TRY(value, slotValue(*name, std::string_view(text).substr(equals + 1)));
  slots[toString(*name)] = parseJson(value, kOwnJson).value();
  return okStatus();
}

// NAME=MILLISECONDS, or NAME=off.
Status readTimer(const std::string& text, ByName<std::uint64_t>& timers) {
  const std::size_t equals = text.find('=');
  const std::string every = equals == std::string::npos ? "" : text.substr(equals + 1);
  const auto number = every == "off" ? std::optional<std::uint64_t>(0) : readCounter(every);
  if (!number || (*number == 0 && every != "off"))
    return invalid(inQuotes(text) + " sets no timer", "give NAME=MILLISECONDS, or NAME=off");
  timers[text.substr(0, equals)] = *number;
  return okStatus();
}

Result<AgentSetRequest> setRequest(const AgentArguments& a) {
  AgentSetRequest request{.id = a.id, .lifecycle = given(a.lifecycle), .scope = given(a.scope)};
  json::object slots;
  if (a.goal) slots["primaryGoal"] = *a.goal;
  for (const std::string& slot : a.slots) WITAN_DO(readSlot(slot, slots));
  if (!slots.empty()) request.slots = std::move(slots);
  request.mode = given(a.mode);
  ByName<std::uint64_t> timers;
  for (const std::string& timer : a.timers) WITAN_DO(readTimer(timer, timers));
  if (!timers.empty()) request.timers = std::move(timers);
  if (!a.sleepUntil.empty()) {
    WITAN_SET(request.sleepUntil, readMoment(a.sleepUntil));
  }
  if (a.nextWake == "none") {
    request.nextWakeAt = std::optional<std::uint64_t>();
  } else if (!a.nextWake.empty()) {
    WITAN_TRY(moment, readMoment(a.nextWake));
    request.nextWakeAt = std::optional(moment);
  }
  if (!a.failures.empty()) request.consecutiveFailureCount = readCounter(a.failures).value();  // as its check has read
  return request;
}

Printed written(const AgentWritten& done, const std::string& what) {
  return {what + " " + done.agentId + ", version " + dotWords(done.dot) + "\n"};
}

Printed listed(const Agents& list, const AgentArguments&) {
  Printed answer;
  for (const AgentRow& agent : list.agents)
    answer.text += agent.agentId + "  " + agent.lifecycle + "  " + canonicalJson(agent.primaryGoal) +
                   (agent.versions > 1 ? concat("  (", agent.versions, " concurrent versions)") : "") + "\n";
  return answer;
}

Printed showAnswer(const AgentShown& agent, const AgentArguments&) {
  Printed answer{pictureWords(agent)};
  if (*agent.messages > 0) answer.text += concat("  messages          ", *agent.messages, "\n");
  if (*agent.missingParents > 0)
    answer.text += concat("  still to arrive   ", *agent.missingParents, " parents of messages\n");
  for (const AgentSnapshotRow& one : agent.snapshots.value_or(std::vector<AgentSnapshotRow>()))
    answer.text += "as " + dotWords(*one.dot) + " left it: " + pictureWords({{*one.dot}, one});
  return answer;
}

void addValueOptions(Command* command, AgentArguments& a) {
  command->option("--goal", a.goal, "Text of the slot primaryGoal");
  command->option("--slot", a.slots, "NAME=JSON; may be repeated")
      ->typeName("NAME=JSON")
      ->oneWordEach()
      ->check(readBy([](const std::string& slot) {
        json::object scratch;
        return readSlot(slot, scratch);
      }));
  command->option("--lifecycle", a.lifecycle, "created, active, dormant or destroyed")
      ->check(readBy(replication::parseLifecycle));
  command->option("--sleep-until", a.sleepUntil, "Milliseconds since 1970, or RFC 3339")->check(readBy(readMoment));
  command->option("--next-wake", a.nextWake, "The same, or none")->check([](const std::string& text) {
    return text == "none" ? std::string() : readBy(readMoment)(text);
  });
  command->option("--mode", a.mode, "autonomous, or interactive: only people wake it")
      ->check(readBy(replication::parseAgentMode));
  command->option("--timer", a.timers, "NAME=MILLISECONDS or NAME=off, on all devices; may be repeated")
      ->typeName("NAME=MS")
      ->oneWordEach()
      ->check(readBy([](const std::string& timer) {
        ByName<std::uint64_t> scratch;
        return readTimer(timer, scratch);
      }));
  command->option("--failures", a.failures, "Failures in a row")
      ->typeName("COUNT")
      ->check(wholeNumber(0, kMaxStateCounter));
}

// One of the verbs; `fill` makes its request of the arguments.
template <class Request, class Response, class Fill, class Format>
Verb<AgentArguments> addAgentVerb(Command& agent, const char* name, const char* what, const char* example,
                                  Missing missing, const Operation<Request, Response>& operation, Fill fill,
                                  Format format) {
  const auto [command, arguments] =
      addOperationVerb<AgentArguments>(agent, name, what, example, missing, operation, fill, format);
  addScopeOption(command, *arguments);
  if (name != std::string_view("list"))
    command->option("ID", arguments->id, "The agent")->required()->check(idText("agent"));
  return {command, arguments};
}

void addLifecycleVerb(Command& agent, const char* name, const char* what, const char* lifecycle, const char* done) {
  const auto fill = [lifecycle](const AgentArguments& a) {
    return Result(AgentLifecycleRequest{a.id, lifecycle, given(a.scope)});
  };
  const auto format = [done](const AgentWritten& answer, const AgentArguments&) { return written(answer, done); };
  addAgentVerb(agent, name, what, (concat("witan agent ", name, " udt-lab")).c_str(), Missing::create, kAgentLifecycle,
               fill, format);
}

Printed usageWords(const AgentUsage& usage, const AgentArguments&) {
  Printed answer;
  for (const AgentUsageRow& row : usage.agents)
    answer.text += concat(row.agent, "  ", row.bytes, " bytes: ", row.runs, " runs, ", row.entries,
                          " entries of transcripts, ", row.messages, " messages, ", row.plans, " plans, ",
                          row.operations, " operations", row.oldest ? ", since " + formatTime(*row.oldest) : "", "\n");
  answer.text += concat(usage.batches, " notification batches\n");
  return answer;
}

Printed prunedWords(const AgentPruned& gone, const AgentArguments&) {
  if (gone.held) return {"nothing went: " + *gone.held + "\n"};
  return {concat("went: ", gone.runs, " runs, ", gone.entries, " entries of transcripts, ", gone.plans, " plans, ",
                 gone.operations, " operations, ", gone.approvals, " approvals\n")};
}

void addHouseVerbs(Command& agent) {
  const auto [usage, used] = addOperationVerb<AgentArguments>(
      agent, "usage", "What agents leave on this device, and how much it takes", "witan agent usage --dir data",
      Missing::refuse, kAgentUsage, [](const AgentArguments& a) { return Result(ScopeRequest{given(a.scope)}); },
      usageWords);
  addScopeOption(usage, *used);
  const auto [prune, pruned] = addOperationVerb<AgentArguments>(
      agent, "prune", "Take away what runs left that ended long ago, on every device",
      "witan agent prune --days 90 --dir data", Missing::refuse, kAgentPrune,
      [](const AgentArguments& a) {
        return Result(AgentPruneRequest{a.days, given(a.scope)});
      },
      prunedWords);
  addScopeOption(prune, *pruned);
  prune->option("--days", pruned->days, "Runs that ended more days ago")->required()->check(wholeNumber(1, 36'500));
  addAgentVerb(
      agent, "reset", "Take away state, memory and schedule of an agent: it begins anew",
      "witan agent reset journal-summariser --dir data", Missing::refuse, kAgentReset,
      [](const AgentArguments& a) {
        return Result(AgentResetRequest{a.id, given(a.scope)});
      },
      [](const AgentResetDone& done, const AgentArguments&) {
        return Printed{concat("reset ", done.agentId, ": ", done.messages, " messages went\n")};
      });
}

}  // namespace

void addAgentCommand(Command& app) {
  Command* agent =
      app.noun("agent", "Agents and their replicated state", "witan agent create agent-1 --goal \"keep the garden\"");
  const auto [create, created] =
      addAgentVerb(*agent, "create", "Make an agent", "witan agent create agent-1 --goal \"keep the garden\"",
                   Missing::create, kAgentCreate, setRequest,
                   [](const AgentWritten& done, const AgentArguments&) { return written(done, "created"); });
  addValueOptions(create, *created);
  addAgentVerb(
      *agent, "list", "All agents", "witan agent list", Missing::refuse, kAgentList,
      [](const AgentArguments& a) { return Result(ScopeRequest{given(a.scope)}); }, listed);
  const auto [show, toShow] = addAgentVerb(
      *agent, "show", "An agent as every replica sees it", "witan agent show agent-1 --history", Missing::refuse,
      kAgentShow,
      [](const AgentArguments& a) {
        return Result(AgentShowRequest{a.id, a.history ? Omittable(true) : Omittable<bool>(), given(a.scope)});
      },
      showAnswer);
  show->flag("--history", toShow->history, "Also each of the versions that stand side by side");
  const auto [set, toSet] = addAgentVerb(
      *agent, "set", "Change an agent's state, on top of what this device sees",
      "witan agent set agent-1 --lifecycle active --slot 'openLoopIds=[\"t1\"]'", Missing::refuse, kAgentSet,
      setRequest, [](const AgentWritten& done, const AgentArguments&) { return written(done, "set"); });
  addValueOptions(set, *toSet);
  addLifecycleVerb(*agent, "pause", "Let nothing wake an agent; wakes meanwhile are skipped, on every device",
                   "dormant", "paused");
  addLifecycleVerb(*agent, "resume", "Let an agent be woken again", "active", "resumed");
  addLifecycleVerb(*agent, "destroy", "End an agent for good, on every device", "destroyed", "destroyed");
  addHouseVerbs(*agent);
  addAgentRunCommands(*agent);
  addAgentServeCommand(*agent);
}

}  // namespace witan::node
