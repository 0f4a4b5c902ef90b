// A verb of the CLI that is an operation (node/operations/operation.h): if a node runs on the data directory, the typed
// request goes to its control API, else the verb opens the directory and calls the operation itself. Then it formats
// the response.
#pragma once

#include "base/json_codec.h"
#include "cli/client/control_client.h"
#include "cli/client/replica_verb.h"
#include "net/http_message.h"
#include "node/operations/operation.h"

namespace witan::node {

// The node that has this directory open. None: the directory can be opened.
std::optional<ControlClient> runningNode(const std::filesystem::path& dir);

// "?name=value&..." of a request's members that have a value.
std::string queryOf(const json::object& request);

// Opens the directory, works, makes the changes durable, closes. Errors: as ReplicaDir::open, and the work's.
Status onDirectory(const std::filesystem::path& dir, Missing missing,
                   const std::function<Status(operations::OperationContext&)>& work);

// Prints the answer, words in a form that is safe for a terminal. Returns its exit code.
int printed(const Printed& answer, bool asJson);

template <class Request, class Response>
Result<Response> perform(const std::filesystem::path& dir, Missing missing,
                         const operations::Operation<Request, Response>& operation, const Request& request) {
  Response response;
  if (const auto node = runningNode(dir)) {
    WITAN_TRY(body, parseJson(toJson(request), kOwnJson));
    WITAN_TRY(answer, operation.method == std::string_view("GET")
                          ? node->get(operation.path + queryOf(body.get_object()))
                          : node->post(operation.path, body.get_object()));
    WITAN_DO(readJson(answer, response, "the node's answer"));
    return response;
  }
  WITAN_DO(onDirectory(dir, missing, [&](operations::OperationContext& context) -> Status {
    WITAN_TRY(made, operation.run(context, request));
    response = std::move(made);
    return okStatus();
  }));
  return response;
}

// `witan <noun> <name>` with --dir and --json. `fill`: Arguments -> Result<Request>; `format`: Response, Arguments ->
// Result<Printed>.
template <class Arguments, class Request, class Response, class Fill, class Format>
Command* addOperationVerb(Command& noun, const char* name, const char* what, const char* example,
                          const std::shared_ptr<Arguments>& arguments, Missing missing,
                          const operations::Operation<Request, Response>& operation, Fill fill, Format format,
                          int& exitCode) {
  Command* command = noun.command(name, what);
  command->option("--dir", arguments->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
      ->typeName("DIR");
  command->flag("--json", arguments->json, "JSON output");
  command->footer(std::string("Example: ") + example);
  command->callback([=, &operation, &exitCode] {
    const Result<int> code = [&]() -> Result<int> {
      const Result<Request> request = fill(*arguments);
      if (!request.ok()) return request.error();
      WITAN_TRY(dir, replicaDirPath(arguments->dir));
      WITAN_TRY(response, perform(dir, missing, operation, *request));
      const Result<Printed> answer = format(response, *arguments);
      if (!answer.ok()) return answer.error();
      return printed(*answer, arguments->json);
    }();
    exitCode = code.ok() ? *code : reportError(code.error(), arguments->json);
  });
  return command;
}

// A list in JSON Lines.
template <class Row>
std::string jsonLines(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& row : rows) out += toJson(row) + "\n";
  return out;
}

// An optional member of a request: omitted if the option was not given.
inline Omittable<std::string> given(const std::string& option) {
  return option.empty() ? Omittable<std::string>() : Omittable<std::string>(option);
}

}  // namespace witan::node
