#include "mcp/client.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::mcp {

namespace {

constexpr std::size_t kMostNameBytes = 128, kMostWordsBytes = 1'024;
constexpr std::string_view kHeaderMark = "\"x-mcp-header\":";
constexpr std::string_view kClientInfoKey = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kOperationKey = "witan/operationId";
constexpr std::size_t kMostAskings = 16, kMostFormsAtOnce = 8, kMostTimesAsked = 8;

json::object clientInfo() { return {{"name", "witan"}, {"version", WITAN_VERSION}}; }

std::string brief(std::string_view text) { return std::string(clip(text, kMostWordsBytes)); }

bool flagIn(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::array& arrayIn(const json::object& object, std::string_view name) {
  static const json::array none;
  const json::value* rows = object.if_contains(name);
  return rows != nullptr && rows->is_array() ? rows->get_array() : none;
}

bool contains(const json::array& rows, std::string_view text) {
  return std::ranges::find(rows, json::value(text)) != rows.end();
}

// A name of a header that a schema asks for: an RFC 9110 token, of which no two are alike in any case.
bool isToken(std::string_view name) {
  return !name.empty() && name.size() <= kMostNameBytes && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// The headers that a tool's schema asks for, at "x-mcp-header" of its arguments (SEP-2243). Errors: one that may not
// be.
Result<std::map<std::string, std::string>> headersAsked(const json::object& schema) {
  std::map<std::string, std::string> headers;
  std::set<std::string> taken;
  if (const json::object* properties = objectIn(schema, "properties"))
    for (const auto& [argument, value] : *properties) {
      const json::object* property = value.if_object();
      const json::value* wanted = property == nullptr ? nullptr : property->if_contains("x-mcp-header");
      if (wanted == nullptr) continue;
      const std::string_view type = textIn(*property, "type");
      std::string name = wanted->is_string() ? std::string(wanted->get_string()) : std::string();
      if (!isToken(name) || (type != "string" && type != "integer" && type != "boolean"))
        return invalid("it wants the argument " + inQuotes(argument) + " in a header that may not be");
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      if (!taken.insert(name).second) return invalid("it wants two arguments in the header " + inQuotes(name));
      headers.emplace(argument, "mcp-param-" + name);
    }
  std::size_t written = 0;
  const std::string text = canonicalJson(schema);
  for (std::size_t at = text.find(kHeaderMark); at != text.npos; at = text.find(kHeaderMark, at + 1)) ++written;
  if (written != headers.size()) return invalid("it wants a part of an argument in a header");
  return headers;
}

// Plain where a header can hold it, else =?base64?TEXT?=.
std::string headerOf(const json::value& argument) {
  if (!argument.is_string()) return canonicalJson(argument);
  std::string text(argument.get_string());
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }) && !text.starts_with(' ') &&
                     !text.ends_with(' ') && !text.starts_with("=?base64?");
  return plain ? text : concat("=?base64?", toBase64(text), "?=");
}

std::string serverName(const json::object& info) {
  return brief(concat(textIn(info, "name"), " ", textIn(info, "version")));
}

// Of what an agent gets: a text, or all parts as they came.
json::value contentOf(const json::array& parts) {
  const bool texts = std::ranges::all_of(
      parts, [](const json::value& part) { return part.is_object() && textIn(part.get_object(), "type") == "text"; });
  if (!texts) return json::value(parts);
  if (parts.size() == 1) return json::value(textIn(parts.front().get_object(), "text"));
  json::array all;
  for (const json::value& part : parts) all.emplace_back(textIn(part.get_object(), "text"));
  return all;
}

std::string errorWords(const json::array& parts) {
  std::string words;
  for (const json::value& part : parts)
    if (part.is_object()) words += concat(words.empty() ? "" : " ", textIn(part.get_object(), "text"));
  return words.empty() ? "the tool failed and does not say why" : brief(words);
}

}  // namespace

json::object Client::meta() const {
  if (version_ != kModern && phase_ != Phase::probing) return {};
  return {{kVersionKey, kModern}, {kCapabilitiesKey, capabilities()}, {kClientInfoKey, clientInfo()}};
}

json::object Client::capabilities() const {
  if (options_.asks == Asks::refuse) return {};
  json::object form;
  if (options_.asks == Asks::defaults && phase_ == Phase::shaking) form["applyDefaults"] = true;
  return {{"elicitation", json::object{{"form", std::move(form)}}}};
}

std::string Client::ask(Asked what, std::string_view method, json::object params, std::uint64_t key, std::string tool) {
  const std::uint64_t id = nextId_++;
  questions_.emplace(id, Question{what, key, std::move(tool), {}, 0});
  json::object its = meta();
  if (const json::object* more = objectIn(params, "_meta"))
    for (const auto& member : *more) its[member.key()] = member.value();
  if (!its.empty()) params["_meta"] = std::move(its);
  return canonicalJson(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

ClientTurn Client::start(std::int64_t nowMs) {
  ClientTurn turn;
  deadlineMs_ = nowMs + options_.probeMs;
  turn.out.push_back(ask(Asked::discover, "server/discover", {}));
  return turn;
}

void Client::shake(ClientTurn& turn, std::int64_t nowMs) {
  phase_ = Phase::shaking;
  std::erase_if(questions_, [](const auto& one) { return one.second.what == Asked::discover; });
  deadlineMs_ = nowMs + options_.handshakeMs;
  turn.out.push_back(
      ask(Asked::initialize, "initialize",
          {{"protocolVersion", kLegacy.front()}, {"capabilities", capabilities()}, {"clientInfo", clientInfo()}}));
}

void Client::list(ClientTurn& turn, std::int64_t nowMs, std::string_view cursor) {
  if (++pages_ > options_.pages) return fail(turn, "its list of tools does not end");
  phase_ = Phase::listing;  // no call before it is known what is called
  deadlineMs_ = nowMs + options_.handshakeMs;
  json::object params;
  if (!cursor.empty()) params["cursor"] = cursor;
  turn.out.push_back(ask(Asked::list, "tools/list", std::move(params)));
}

void Client::fail(ClientTurn& turn, std::string why) {
  if (phase_ == Phase::over) return;
  phase_ = Phase::over;
  deadlineMs_.reset();
  turn.failed = std::move(why);
  for (const auto& [id, question] : questions_)
    if (question.what == Asked::call)
      turn.answers.push_back({question.key, CallAnswer::Kind::unanswered, nullptr, turn.failed});
  for (const auto& [number, asking] : askings_)
    if (asking.call.key > 0)
      turn.answers.push_back({asking.call.key, CallAnswer::Kind::unanswered, nullptr, turn.failed});
  questions_.clear();
  askings_.clear();
  forms_.clear();
}

void Client::strike(ClientTurn& turn) {
  if (++strikes_ > options_.strikes) fail(turn, "it keeps sending what is no answer");
}

std::optional<std::int64_t> Client::nextMs() const { return deadlineMs_; }

ClientTurn Client::tick(std::int64_t nowMs) {
  ClientTurn turn;
  if (!deadlineMs_ || nowMs < *deadlineMs_) return turn;
  if (phase_ == Phase::probing)
    shake(turn, nowMs);
  else
    fail(turn, phase_ == Phase::shaking ? "it does not answer the handshake" : "it does not list its tools");
  return turn;
}

std::optional<std::uint64_t> Client::question(std::string_view message) const {
  const auto ours = parseJson(message, options_.message);
  const bool asks = ours.ok() && ours->is_object() && ours->get_object().contains("method");
  const json::value* id = asks ? ours->get_object().if_contains("id") : nullptr;
  if (id == nullptr || !id->is_int64() || !waits(static_cast<std::uint64_t>(id->get_int64()))) return std::nullopt;
  return static_cast<std::uint64_t>(id->get_int64());
}

ClientTurn Client::undelivered(std::string_view message, std::string_view why, bool sent, std::int64_t nowMs) {
  ClientTurn turn;
  const auto id = this->question(message);
  if (!id) return turn;
  const Question question = questions_.at(*id);
  if (question.what == Asked::discover && phase_ == Phase::probing) return shake(turn, nowMs), turn;
  if (question.what != Asked::call) return fail(turn, brief(why)), turn;
  questions_.erase(*id);
  const CallAnswer::Kind kind = sent ? CallAnswer::Kind::unanswered : CallAnswer::Kind::notSent;
  turn.answers.push_back({question.key, kind, nullptr, brief(why)});
  return turn;
}

ClientTurn Client::received(std::string_view text, std::int64_t nowMs) {
  ClientTurn turn;
  if (phase_ == Phase::over) return turn;
  const auto message = parseJson(text, options_.message);
  if (!message.ok() || !message->is_object() || textIn(message->get_object(), "jsonrpc") != "2.0")
    return strike(turn), turn;
  const json::object& object = message->get_object();
  const std::string_view method = textIn(object, "method");
  if (method == "notifications/tools/list_changed") {
    if (phase_ != Phase::ready) return turn;  // it will be listed, or is
    pages_ = 0;
    reading_.clear();
    strike(turn);  // a server that changes its tools all the time says nothing
    if (phase_ != Phase::over) list(turn, nowMs, "");
  } else if (!method.empty()) {
    request(turn, object);
  } else {
    answer(turn, object, nowMs);
  }
  return turn;
}

// Of the server's own. What was not declared is not answered, but for a ping.
void Client::request(ClientTurn& turn, const json::object& message) {
  const json::value* id = message.if_contains("id");
  if (id == nullptr) return;  // a notification
  strike(turn);
  if (!isId(*id) || phase_ == Phase::over) return;
  const std::string_view method = textIn(message, "method");
  const json::object* params = objectIn(message, "params");
  if (method == "elicitation/create" && options_.asks != Asks::refuse && params != nullptr) {
    auto form = formOf(*params);
    if (!form.ok() || askings_.size() >= kMostAskings)
      return turn.out.push_back(errorMessage(*id, kInvalidParams, form.ok() ? "too many forms" : form.error().message));
    const std::uint64_t number = nextId_++;
    askings_.emplace(number, Asking{{Asked::call}, *id, {""}, {}});
    return askForm(turn, number, "", *std::move(form));
  }
  turn.out.push_back(method == "ping" ? resultMessage(*id, {})
                                      : errorMessage(*id, kNoMethod, "this client has no such method"));
}

void Client::answer(ClientTurn& turn, const json::object& message, std::int64_t nowMs) {
  const json::value* id = message.if_contains("id");
  const auto found = id != nullptr && id->is_int64() && id->get_int64() > 0
                         ? questions_.find(static_cast<std::uint64_t>(id->get_int64()))
                         : questions_.end();
  if (found == questions_.end()) return strike(turn);  // late, twice, or of nobody
  const json::object *result = objectIn(message, "result"), *error = objectIn(message, "error");
  if ((result == nullptr) == (error == nullptr)) return strike(turn);
  const Question question = found->second;
  questions_.erase(found);
  if (error != nullptr) return failedAnswer(turn, question, *error, nowMs);
  switch (question.what) {
    case Asked::discover: return discovered(turn, *result, nowMs);
    case Asked::initialize: return initialized(turn, *result, nowMs);
    case Asked::list: return listed(turn, *result, nowMs);
    case Asked::call: break;
  }
  if (textIn(*result, "resultType") == "input_required" && options_.asks != Asks::refuse)
    return inputRequired(turn, question, *result);
  turn.answers.push_back(resultOf(question, *result));
}

// Each question of a result must be a form: then they are asked, and the call is made again with what was said and with
// the server's state as it came.
void Client::inputRequired(ClientTurn& turn, Question question, const json::object& result) {
  const std::uint64_t key = question.key;
  const auto refuse = [&](std::string_view why) {
    turn.answers.push_back({key, CallAnswer::Kind::refused, nullptr, std::string(why)});
  };
  const json::object* wanted = objectIn(result, "inputRequests");
  const json::value* state = result.if_contains("requestState");
  const bool stated = state != nullptr && state->is_string();
  if (wanted != nullptr && wanted->size() > kMostFormsAtOnce) return refuse("the tool asks too much at once");
  if (++question.asked > kMostTimesAsked || askings_.size() >= kMostAskings)
    return refuse("the tool does not stop asking");
  if ((wanted == nullptr || wanted->empty()) && !stated)
    return refuse("the tool wants something, and does not say what");
  std::map<std::string, Form> forms;
  if (wanted != nullptr)
    for (const auto& [name, request] : *wanted) {
      const json::object* asks = request.if_object();
      const json::object* params = asks == nullptr ? nullptr : objectIn(*asks, "params");
      if (params == nullptr || textIn(*asks, "method") != "elicitation/create")
        return refuse("the tool wants something else than a form");
      auto form = formOf(*params);
      if (!form.ok()) return refuse(form.error().message);
      forms.emplace(name, *std::move(form));
    }
  question.params.erase("requestState");
  if (stated) question.params["requestState"] = *state;
  const std::uint64_t number = nextId_++;
  Asking& asking = askings_.emplace(number, Asking{std::move(question), {}, {}, {}}).first->second;
  for (const auto& [name, form] : forms) asking.open.insert(name);
  if (forms.empty()) return proceed(turn, number);
  for (auto& [name, form] : forms) askForm(turn, number, name, std::move(form));
}

void Client::askForm(ClientTurn& turn, std::uint64_t asking, const std::string& name, Form form) {
  const std::uint64_t number = nextId_++;
  forms_.emplace(number, std::pair(asking, name));
  if (options_.asks == Asks::person)
    return turn.forms.push_back({number, askings_.at(asking).call.key, std::move(form)});
  auto content = defaultsOf(form);
  ClientTurn said = answerForm(number, content ? FormAction::accept : FormAction::decline,
                               content ? *std::move(content) : json::object());
  std::ranges::move(said.out, std::back_inserter(turn.out));
}

ClientTurn Client::answerForm(std::uint64_t number, FormAction action, json::object content) {
  ClientTurn turn;
  const auto form = forms_.extract(number);
  if (form.empty()) return turn;
  const auto& [asking, name] = form.mapped();
  Asking& its = askings_.at(asking);
  its.answers[name] = formAnswer(action, std::move(content));
  its.open.erase(name);
  if (its.open.empty()) proceed(turn, asking);
  return turn;
}

void Client::proceed(ClientTurn& turn, std::uint64_t asking) {
  Asking its = std::move(askings_.extract(asking).mapped());
  if (its.call.key == 0) {
    turn.out.push_back(resultMessage(its.request, std::move(its.answers.at("").get_object())));
    return;
  }
  Question& call = its.call;
  call.params.erase("inputResponses");
  if (!its.answers.empty()) call.params["inputResponses"] = std::move(its.answers);
  turn.out.push_back(ask(Asked::call, "tools/call", call.params, call.key, call.tool));
  Question& again = questions_.rbegin()->second;
  again.asked = call.asked;
  again.params = std::move(call.params);
}

void Client::failedAnswer(ClientTurn& turn, const Question& question, const json::object& error, std::int64_t nowMs) {
  const std::string words = brief(textIn(error, "message"));
  if (question.what == Asked::discover) {
    // It may have wanted to see which version it is asked for; once.
    const json::object* data = objectIn(error, "data");
    if (data == nullptr || !contains(arrayIn(*data, "supported"), kModern) || std::exchange(askedTwice_, true))
      return shake(turn, nowMs);
    turn.out.push_back(ask(Asked::discover, "server/discover", {}));
    return;
  }
  if (question.what != Asked::call) return fail(turn, "it refuses: " + words);
  turn.answers.push_back({question.key, CallAnswer::Kind::refused, nullptr, words});
}

void Client::discovered(ClientTurn& turn, const json::object& result, std::int64_t nowMs) {
  if (!contains(arrayIn(result, "supportedVersions"), kModern)) return shake(turn, nowMs);
  version_ = kModern;
  if (const json::object* meta = objectIn(result, "_meta"))
    if (const json::object* info = objectIn(*meta, kServerInfoKey)) server_ = serverName(*info);
  list(turn, nowMs, "");
}

void Client::initialized(ClientTurn& turn, const json::object& result, std::int64_t nowMs) {
  const std::string_view version = textIn(result, "protocolVersion");
  if (!isLegacy(version))
    return fail(turn, concat("it speaks a version of the protocol that is not spoken here: ", inQuotes(version)));
  version_ = version;
  if (const json::object* info = objectIn(result, "serverInfo")) server_ = serverName(*info);
  turn.out.push_back(notification("notifications/initialized"));
  list(turn, nowMs, "");
}

ServerTool Client::toolOf(const json::object& row) const {
  ServerTool tool;
  tool.name = textIn(row, "name");
  tool.description = brief(textIn(row, "description"));
  tool.definition = sha256(canonicalJson(row));
  if (const json::object* hints = objectIn(row, "annotations")) {
    tool.readOnly = flagIn(*hints, "readOnlyHint");
    tool.idempotent = flagIn(*hints, "idempotentHint");
  }
  const json::object* input = objectIn(row, "inputSchema");
  if (input == nullptr) {
    tool.problem = "it has no schema of its arguments";
    return tool;
  }
  const auto validator = [&](const json::object& schema, std::optional<JsonValidator>& into) {
    auto made = JsonValidator::compile(schema);
    if (made.ok())
      into = *std::move(made);
    else if (tool.problem.empty())
      tool.problem = brief(made.error().message);
  };
  validator(*input, tool.input);
  if (const json::object* output = objectIn(row, "outputSchema")) validator(*output, tool.output);
  if (auto headers = headersAsked(*input); headers.ok())
    tool.headers = *std::move(headers);
  else
    tool.problem = brief(headers.error().message);
  return tool;
}

void Client::listed(ClientTurn& turn, const json::object& result, std::int64_t nowMs) {
  for (const json::value& row : arrayIn(result, "tools")) {
    if (!row.is_object()) return fail(turn, "its list of tools is malformed");
    ServerTool tool = toolOf(row.get_object());
    if (tool.name.empty() || tool.name.size() > kMostNameBytes)
      return fail(turn, "it has a tool without a proper name");
    if (reading_.size() >= options_.tools) return fail(turn, "it has too many tools");
    std::string name = tool.name;
    if (!reading_.emplace(std::move(name), std::move(tool)).second) return fail(turn, "it has two tools of one name");
  }
  if (const std::string_view cursor = textIn(result, "nextCursor"); !cursor.empty()) return list(turn, nowMs, cursor);
  tools_ = std::exchange(reading_, {});
  deadlineMs_.reset();
  turn.ready = true;
  phase_ = Phase::ready;
}

CallAnswer Client::resultOf(const Question& question, const json::object& result) const {
  CallAnswer answer{question.key, CallAnswer::Kind::refused, nullptr, ""};
  const std::string_view type = textIn(result, "resultType");
  if (type == "input_required") {
    answer.error = "the tool asks a person a question, which nobody here can answer";
    return answer;
  }
  if (!type.empty() && type != "complete") {
    answer.error = "the tool gives a result of an unknown type";
    return answer;
  }
  const json::array& parts = arrayIn(result, "content");
  if (flagIn(result, "isError")) return {question.key, CallAnswer::Kind::toolError, nullptr, errorWords(parts)};
  const auto tool = tools_.find(question.tool);
  const json::value* structured = result.if_contains("structuredContent");
  answer.kind = CallAnswer::Kind::result;
  answer.content = structured != nullptr ? *structured : contentOf(parts);
  if (tool == tools_.end() || !tool->second.output) return answer;
  const Status good = structured == nullptr ? Status(invalid("the result has no structured content"))
                                            : tool->second.output->check(*structured);
  if (!good.ok())
    return {question.key, CallAnswer::Kind::unusable, nullptr,
            "the result breaks the tool's own schema: " + good.error().message};
  return answer;
}

ClientTurn Client::call(std::uint64_t key, std::string_view name, const json::object& arguments,
                        std::string_view operation) {
  ClientTurn turn;
  const auto refuse = [&](std::string why) {
    turn.answers.push_back({key, CallAnswer::Kind::refused, nullptr, std::move(why)});
  };
  const auto tool = tools_.find(name);
  if (!ready()) return refuse("the server is not ready"), turn;
  if (tool == tools_.end()) return refuse("the server has no tool " + inQuotes(name)), turn;
  if (!tool->second.problem.empty()) return refuse(tool->second.problem), turn;
  if (const Status good = tool->second.input->check(arguments); !good.ok())
    return refuse("the arguments break the tool's schema: " + good.error().message), turn;
  json::object params{{"name", name}, {"arguments", arguments}};
  if (!operation.empty()) params["_meta"] = json::object{{kOperationKey, operation}};
  turn.out.push_back(ask(Asked::call, "tools/call", params, key, std::string(name)));
  if (options_.asks != Asks::refuse) questions_.rbegin()->second.params = std::move(params);
  return turn;
}

std::map<std::string, std::string> Client::headers(std::string_view message) const {
  std::map<std::string, std::string> headers;
  if (!version_.empty()) headers["mcp-protocol-version"] = version_;
  const auto parsed = parseJson(message, options_.message);
  const json::object* object = parsed.ok() ? parsed->if_object() : nullptr;
  if (object == nullptr || versionIn(*object) != kModern) return headers;
  headers["mcp-protocol-version"] = kModern;  // also of the first question, before one is agreed on
  headers["mcp-method"] = textIn(*object, "method");
  const json::object* params = objectIn(*object, "params");
  if (params == nullptr || textIn(*object, "method") != "tools/call") return headers;
  headers["mcp-name"] = textIn(*params, "name");
  const auto tool = tools_.find(textIn(*params, "name"));
  const json::object* arguments = objectIn(*params, "arguments");
  if (tool == tools_.end() || arguments == nullptr) return headers;
  for (const auto& [argument, header] : tool->second.headers)
    if (const json::value* value = arguments->if_contains(argument); value != nullptr && !value->is_null())
      headers[header] = headerOf(*value);
  return headers;
}

std::vector<std::string> Client::cancel(std::uint64_t key) {
  std::vector<std::string> out;
  for (auto at = questions_.begin(); at != questions_.end();) {
    const bool its = at->second.what == Asked::call && at->second.key == key;
    if (its) out.push_back(notification("notifications/cancelled", {{"requestId", at->first}}));
    at = its ? questions_.erase(at) : std::next(at);
  }
  std::erase_if(askings_, [&](const auto& one) { return one.second.call.key == key; });
  std::erase_if(forms_, [&](const auto& one) { return !askings_.contains(one.second.first); });
  return out;
}

}  // namespace witan::mcp
