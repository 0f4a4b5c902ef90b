// `witan state merge`: the antichain and the view of an agent's snapshots, from files. `witan state show`: the
// snapshots of an agent in this device's store, in the form that merge reads.
#include <algorithm>
#include <cstdio>

#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "cli/format/agent_format.h"
#include "cli/format/snapshot_reader.h"
#include "program/error_report.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace replication;

namespace {

struct MergeArguments {
  std::vector<std::string> files;
  bool json = false;
};

Result<int> merge(const MergeArguments& arguments) {
  if (std::count(arguments.files.begin(), arguments.files.end(), "-") > 1)
    return reportUsage(invalid("- is given twice (standard input can be read once)", "give it once"), arguments.json);
  ImportErrors refusals(arguments.json);
  SnapshotReader reader([&](const Error& error) { refusals.add(error); });
  Status read = okStatus();
  for (auto file = arguments.files.begin(); file != arguments.files.end() && read.ok(); ++file)
    read = reader.readFile(*file);
  refusals.finish();
  WITAN_DO(read);
  const int exitCode = reader.refused() > 0 ? kExitSomeRefused : kExitOk;
  WITAN_TRY(agentId, reader.agentId());
  WITAN_TRY(antichain, maximal(std::move(reader).takeVersions()));
  WITAN_TRY(view, viewOf(antichain, nullptr));
  WITAN_CHECK(view.has_value(), "a snapshot from a file is no tombstone");
  WITAN_TRY(merged, operations::agentPicture(agentId, antichain, *view));
  arguments.json ? putOut(toJson(merged) + "\n") : putWords(pictureWords(merged));
  return exitCode;
}

void addMerge(Command& state, int& exitCode) {
  auto arguments = std::make_shared<MergeArguments>();
  Command* command = state.command("merge", "Merge an agent's snapshots: the maximal ones and what they show");
  command->option("FILE", arguments->files, "Files of JSON Lines, one snapshot a line; - for standard input")
      ->required();
  command->flag("--json", arguments->json, R"(Print {"antichain":[...],"view":{...}})");
  command->footer("Example: witan state merge laptop.jsonl phone.jsonl --json");
  command->callback([arguments, &exitCode] {
    const Result<int> code = merge(*arguments);
    exitCode = code.ok() ? *code : reportError(code.error(), arguments->json);
  });
}

struct ShowArguments : ReplicaArguments {
  std::string id;
};

void addShow(Command& state, int& exitCode) {
  const auto arguments = std::make_shared<ShowArguments>();
  Command* command = addOperationVerb(
      state, "show", "Print an agent's snapshots as JSON Lines, as `state merge` reads them",
      "witan state show agent-1 > laptop.jsonl", arguments, Missing::refuse, operations::kAgentShow,
      [](const ShowArguments& a) {
        return Result(operations::AgentShowRequest{a.id, true, given(a.scope)});
      },
      [](const operations::AgentShown& agent, const ShowArguments&) {
        Printed lines;
        for (const operations::AgentSnapshotRow& one : *agent.snapshots) lines.text += toJson(one) + "\n";
        return lines;
      },
      exitCode);
  command->option("ID", arguments->id, "The agent")->required()->check(idText("agent"));
  addScopeOption(command, *arguments);
}

}  // namespace

void addStateCommand(Command& app, int& exitCode) {
  Command* state = app.command("state", "The replicated state of agents");
  state->requireCommand();
  state->footer("Example: witan state merge laptop.jsonl phone.jsonl --json");
  addMerge(*state, exitCode);
  addShow(*state, exitCode);
}

}  // namespace witan::node
