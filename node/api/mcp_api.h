// McpApi: /mcp of the control API: what a token's holder may do, for programs that speak the Model Context Protocol.
//
// Each authority has a catalogue, a limit of rate and sessions of its own; streams share the places of the API.
// Subscribed resources are read again twice a second if an entry touched their entity, and each second on a device
// without ledgers. Main thread only. Daemon and the function that performs requests outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "mcp/catalogue.h"
#include "net/http_server.h"
#include "node/api/stream_places.h"
#include "node/daemon/daemon.h"

namespace witan::node {

class McpApi {
 public:
  using Done = std::function<void(Result<json::value>)>;
  // Carries out one request of the control API with the rights of a role.
  using Perform = std::function<void(ControlRole role, const mcp::ApiRequest& request, Done done)>;

  McpApi(net::Loop& loop, Daemon& daemon, StreamPlaces& streams, Perform perform);
  ~McpApi();

  // `participant`: as ControlTokens::participantOf gives it, or empty. Errors: notFound, no domain has this role or
  // counselor.
  Status serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply, ControlRole role,
               const std::string& participant);

 private:
  struct Seat;
  using Touched = std::set<std::pair<std::string, std::string>>;  // domain and entity

  Result<Seat*> seatOf(ControlRole role, const std::string& participant);
  void watch();
  void look();

  net::Loop& loop_;
  Daemon& daemon_;
  StreamPlaces& streams_;
  const Perform perform_;
  std::map<std::string, std::unique_ptr<Seat>> seats_;
  Touched touched_;               // since the last look
  std::uint64_t following_ = 0;   // 0: nothing is subscribed to
  net::Loop::TimerId timer_ = 0;  // of the next look
};

}  // namespace witan::node
