// `witan state merge`: the antichain and the view of an agent's snapshots, from files. `witan state show`: the
// snapshots of an agent in this device's store, in the form that merge reads.
#include <algorithm>
#include <iterator>
#include <set>

#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/format/agent_format.h"
#include "program/error_report.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "replication/records/agent_state_json.h"

namespace witan::node {

using namespace replication;

namespace {

constexpr std::size_t kMaxSnapshots = 1'000'000;
constexpr std::size_t kMaxSnapshotBytes = std::size_t{1} << 30;

// Snapshots of one agent from files of JSON Lines.
//
// A line that is no snapshot is refused and the others are taken. The result does not depend on how the lines are
// spread over files or ordered. Limits: kMaxSnapshotJson bytes a line, kMaxSnapshots lines, kMaxSnapshotBytes of all
// states.
class SnapshotReader {
 public:
  // `refuse` is told of every line that is refused, with file, line and cause.
  explicit SnapshotReader(std::function<void(const Error&)> refuse) : refuse_(std::move(refuse)) {}

  // A path, or - for standard input. Blank lines are skipped. Errors: cannot be read, limits.
  Status readFile(const std::string& path);

  std::size_t refused() const { return refused_; }
  // The agent whose snapshots these are. Errors: there is none; there are two, named.
  Result<std::string> agentId() const;
  std::vector<Version> takeVersions() && { return std::move(versions_); }

 private:
  Status take(std::string_view line, bool overlong, const std::string& place);

  std::function<void(const Error&)> refuse_;
  std::size_t refused_ = 0;
  std::size_t bytes_ = 0;
  std::set<std::string> agentIds_;  // the two smallest that occurred
  std::vector<Version> versions_;
};

Status SnapshotReader::readFile(const std::string& path) {
  return forEachLine(path, kMaxSnapshotJson, [&](const InputLine& line) {
    return take(line.text, line.overlong, concat(inputName(path), ", line ", line.number));
  });
}

Status SnapshotReader::take(std::string_view line, bool overlong, const std::string& place) {
  if (!overlong && line.find_first_not_of(" \t\r") == std::string_view::npos) return okStatus();
  const auto snapshot = overlong ? Result<AgentSnapshot>(invalid(concat("longer than ", kMaxSnapshotJson, " bytes")))
                                 : readSnapshot(line);
  if (!snapshot.ok()) {
    ++refused_;
    const Error& error = snapshot.error();
    refuse_(invalid(place + ": refused (" + error.message + ")",
                    error.hint.empty() ? "the other lines are merged" : error.hint));
    return okStatus();
  }
  agentIds_.insert(snapshot->agentId);
  if (agentIds_.size() > 2) agentIds_.erase(std::prev(agentIds_.end()));
  versions_.push_back(toVersion(*snapshot));
  bytes_ += versions_.back().body.size();
  if (versions_.size() > kMaxSnapshots || bytes_ > kMaxSnapshotBytes)
    return invalid(concat(place, ": more than ", kMaxSnapshots, " snapshots or ", kMaxSnapshotBytes, " bytes of them"),
                   "merge fewer at a time");
  return okStatus();
}

Result<std::string> SnapshotReader::agentId() const {
  if (agentIds_.empty())
    return invalid("no snapshot in the input (every line was blank or refused)", "see: witan state merge --help");
  if (agentIds_.size() > 1)
    return invalid("snapshots of different agents (" + *agentIds_.begin() + " and " + *agentIds_.rbegin() + ")",
                   "merge one agent at a time");
  return *agentIds_.begin();
}

struct MergeArguments {
  std::vector<std::string> files;
  bool json = false;
};

Result<int> merge(const MergeArguments& arguments) {
  if (std::ranges::count(arguments.files, "-") > 1)
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
  const operations::AgentShown merged = operations::agentPicture(agentId, antichain, *view);
  putWords(arguments.json ? toJson(merged) + "\n" : pictureWords(merged));
  return exitCode;
}

void addMerge(Command& state) {
  auto arguments = std::make_shared<MergeArguments>();
  Command* command = state.command("merge", "Merge an agent's snapshots: the maximal ones and what they show");
  command->option("FILE", arguments->files, "Files of JSON Lines, one snapshot a line; - for standard input")
      ->required();
  command->flag("--json", arguments->json, R"(Print {"antichain":[...],"view":{...}})");
  command->footer("Example: witan state merge laptop.jsonl phone.jsonl --json");
  runs(command, arguments, merge);
}

struct ShowArguments : ReplicaArguments {
  std::string id;
};

void addShow(Command& state) {
  const auto [command, arguments] = addOperationVerb<ShowArguments>(
      state, "show", "Print an agent's snapshots as JSON Lines, as `state merge` reads them",
      "witan state show agent-1 > laptop.jsonl", Missing::refuse, operations::kAgentShow,
      [](const ShowArguments& a) {
        return Result(operations::AgentShowRequest{a.id, true, given(a.scope)});
      },
      [](const operations::AgentShown& agent, const ShowArguments&) {
        Printed lines;
        for (const operations::AgentSnapshotRow& one : *agent.snapshots) lines.text += toJson(one) + "\n";
        return lines;
      });
  command->option("ID", arguments->id, "The agent")->required()->check(idText("agent"));
  addScopeOption(command, *arguments);
}

}  // namespace

void addStateCommand(Command& app) {
  Command* state =
      app.noun("state", "The replicated state of agents", "witan state merge laptop.jsonl phone.jsonl --json");
  addMerge(*state);
  addShow(*state);
}

}  // namespace witan::node
