#include "node/tools/model_stub.h"

#include <algorithm>

#include "mcp/message.h"
#include "node/tools/model_wire.h"

namespace witan::node {

namespace {

using mcp::textIn;
using net::HttpResponse;

constexpr std::size_t kMostLines = 10'000;
constexpr JsonLimits kAsked{.bytes = 4 << 20, .depth = 48};
constexpr std::string_view kCall = "CALL {";

struct Said {
  std::string text, stop;
  json::array calls;  // {"id", "name", "arguments"}
  bool cut = false;
};

json::array arrayOf(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_array() ? value->get_array() : json::array();
}

std::string stopWord(ModelFormat format, const Said& said) {
  const bool openai = format == ModelFormat::openai, anthropic = format == ModelFormat::anthropic;
  if (said.stop == "length") return anthropic ? "max_tokens" : "length";
  if (said.stop == "refusal") return anthropic ? "refusal" : openai ? "content_filter" : "stop";
  if (said.calls.empty()) return anthropic ? "end_turn" : "stop";
  return anthropic ? "tool_use" : openai ? "tool_calls" : "stop";
}

// Each text of the conversation, in whichever form it came.
void collectTexts(const json::value& value, std::string& into) {
  if (value.is_string()) into.append(value.get_string()).push_back('\n');
  if (value.is_array())
    for (const json::value& one : value.get_array()) collectTexts(one, into);
  if (value.is_object())
    for (const auto& member : value.get_object()) collectTexts(member.value(), into);
}

// The most gullible of models.
json::array obeyed(const json::object& question) {
  std::string texts;
  const json::array messages = arrayOf(question, "messages");
  if (!messages.empty()) collectTexts(messages.back(), texts);
  texts.erase(std::remove(texts.begin(), texts.end(), '\\'), texts.end());  // of JSON inside of JSON
  json::array calls;
  for (std::size_t at = texts.find(kCall); at != texts.npos; at = texts.find(kCall, at + 1)) {
    std::size_t end = at + kCall.size() - 1, depth = 0;
    for (; end < texts.size(); ++end) {
      depth += texts[end] == '{' ? 1 : 0;
      if (texts[end] == '}' && --depth == 0) break;
    }
    const std::size_t from = at + kCall.size() - 1;
    if (const auto call = parseJson(std::string_view(texts).substr(from, end - from + 1)); call.ok())
      calls.push_back(*call);
  }
  return calls;
}

Said saidBy(const json::object& line, const json::object& question) {
  Said said{std::string(textIn(line, "text")), std::string(textIn(line, "stop")), arrayOf(line, "calls"),
            line.contains("cut")};
  if (line.contains("obey")) said.calls = obeyed(question);
  if (said.calls.empty() && said.text.empty()) said.text = "done";
  for (std::size_t i = 0; i < said.calls.size(); ++i)
    if (said.calls[i].is_object()) said.calls[i].get_object()["id"] = concat("call_", i);
  return said;
}

std::string nameOf(const json::object& call) {
  std::string name(textIn(call, "name"));
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot)) name.replace(dot, 1, "__");
  return name;
}

json::value argumentsIn(const json::object& call) {
  const json::value* value = call.if_contains("arguments");
  return value != nullptr ? *value : json::value(json::object());
}

std::string argumentText(const json::object& call) {
  const json::value value = argumentsIn(call);
  return value.is_string() ? std::string(value.get_string()) : canonicalJson(value);
}

std::string event(const json::object& data, std::string_view name = {}) {
  return concat(name.empty() ? "" : concat("event: ", name, "\n"), "data: ", canonicalJson(data), "\n\n");
}

// In pieces of a few bytes, never of half a character.
std::vector<std::string> piecesOf(std::string_view text) {
  std::vector<std::string> pieces;
  for (const char c : text) {
    const bool inside = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (pieces.empty() || (pieces.back().size() >= 7 && !inside)) pieces.emplace_back();
    pieces.back() += c;
  }
  return pieces;
}

HttpResponse whole(json::object body) { return {.body = canonicalJson(body)}; }
HttpResponse streamed(std::string body, const char* type = "text/event-stream") {
  return {.contentType = type, .body = std::move(body)};
}

// --- OpenAI

HttpResponse openAi(const Said& said, const std::string& model, bool stream) {
  json::array calls;
  for (const json::value& one : said.calls) {
    const json::object& call = one.as_object();
    calls.push_back(
        json::object{{"id", call.at("id")},
                     {"type", "function"},
                     {"function", json::object{{"name", nameOf(call)}, {"arguments", argumentText(call)}}}});
  }
  const json::object usage{{"prompt_tokens", 11}, {"completion_tokens", 7}, {"total_tokens", 18}};
  const auto base = [&](const char* kind, json::array choices) {
    return json::object{
        {"id", "chatcmpl-stub"}, {"object", kind}, {"created", 0}, {"model", model}, {"choices", std::move(choices)}};
  };
  const std::string stop = stopWord(ModelFormat::openai, said);
  if (!stream) {
    json::object message{{"role", "assistant"}, {"content", said.text}};
    if (!calls.empty()) message["tool_calls"] = calls;
    json::object body =
        base("chat.completion", {json::object{{"index", 0}, {"message", message}, {"finish_reason", stop}}});
    body["usage"] = usage;
    return whole(std::move(body));
  }
  std::string out;
  const auto delta = [&](json::object change, json::value finish) {
    out +=
        event(base("chat.completion.chunk",
                   {json::object{{"index", 0}, {"delta", std::move(change)}, {"finish_reason", std::move(finish)}}}));
  };
  delta({{"role", "assistant"}, {"content", ""}}, nullptr);
  for (const std::string& piece : piecesOf(said.text)) delta({{"content", piece}}, nullptr);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    json::object first = calls[i].as_object();
    const std::string arguments(first.at("function").at("arguments").as_string());
    first["index"] = i, first["function"] = json::object{{"name", first.at("function").at("name")}, {"arguments", ""}};
    delta({{"tool_calls", json::array{first}}}, nullptr);
    for (const std::string& piece : piecesOf(arguments))
      delta({{"tool_calls", json::array{json::object{{"index", i}, {"function", json::object{{"arguments", piece}}}}}}},
            nullptr);
  }
  if (said.cut) return streamed(std::move(out));
  delta({}, json::value(stop));
  json::object last = base("chat.completion.chunk", {});
  last["usage"] = usage;
  out += event(last) + "data: [DONE]\n\n";
  return streamed(std::move(out));
}

// --- Anthropic

HttpResponse anthropic(const Said& said, const std::string& model, bool stream) {
  json::array parts;
  if (!said.text.empty()) parts.push_back(json::object{{"type", "text"}, {"text", said.text}});
  for (const json::value& one : said.calls)
    parts.push_back(json::object{{"type", "tool_use"},
                                 {"id", one.at("id")},
                                 {"name", nameOf(one.as_object())},
                                 {"input", argumentsIn(one.as_object())}});
  const std::string stop = stopWord(ModelFormat::anthropic, said);
  json::object message{{"id", "msg_stub"},         {"type", "message"},
                       {"role", "assistant"},      {"model", model},
                       {"stop_sequence", nullptr}, {"usage", json::object{{"input_tokens", 11}, {"output_tokens", 7}}}};
  if (!stream) {
    message["content"] = std::move(parts), message["stop_reason"] = stop;
    return whole(std::move(message));
  }
  message["content"] = json::array(), message["stop_reason"] = nullptr;
  std::string out = event({{"type", "message_start"}, {"message", message}}, "message_start");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    json::object begun = parts[i].as_object();
    const bool text = begun.at("type") == "text";
    const json::value* input = begun.if_contains("input");
    const std::string all = text                 ? said.text
                            : input->is_string() ? std::string(input->get_string())
                                                 : canonicalJson(*input);
    if (text)
      begun["text"] = "";
    else
      begun["input"] = json::object();
    out += event({{"type", "content_block_start"}, {"index", i}, {"content_block", begun}}, "content_block_start");
    for (const std::string& piece : piecesOf(all))
      out += event({{"type", "content_block_delta"},
                    {"index", i},
                    {"delta", text ? json::object{{"type", "text_delta"}, {"text", piece}}
                                   : json::object{{"type", "input_json_delta"}, {"partial_json", piece}}}},
                   "content_block_delta");
    out += event({{"type", "content_block_stop"}, {"index", i}}, "content_block_stop");
  }
  if (said.cut) return streamed(std::move(out));
  out += event({{"type", "message_delta"},
                {"delta", json::object{{"stop_reason", stop}, {"stop_sequence", nullptr}}},
                {"usage", json::object{{"output_tokens", 7}}}},
               "message_delta");
  return streamed(out + event({{"type", "message_stop"}}, "message_stop"));
}

// --- Ollama

HttpResponse ollama(const Said& said, const std::string& model, bool stream) {
  json::array calls;
  for (const json::value& one : said.calls)
    calls.push_back(json::object{
        {"function", json::object{{"name", nameOf(one.as_object())}, {"arguments", argumentsIn(one.as_object())}}}});
  const auto piece = [&](const std::string& text, const json::array& its, bool done) {
    json::object message{{"role", "assistant"}, {"content", text}};
    if (!its.empty()) message["tool_calls"] = its;
    json::object body{
        {"model", model}, {"created_at", "1970-01-01T00:00:00Z"}, {"message", std::move(message)}, {"done", done}};
    if (done)
      body["done_reason"] = stopWord(ModelFormat::ollama, said), body["prompt_eval_count"] = 11, body["eval_count"] = 7;
    return body;
  };
  if (!stream) return whole(piece(said.text, calls, true));
  std::string out;
  for (const std::string& text : piecesOf(said.text)) out += canonicalJson(piece(text, {}, false)) + "\n";
  if (!calls.empty()) out += canonicalJson(piece("", calls, false)) + "\n";
  if (!said.cut) out += canonicalJson(piece("", {}, true)) + "\n";
  return streamed(std::move(out), "application/x-ndjson");
}

HttpResponse failure(int status, std::string_view why) {
  return {.status = status,
          .body = canonicalJson(json::object{{"error", json::object{{"message", why}, {"type", "stub_error"}}}})};
}

}  // namespace

Result<ModelStub> ModelStub::make(std::string_view script) {
  ModelStub stub;
  std::size_t number = 0;
  while (!script.empty()) {
    ++number;
    const std::size_t end = std::min(script.find('\n'), script.size());
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    if (line.empty()) continue;
    const auto value = parseJson(line, kAsked);
    if (!value.ok() || !value->is_object() || number > kMostLines)
      return invalid(
          concat("line ", number, " of the script: ", value.ok() ? "no JSON object" : value.error().message));
    for (const json::value& call : arrayOf(value->get_object(), "calls"))
      if (!call.is_object()) return invalid(concat("line ", number, " of the script: a call is an object"));
    stub.script_.push_back(value->get_object());
  }
  if (stub.script_.empty()) return invalid("the script has no line");
  return stub;
}

HttpResponse ModelStub::answer(const net::HttpRequest& request) {
  const auto asked = parseJson(request.body, kAsked);
  const auto is = [&](ModelFormat format) { return request.path == modelPath(format); };
  if (!is(ModelFormat::openai) && !is(ModelFormat::anthropic) && !is(ModelFormat::ollama))
    return failure(404, "no such path");
  if (request.method != "POST" || !asked.ok() || !asked->is_object() ||
      arrayOf(asked->get_object(), "messages").empty())
    return failure(400, "no question");
  const json::object& question = asked->get_object();
  if (is(ModelFormat::anthropic) && !question.contains("max_tokens")) return failure(400, "max_tokens: field required");
  const json::object& line = script_[std::min<std::size_t>(asked_++, script_.size() - 1)];
  if (const json::value* status = line.if_contains("status"); status != nullptr && status->is_int64()) {
    HttpResponse refused =
        failure(static_cast<int>(std::clamp<std::int64_t>(status->get_int64(), 400, 599)), "as scripted");
    if (const json::value* after = line.if_contains("retryAfter"))
      refused.headers["retry-after"] = canonicalJson(*after);
    return refused;
  }
  const json::value* wants = question.if_contains("stream");
  const bool stream = wants != nullptr ? wants->is_bool() && wants->get_bool() : is(ModelFormat::ollama);
  const Said said = saidBy(line, question);
  const std::string model(textIn(question, "model"));
  if (is(ModelFormat::anthropic)) return anthropic(said, model, stream);
  return is(ModelFormat::ollama) ? ollama(said, model, stream) : openAi(said, model, stream);
}

}  // namespace witan::node
