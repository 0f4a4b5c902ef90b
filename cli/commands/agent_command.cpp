// `witan agent create|list|show|set` on a data directory.
#include <algorithm>
#include <charconv>

#include "base/identity.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/time.h"
#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"
#include "cli/format/agent_reader.h"
#include "domains/agents.h"
#include "program/option_checks.h"
#include "replication/records/agent_state_codec.h"
#include "replication/records/agent_state_json.h"

namespace witan::node {

using namespace replication;

namespace {

struct AgentArguments : ReplicaArguments {
  std::string id;
  std::optional<std::string> goal;
  std::string lifecycle, sleepUntil, nextWake, failures;
  std::vector<std::string> slots;
  bool history = false;
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

Status write(AgentState& state, SlotName name, std::string_view value, const std::string& writer) {
  auto parsed = parseJson(value, {.bytes = kMaxSlotBytes, .depth = kMaxSlotDepth});
  if (!parsed.ok()) return invalid(std::string(toString(name)) + " (" + parsed.error().message + ")");
  Slot& slot = state.slot(name);
  slot = {canonicalJson(*parsed), slot.version + 1, writer};
  return okStatus();
}

// NAME=JSON
Status writeSlot(AgentState& state, const std::string& text, const std::string& writer) {
  const std::size_t equals = text.find('=');
  for (std::size_t i = 0; equals != std::string::npos && i < kSlots; ++i)
    if (const auto name = static_cast<SlotName>(i); text.substr(0, equals) == toString(name))
      return write(state, name, std::string_view(text).substr(equals + 1), writer);
  return invalid(inQuotes(text) + " sets no slot",
                 "give NAME=JSON, NAME one of primaryGoal, activeTaskId, openLoopIds, preferenceByKey, extension");
}

Status apply(const AgentArguments& a, AgentState& state, const std::string& writer) {
  if (!a.lifecycle.empty()) {
    WITAN_TRY(lifecycle, parseLifecycle(a.lifecycle));
    state.lifecycle = lifecycle;
  }
  if (a.goal) WITAN_DO(write(state, SlotName::primaryGoal, inJson(*a.goal), writer));
  for (const std::string& slot : a.slots) WITAN_DO(writeSlot(state, slot, writer));
  if (!a.sleepUntil.empty()) {
    WITAN_TRY(moment, readMoment(a.sleepUntil));
    state.schedule.sleepUntil = moment;
  }
  if (a.nextWake == "none") {
    state.schedule.nextWakeAt.reset();
  } else if (!a.nextWake.empty()) {
    WITAN_TRY(moment, readMoment(a.nextWake));
    state.schedule.nextWakeAt = moment;
  }
  if (!a.failures.empty()) {
    state.consecutiveFailureCount = readCounter(a.failures).value();  // the option's check has taken it
  }
  return okStatus();
}

Result<Printed> commit(ReplicaDir& dir, const AgentArguments& a, const AgentState& state, const char* what) {
  LocalReplica& replica = dir.replica();
  const Write write{Kind::agentState, a.id, encodeAgentState(state, replica.writer()), false};
  WITAN_TRY(dot, replica.commit(DatabaseName::agents, a.scope, {&write, 1}));
  if (a.json) return Printed{"{\"agentId\":" + inJson(a.id) + ",\"dot\":" + dotJson(dot) + "}\n"};
  return Printed{std::string(what) + " " + a.id + ", version " + dotWords(dot) + "\n"};
}

Result<Printed> create(ReplicaDir& dir, const AgentArguments& a) {
  if (const auto there = readAgent(dir.replica(), a.scope, a.id); there.ok())
    return Error{ErrorCode::conflict, "agent " + a.id + " exists", "change it with: witan agent set " + a.id};
  AgentState state;
  WITAN_DO(apply(a, state, dir.replica().writer()));
  return commit(dir, a, state, "created");
}

Result<Printed> set(ReplicaDir& dir, const AgentArguments& a) {
  WITAN_TRY(agent, readAgent(dir.replica(), a.scope, a.id));
  AgentState state = agent.picture.view.state;
  if (state.lifecycle == Lifecycle::destroyed)
    return Error{ErrorCode::conflict, "agent " + a.id + " is destroyed and does not change any more", ""};
  WITAN_DO(apply(a, state, dir.replica().writer()));
  if (state == agent.picture.view.state && agent.picture.antichain.size() == 1)
    return invalid("nothing to set (every value is as it was)", "see: witan agent set --help");
  return commit(dir, a, state, "set");
}

// pause, resume, destroy: a lifecycle by its own word. A built-in agent that never worked here gets its state with it.
Result<Printed> become(ReplicaDir& dir, const AgentArguments& a, Lifecycle lifecycle, const char* what) {
  AgentState state;
  if (auto there = readAgent(dir.replica(), a.scope, a.id); there.ok())
    state = there->picture.view.state;
  else if (there.error().code != ErrorCode::notFound || domains::findAgent(a.id) == nullptr)
    return there.error();
  if (state.lifecycle == Lifecycle::destroyed)
    return Error{ErrorCode::conflict, "agent " + a.id + " is destroyed and does not change any more", ""};
  if (lifecycle == Lifecycle::active) state.schedule.sleepUntil = 0;
  state.lifecycle = lifecycle;
  return commit(dir, a, state, what);
}

Result<Printed> list(ReplicaDir& dir, const AgentArguments& a) {
  Printed answer;
  Space* space = dir.replica().database(DatabaseName::agents).find(a.scope);
  if (space == nullptr) return answer;
  for (const std::string& id : space->keys(Kind::agentState)) {
    WITAN_TRY(versions, space->versions(Kind::agentState, id));
    WITAN_TRY(view, viewOf(versions, nullptr));
    if (!view) continue;
    const std::string goal = view->state.slot(SlotName::primaryGoal).value;
    const std::string lifecycle = toString(view->state.lifecycle);
    if (a.json) {
      answer.text += "{\"agentId\":" + inJson(id) + ",\"lifecycle\":\"" + lifecycle + "\",\"primaryGoal\":" + goal +
                     ",\"versions\":" + std::to_string(versions.size()) + "}\n";
    } else {
      answer.text += id + "  " + lifecycle + "  " + goal +
                     (versions.size() > 1 ? "  (" + std::to_string(versions.size()) + " concurrent versions)" : "") +
                     "\n";
    }
  }
  return answer;
}

Result<Printed> showJson(const AgentRecord& agent, const AgentArguments& a) {
  std::string out = pictureJson(agent.picture);
  out.pop_back();
  out +=
      ",\"messages\":" + std::to_string(agent.messages) + ",\"missingParents\":" + std::to_string(agent.missingParents);
  if (a.history) {
    out += ",\"snapshots\":[";
    for (const Version& version : agent.picture.antichain) {
      WITAN_TRY(snapshot, toSnapshot(a.id, version));
      out += (out.back() == '[' ? "" : ",") + snapshotJson(snapshot);
    }
    out += ']';
  }
  return Printed{out + "}\n"};
}

Result<Printed> show(ReplicaDir& dir, const AgentArguments& a) {
  WITAN_TRY(agent, readAgent(dir.replica(), a.scope, a.id));
  if (a.json) return showJson(agent, a);
  Printed answer{pictureWords(agent.picture)};
  if (agent.messages > 0) answer.text += "  messages          " + std::to_string(agent.messages) + "\n";
  if (agent.missingParents > 0)
    answer.text += "  still to arrive   " + std::to_string(agent.missingParents) + " parents of messages\n";
  for (std::size_t i = 0; a.history && i < agent.picture.antichain.size(); ++i) {
    const Version& version = agent.picture.antichain[i];
    WITAN_TRY(view, viewOf(std::span(&version, 1), nullptr));
    answer.text += "as " + dotWords(version.dot) + " left it: " + pictureWords({a.id, {version}, *view});
  }
  return answer;
}

void addValueOptions(Command* command, AgentArguments& a) {
  command->option("--goal", a.goal, "Text of the slot primaryGoal");
  command->option("--slot", a.slots, "NAME=JSON; may be repeated")
      ->typeName("NAME=JSON")
      ->oneWordEach()
      ->check(readBy([](const std::string& slot) {
        AgentState scratch;
        return writeSlot(scratch, slot, "");
      }));
  command->option("--lifecycle", a.lifecycle, "created, active, dormant or destroyed")->check(readBy(parseLifecycle));
  command->option("--sleep-until", a.sleepUntil, "Milliseconds since 1970, or RFC 3339")->check(readBy(readMoment));
  command->option("--next-wake", a.nextWake, "The same, or none")->check([](const std::string& text) {
    return text == "none" ? std::string() : readBy(readMoment)(text);
  });
  command->option("--failures", a.failures, "Failures in a row")
      ->typeName("COUNT")
      ->check(wholeNumber(0, kMaxStateCounter));
}

}  // namespace

void addAgentCommand(Command& app, int& exitCode) {
  Command* agent = app.command("agent", "Agents and their replicated state");
  agent->requireCommand();
  agent->footer("Example: witan agent create agent-1 --goal \"keep the garden\"");
  const auto verb = [&](const char* name, const char* what, const char* example, Missing missing, auto work) {
    const auto arguments = std::make_shared<AgentArguments>();
    Command* command = addReplicaVerb(*agent, name, what, example, arguments, missing, work, exitCode);
    addScopeOption(command, *arguments);
    return std::pair(command, arguments);
  };
  const auto [createCommand, created] =
      verb("create", "Make an agent", "witan agent create agent-1 --goal \"keep the garden\"", Missing::create, create);
  createCommand->option("ID", created->id, "The agent")->required()->check(idText("agent"));
  addValueOptions(createCommand, *created);
  verb("list", "All agents", "witan agent list", Missing::refuse, list);
  const auto [showCommand, shown] =
      verb("show", "An agent as every replica sees it", "witan agent show agent-1 --history", Missing::refuse, show);
  showCommand->option("ID", shown->id, "The agent")->required()->check(idText("agent"));
  showCommand->flag("--history", shown->history, "Also each of the versions that stand side by side");
  const auto [setCommand, given] =
      verb("set", "Change an agent's state, on top of what this device sees",
           "witan agent set agent-1 --lifecycle active --slot 'openLoopIds=[\"t1\"]'", Missing::refuse, set);
  setCommand->option("ID", given->id, "The agent")->required()->check(idText("agent"));
  addValueOptions(setCommand, *given);
  const auto lifecycle = [&](const char* name, const char* what, Lifecycle to, const char* done) {
    const std::string example = std::string("witan agent ") + name + " udt-lab";
    const auto [command, arguments] =
        verb(name, what, example.c_str(), Missing::create,
             [to, done](ReplicaDir& dir, const AgentArguments& a) { return become(dir, a, to, done); });
    command->option("ID", arguments->id, "The agent")->required()->check(idText("agent"));
  };
  lifecycle("pause", "Let nothing wake an agent; wakes meanwhile are skipped, on every device", Lifecycle::dormant,
            "paused");
  lifecycle("resume", "Let an agent be woken again", Lifecycle::active, "resumed");
  lifecycle("destroy", "End an agent for good, on every device", Lifecycle::destroyed, "destroyed");
  addAgentRunCommands(*agent, exitCode);
}

}  // namespace witan::node
