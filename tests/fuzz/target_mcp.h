// Any bytes as messages of an MCP client, a line each: by stdin, and over HTTP as a session's and as a modern request.
// Each line gets at most one answer, each message is JSON-RPC, and a forged state opens nothing.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "mcp/act.h"
#include "mcp/http_endpoint.h"
#include "mcp/resource_uri.h"

namespace witan::fuzz {

namespace mcp_detail {

inline mcp::Offer offer() {
  mcp::Offer made;
  made.capabilities =
      parseJson(R"({"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{}})")
          .value()
          .as_object();
  made.tools.push_back(json::object{{"name", "act"}, {"inputSchema", json::object()}});
  made.prompts.push_back(json::object{{"name", "say"}});
  made.knows = [](std::string_view uri) { return mcp::parseResource(uri).has_value(); };
  return made;
}

// A tool asks once; then it has a result.
inline mcp::Outcome outcomeOf(const mcp::Call& call) {
  if (!call.answers.empty() || !call.can("elicitation")) return {{{"content", json::array()}}};
  mcp::Outcome asks;
  asks.questions["q"] = json::object{{"method", "elicitation/create"}, {"params", json::object{{"message", "m"}}}};
  return asks;
}

inline void checkMessage(std::string_view text) {
  const auto message = parseJson(text, kOwnJson);
  WITAN_CHECK(message.ok() && message->is_object(), "a message is JSON");
  WITAN_CHECK(mcp::textIn(message->get_object(), "jsonrpc") == "2.0", "a message is JSON-RPC");
}

inline std::size_t answersIn(const std::vector<std::string>& out) {
  return static_cast<std::size_t>(std::count_if(out.begin(), out.end(), [](const std::string& text) {
    checkMessage(text);
    const auto message = parseJson(text, kOwnJson);
    return message->get_object().contains("result") || message->get_object().contains("error");
  }));
}

inline void checkHttp(mcp::HttpEndpoint& endpoint, mcp::HttpTurn turn) {
  for (int round = 0; round < 2 && !turn.calls.empty(); ++round) {
    const mcp::HttpCall called = turn.calls.front();
    mcp::HttpTurn more = endpoint.finish(called.exchange, called.call, outcomeOf(called.call));
    for (mcp::HttpEffect& effect : more.effects) turn.effects.push_back(std::move(effect));
    turn.calls = std::move(more.calls);
  }
  std::map<mcp::ExchangeId, int> answers;
  for (const mcp::HttpEffect& effect : turn.effects) {
    if (!effect.text.empty()) checkMessage(effect.text);
    if (effect.kind == mcp::HttpEffect::Kind::answer)
      WITAN_CHECK(++answers[effect.exchange] == 1, "one answer for each");
  }
}

}  // namespace mcp_detail

inline void fuzzMcp(std::string_view bytes) {
  using namespace mcp_detail;
  const mcp::Offer offered = offer();
  mcp::RateLimit calls(1000, 1000);
  SeededRandom random(1);
  mcp::Server server(offered, calls);
  mcp::HttpEndpoint endpoint(offered, calls, random);
  mcp::Seals seals(random);
  const std::map<std::string, std::string> json{{"content-type", "application/json"}};
  const mcp::HttpTurn begun = endpoint.receive(
      1,
      {"POST", json,
       R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}})"},
      0);
  auto session = json, modern = json;
  session["mcp-session-id"] = begun.effects.at(0).headers.at("mcp-session-id");
  modern["mcp-protocol-version"] = "2026-07-28";
  modern["mcp-method"] = "tools/call";
  modern["mcp-name"] = "act";
  mcp::ExchangeId exchange = 1;
  for (int lines = 0; lines < 100 && !bytes.empty(); ++lines) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    mcp::Turn turn = server.receive(line, lines);
    WITAN_CHECK(answersIn(turn.out) + (turn.call ? 1 : 0) <= 1, "one answer for each line");
    if (turn.call) WITAN_CHECK(answersIn(server.finish(*turn.call, outcomeOf(*turn.call)).out) <= 1, "one answer");
    checkHttp(endpoint, endpoint.receive(++exchange, {"POST", session, line}, lines));
    checkHttp(endpoint, endpoint.receive(++exchange, {"POST", modern, line}, lines));
    WITAN_CHECK(!seals.open(line, "binding", lines).ok(), "no line is a state");
    (void)mcp::parseResource(line);
  }
}

}  // namespace witan::fuzz
