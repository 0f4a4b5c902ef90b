#include "agents/data/agent_file.h"

#include <toml++/toml.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "base/toml_text.h"
#include "base/utf8.h"

namespace witan::agents {

namespace {

constexpr int kMaxTomlDepth = 8;
constexpr std::string_view kTypeLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

Result<json::value> jsonOf(const toml::node& node, int depth) {
  if (depth > kMaxTomlDepth) return invalid("nested too deep");
  if (const auto* table = node.as_table()) {
    json::object out;
    for (const auto& [key, value] : *table) WITAN_SET(out[key.str()], jsonOf(value, depth + 1));
    return json::value(std::move(out));
  }
  if (const auto* list = node.as_array()) {
    json::array out;
    for (const toml::node& item : *list) {
      WITAN_TRY(value, jsonOf(item, depth + 1));
      out.push_back(std::move(value));
    }
    return json::value(std::move(out));
  }
  if (const auto text = node.value<std::string>(); node.is_string()) return json::value(*text);
  if (const auto number = node.value<std::int64_t>(); node.is_integer()) return json::value(*number);
  if (const auto yes = node.value<bool>(); node.is_boolean()) return json::value(*yes);
  return invalid("a value that is no text, whole number, list or table");
}

Status checkSchema(const std::string& text, const std::string& of) {
  WITAN_TRY(schema, parseJson(text, {.bytes = 64 * 1024, .depth = 24}));
  if (auto good = JsonValidator::compile(std::move(schema)); !good.ok())
    return invalid(of + ": " + good.error().message);
  return okStatus();
}

Status checkMind(const AgentFile& file) {
  const int minds = int(!file.mind.empty()) + int(!file.program.empty()) + int(file.served);
  if (minds != 1)
    return invalid("it has no mind, or two", "one of: mind = \"TOOL.LOOK\", program = [...], served = true");
  if (!file.ownProgram()) {
    if (file.mind.starts_with(file.id + "."))
      return invalid("its mind is itself", "the look of a tool; program = [...] or served = true for its own");
    return okStatus();
  }
  if (!file.program.empty() && file.program.front().empty()) return invalid("its program has no name");
  if (file.form != "program") return invalid("a program of its own is no model", "form = \"program\", or none");
  if (file.id.find('.') != file.id.npos)
    return invalid("it has a program of its own, and a dot in its id", "another id");
  return okStatus();
}

// Of its own program, as of a tool's.
Status checkProgram(const AgentFile& file) {
  if (file.timeoutMs < 10 || file.timeoutMs > 240'000) return invalid("timeoutMs is out of range", "10 to 240000");
  if (file.memoryMb < 0 || file.memoryMb > 1 << 20) return invalid("memoryMb is out of range", "0 to 1048576");
  return okStatus();
}

Status check(const AgentFile& file) {
  WITAN_DO(checkMind(file));
  WITAN_DO(checkProgram(file));
  if (!file.summaries.empty() && !file.remembers)
    return invalid("it has summaries and remembers nothing", "remembers = true");
  if (file.form != "program" && file.form != "model")
    return invalid("form is " + inQuotes(file.form), "program or model");
  const std::size_t dot = file.role.find('.');
  if (!file.role.empty() && (dot == 0 || dot >= file.role.size() - 1))
    return invalid("role is " + inQuotes(file.role), "DOMAIN.ROLE");
  if (std::min({file.budget.steps, file.budget.tokens, file.budget.seconds}) < 0)
    return invalid("its budget is negative", "steps, tokens and seconds of 0 or more");
  if (file.enough < 0 || file.enough > 100) return invalid("enough is out of range", "0 to 100");
  if (file.rounds < 1 || file.rounds > 64 || file.maxTokens < 1) return invalid("rounds or maxTokens out of range");
  for (const FileTool& tool : file.tools) {
    if (tool.name == file.mind) return invalid("the mind is one of its own tools");
    if (tool.uses < 1) return invalid(concat("uses of ", tool.name, " is ", tool.uses), "1 or more, or no such tool");
    if (tool.perHour.value_or(1) < 1 || tool.perDay.value_or(1) < 1)
      return invalid("the rate of " + tool.name + " is none", "perHour and perDay of 1 or more, or no such line");
    const bool proposes = tool.name == "propose" || tool.name == "begin";
    if (proposes && file.role.empty())
      return invalid("it may " + tool.name + " and has no role", "role = \"DOMAIN.ROLE\"");
    WITAN_DO(checkSchema(tool.parameters, "parameters of " + tool.name));
  }
  for (const FileOutput& output : file.emits) {
    if (output.type.empty() || output.type.find_first_not_of(kTypeLetters) != output.type.npos)
      return invalid("it emits " + inQuotes(output.type), "a type of a graph: letters, digits, _ and -");
    WITAN_DO(checkSchema(output.body, "body of " + output.type));
  }
  return okStatus();
}

}  // namespace

Result<AgentFile> readAgentFile(std::string_view text, const std::string& name) {
  if (text.size() > kMaxAgentFileBytes) return invalid(concat(name, ": more than ", kMaxAgentFileBytes, " bytes"));
  if (!isUtf8(text)) return invalid(name + ": text that is not UTF-8");
  WITAN_DO(checkTomlKeys(text, name));
  try {
    const toml::table table = toml::parse(text, name);
    WITAN_TRY(value, jsonOf(table, 0));
    AgentFile file;
    WITAN_DO(readJson(value, file, name));
    if (const Status good = check(file); !good.ok())
      return invalid(name + ": " + good.error().message, good.error().hint);
    if (file.ownProgram()) file.mind = file.id + ".step";
    return file;
  } catch (const toml::parse_error& e) {
    return invalid(concat(name, ":", e.source().begin.line, ": ", e.description()));
  }
}

std::string agentFileVersion(std::string_view text) { return "file-" + toHex(sha256(text)).substr(0, 24); }

}  // namespace witan::agents
