// McpApi: /mcp of the control API: what a token's holder may do, for programs that speak the Model Context Protocol.
//
// Each authority has a catalogue, a limit of rate and sessions of its own. Main thread only. Daemon and the function
// that performs requests outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "mcp/catalogue.h"
#include "node/api/control_tokens.h"
#include "node/api/mcp_door.h"
#include "node/daemon/daemon.h"

namespace witan::node {

class McpApi {
 public:
  using Done = std::function<void(Result<json::value>)>;
  // Carries out one request of the control API with the rights of a role.
  using Perform = std::function<void(ControlRole role, const mcp::ApiRequest& request, Done done)>;

  McpApi(Daemon& daemon, Perform perform) : daemon_(daemon), perform_(std::move(perform)) {}

  // `participant`: DOMAIN.ROLE, or empty. Errors: notFound, no domain has this role.
  Status serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, ControlRole role,
               const std::string& participant);

 private:
  struct Seat {
    Seat(mcp::Catalogue made, ControlRole held, const Perform& perform);
    void carryOut(const mcp::Call& call, McpDoor::Progress progress) const;

    const mcp::Catalogue catalogue;
    const mcp::Offer offer;
    const ControlRole role;
    const Perform& perform;
    SystemRandom random;
    mcp::RateLimit calls;
    McpDoor door;
  };

  Result<Seat*> seatOf(ControlRole role, const std::string& participant);

  Daemon& daemon_;
  const Perform perform_;
  std::map<std::string, std::unique_ptr<Seat>> seats_;
};

}  // namespace witan::node
