// McpDoor: HTTP requests into an mcp::HttpEndpoint, its effects onto their answers.
//
// Belongs to the loop's thread. The door must outlive nothing that it was given; work that ends after it is dropped.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "mcp/http_endpoint.h"
#include "net/http_server.h"
#include "node/api/stream_places.h"

namespace witan::node {

class McpDoor {
 public:
  // How a call goes: `note` sends a message before the answer, `done` the outcome, once, now or later.
  struct Progress {
    std::function<void(std::string message)> note;
    std::function<void(mcp::Outcome)> done;
  };
  using CarryOut = std::function<void(const mcp::Call&, Progress)>;

  using TakePlace = std::function<StreamPlaces::Place()>;

  McpDoor(const mcp::Offer& offer, mcp::RateLimit& calls, Random& random, TakePlace takePlace, CarryOut carryOut)
      : endpoint_(offer, calls, random), takePlace_(std::move(takePlace)), carryOut_(std::move(carryOut)) {}

  // True: there may be more to watch.
  bool serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply);
  void updated(std::string_view uri) { carry(endpoint_.updated(uri)); }
  void listChanged(mcp::Kind kind) { carry(endpoint_.listChanged(kind)); }
  std::set<std::string> subscribed() const { return endpoint_.subscribed(); }

 private:
  struct Open {
    std::shared_ptr<net::HttpReply> reply;
    std::shared_ptr<net::HttpStream> stream;
  };

  void carry(mcp::HttpTurn turn);
  void apply(mcp::HttpEffect& effect);
  void begin(const mcp::HttpCall& call);

  mcp::HttpEndpoint endpoint_;
  const TakePlace takePlace_;
  const CarryOut carryOut_;
  std::map<mcp::ExchangeId, Open> open_;
  mcp::ExchangeId last_ = 0;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace witan::node
