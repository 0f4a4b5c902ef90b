// The verbs of the CLI: --dir, --json, the connection to a running node, the printing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/control_client.h"
#include "node/data_dir/replica_dir.h"
#include "program/command_line.h"
#include "program/error_report.h"
#include "program/output.h"

namespace witan::node {

// A verb's own arguments derive from this.
struct LiveArguments {
  std::string dir;
  bool json = false;
};

void addLiveOptions(Command* command, LiveArguments& arguments, const char* example);

// `witan <noun> <name>` with --dir and --json. `work`: Arguments -> Result<int>, an exit code; an error is printed. The
// caller adds the verb's own options.
template <class Arguments, class Work>
Command* addVerb(Command& noun, const char* name, const char* what, const char* example,
                 const std::shared_ptr<Arguments>& arguments, Work work, int& exitCode) {
  Command* command = noun.command(name, what);
  addLiveOptions(command, *arguments, example);
  command->callback([arguments, work, &exitCode] {
    const Result<int> code = work(*arguments);
    exitCode = code.ok() ? *code : reportError(code.error(), arguments->json);
  });
  return command;
}

// Connects to the node of the directory and works; prints what went wrong. Exit code 4: no node answers.
template <class Work>
int onLiveNode(const LiveArguments& arguments, Work work) {
  const auto done = [&]() -> Result<int> {
    WITAN_TRY(dir, replicaDirPath(arguments.dir));
    WITAN_TRY(client, ControlClient::open(dir));
    return work(client);
  }();
  return done.ok() ? *done : reportError(done.error(), arguments.json);
}

// A verb of a running node: its work gets the client and its arguments, and returns an exit code.
template <class Arguments, class Work>
Command* addLiveVerb(Command& noun, const char* name, const char* what, const char* example,
                     const std::shared_ptr<Arguments>& arguments, Work work, int& exitCode) {
  const auto live = [work](const Arguments& a) -> Result<int> {
    return onLiveNode(a, [&](const ControlClient& client) { return work(client, a); });
  };
  return addVerb(noun, name, what, example, arguments, live, exitCode);
}

// A verb for a directory, whether or not a node runs on it.
template <class Arguments>
std::pair<Command*, std::shared_ptr<Arguments>> addDirVerb(Command& noun, const char* name, const char* what,
                                                           const char* example, Result<int> (*work)(const Arguments&),
                                                           int& exitCode) {
  const auto arguments = std::make_shared<Arguments>();
  return {addVerb(noun, name, what, example, arguments, work, exitCode), arguments};
}

// Members of an answer, as people read them: text as it is, everything else as JSON; missing: "-".
std::string shown(const json::value& object, const char* member);
bool isTrue(const json::value& object, const char* member);
const json::array& rowsOf(const json::value& object, const char* member);
// The answer itself with --json, else `words` of it.
int print(const json::value& answer, bool asJson, const std::function<std::string(const json::value&)>& words);
// Columns, each as wide as its widest cell.
std::string columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace witan::node
