// Server: the Model Context Protocol over lines, without input or output: a line in, lines and at most one call out.
// It speaks both eras: 2026-07-28, whose requests carry their version, and 2025-06-18 and 2025-11-25 after initialize.
//
//   Turn turn = server.receive(line, nowMs);
//   if (turn.call) out += server.answered(*turn.call, carryOut(turn.call->request));
//
// Not thread-safe. The catalogue outlives it.
#pragma once

#include "mcp/catalogue.h"

namespace witan::mcp {

struct ServerLimits {
  JsonLimits line{.bytes = 1 << 20, .depth = 32};
  std::size_t answerBytes = 1 << 20;
  std::size_t page = 50;     // tools in one answer to tools/list
  std::int64_t burst = 100;  // calls at once
  std::int64_t perSecond = 50;
};

struct Call {
  json::value id;
  bool modern = false;
  const Tool* tool;
  ApiRequest request;
};

struct Turn {
  std::string out;           // lines to send, or empty
  std::optional<Call> call;  // to carry out; answered() makes its line
};

class Server {
 public:
  explicit Server(const Catalogue& catalogue, ServerLimits limits = {})
      : catalogue_(catalogue), limits_(limits), calls_(limits.burst * 1000) {}

  // `line` without its end; `nowMs` never falls. Every request gets exactly one answer, a notification none.
  Turn receive(std::string_view line, std::int64_t nowMs);
  // What the node answered, or its error, which is a failed result: the model reads it.
  std::string answered(const Call& call, const Result<json::value>& answer) const;

 private:
  struct Request;
  Turn dispatch(const Request& request, std::int64_t nowMs);
  std::string initialize(const Request& request);
  std::string listTools(const Request& request) const;
  Turn callTool(const Request& request, std::int64_t nowMs);
  bool mayCall(std::int64_t nowMs);

  const Catalogue& catalogue_;
  const ServerLimits limits_;
  bool initialized_ = false;
  std::int64_t calls_;  // thousandths of calls that may be made at once
  std::int64_t lastMs_ = 0;
};

}  // namespace witan::mcp
