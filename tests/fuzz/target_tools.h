// Any bytes as what tools outside say: messages of an MCP server, a schema with a value, the answer of a model; and as
// the file of an agent. Nothing of it crashes, hangs or says what was not asked.
#pragma once

#include <string>
#include <string_view>

#include "agents/data/data_agent.h"
#include "base/check.h"
#include "base/json_validator.h"
#include "mcp/client.h"
#include "node/tools/model_wire.h"

namespace witan::fuzz {

namespace tools_detail {

inline std::string_view lineOf(std::string_view& bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view line = bytes.substr(0, end);
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return line;
}

}  // namespace tools_detail

// Lines of a server, whose session has a call under way: it is answered at most once.
inline void fuzzMcpClient(std::string_view bytes) {
  constexpr std::string_view kTools =
      R"({"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"act","inputSchema":{"type":"object"}}]}})";
  for (const bool modern : {true, false}) {
    mcp::Client client;
    (void)client.start(0);
    if (modern) {
      (void)client.received(R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}})", 0);
      (void)client.received(kTools, 0);
      WITAN_CHECK(client.ready(), "it has its tools");
      (void)client.call(7, "act", {}, "op");
    }
    int answers = 0;
    std::string_view rest = bytes;
    for (std::int64_t now = 1; now < 200 && !rest.empty(); ++now) {
      const mcp::ClientTurn turn = client.received(tools_detail::lineOf(rest), now);
      for (const mcp::CallAnswer& answer : turn.answers) {
        WITAN_CHECK(modern && answer.key == 7, "an answer to what was asked");
        ++answers;
      }
      for (const std::string& message : turn.out) WITAN_CHECK(parseJson(message, kOwnJson).ok(), "a message is JSON");
    }
    WITAN_CHECK(answers <= 1, "one answer to one call");
  }
}

// The first line is a schema, the others values.
inline void fuzzSchema(std::string_view bytes) {
  auto schema = parseJson(tools_detail::lineOf(bytes));
  if (!schema.ok()) return;
  const auto made = JsonValidator::compile(*std::move(schema), {.steps = 20'000});
  if (!made.ok()) return;
  for (int lines = 0; lines < 8 && !bytes.empty(); ++lines) {
    const auto value = parseJson(tools_detail::lineOf(bytes));
    if (value.ok())
      WITAN_CHECK(made->check(*value).ok() == made->check(*value).ok(), "the same value conforms or does not");
  }
}

inline void fuzzModelReply(std::string_view bytes) {
  for (const auto format : {node::ModelFormat::openai, node::ModelFormat::anthropic, node::ModelFormat::ollama})
    for (const char* type : {"application/json", "text/event-stream", "application/x-ndjson"})
      if (const auto reply = node::modelReply(format, type, bytes); reply.ok())
        WITAN_CHECK(parseJson(canonicalJson(reply->answer), kOwnJson).ok(), "an answer is JSON");
}

inline void fuzzAgentFile(std::string_view bytes) {
  auto file = agents::readAgentFile(bytes, "fuzzed");
  if (!file.ok()) return;
  const auto agent = agents::DataAgent::make(*std::move(file), agents::agentFileVersion(bytes));
  if (!agent.ok()) return;
  const agents::Turn turn = (*agent)->step(nullptr, {agents::InputKind::wake, json::object{{"reason", "user"}}});
  (void)(*agent)->step(turn.sigma,
                       {agents::InputKind::observation, json::array{json::object{{"content", json::object()}}}});
}

}  // namespace witan::fuzz
