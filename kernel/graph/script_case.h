// What `graph run --script` reads: a document, a scripted monitor, scripted nodes and events, in virtual time.
// A value; pure functions, any thread.
#pragma once

#include <string>
#include <vector>

#include "base/json_codec.h"
#include "kernel/graph/document.h"
#include "kernel/graph/runtime.h"

namespace witan::graph {

inline constexpr JsonLimits kScriptLimits{.bytes = 16 << 20, .depth = 64};
inline constexpr std::int64_t kLatestEventMs = 10'000'000'000'000;  // 317 years

struct MonitorRule {
  std::string boundary;
  std::string operation;
  std::string verdict;
  Omittable<std::string> token;
  Omittable<json::object> when;
  Omittable<std::vector<std::string>> remove;  // of redact: paths

  WITAN_MEMBERS(MonitorRule, boundary, operation, verdict, token, when, remove)
};

struct ScriptedOutput {
  std::string type;
  json::value body;  // {"$": path} copies, {"$add": [path, n]} adds

  WITAN_MEMBERS(ScriptedOutput, type, body)
};

struct NodeRule {
  std::string node;
  Omittable<json::object> when;
  Omittable<std::vector<ScriptedOutput>> emit;
  Omittable<std::string> fail;  // retry, terminal
  Omittable<std::string> why;
  Omittable<std::int64_t> durationMs;
  Omittable<std::int64_t> times;

  WITAN_MEMBERS(NodeRule, node, when, emit, fail, why, durationMs, times)
};

struct ScriptedAnswer {
  std::string node;
  std::string key;
  std::string by;
  bool approve = false;
  Omittable<std::string> digest;

  WITAN_MEMBERS(ScriptedAnswer, node, key, by, approve, digest)
};

struct ScriptedCrash {
  std::int64_t downMs = 0;

  WITAN_MEMBERS(ScriptedCrash, downMs)
};

struct CrashAfterEffect {
  std::string node;
  std::int64_t downMs = 0;

  WITAN_MEMBERS(CrashAfterEffect, node, downMs)
};

// Exactly one of ingress (with id and body), answer, cancel, redeliver, crash, crashAfterEffect and deploy.
struct ScriptedEvent {
  std::int64_t atMs = 0;
  Omittable<std::string> ingress;
  Omittable<std::string> id;
  Omittable<json::value> body;
  Omittable<ScriptedAnswer> answer;
  Omittable<std::string> cancel;
  Omittable<std::int64_t> redeliver;  // the n-th message that was sent, from 1
  Omittable<ScriptedCrash> crash;
  Omittable<CrashAfterEffect> crashAfterEffect;
  Omittable<json::value> deploy;

  std::shared_ptr<const Document> document;  // of deploy, checked

  WITAN_MEMBERS(ScriptedEvent, atMs, ingress, id, body, answer, cancel, redeliver, crash, crashAfterEffect, deploy)
};

struct ScriptedCase {
  json::value graph;
  Omittable<std::vector<MonitorRule>> monitor;
  Omittable<std::vector<NodeRule>> script;
  std::vector<ScriptedEvent> events;
  Omittable<std::string> name;    // read and not used
  Omittable<json::value> expect;  // likewise

  std::shared_ptr<const Document> document;  // of graph, checked

  WITAN_MEMBERS(ScriptedCase, graph, monitor, script, events, name, expect)
};

// Errors: invalid, with the place; what the runtime rests on must hold in each document (GL01 to GL06, GL08, GL10,
// GL16, GL18), and the place of such an error begins with the check.
Result<ScriptedCase> readCase(const json::value& from);

// Whether the fields that `when` names have its values.
bool matches(const json::value& body, const Omittable<json::object>& when);
// The body that a scripted node emits. A field that is missing gives null.
json::value madeFrom(const json::value& form, const json::value& body);
// What the first fitting rule says; deny without one.
Decision decide(const std::vector<MonitorRule>& rules, const Crossing& crossing, const json::value& body);

}  // namespace witan::graph
