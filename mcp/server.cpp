#include "mcp/server.h"

#include <algorithm>
#include <charconv>

#include "base/quote.h"

namespace witan::mcp {

namespace {

constexpr std::string_view kModern = "2026-07-28";
constexpr std::string_view kLegacy[] = {"2025-11-25", "2025-06-18"};
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
constexpr std::int64_t kListTtlMs = 300'000;
constexpr std::size_t kMostIdBytes = 256;

// JSON-RPC's, and one of MCP.
enum Code : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kNoMethod = -32601,
  kInvalidParams = -32602,
  kUnsupportedVersion = -32022,
};

std::string lineOf(json::object message, const json::value& id) {
  message["jsonrpc"] = "2.0";
  if (!id.is_null()) message["id"] = id;  // MCP's ids are never null
  return canonicalJson(message) + "\n";
}
std::string errorLine(const json::value& id, Code code, std::string_view text, json::object data = {}) {
  json::object error{{"code", static_cast<int>(code)}, {"message", text}};
  if (!data.empty()) error["data"] = std::move(data);
  return lineOf({{"error", std::move(error)}}, id);
}
std::string resultLine(const json::value& id, bool modern, json::object result) {
  if (modern) result["resultType"] = "complete";
  return lineOf({{"result", std::move(result)}}, id);
}

json::object serverInfo() { return {{"name", "witan"}, {"title", "Witan"}, {"version", WITAN_VERSION}}; }

bool isId(const json::value& id) {
  return id.is_int64() || id.is_uint64() || (id.is_string() && id.get_string().size() <= kMostIdBytes);
}

const json::object* objectIn(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr ? value->if_object() : nullptr;
}

json::object toolRow(const Tool& tool) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.title},
          {"inputSchema", tool.inputSchema},
          {"annotations", json::object{{"readOnlyHint", tool.reads || tool.name == "preview"},
                                       {"destructiveHint", false},
                                       {"openWorldHint", false}}}};
}

json::object failedResult(std::string_view text) {
  return {{"content", json::array{json::object{{"type", "text"}, {"text", text}}}}, {"isError", true}};
}

}  // namespace

struct Server::Request {
  json::value id;
  std::string method;
  json::object params;
  bool modern = false;
};

Turn Server::receive(std::string_view line, std::int64_t nowMs) {
  auto parsed = parseJson(line, limits_.line);
  if (!parsed.ok()) return {errorLine(nullptr, kParseError, parsed.error().message), {}};
  json::object* message = parsed->if_object();
  if (message == nullptr) return {errorLine(nullptr, kInvalidRequest, "a message is one JSON object"), {}};
  const json::value* id = message->if_contains("id");
  const json::value* method = message->if_contains("method");
  if (method == nullptr && (message->contains("result") || message->contains("error"))) return {};  // nothing was asked
  if (id != nullptr && !isId(*id)) return {errorLine(nullptr, kInvalidRequest, "an id is a text or an integer"), {}};
  const json::value known = id == nullptr ? json::value() : *id;
  const json::value* version = message->if_contains("jsonrpc");
  if (version == nullptr || *version != "2.0" || method == nullptr || !method->is_string())
    return {errorLine(known, kInvalidRequest, "a request has \"jsonrpc\": \"2.0\" and a method"), {}};
  if (id == nullptr) return {};  // a notification; calls are carried out in order, so none can be cancelled
  Request request{known, std::string(method->get_string()), {}};
  if (json::value* params = message->if_contains("params")) {
    if (!params->is_object()) return {errorLine(known, kInvalidParams, "params must be an object"), {}};
    request.params = std::move(params->get_object());
  }
  return dispatch(request, nowMs);
}

Turn Server::dispatch(const Request& given, std::int64_t nowMs) {
  Request request = given;
  if (request.method == "initialize") return {initialize(request), {}};
  const json::object* meta = objectIn(request.params, "_meta");
  const json::value* version = meta == nullptr ? nullptr : meta->if_contains(kVersionKey);
  request.modern = version != nullptr;
  if (request.modern) {
    if (!version->is_string() || version->get_string() != kModern)
      return {errorLine(request.id, kUnsupportedVersion, "unsupported protocol version",
                        {{"supported", json::array{kModern}}, {"requested", *version}}),
              {}};
    if (objectIn(*meta, kCapabilitiesKey) == nullptr)
      return {errorLine(request.id, kInvalidParams, "_meta lacks " + std::string(kCapabilitiesKey)), {}};
  }
  if (!request.modern && request.method == "ping") return {resultLine(request.id, false, {}), {}};
  if (!request.modern && !initialized_)
    return {errorLine(request.id, kInvalidParams,
                      "_meta lacks " + std::string(kVersionKey) + ", and there was no initialize"),
            {}};
  if (request.modern && request.method == "server/discover")
    return {resultLine(request.id, true,
                       {{"supportedVersions", json::array{kModern}},
                        {"capabilities", json::object{{"tools", json::object()}}},
                        {"ttlMs", kListTtlMs},
                        {"cacheScope", "private"},
                        {"_meta", json::object{{kServerInfoKey, serverInfo()}}}}),
            {}};
  if (request.method == "tools/list") return {listTools(request), {}};
  if (request.method == "tools/call") return callTool(request, nowMs);
  return {errorLine(request.id, kNoMethod, "there is no method " + inQuotes(request.method)), {}};
}

std::string Server::initialize(const Request& request) {
  const json::value* version = request.params.if_contains("protocolVersion");
  if (version == nullptr || !version->is_string())
    return errorLine(request.id, kInvalidParams, "initialize needs a protocolVersion");
  const std::string_view asked = version->get_string();
  const bool known = std::find(std::begin(kLegacy), std::end(kLegacy), asked) != std::end(kLegacy);
  initialized_ = true;
  return resultLine(request.id, false,
                    {{"protocolVersion", known ? asked : kLegacy[0]},
                     {"capabilities", json::object{{"tools", json::object()}}},
                     {"serverInfo", serverInfo()}});
}

std::string Server::listTools(const Request& request) const {
  std::size_t from = 0;
  if (const json::value* cursor = request.params.if_contains("cursor")) {
    const std::string_view word = cursor->is_string() ? std::string_view(cursor->get_string()) : std::string_view();
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), from);
    if (failure != std::errc{} || end != word.data() + word.size() || from >= catalogue_.tools().size())
      return errorLine(request.id, kInvalidParams, "unknown cursor");
  }
  const std::size_t to = std::min(from + limits_.page, catalogue_.tools().size());
  json::array rows;
  for (std::size_t i = from; i < to; ++i) rows.push_back(toolRow(catalogue_.tools()[i]));
  json::object result{{"tools", std::move(rows)}};
  if (to < catalogue_.tools().size()) result["nextCursor"] = std::to_string(to);
  if (request.modern) {
    result["ttlMs"] = kListTtlMs;
    result["cacheScope"] = "private";
  }
  return resultLine(request.id, request.modern, std::move(result));
}

Turn Server::callTool(const Request& request, std::int64_t nowMs) {
  const json::value* name = request.params.if_contains("name");
  const Tool* tool = name != nullptr && name->is_string() ? catalogue_.find(name->get_string()) : nullptr;
  if (tool == nullptr) return {errorLine(request.id, kInvalidParams, "unknown tool"), {}};
  const json::value* arguments = request.params.if_contains("arguments");
  if (arguments != nullptr && !arguments->is_object())
    return {errorLine(request.id, kInvalidParams, "arguments must be an object"), {}};
  const auto fail = [&](std::string_view text) {
    return Turn{resultLine(request.id, request.modern, failedResult(text)), {}};
  };
  if (!mayCall(nowMs)) return fail("too many calls; wait a second");
  auto asked = requestOf(*tool, arguments == nullptr ? json::object() : arguments->get_object());
  if (!asked.ok()) return fail(asked.error().message);
  return {"", Call{request.id, request.modern, tool, std::move(*asked)}};
}

// A token bucket in thousandths, so that no fraction of a call is lost.
bool Server::mayCall(std::int64_t nowMs) {
  const std::int64_t passed = std::clamp<std::int64_t>(nowMs - lastMs_, 0, 3'600'000);
  lastMs_ = nowMs;
  calls_ = std::min(calls_ + passed * limits_.perSecond, limits_.burst * 1000);
  if (calls_ < 1000) return false;
  calls_ -= 1000;
  return true;
}

std::string Server::answered(const Call& call, const Result<json::value>& answer) const {
  if (!answer.ok()) {
    const Error& error = answer.error();
    return resultLine(call.id, call.modern,
                      failedResult(error.message + (error.hint.empty() ? "" : "\n" + error.hint)));
  }
  const json::value shown = shownBy(*call.tool, *answer);
  std::string text = canonicalJson(shown);
  if (text.size() > limits_.answerBytes)
    return resultLine(call.id, call.modern, failedResult("the answer is too large; ask for less"));
  json::object result{{"content", json::array{json::object{{"type", "text"}, {"text", text}}}}};
  if (shown.is_object()) result["structuredContent"] = shown;
  return resultLine(call.id, call.modern, std::move(result));
}

}  // namespace witan::mcp
