#include "node/api/mcp_door.h"

#include "net/loop.h"
#include "node/api/typed_route.h"

namespace witan::node {

bool McpDoor::serve(const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
  const mcp::ExchangeId exchange = ++last_;
  open_[exchange] = {std::move(reply), nullptr};
  mcp::HttpTurn turn = endpoint_.receive(exchange, {request.method, request.headers, request.body}, net::Loop::nowMs());
  const bool subscribes = turn.subscribes;
  carry(std::move(turn));
  return subscribes;
}

void McpDoor::carry(mcp::HttpTurn turn) {
  for (mcp::HttpEffect& effect : turn.effects) apply(effect);
  for (const mcp::HttpCall& call : turn.calls) begin(call);
}

void McpDoor::apply(mcp::HttpEffect& effect) {
  using Kind = mcp::HttpEffect::Kind;
  const auto at = open_.find(effect.exchange);
  if (at == open_.end()) return;
  Open& open = at->second;
  net::HttpResponse response{effect.status, "application/json", std::move(effect.headers), {}};
  switch (effect.kind) {
    case Kind::answer:
      response.body = effect.text.empty() ? "" : effect.text + "\n";
      open.reply->answer(std::move(response));
      open_.erase(at);
      break;
    case Kind::open: {
      const StreamPlaces::Place place = takePlace_();
      if (!place) {
        open.reply->answer(errorResponse(noStreamPlace(), 503));
        endpoint_.gone(effect.exchange);
        open_.erase(at);
        break;
      }
      response.headers["x-accel-buffering"] = "no";
      open.stream = open.reply->stream(std::move(response));
      open.stream->onGone([this, place, alive = std::weak_ptr(alive_), exchange = effect.exchange] {
        if (alive.expired()) return;
        endpoint_.gone(exchange);
        open_.erase(exchange);
      });
      break;
    }
    case Kind::send:
      if (open.stream) open.stream->send("message", effect.text);
      break;
    case Kind::close:
      if (open.stream) open.stream->close();
      open_.erase(at);
      break;
  }
}

void McpDoor::begin(const mcp::HttpCall& call) {
  const auto alive = std::weak_ptr(alive_);
  const mcp::ExchangeId exchange = call.exchange;
  carryOut_(call.call, {[this, alive, exchange](std::string message) {
                          if (!alive.expired()) carry(endpoint_.note(exchange, std::move(message)));
                        },
                        [this, alive, exchange, asked = call.call](const mcp::Outcome& outcome) {
                          if (!alive.expired()) carry(endpoint_.finish(exchange, asked, outcome));
                        }});
}

}  // namespace witan::node
