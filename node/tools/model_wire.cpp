#include "node/tools/model_wire.h"

#include <map>
#include <vector>

#include "mcp/message.h"
#include "net/event_parser.h"

namespace witan::node {

namespace {

using mcp::objectIn;
using mcp::textIn;

constexpr JsonLimits kPiece{.bytes = 1 << 20, .depth = 40};
constexpr std::size_t kMostCalls = 64;

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, from.size()) == from) {
      out += to;
      at += from.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string outward(std::string_view tool) { return replaced(tool, ".", "__"); }
std::string inward(std::string_view tool) { return replaced(tool, "__", "."); }

const json::array& listIn(const json::object& object, std::string_view name) {
  static const json::array none;
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

std::int64_t countIn(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() && value->get_int64() > 0 ? value->get_int64() : 0;
}

json::value argumentsOf(const json::object& call) {
  const json::value* value = call.if_contains("arguments");
  return value != nullptr ? *value : json::value(json::object());
}

// --- requests

json::object plainMessage(ModelFormat format, const json::object& message) {
  const std::string_view role = textIn(message, "role");
  json::object out{{"role", role}, {"content", textIn(message, "text")}};
  if (role == "tool" && format == ModelFormat::openai) out["tool_call_id"] = textIn(message, "id");
  json::array calls;
  for (const json::value& one : listIn(message, "calls")) {
    const json::object& call = one.get_object();
    const json::value arguments = argumentsOf(call);
    json::object function{{"name", outward(textIn(call, "name"))}};
    function["arguments"] = format == ModelFormat::openai ? json::value(canonicalJson(arguments)) : arguments;
    json::object made{{"function", std::move(function)}};
    if (format == ModelFormat::openai) made["id"] = textIn(call, "id"), made["type"] = "function";
    calls.push_back(std::move(made));
  }
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  return out;
}

json::object anthropicMessage(const json::object& message) {
  const std::string_view role = textIn(message, "role");
  json::array parts;
  if (role == "tool") {
    parts.push_back(json::object{
        {"type", "tool_result"}, {"tool_use_id", textIn(message, "id")}, {"content", textIn(message, "text")}});
    return {{"role", "user"}, {"content", std::move(parts)}};
  }
  if (!textIn(message, "text").empty())
    parts.push_back(json::object{{"type", "text"}, {"text", textIn(message, "text")}});
  for (const json::value& one : listIn(message, "calls")) {
    const json::object& call = one.get_object();
    parts.push_back(json::object{{"type", "tool_use"},
                                 {"id", textIn(call, "id")},
                                 {"name", outward(textIn(call, "name"))},
                                 {"input", argumentsOf(call)}});
  }
  return {{"role", role}, {"content", std::move(parts)}};
}

json::array toolsOf(ModelFormat format, const json::object& question) {
  json::array tools;
  for (const json::value& one : listIn(question, "tools")) {
    const json::object& tool = one.get_object();
    const json::object* schema = objectIn(tool, "parameters");
    json::object parameters = schema != nullptr ? *schema : json::object();
    if (!parameters.contains("type")) parameters["type"] = "object";
    json::object made{{"name", outward(textIn(tool, "name"))}, {"description", textIn(tool, "description")}};
    made[format == ModelFormat::anthropic ? "input_schema" : "parameters"] = std::move(parameters);
    if (format == ModelFormat::anthropic)
      tools.push_back(std::move(made));
    else
      tools.push_back(json::object{{"type", "function"}, {"function", std::move(made)}});
  }
  return tools;
}

// --- answers: the pieces of a stream, or a whole as one piece

struct Building {
  struct Call {
    std::string id, name, arguments;
    std::optional<json::value> whole;
  };
  std::string text, stop;
  std::map<std::int64_t, Call> calls;  // by index
  std::int64_t tokensIn = 0, tokensOut = 0;
  bool any = false, ended = false;
  std::string error;

  Call& call(std::int64_t index) {
    if (calls.size() >= kMostCalls && !calls.contains(index)) error = "too many calls";
    return calls[calls.size() >= kMostCalls ? 0 : index];
  }
};

void takeOpenAi(Building& into, const json::object& piece) {
  if (const json::object* usage = objectIn(piece, "usage")) {
    into.tokensIn = countIn(*usage, "prompt_tokens");
    into.tokensOut = countIn(*usage, "completion_tokens");
  }
  for (const json::value& one : listIn(piece, "choices")) {
    if (!one.is_object()) continue;
    const json::object& choice = one.get_object();
    const json::object* delta = objectIn(choice, "delta");
    if (delta == nullptr) delta = objectIn(choice, "message");
    into.any = true;
    if (const std::string_view stop = textIn(choice, "finish_reason"); !stop.empty())
      into.stop = stop, into.ended = true;
    if (delta == nullptr) continue;
    into.text += textIn(*delta, "content");
    std::int64_t index = 0;
    for (const json::value& call : listIn(*delta, "tool_calls")) {
      if (!call.is_object()) continue;
      const json::object& object = call.get_object();
      Building::Call& at = into.call(object.contains("index") ? countIn(object, "index") : index++);
      if (!textIn(object, "id").empty()) at.id = textIn(object, "id");
      if (const json::object* function = objectIn(object, "function")) {
        at.name += textIn(*function, "name");
        at.arguments += textIn(*function, "arguments");
      }
    }
  }
}

void takeAnthropicPart(Building& into, std::int64_t index, const json::object& part) {
  if (textIn(part, "type") == "text") into.text += textIn(part, "text");
  if (textIn(part, "type") != "tool_use") return;
  Building::Call& call = into.call(index);
  call.id = textIn(part, "id"), call.name = textIn(part, "name");
  if (const json::object* input = objectIn(part, "input"); input != nullptr && !input->empty()) call.whole = *input;
}

void takeAnthropic(Building& into, const json::object& piece) {
  const std::string_view type = textIn(piece, "type");
  const json::object* message = type == "message" ? &piece : objectIn(piece, "message");
  const json::object* delta = objectIn(piece, "delta");
  for (const json::object* one : {message, &piece})
    if (const json::object* usage = one == nullptr ? nullptr : objectIn(*one, "usage")) {
      into.tokensIn = std::max(into.tokensIn, countIn(*usage, "input_tokens"));
      into.tokensOut = std::max(into.tokensOut, countIn(*usage, "output_tokens"));
    }
  if (type == "message") {
    std::int64_t index = 0;
    for (const json::value& part : listIn(piece, "content"))
      if (part.is_object()) takeAnthropicPart(into, index++, part.get_object());
  }
  if (type == "content_block_start")
    if (const json::object* part = objectIn(piece, "content_block"))
      takeAnthropicPart(into, countIn(piece, "index"), *part);
  if (type == "content_block_delta" && delta != nullptr) {
    into.text += textIn(*delta, "text");
    if (const std::string_view more = textIn(*delta, "partial_json"); !more.empty())
      into.call(countIn(piece, "index")).arguments += more;
  }
  for (const json::object* one : {delta, &piece})
    if (const std::string_view stop = one == nullptr ? "" : textIn(*one, "stop_reason"); !stop.empty())
      into.stop = stop;
  if (type == "message_stop" || type == "message") into.any = into.ended = true;
}

void takeOllama(Building& into, const json::object& piece) {
  const json::object* message = objectIn(piece, "message");
  if (message != nullptr) {
    into.any = true;
    into.text += textIn(*message, "content");
    for (const json::value& call : listIn(*message, "tool_calls")) {
      const json::object* function = call.is_object() ? objectIn(call.get_object(), "function") : nullptr;
      if (function == nullptr) continue;
      const auto index = static_cast<std::int64_t>(into.calls.size());
      Building::Call& at = into.call(index);
      at = {concat("call-", index), std::string(textIn(*function, "name")), "", argumentsOf(*function)};
    }
  }
  if (const json::value* done = piece.if_contains("done"); done != nullptr && done->is_bool() && done->get_bool()) {
    into.ended = true;
    into.stop = textIn(piece, "done_reason");
    into.tokensIn = countIn(piece, "prompt_eval_count"), into.tokensOut = countIn(piece, "eval_count");
  }
}

void takePiece(ModelFormat format, Building& into, std::string_view text) {
  if (text.empty() || text == "[DONE]") return;
  const auto piece = parseJson(text, kPiece);
  if (!piece.ok() || !piece->is_object()) {
    into.error = "a piece of it is no JSON object";
    return;
  }
  const json::object& object = piece->get_object();
  if (const json::value* error = object.if_contains("error"); error != nullptr && !error->is_null())
    into.error = error->is_object() ? std::string(textIn(error->get_object(), "message")) : canonicalJson(*error);
  if (format == ModelFormat::openai) return takeOpenAi(into, object);
  if (format == ModelFormat::anthropic) return takeAnthropic(into, object);
  takeOllama(into, object);
}

std::string stopOf(const Building& built) {
  if (built.stop == "length" || built.stop == "max_tokens") return "length";
  if (built.stop == "content_filter" || built.stop == "refusal") return "refusal";
  return built.calls.empty() ? "end" : "tools";
}

}  // namespace

ModelFormat modelFormat(std::string_view name) {
  return name == "anthropic" ? ModelFormat::anthropic : name == "ollama" ? ModelFormat::ollama : ModelFormat::openai;
}

std::string_view modelPath(ModelFormat format) {
  if (format == ModelFormat::ollama) return "/api/chat";
  return format == ModelFormat::anthropic ? "/v1/messages" : "/v1/chat/completions";
}

json::object modelRequest(ModelFormat format, const std::string& model, const json::object& question) {
  json::array messages;
  const std::string_view system = textIn(question, "system");
  if (format != ModelFormat::anthropic && !system.empty())
    messages.push_back(json::object{{"role", "system"}, {"content", system}});
  for (const json::value& message : listIn(question, "messages"))
    if (message.is_object())
      messages.push_back(format == ModelFormat::anthropic ? anthropicMessage(message.get_object())
                                                          : plainMessage(format, message.get_object()));
  json::object out{{"model", model}, {"messages", std::move(messages)}, {"stream", true}};
  if (json::array tools = toolsOf(format, question); !tools.empty()) out["tools"] = std::move(tools);
  const std::int64_t most = std::max<std::int64_t>(1, countIn(question, "maxTokens"));
  if (format == ModelFormat::ollama) {
    out["options"] = json::object{{"num_predict", most}};
    return out;
  }
  out["max_tokens"] = most;
  if (format == ModelFormat::openai) out["stream_options"] = json::object{{"include_usage", true}};
  if (format == ModelFormat::anthropic && !system.empty()) out["system"] = system;
  return out;
}

Result<ModelReply> modelReply(ModelFormat format, std::string_view contentType, std::string_view body) {
  Building built;
  if (contentType.starts_with("text/event-stream")) {
    net::EventParser events(kPiece.bytes);
    WITAN_DO(events.feed(body, [&](const net::ServerEvent& event) {
      takePiece(format, built, event.data);
      return built.error.empty();
    }));
  } else if (format == ModelFormat::ollama) {
    while (!body.empty()) {
      const std::size_t end = std::min(body.find('\n'), body.size());
      takePiece(format, built, body.substr(0, end));
      body.remove_prefix(std::min(end + 1, body.size()));
    }
  } else {
    takePiece(format, built, body);
  }
  if (!built.error.empty()) return invalid("the model's answer: " + built.error);
  if (!built.any || !built.ended) return invalid("the model's answer is cut off, or is none");
  json::array calls;
  for (auto& [index, call] : built.calls) {
    json::value arguments = call.whole.value_or(json::value(json::object()));
    if (!call.whole && !call.arguments.empty()) {
      const auto parsed = parseJson(call.arguments, kPiece);
      arguments = parsed.ok() && parsed->is_object() ? *parsed : json::value(call.arguments);
    }
    calls.push_back(json::object{{"arguments", std::move(arguments)}, {"id", call.id}, {"name", inward(call.name)}});
  }
  const std::string stop = stopOf(built);
  return ModelReply{{{"calls", std::move(calls)}, {"stop", stop}, {"text", built.text}},
                    built.tokensIn + built.tokensOut};
}

}  // namespace witan::node
