// What the commands on a running node have in common: --dir, --json, the connection, the printing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include "program/command_line.h"

#include "cli/client/control_client.h"
#include "node/data_dir/replica_dir.h"
#include "program/error_report.h"
#include "program/output.h"

namespace witan::node {

struct LiveArguments {
  std::string dir;
  bool json = false;
};

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

inline void addLiveOptions(Command* command, LiveArguments& arguments, const char* example) {
  command->option("--dir", arguments.dir, "Data directory of the node; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
      ->typeName("DIR");
  command->flag("--json", arguments.json, "JSON output");
  command->footer(std::string("Example: ") + example);
}

// A verb whose work gets the client and its arguments, and returns an exit code.
template <class Arguments, class Work>
Command* addLiveVerb(Command& noun, const char* name, const char* what, const char* example,
                     const std::shared_ptr<Arguments>& arguments, Work work, int& exitCode) {
  Command* command = noun.command(name, what);
  addLiveOptions(command, *arguments, example);
  command->callback([arguments, work, &exitCode] {
    exitCode = onLiveNode(*arguments, [&](const ControlClient& client) { return work(client, *arguments); });
  });
  return command;
}

// A verb for a directory, whether or not a node runs on it; its work returns an exit code. Options of its own are for
// the caller to add.
template <class Arguments>
std::pair<Command*, std::shared_ptr<Arguments>> addDirVerb(Command& noun, const char* name, const char* what,
                                                           const char* example, Result<int> (*work)(const Arguments&),
                                                           int& exitCode) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command = noun.command(name, what);
  addLiveOptions(command, *arguments, example);
  command->callback([arguments, work, &exitCode] {
    const auto code = work(*arguments);
    exitCode = code.ok() ? *code : reportError(code.error(), arguments->json);
  });
  return {command, arguments};
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
