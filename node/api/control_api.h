// ControlApi: the node's face for its operator: HTTP/1.1 with JSON, on a Unix socket in the data directory or on
// loopback. Each answer is one JSON value; errors are {"error":{"code","message","hint"}}.
//
// The routes are a table (node/api/control_routes.h), from which the OpenAPI document is made too. Who may use one
// is in the table: node/api/control_tokens.h has the roles. Health checks need no token; everything else does.
//
// Main thread only. The daemon outlives it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "net/http_server.h"
#include "node/api/control_tokens.h"
#include "node/daemon/daemon.h"

namespace witan::node {

class ControlApi;

// One request that was understood: a route was found, the token suffices, the body is an object (or there is none).
struct ControlCall {
  Daemon& daemon;
  const net::HttpRequest& request;
  const json::object body;
  ControlRole role;
  std::shared_ptr<net::HttpReply> reply;

  void answer(const json::value& value) const;
  // What was made, or why it was not.
  void put(const Result<json::value>& made) const;
  void answerText(std::string text, std::string type) const;
  void refuse(const Error& error) const;
  // Of a query parameter or a member of the body: text; empty if it was not given.
  std::string text(const char* name) const;
  Result<std::uint64_t> number(const char* name, std::uint64_t byDefault) const;
  // Of the parameter "domain". Errors: notFound.
  Result<const kernel::DomainModule*> module() const;
  // Errors: unavailable, on a device that keeps no ledgers.
  Status needsLedgers() const;
};

// Of a parameter of GET, which stands in the query, or a member of POST's body. A value of another form is refused: one
// that was passed over would leave its default, and a request without its operation id is decided again.
enum class ParameterForm { text, filled, number, yes, list, object, any };  // filled: a text that is not empty
struct ControlParameter {
  const char* name;
  const char* meaning;
  ParameterForm form = ParameterForm::text;
  bool needed = false;  // refused without it
};
const char* wordOf(ParameterForm form);  // JSON Schema's; "": any

struct ControlRoute {
  const char* method;
  const char* path;
  std::optional<ControlRole> role;  // none: without a token
  const char* what;                 // one sentence
  std::vector<ControlParameter> parameters;
  void (*handle)(const ControlCall&);
};

// All of them, by path.
const std::vector<ControlRoute>& controlRoutes();
// OpenAPI 3.1, from the table.
json::object openApi();

int statusOf(ErrorCode code);
// All JSON that leaves this API: canonical, one line.
net::HttpResponse jsonResponse(const json::value& value, int status = 200);

class ControlApi {
 public:
  ControlApi(net::Loop& loop, Daemon& daemon, ControlTokens tokens);
  // Errors: as HttpServer::listen. Returns the bound address.
  Result<std::string> listen(const std::string& address);
  // Metrics and health checks alone, without a token.
  Result<std::string> listenPublic(const std::string& address);
  void close();

 private:
  void serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, bool publicOnly);

  Daemon& daemon_;
  const ControlTokens tokens_;
  net::HttpServer server_, public_;
};

}  // namespace witan::node
