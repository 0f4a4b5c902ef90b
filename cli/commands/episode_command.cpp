// `witan episode list|show|replay` on a data directory: what agents did in their runs, and whether it follows from what
// they were told.
#include "agents/episode/transcript.h"
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "node/operations/episode.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

struct EpisodeArguments : ReplicaArguments {
  std::string run;
  std::string device;
};

Printed listAnswer(const Episodes& list, const EpisodeArguments& a) {
  if (a.json) return {jsonLines(list.episodes)};
  Printed answer;
  for (const EpisodeRow& row : list.episodes)
    answer.text += row.run + "  " + row.device + "  " + row.agent + "  " + row.status + "  " +
                   std::to_string(row.entries) + " entries" + (row.cause.empty() ? "" : "  (" + row.cause + ")") + "\n";
  return answer;
}

Result<Printed> showAnswer(const Transcript& transcript, const EpisodeArguments& a) {
  Printed answer;
  for (std::size_t i = 0; i < transcript.entries.size(); ++i) {
    const std::string content = canonicalJson(transcript.entries[i]);
    if (a.json) {
      answer.text += content + "\n";
      continue;
    }
    const auto entry = agents::episode::parseEntry(content);
    if (!entry.ok()) return corrupt("entry " + std::to_string(i) + ": " + entry.error().message);
    answer.text +=
        std::to_string(i) + "  " + std::string(enumName(entry->kind)) + "  " + canonicalJson(entry->body) + "\n";
  }
  return answer;
}

Printed replayAnswer(const EpisodeReplay& replay, const EpisodeArguments& a) {
  const auto& d = replay.difference;
  const int exitCode = d ? kExitFailed : kExitOk;
  if (a.json) return {toJson(replay) + "\n", exitCode};
  const auto text = [](const json::value& entry) { return std::string(entry.get_string()); };
  if (d)
    return {"entry " + std::to_string(d->entry) + " of " + std::to_string(replay.entries) + " differs: " + d->why +
                "\n  recorded  " + text(d->recorded) + "\n  derived   " +
                (text(d->derived).empty() ? "nothing" : text(d->derived)) + "\n",
            exitCode};
  return {"all " + std::to_string(replay.entries) + " entries reproduced byte for byte" +
          (replay.ended ? "" : "; the run has not ended") + "\n"};
}

Result<EpisodeRequest> requestOf(const EpisodeArguments& a) {
  return EpisodeRequest{a.run, given(a.device), given(a.scope)};
}

}  // namespace

void addEpisodeCommand(Command& app, int& exitCode) {
  Command* episode = app.command("episode", "Runs of agents: what they did, and whether it can be reproduced");
  episode->requireCommand();
  episode->footer("Example: witan episode list");
  const auto verb = [&](const char* name, const char* what, const char* example, const auto& operation, auto fill,
                        auto format) {
    const auto arguments = std::make_shared<EpisodeArguments>();
    Command* command =
        addOperationVerb(*episode, name, what, example, arguments, Missing::refuse, operation, fill, format, exitCode);
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
  verb(
      "list", "All transcripts that this device holds", "witan episode list", kEpisodeList,
      [](const EpisodeArguments& a) { return Result(EpisodeListRequest{given(a.scope)}); }, listAnswer);
  ofRun(
      verb("show", "A transcript, entry by entry", "witan episode show 2214b124", kEpisodeShow, requestOf, showAnswer));
  ofRun(verb("replay", "Runs the agent again on what it was told, and compares byte for byte",
             "witan episode replay 2214b124", kEpisodeReplay, requestOf, replayAnswer));
}

}  // namespace witan::node
