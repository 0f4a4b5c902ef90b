// ControlApi: the node's face for its operator: HTTP/1.1 with JSON, on a Unix socket in the data directory or on
// loopback. Each answer is one JSON value; errors are {"error":{"code","message","hint"}}.
//
// The routes are tables (node/api/control_routes.h), from which the OpenAPI document is made too.
// Who may use one is in the table: node/api/control_tokens.h has the roles. /mcp is another protocol
// (node/api/mcp_api.h). Health checks need no token; everything else does.
//
// Main thread only. The daemon outlives it.
#pragma once

#include <memory>
#include <string>

#include "net/http_server.h"
#include "node/api/api_context.h"
#include "node/api/control_tokens.h"
#include "node/api/mcp_api.h"
#include "node/daemon/daemon.h"

namespace witan::node {

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
  net::HttpResponse noToken(const net::HttpRequest& request) const;
  std::optional<net::HttpResponse> admit(const net::HttpRequest& head) const;
  void serveMcp(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply);
  // A request that the node makes of itself on behalf of a role.
  void perform(ControlRole role, const mcp::ApiRequest& request, McpApi::Done done);

  Daemon& daemon_;
  const ControlTokens tokens_;
  McpApi mcp_;
  net::HttpServer server_, public_;
};

}  // namespace witan::node
