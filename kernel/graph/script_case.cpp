#include "kernel/graph/script_case.h"

#include <algorithm>

#include "kernel/graph/checks.h"

namespace witan::graph {

namespace {

constexpr std::array kVerdicts{"allow", "deny", "redact", "require-human"};
// What the runtime takes for granted. GL07 is not among them: a run without guards ends at maxDeliveries.
constexpr std::array kGranted{"GL01", "GL02", "GL03", "GL04", "GL05", "GL06", "GL08", "GL10", "GL16", "GL18"};

template <class Words>
bool holds(const Words& words, std::string_view word) {
  return std::any_of(words.begin(), words.end(), [&](const char* one) { return word == one; });
}

Result<std::shared_ptr<const Document>> documentOf(const json::value& from, const std::string& where) {
  Checked checked = checkGraph(from, {});
  for (const Finding& finding : checked.errors)
    if (holds(kGranted, finding.id))
      return invalid(where + ": " + finding.id + " at " + (finding.place.empty() ? "the top" : finding.place) + ": " +
                         finding.message,
                     "see all findings: witan graph lint FILE");
  return checked.document;
}

Status checkMs(std::int64_t ms, const std::string& where) {
  if (ms >= 0 && ms <= kLatestEventMs) return okStatus();
  return invalid(where + ": " + std::to_string(ms) + " ms is not between 0 and " + std::to_string(kLatestEventMs));
}

Status checkRule(const NodeRule& rule, const std::string& where) {
  if (rule.fail && *rule.fail != "retry" && *rule.fail != "terminal")
    return invalid(where + ".fail: retry or terminal is expected");
  return checkMs(rule.durationMs.value_or(0), where + ".durationMs");
}

Status readEvent(ScriptedEvent& event, const std::string& where) {
  const int forms = int(event.ingress.has_value()) + event.answer.has_value() + event.cancel.has_value() +
                    event.redeliver.has_value() + event.crash.has_value() + event.crashAfterEffect.has_value() +
                    event.deploy.has_value();
  if (forms != 1)
    return invalid(
        where + ": exactly one of ingress, answer, cancel, redeliver, crash, crashAfterEffect and deploy is expected");
  if (event.ingress && (!event.id || !event.body))
    return invalid(where + ": an arrival at an ingress needs id and body");
  if (event.redeliver && *event.redeliver < 1) return invalid(where + ".redeliver: the first message is number 1");
  WITAN_DO(checkMs(event.atMs, where + ".atMs"));
  if (event.crash) WITAN_DO(checkMs(event.crash->downMs, where + ".crash.downMs"));
  if (event.crashAfterEffect) WITAN_DO(checkMs(event.crashAfterEffect->downMs, where + ".crashAfterEffect.downMs"));
  if (!event.deploy) return okStatus();
  WITAN_TRY(document, documentOf(*event.deploy, where + ".deploy"));
  event.document = document;
  return okStatus();
}

void removePath(json::value& body, std::string_view path) {
  const std::size_t end = path.find('.');
  json::object* object = body.if_object();
  if (object == nullptr) return;
  if (end == path.npos)
    object->erase(path);
  else if (json::value* inner = object->if_contains(path.substr(0, end)))
    removePath(*inner, path.substr(end + 1));
}

json::value copied(const json::value& path, const json::value& body) {
  const json::value* field = path.is_string() ? valueAt(body, path.get_string()) : nullptr;
  return field != nullptr ? *field : json::value(nullptr);
}

json::value added(const json::value& sum, const json::value& body) {
  const json::array* list = sum.if_array();
  if (list == nullptr || list->size() != 2) return nullptr;
  const auto a = integerOf(copied((*list)[0], body)), b = integerOf((*list)[1]);
  std::int64_t total = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &total)) return nullptr;
  return total;
}

}  // namespace

Result<ScriptedCase> readCase(const json::value& from) {
  ScriptedCase read;
  WITAN_DO(readJson(from, read, "case"));
  for (std::size_t i = 0; read.monitor && i < read.monitor->size(); ++i)
    if (!holds(kVerdicts, (*read.monitor)[i].verdict))
      return invalid("case.monitor[" + std::to_string(i) +
                     "].verdict: allow, deny, redact or require-human is expected");
  for (std::size_t i = 0; read.script && i < read.script->size(); ++i)
    WITAN_DO(checkRule((*read.script)[i], "case.script[" + std::to_string(i) + "]"));
  for (std::size_t i = 0; i < read.events.size(); ++i)
    WITAN_DO(readEvent(read.events[i], "case.events[" + std::to_string(i) + "]"));
  WITAN_TRY(document, documentOf(read.graph, "case.graph"));
  read.document = document;
  return read;
}

bool matches(const json::value& body, const Omittable<json::object>& when) {
  if (!when) return true;
  return std::all_of(when->begin(), when->end(), [&](const auto& one) {
    const json::value* field = valueAt(body, one.key());
    return field != nullptr && *field == one.value();
  });
}

json::value madeFrom(const json::value& form, const json::value& body) {
  if (const json::array* list = form.if_array()) {
    json::array out;
    for (const json::value& item : *list) out.push_back(madeFrom(item, body));
    return out;
  }
  const json::object* object = form.if_object();
  if (object == nullptr) return form;
  if (object->size() == 1 && object->contains("$")) return copied(object->at("$"), body);
  if (object->size() == 1 && object->contains("$add")) return added(object->at("$add"), body);
  json::object out;
  for (const auto& member : *object) out[member.key()] = madeFrom(member.value(), body);
  return out;
}

Decision decide(const std::vector<MonitorRule>& rules, const Crossing& crossing, const json::value& body) {
  for (const MonitorRule& rule : rules) {
    if (rule.boundary != crossing.boundary || rule.operation != crossing.operation || !matches(body, rule.when))
      continue;
    Decision decision{rule.verdict, rule.token.value_or(""), body};
    if (decision.verdict == "redact" && rule.remove)
      for (const std::string& path : *rule.remove) removePath(decision.body, path);
    return decision;
  }
  return {};
}

}  // namespace witan::graph
