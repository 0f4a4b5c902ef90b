// Call and Outcome: what a server hands out to be carried out, and what comes back. Values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/json.h"
#include "mcp/message.h"

namespace witan::mcp {

// What a server has. Rows as the protocol lists them, each with its name (a resource: its uri).
struct Offer {
  json::object capabilities;
  json::array tools{}, resources{}, templates{}, prompts{};
  std::function<bool(std::string_view uri)> knows{};  // whether a resource may be read; empty: those that are listed

  bool readable(std::string_view uri) const;
};

// A request that needs more than the server knows: tools/call, resources/read, prompts/get or completion/complete.
struct Call {
  json::value id;
  bool modern = false;
  std::string method;
  json::object params;        // as sent
  json::object capabilities;  // of the client
  json::object answers;       // to the questions of the outcome before: inputResponses
  std::string state;          // that outcome's state, as the client sent it back: attacker-controlled
  bool logs = false;          // the client asked for log messages

  std::string_view name() const { return textIn(params, "name"); }
  bool can(std::string_view capability) const { return capabilities.contains(capability); }
};

struct Outcome {
  json::object result{};
  int code = 0;  // of an error of the protocol; 0: none
  std::string text{};
  json::object data{};
  json::object questions{};  // inputRequests by key; not empty: there is no result before they are answered
  std::string state{};
};

// A tool's failure is a result: the model reads it.
Outcome failedTool(std::string_view text);
Outcome protocolError(int code, std::string_view text, json::object data = {});

// A token bucket, in thousandths, so that no fraction of a call is lost. `nowMs` never falls.
class RateLimit {
 public:
  RateLimit(std::int64_t burst, std::int64_t perSecond) : burst_(burst), perSecond_(perSecond), left_(burst * 1000) {}
  bool take(std::int64_t nowMs);

 private:
  const std::int64_t burst_, perSecond_;
  std::int64_t left_, lastMs_ = 0;
};

}  // namespace witan::mcp
