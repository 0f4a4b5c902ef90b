// Any bytes as what tools outside say: messages of an MCP server, a schema with a value, the answer of a model; and as
// the file of an agent. Nothing of it crashes, hangs or says what was not asked.
#pragma once

#include <string>
#include <string_view>

#include "agents/data/data_agent.h"
#include "base/check.h"
#include "base/json_validator.h"
#include "base/seams.h"
#include "mcp/client.h"
#include "mcp/oauth.h"
#include "node/tools/model_wire.h"
#include "node/tools/openapi_document.h"

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
  using enum mcp::Asks;
  for (const auto& [modern, asks] :
       {std::pair(true, refuse), {false, refuse}, {true, defaults}, {true, person}, {false, person}}) {
    mcp::Client client({.asks = asks});
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
      mcp::ClientTurn turn = client.received(tools_detail::lineOf(rest), now);
      WITAN_CHECK(turn.forms.empty() || asks == person, "a person is asked where a person answers");
      for (const mcp::AskedForm& form : turn.forms)
        for (std::string& message : client.answerForm(form.number, mcp::FormAction::decline, {}).out)
          turn.out.push_back(std::move(message));
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

// The first line is a challenge, each other one an answer of the web: what is asked for, at whatever place the
// documents name, is asked over https or of this machine, and a token comes from such a place.
inline void fuzzOAuth(std::string_view bytes) {
  const auto safe = [](std::string_view url) {
    return url.starts_with("https://") || url.starts_with("http://127.0.0.1") || url.starts_with("http://localhost") ||
           url.starts_with("http://[::1]");
  };
  for (const bool machine : {false, true}) {
    std::string_view rest = bytes;
    mcp::OAuthGrant before;
    before.challenge = tools_detail::lineOf(rest);
    const auto web = [&](const mcp::WebRequest& request) -> Result<mcp::WebAnswer> {
      WITAN_CHECK(safe(request.url), "only safe places are asked");
      if (rest.empty()) return unavailable("the web has ended");
      std::string_view line = tools_detail::lineOf(rest);
      const int status = line.starts_with("4") ? 404 : 200;
      return mcp::WebAnswer{status, std::string(line)};
    };
    const auto person = [&](const std::string& url) -> Result<std::map<std::string, std::string>> {
      WITAN_CHECK(safe(url), "a person is sent to a safe place");
      const std::size_t at = url.find("state=");
      const std::size_t end = std::min(url.find('&', std::min(at, url.size())), url.size());
      if (at == url.npos) return unavailable("no state");
      return std::map<std::string, std::string>{{"code", "c"}, {"state", url.substr(at + 6, end - at - 6)}};
    };
    SeededRandom random(7);
    const auto grant = mcp::logIn({"https://mcp.example/mcp", "", "", "", "", "http://127.0.0.1:9/callback", machine},
                                  before, web, person, random, 0);
    if (!grant.ok()) continue;
    WITAN_CHECK(safe(grant->tokenEndpoint) && !grant->accessToken.empty(), "a token, from a safe place");
    if (mcp::canRenew(*grant)) {
      WITAN_CHECK(safe(mcp::renewal(*grant).url), "and so the next one");
      (void)mcp::renewed(*grant, {200, std::string(tools_detail::lineOf(rest))}, 0);
    }
  }
}

// The first line is an OpenAPI document, each other one arguments for each of its operations, and an answer.
inline void fuzzOpenApi(std::string_view bytes) {
  const auto document = node::OpenApiDocument::read(tools_detail::lineOf(bytes));
  if (!document.ok()) return;
  const auto plain = [](std::string_view text) { return text.find_first_of("\r\n ") == text.npos; };
  for (int lines = 0; lines < 8 && !bytes.empty(); ++lines) {
    const auto value = parseJson(tools_detail::lineOf(bytes));
    if (!value.ok()) continue;
    for (const auto& [id, operation] : document->operations()) {
      (void)document->check(id, 200, *value);
      if (!value->is_object()) continue;
      const auto request = document->request(id, value->get_object());
      if (!request.ok()) continue;
      WITAN_CHECK(operation.problem.empty(), "what is not understood is not called");
      WITAN_CHECK(plain(request->method) && plain(request->target) && request->target.starts_with('/'),
                  "arguments stay within one request's target");
      for (const auto& [name, text] : request->headers)
        WITAN_CHECK(plain(name) && text.find_first_of("\r\n") == text.npos, "and within one header");
    }
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
