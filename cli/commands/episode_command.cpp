// `witan episode list|show|replay` on a data directory: what agents did in their runs, and whether it follows from what
// they were told.
#include <algorithm>

#include "agents/episode/replay.h"
#include "base/quote.h"
#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"
#include "domains/agents.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace replication;
using agents::episode::Entry;
using agents::episode::EntryKind;
using agents::episode::TranscriptKey;
using agents::episode::TranscriptRow;

namespace {

struct EpisodeArguments : ReplicaArguments {
  std::string run;
  std::string device;
};

Result<Space*> spaceOf(ReplicaDir& dir, const std::string& scope) {
  Space* space = dir.replica().database(DatabaseName::agents).find(scope);
  if (space == nullptr) return Error{ErrorCode::notFound, "no agent has a record in scope " + inQuotes(scope), ""};
  return space;
}

std::string textAt(const json::object& body, std::string_view name) {
  const json::value* found = body.if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

// Of which device: the one that was named, or the only one that there is.
Result<TranscriptKey> chosen(Space& space, const EpisodeArguments& a) {
  std::vector<TranscriptKey> found;
  for (TranscriptKey& key : agents::episode::listTranscripts(space))
    if (key.run.hex().starts_with(a.run) && (a.device.empty() || key.device == a.device))
      found.push_back(std::move(key));
  if (found.empty())
    return Error{ErrorCode::notFound, "no transcript of run " + a.run + (a.device.empty() ? "" : " by " + a.device),
                 "see: witan episode list"};
  if (found.size() == 1) return found.front();
  if (std::any_of(found.begin(), found.end(), [&](const TranscriptKey& key) { return key.run != found[0].run; }))
    return Error{ErrorCode::conflict, "the keys of several runs begin with " + a.run, "give more digits"};
  std::string devices;
  for (const TranscriptKey& key : found) devices += (devices.empty() ? "" : ", ") + key.device;
  return Error{ErrorCode::conflict, "several devices ran it: " + devices, "choose one with --device"};
}

struct Summary {
  std::string agent, version, status, cause;
  std::size_t entries = 0;
};

// Of what is held: the first entry and the last.
Summary summaryOf(const std::vector<TranscriptRow>& rows) {
  Summary out{{}, {}, "unfinished", {}, rows.size()};
  if (const auto first = agents::episode::parseEntry(rows.front().message.content); first.ok()) {
    out.agent = textAt(first->body, "agent");
    out.version = textAt(first->body, "version");
  }
  const auto last = agents::episode::parseEntry(rows.back().message.content);
  if (!last.ok()) {
    out.status = "unreadable";
  } else if (last->kind == EntryKind::end) {
    out.status = textAt(last->body, "status");
    out.cause = textAt(last->body, "cause");
  }
  return out;
}

Result<Printed> list(ReplicaDir& dir, const EpisodeArguments& a) {
  Printed answer;
  Space* space = dir.replica().database(DatabaseName::agents).find(a.scope);
  if (space == nullptr) return answer;
  for (const TranscriptKey& key : agents::episode::listTranscripts(*space)) {
    WITAN_TRY(rows, agents::episode::readTranscript(*space, key.run, key.device));
    const Summary summary = summaryOf(rows);
    if (a.json)
      answer.text += canonicalJson(json::object{{"run", key.run.hex()},
                                                {"device", key.device},
                                                {"agent", summary.agent},
                                                {"version", summary.version},
                                                {"status", summary.status},
                                                {"cause", summary.cause},
                                                {"entries", summary.entries}}) +
                     "\n";
    else
      answer.text += key.run.hex() + "  " + key.device + "  " + summary.agent + "  " + summary.status + "  " +
                     std::to_string(summary.entries) + " entries" +
                     (summary.cause.empty() ? "" : "  (" + summary.cause + ")") + "\n";
  }
  return answer;
}

Result<Printed> show(ReplicaDir& dir, const EpisodeArguments& a) {
  WITAN_TRY(space, spaceOf(dir, a.scope));
  WITAN_TRY(key, chosen(*space, a));
  WITAN_TRY(rows, agents::episode::readTranscript(*space, key.run, key.device));
  Printed answer;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MessageBody& message = rows[i].message;
    if (a.json) {
      answer.text += message.content + "\n";
      continue;
    }
    const auto entry = agents::episode::parseEntry(message.content);
    if (!entry.ok()) return corrupt("entry " + std::to_string(i) + ": " + entry.error().message);
    answer.text +=
        std::to_string(i) + "  " + std::string(enumName(entry->kind)) + "  " + canonicalJson(entry->body) + "\n";
  }
  return answer;
}

Result<Printed> replay(ReplicaDir& dir, const EpisodeArguments& a) {
  WITAN_TRY(space, spaceOf(dir, a.scope));
  WITAN_TRY(key, chosen(*space, a));
  WITAN_TRY(rows, agents::episode::readTranscript(*space, key.run, key.device));
  std::vector<std::string> contents;
  for (const TranscriptRow& row : rows) contents.push_back(row.message.content);
  const std::string id = summaryOf(rows).agent;
  const agents::Agent* agent = domains::findAgent(id);
  if (agent == nullptr)
    return Error{ErrorCode::notFound, "this build has no agent " + inQuotes(id),
                 "replay it with the build that made it"};
  WITAN_TRY(result, agents::episode::replay(*agent, contents));

  Printed answer;
  answer.exitCode = result.difference ? kExitFailed : kExitOk;
  if (a.json) {
    json::object out{{"run", key.run.hex()},
                     {"device", key.device},
                     {"entries", result.entries},
                     {"ended", result.ended},
                     {"reproduced", !result.difference}};
    if (const auto& d = result.difference)
      out["difference"] =
          json::object{{"entry", d->entry}, {"why", d->why}, {"recorded", d->recorded}, {"derived", d->derived}};
    answer.text = canonicalJson(out) + "\n";
  } else if (const auto& d = result.difference) {
    answer.text = "entry " + std::to_string(d->entry) + " of " + std::to_string(result.entries) +
                  " differs: " + d->why + "\n  recorded  " + d->recorded + "\n  derived   " +
                  (d->derived.empty() ? "nothing" : d->derived) + "\n";
  } else {
    answer.text = "all " + std::to_string(result.entries) + " entries reproduced byte for byte" +
                  (result.ended ? "" : "; the run has not ended") + "\n";
  }
  return answer;
}

}  // namespace

void addEpisodeCommand(Command& app, int& exitCode) {
  Command* episode = app.command("episode", "Runs of agents: what they did, and whether it can be reproduced");
  episode->requireCommand();
  episode->footer("Example: witan episode list");
  const auto verb = [&](const char* name, const char* what, const char* example, auto work) {
    const auto arguments = std::make_shared<EpisodeArguments>();
    Command* command = addReplicaVerb(*episode, name, what, example, arguments, Missing::refuse, work, exitCode);
    addScopeOption(command, *arguments);
    return std::pair(command, arguments);
  };
  const auto ofRun = [](const auto& made) {
    const auto& [command, arguments] = made;
    command
        ->option("RUNKEY", arguments->run, "The run, 64 hexadecimal digits, or as many of the first as tell it apart")
        ->required()
        ->check(firstDigits("run key", "witan episode list"));
    command->option("--device", arguments->device, "Whose transcript, if several devices ran it");
  };
  verb("list", "All transcripts that this device holds", "witan episode list", list);
  ofRun(verb("show", "A transcript, entry by entry", "witan episode show 2214b124", show));
  ofRun(verb("replay", "Runs the agent again on what it was told, and compares byte for byte",
             "witan episode replay 2214b124", replay));
}

}  // namespace witan::node
