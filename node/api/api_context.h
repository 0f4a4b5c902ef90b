// What the work of a route is given: the node, the request, and where its answer goes.
//
// Main thread only. The daemon outlives them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http_server.h"
#include "node/api/console_sessions.h"
#include "node/api/control_tokens.h"
#include "node/daemon/daemon.h"

namespace witan::node {

// HTTP status of an error of this API.
int statusOf(ErrorCode code);
// {"error":{"code","message","hint"}}
net::HttpResponse errorResponse(const Error& error, int status);
// `text` is canonical JSON; a line's end is added.
net::HttpResponse jsonResponse(std::string text, int status = 200);

// Where the answer to one request goes. Copies answer the same request; the first answer counts. May outlive the
// request.
struct Responder {
  Daemon& daemon;
  std::shared_ptr<net::HttpReply> reply;

  void send(net::HttpResponse response) const { reply->answer(std::move(response)); }
  // Ids of devices become names.
  void refuse(const Error& error) const;
};

// The web console's door: who is signed in, and where it is.
struct ConsoleDoor {
  ConsoleSessions sessions;
  // HOST:PORT on loopback, from the first call on. Errors: as HttpServer::listen.
  std::function<Result<std::string>()> address;
};

struct ApiContext {
  Daemon& daemon;
  const net::HttpRequest& request;  // until the work returns
  ControlRole role;                 // of the caller's token
  Responder responder;
  ConsoleDoor& console;
  std::optional<ConsoleSessions::Held> session;  // none: the caller has a token of the node
};

// Errors: notFound.
Result<const kernel::DomainModule*> moduleNamed(Daemon& daemon, const std::string& domain);
// Errors: unavailable, on a device that keeps no ledgers.
Status needsLedgers(Daemon& daemon);

}  // namespace witan::node
