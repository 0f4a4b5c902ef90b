#include "node/events/event_line.h"

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/sha256.h"

namespace witan::node {

namespace {

// Takes members out of the object one by one; what is left is unknown.
class Members {
 public:
  explicit Members(json::object& object) : object_(object) {}

  bool has(std::string_view name) const { return object_.contains(name); }
  Status text(std::string_view name, std::string& into, bool required) {
    json::value* v = object_.if_contains(name);
    if (v == nullptr) return required ? Status(invalid(concat("\"", name, "\" is missing"))) : okStatus();
    Status read = readText(*v, into, name);
    object_.erase(name);
    return read;
  }
  template <class T>
  Status optional(std::string_view name, std::optional<T>& into) {
    json::value* v = object_.if_contains(name);
    if (v == nullptr) return okStatus();
    Status read = readJson(*v, into, name);
    object_.erase(name);
    return read;
  }
  Status object(std::string_view name, json::object& into) {
    json::value* v = object_.if_contains(name);
    if (v == nullptr) return okStatus();
    if (!v->is_object()) return wrongJsonType(name, "an object", *v);
    into = std::move(v->get_object());
    object_.erase(name);
    return okStatus();
  }
  Status nothingElse() const {
    if (object_.empty()) return okStatus();
    return invalid(concat("unknown key \"", clip(object_.begin()->key()), "\""));
  }
  json::value take(std::string_view name) {
    json::value v = std::move(object_[name]);
    object_.erase(name);
    return v;
  }

 private:
  json::object& object_;
};

Status readDecision(Members& members, EventLine& line) {
  WITAN_DO(members.text("counselor", line.counselor, true));
  std::string word;
  WITAN_DO(members.text("decision", word, true));
  if (word != "commit" && word != "reject") return invalid("decision: expected \"commit\" or \"reject\"");
  line.commit = word == "commit";
  std::string base = "candidate";
  WITAN_DO(members.text("base", base, false));
  auto parsed = parseEnum<kernel::CommitBase>(base);
  if (!parsed) return invalid("base: expected \"candidate\" or \"current\"");
  line.base = *parsed;
  WITAN_DO(members.object("edit", line.edit));
  WITAN_DO(members.text("reason", line.reason, false));
  WITAN_DO(members.optional("escalation", line.escalation));
  std::optional<std::string> digest;
  WITAN_DO(members.optional("digest", digest));
  if (!digest) return okStatus();
  auto bytes = fromHex(*digest);
  if (!bytes || bytes->size() != 32) return invalid("digest: expected 64 hex digits");
  line.digest.emplace();
  std::memcpy(line.digest->data(), bytes->data(), 32);
  return okStatus();
}

// "run" and "plan": both or neither.
Status readRun(Members& members, EventLine& line) {
  std::optional<std::string> run, plan;
  WITAN_DO(members.optional("run", run));
  WITAN_DO(members.optional("plan", plan));
  if (run.has_value() != plan.has_value()) return invalid("\"run\" and \"plan\" go together");
  if (!run) return okStatus();
  const auto digest = [](std::string_view name, std::string_view hex, Hash& into) -> Status {
    const auto parsed = hashFromHex(hex);
    if (!parsed || *parsed == Hash{}) return invalid(concat(name, ": expected 64 hex digits, not all zero"));
    into = *parsed;
    return okStatus();
  };
  WITAN_DO(digest("run", *run, line.runKey));
  return digest("plan", *plan, line.planDigest);
}

Status readBody(Members& members, EventLine& line) {
  const int kinds = int{members.has("init")} + int{members.has("action")} + int{members.has("decision")};
  if (kinds != 1) return invalid("a line holds exactly one of \"init\", \"action\" and \"decision\"");
  std::string at;
  WITAN_DO(members.text("at", at, true));
  auto time = parseTime(at);
  if (!time) return invalid("at: " + time.error().message);
  line.at = *time;
  WITAN_DO(members.optional("operationId", line.operationId));
  if (members.has("init")) {
    line.kind = EventLine::Kind::init;
    return members.object("init", line.init);
  }
  if (members.has("decision")) {
    line.kind = EventLine::Kind::decision;
    return readDecision(members, line);
  }
  line.kind = EventLine::Kind::proposal;
  if (line.operationId && line.operationId->starts_with("queue:"))
    return invalid("operationId: ids like " + inQuotes(*line.operationId) + " belong to answers of counselors");
  WITAN_DO(members.text("role", line.role, true));
  WITAN_DO(members.text("device", line.device, false));
  WITAN_DO(members.text("agent", line.agent, false));
  for (const std::string* name : {&line.role, &line.device, &line.agent})
    if (name->size() > kernel::kKeyMax) return invalid("role, device and agent have at most 256 bytes");
  WITAN_DO(readRun(members, line));
  line.action = members.take("action");
  return okStatus();
}

}  // namespace

Status parseEventLine(std::string_view text, EventLine& line) {
  line = EventLine{};
  if (text.size() > kLineMax) return invalid(concat("the line is longer than ", kLineMax, " bytes"));
  auto parsed = parseJson(text, {.bytes = kLineMax, .depth = 32});
  if (!parsed) return invalid("not JSON: " + parsed.error().message);
  if (!parsed->is_object()) return wrongJsonType("line", "an object", *parsed);
  Members members(parsed->get_object());
  WITAN_DO(members.text("entity", line.entity, true));
  WITAN_DO(members.text("title", line.title, false));
  WITAN_DO(members.optional("expect", line.expect));
  WITAN_DO(readBody(members, line));
  return members.nothingElse();
}

std::string lineOperationId(std::uint64_t number, std::string_view text) {
  return toHex(sha256(concat("v1|line|", number, "|", toHex(sha256(text)))));
}

}  // namespace witan::node
