// ControlApi: the node's face for its operator: HTTP/1.1 with JSON, on a Unix socket in the data directory or on
// loopback. Each answer is one JSON value; errors are {"error":{"code","message","hint"}}.
//
// /console/ has the web console's files (node/console/console_pages.h), which need no token either. A browser cannot
// use a Unix socket: a port of loopback is opened when somebody asks for the console.
//
// The routes are tables (node/api/control_routes.h), from which the OpenAPI document is made too.
// Who may use one is in the table: node/api/control_tokens.h has the roles. /mcp is another protocol
// (node/api/mcp_api.h), and /tiles/ a log of another form (node/api/tile_shelf.h). Health checks need no token;
// everything else does.
//
// Main thread only. The daemon outlives it.
#pragma once

#include <memory>
#include <string>

#include "net/http_server.h"
#include "node/api/control_tokens.h"
#include "node/api/mcp_api.h"
#include "node/api/tile_shelf.h"
#include "node/api/typed_route.h"
#include "node/daemon/daemon.h"

namespace witan::node {

class ControlApi {
 public:
  ControlApi(net::Loop& loop, Daemon& daemon, ControlTokens tokens, ProgramTokens programs);
  // Errors: as HttpServer::listen. Returns the bound address.
  Result<std::string> listen(const std::string& address);
  // Metrics and health checks alone, without a token.
  Result<std::string> listenPublic(const std::string& address);
  void close();

 private:
  Result<std::string> consoleAddress();
  // The role of a token, or of a session of the console.
  std::optional<ControlRole> roleOf(const net::HttpRequest& request, std::optional<ConsoleSessions::Held>& session);
  std::optional<net::HttpResponse> refuseBody(const net::HttpRequest& head);
  net::HttpResponse withoutToken(const net::HttpRequest& request);
  void serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, bool publicOnly);
  void serveCard(std::shared_ptr<net::HttpReply> reply);
  void serveTile(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply);
  void serveMcp(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply);
  // A request that the node makes of itself on behalf of a role.
  void perform(ControlRole role, const mcp::ApiRequest& request, McpApi::Done done);

  Daemon& daemon_;
  const ControlTokens tokens_;
  ProgramTokens programs_;
  StreamPlaces streams_;
  McpApi mcp_;
  TileShelf tiles_;
  ConsoleDoor console_;
  std::string tcp_;  // where a browser reaches it; empty: nowhere yet
  bool publicIsLocal_ = true;
  net::HttpServer server_, public_;
};

}  // namespace witan::node
