// The verbs of the CLI: --dir, --json, the connection to a running node, the printing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json_codec.h"
#include "cli/client/control_client.h"
#include "node/data_dir/replica_dir.h"
#include "node/operations/operation.h"
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

// A command, and the arguments that its options fill.
template <class Arguments>
using Verb = std::pair<Command*, std::shared_ptr<Arguments>>;

// `witan <noun> <name>` with --dir and --json. `work`: Arguments -> Result<int>, an exit code; an error is printed. The
// caller adds the verb's own options.
template <class Arguments, class Work>
Verb<Arguments> addVerb(Command& noun, const char* name, const char* what, const char* example, Work work) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command = noun.command(name, what);
  addLiveOptions(command, *arguments, example);
  runs(command, arguments, work);
  return {command, arguments};
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
Verb<Arguments> addLiveVerb(Command& noun, const char* name, const char* what, const char* example, Work work) {
  return addVerb<Arguments>(noun, name, what, example, [work](const Arguments& a) -> Result<int> {
    return onLiveNode(a, [&](const ControlClient& client) { return work(client, a); });
  });
}

// Members of an answer, as people read them: text as it is, everything else as JSON; missing: "-".
std::string shown(const json::value& object, const char* member);
bool isTrue(const json::value& object, const char* member);
const json::array& rowsOf(const json::value& object, const char* member);
// The answer itself with --json, else `words` of it.
int print(const json::value& answer, bool asJson, const std::function<std::string(const json::value&)>& words);
// With --exit-code, and where the answer of a person waits: no answer yet, the request is in the outbox.
inline constexpr int kExitWaiting = 7;

// Columns, each as wide as its widest cell.
std::string columns(const std::vector<std::vector<std::string>>& rows);

// A verb of the CLI that is an operation (node/operations/operation.h): if a node runs on the data directory, the typed
// request goes to its control API, else the verb opens the directory and calls the operation itself. Then it formats
// the response.

using operations::kDefaultScope;

struct ReplicaArguments : LiveArguments {
  std::string scope = kDefaultScope;
};

// Which of the database's scopes.
void addScopeOption(Command* command, ReplicaArguments& arguments);

// What is printed.
struct Printed {
  std::string text;  // for stdout
  int exitCode = kExitOk;
};

// Prints the answer, words in a form that is safe for a terminal. Returns its exit code.
int printed(const Printed& answer);

// What a verb does where there is no replica yet.
enum class Missing { refuse, create };

// Opens the directory, works, makes the changes durable, closes. Says on stderr that the directory was made, or that
// the device goes on as another writer. Errors: as ReplicaDir::open, and the work's.
Status onDirectory(const std::filesystem::path& dir, Missing missing, const std::function<Status(ReplicaDir&)>& work);

// The operation's context on a directory that is open.
operations::OperationContext contextOf(ReplicaDir& dir);

// "?name=value&..." of a request's members that have a value.
std::string queryOf(const json::object& request);

// Sends the request to a running node.
template <class Request, class Response>
Result<Response> send(const ControlClient& node, const operations::Operation<Request, Response>& operation,
                      const Request& request) {
  WITAN_TRY(body, parseJson(toJson(request), kOwnJson));
  WITAN_TRY(answer, operation.method == std::string_view("GET") ? node.get(operation.path + queryOf(body.get_object()))
                                                                : node.post(operation.path, body.get_object()));
  Response response;
  WITAN_DO(readJson(answer, response, "the node's answer"));
  return response;
}

template <class Request, class Response>
Result<Response> perform(const std::filesystem::path& dir, Missing missing,
                         const operations::Operation<Request, Response>& operation, const Request& request) {
  if (const auto node = runningNode(dir)) return send(*node, operation, request);
  Response response;
  WITAN_DO(onDirectory(dir, missing, [&](ReplicaDir& open) -> Status {
    operations::OperationContext context = contextOf(open);
    WITAN_SET(response, operation.run(context, request));
    return okStatus();
  }));
  return response;
}

// `fill`: Arguments -> Result<Request>; `format`: Response, Arguments -> Result<Printed>, in words. With --json the
// response itself is printed, as the control API answers it.
template <class Arguments, class Request, class Response, class Fill, class Format>
Verb<Arguments> addOperationVerb(Command& noun, const char* name, const char* what, const char* example,
                                 Missing missing, const operations::Operation<Request, Response>& operation, Fill fill,
                                 Format format) {
  return addVerb<Arguments>(noun, name, what, example, [=, &operation](const Arguments& a) -> Result<int> {
    const Result<Request> request = fill(a);
    if (!request.ok()) return request.error();
    WITAN_TRY(dir, replicaDirPath(a.dir));
    WITAN_TRY(response, perform(dir, missing, operation, *request));
    Result<Printed> answer = format(response, a);
    if (!answer.ok()) return answer.error();
    if (a.json) answer->text = toJson(response) + "\n";
    return printed(*answer);
  });
}

// A verb on a directory that no node has open. `work`: ReplicaDir&, Arguments -> Result<Printed>.
template <class Arguments, class Work>
Verb<Arguments> addReplicaVerb(Command& noun, const char* name, const char* what, const char* example, Missing missing,
                               Work work) {
  return addVerb<Arguments>(noun, name, what, example, [=](const Arguments& a) -> Result<int> {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    if (runningNode(dir)) return conflict("this works on a directory that no node has open", "stop the node first");
    Printed answer;
    WITAN_DO(onDirectory(dir, missing, [&](ReplicaDir& open) -> Status {
      WITAN_SET(answer, work(open, a));
      return okStatus();
    }));
    return printed(answer);
  });
}

// An optional member of a request: omitted if the option was not given.
inline Omittable<std::string> given(const std::string& option) {
  return option.empty() ? Omittable<std::string>() : Omittable<std::string>(option);
}

}  // namespace witan::node
