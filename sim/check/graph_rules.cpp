#include "sim/check/graph_rules.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "base/string_util.h"

namespace witan::sim {

namespace {

std::string textOf(const json::object& from, std::string_view member) {
  const json::value* value = from.if_contains(member);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}
std::int64_t numberOf(const json::object& from, std::string_view member) {
  const json::value* value = from.if_contains(member);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}
const json::array& listOf(const json::object& from, std::string_view member) {
  static const json::array none;
  const json::value* value = from.if_contains(member);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}
bool isTrue(const json::object& from, std::string_view member) {
  const json::value* value = from.if_contains(member);
  return value != nullptr && value->is_bool() && value->get_bool();
}
constexpr std::int64_t kHorizonMs = 604'800'000, kMostHops = 8;

std::string shortly(const std::string& id) { return id.substr(0, 16); }

// Type T: a topic and three digits; and a few words that are private, or none.
bool hasFormOfT(const json::object& body) {
  const auto isWords = [&](const char* member) {
    const json::value* value = body.if_contains(member);
    return value != nullptr && value->is_string() && value->get_string().size() <= 20;
  };
  const auto isDigit = [&](const char* member) {
    const json::value* value = body.if_contains(member);
    return value != nullptr && value->is_int64() && value->get_int64() >= 0 && value->get_int64() <= 9;
  };
  const std::size_t members = body.contains("private") ? 5 : 4;
  return body.size() == members && isWords("topic") && isDigit("left") && isDigit("lot") && isDigit("mood") &&
         (members == 4 || isWords("private"));
}

}  // namespace

std::string checkGraphAnswer(const GraphAnswer& answer) {
  if (!answer.isMessage)
    return answer.why.find("may not deploy it") == std::string::npos
               ? ""
               : "a graph that is in order is not deployed: " + answer.why;
  const auto body = parseJson(answer.body);
  const bool fits = body.ok() && body->is_object() && hasFormOfT(body->get_object());
  if (answer.taken && !fits) return "a message that is not of the type of its ingress is taken: " + answer.body;
  if (answer.taken || !fits) return {};
  for (const char* never : {"schema", "unknown_ingress", "external_id", "too_large", "key", "loop"})
    if (answer.why.starts_with(never))
      return concat("a message that is in order is refused (", answer.why, "): ", answer.body);
  return {};
}

std::string GraphRules::add(const json::object& step, std::int64_t atMs) {
  atMs_ = atMs;
  const std::string type = textOf(step, "type");
  if (type == "Deploy") return onDeploy(step);
  if (type == "Begin") return onBegin(step);
  const auto run = runs_.find(textOf(step, "run"));
  if (run == runs_.end()) return type + " of run " + shortly(textOf(step, "run")) + ", which never began";
  if (type == "Redrive") return onRedrive(step);
  if (type == "Forget") {
    const bool early = run->second.status == "running" || atMs_ - run->second.endedMs <= kHorizonMs;
    return early ? "a run is forgotten that has not ended a horizon ago (G-02)" : "";
  }
  if (run->second.status != "running") return type + " of run " + shortly(run->first) + ", which has ended";
  if (type == "Deliver") return onDeliver(step);
  if (type == "Finish") return onFinish(step);
  if (type == "Fail") return onFail(step);
  if (type == "End") return onEnd(step);
  if (type == "Cancel") return {};
  if (type == "Compensate") {
    const auto effect = effects_.find(textOf(step, "span"));
    if (effect == effects_.end() || effect->second.undone) return "an effect is undone that is not there";
    return undo(effect->second);
  }
  const Message* message = spanOf(step);
  if (message == nullptr) return type + " of span " + shortly(textOf(step, "span")) + ", which is not open";
  if (type == "Verdict") return onVerdict(step);
  if (type == "Effect") return onEffect(step);
  if (type == "Ask") return onAsk(step);
  if (type == "Answer") return onAnswer(step);
  return type == "Resume" ? std::string() : "a step of no known kind: " + type;
}

std::string GraphRules::onDeploy(const json::object& step) {
  const std::int64_t number = numberOf(step, "version");
  if (!versions_.empty() && number < versions_.rbegin()->first) return "an older version is deployed";
  Version version{.deliveries = numberOf(step, "deliveries")};
  for (const json::value& edge : listOf(step, "edges"))
    version.bounds[std::string(edge.at(0).as_string())] = edge.at(1).as_int64();
  for (const json::value& gate : listOf(step, "gates"))
    for (auto& who = version.gates[std::string(gate.at(0).as_string())]; const json::value& one : gate.at(1).as_array())
      who.emplace(one.as_string());
  versions_[number] = std::move(version);
  return {};
}

std::string GraphRules::onBegin(const json::object& step) {
  const std::string id = textOf(step, "run");
  if (versions_.empty() || numberOf(step, "version") != versions_.rbegin()->first)
    return "run " + shortly(id) + " begins under another version than the deployed one";
  if (numberOf(step, "hops") >= kMostHops) return "run " + shortly(id) + " goes on with a chain of runs (G-01)";
  if (!runs_.try_emplace(id, Run{.version = numberOf(step, "version"), .sinceMs = atMs_}).second)
    return "run " + shortly(id) + " begins twice";
  const auto [entered, first] = entered_.try_emplace({textOf(step, "node"), textOf(step, "external")}, atMs_);
  if (!first && atMs_ - std::exchange(entered->second, atMs_) <= kHorizonMs)
    return "message " + entered->first.second + " entered twice within the horizon (G-02)";
  return open(textOf(step, "message"), {.run = id, .node = textOf(step, "node"), .key = textOf(step, "key")});
}

std::string GraphRules::open(std::string id, Message message) {
  message.sequence = ++sequence_;
  reached_.emplace(message.node, message.key);
  runs_.at(message.run).open.insert(id);
  lanes_[{message.node, message.key}].emplace(message.sequence, id);
  return messages_.try_emplace(id, std::move(message)).second ? std::string()
                                                              : "message " + shortly(id) + " is sent twice (G-02)";
}

void GraphRules::close(const std::string& id) {
  const auto at = messages_.find(id);
  const Message& message = at->second;
  runs_.at(message.run).open.erase(id);
  const auto lane = lanes_.find({message.node, message.key});
  lane->second.erase(message.sequence);
  if (lane->second.empty()) lanes_.erase(lane);
  messages_.erase(at);
}

GraphRules::Message* GraphRules::spanOf(const json::object& step) {
  const auto span = spans_.find(textOf(step, "span"));
  const auto at = span == spans_.end() ? messages_.end() : messages_.find(span->second);
  return at == messages_.end() || at->second.span != span->first ? nullptr : &at->second;
}

std::string GraphRules::onDeliver(const json::object& step) {
  const std::string id = textOf(step, "message"), span = textOf(step, "span");
  const auto at = messages_.find(id);
  if (at == messages_.end()) return "message " + shortly(id) + " is delivered and is not open (G-02)";
  Message& message = at->second;
  const std::int64_t attempt = numberOf(step, "attempt");
  if (attempt != message.attempt + 1) return concat("attempt ", attempt, " follows ", message.attempt, " (G-02)");
  message.attempt = attempt;
  if (attempt > 1) return message.span == span ? std::string() : "a further attempt has another span";
  // What people send again has no place in the order; one span at a time holds for it too.
  bool isNext = true;
  for (const auto& [sequence, other] : lanes_.at({message.node, message.key})) {
    const Message& beside = messages_.at(other);
    isNext = isNext &&
             (other == id || (beside.span.empty() && (sequence > message.sequence || message.again || beside.again)));
  }
  if (!isNext) return concat("message ", shortly(id), " overtakes another in its lane at ", message.node, " (G-02)");
  Run& run = runs_.at(message.run);
  if (run.failed.contains({message.node, message.key}) && !message.again)
    return concat("message ", shortly(id), " goes on in a lane at ", message.node, " in which a span died (G-02)");
  message.span = span;
  if (!spans_.emplace(span, id).second) return "span " + shortly(span) + " begins twice (G-02)";
  if (++run.deliveries > versions_.at(run.version).deliveries)
    return "run " + shortly(message.run) + " has more deliveries than its graph allows (G-01)";
  return {};
}

std::string GraphRules::onVerdict(const json::object& step) {
  Message& message = *spanOf(step);
  const std::string verdict = textOf(step, "verdict"), digest = textOf(step, "digest");
  message.mustAsk = verdict == "require-human";
  message.passed = !digest.empty() && (verdict == "allow" || verdict == "redact" || message.mustAsk);
  return message.passed ? crossing_(message.node, verdict, digest) : std::string();
}

// G-03: nothing goes on at a gate without a verdict, or an answer, that lets it.
std::string GraphRules::passage(const Message& message) {
  const Version& version = versions_.at(runs_.at(message.run).version);
  const auto gate = version.gates.find(message.node);
  if (gate == version.gates.end()) return {};
  if (!gate->second.empty() && !message.approved) return message.node + " goes on, and nobody has approved (G-03)";
  if (gate->second.empty() && (!message.passed || (message.mustAsk && !message.approved)))
    return message.node + " is crossed, and no verdict lets it (G-03)";
  return {};
}

std::string GraphRules::send(Run& run, const Message& cause, const json::object& sent) {
  const std::string edge = textOf(sent, "edge");
  const auto& bounds = versions_.at(run.version).bounds;
  if (const auto bound = bounds.find(edge);
      bound != bounds.end() && bound->second > 0 && ++run.passes[edge] > bound->second)
    return edge + " is passed more often than its bound (G-01)";
  Message message{.run = cause.run, .node = textOf(sent, "node"), .key = textOf(sent, "key")};
  for (const json::value& one : listOf(sent, "measures"))
    message.measures[std::string(one.at(0).as_string())] = one.at(1).as_int64();
  const auto before = cause.measures.find(edge);
  const auto now = std::as_const(message.measures).find(edge);
  if (before != cause.measures.end() && (now == message.measures.end() || now->second >= before->second))
    return "the measure of " + edge + " does not fall (G-01)";
  if (!isTrue(sent, "duplicate")) return open(textOf(sent, "message"), std::move(message));
  return reached_.contains({message.node, message.key})
             ? std::string()
             : concat("a message is dropped as a duplicate at ", message.node,
                      ", and none came there in its lane before");
}

std::string GraphRules::onFinish(const json::object& step) {
  Message* const at = spanOf(step);
  if (at == nullptr) return "span " + shortly(textOf(step, "span")) + " finishes and is not open (G-02)";
  const Message message = *at;
  if (std::string wrong = passage(message); !wrong.empty()) return wrong;
  if (std::string wrong = spend(step); !wrong.empty()) return wrong;
  close(spans_.at(message.span));
  for (const json::value& sent : listOf(step, "sends"))
    if (std::string wrong = send(runs_.at(message.run), message, sent.as_object()); !wrong.empty()) return wrong;
  return bury(step);
}

std::string GraphRules::onFail(const json::object& step) {
  if (numberOf(step, "attempt") == 0) return bury(step);
  const Message* message = spanOf(step);
  if (message == nullptr || message->attempt != numberOf(step, "attempt"))
    return "span " + shortly(textOf(step, "span")) + " fails, and that attempt does not run";
  if (textOf(step, "why") == "human_timeout" && !message->waits)
    return "span " + shortly(textOf(step, "span")) + " runs out of time, and was answered (G-03)";
  if (std::string wrong = spend(step); !wrong.empty()) return wrong;
  const json::value* retry = step.if_contains("retryAtMs");
  const bool again = retry != nullptr && !retry->is_null();
  return again ? std::string() : bury(step, true);
}

// Attempts that fail count too.
std::string GraphRules::spend(const json::object& step) {
  Run& run = runs_.at(textOf(step, "run"));
  for (const auto& [amount, most] : versions_.at(run.version).budget)
    if (const std::int64_t spent = run.spent[amount] += numberOf(step, amount); spent > most)
      return concat("run ", shortly(textOf(step, "run")), " has spent ", spent, " of ", most, " ", amount, " (law 4)");
  return {};
}

// What a guard held back, or a function had collected, was never open. Of a span that dies the first is its own.
std::string GraphRules::bury(const json::object& step, bool spanDies) {
  Run& run = runs_.at(textOf(step, "run"));
  for (const json::value& one : listOf(step, "dead")) {
    const json::object& lost = one.as_object();
    const std::string id = textOf(lost, "message"), reason = textOf(lost, "reason");
    const std::pair lane{textOf(lost, "node"), textOf(lost, "key")};
    if (std::exchange(spanDies, false)) run.failed.insert(lane);
    if (reason == "after_failure" && !run.failed.contains(lane))
      return concat("message ", shortly(id), " dies after a failure that is not in its lane at ", lane.first,
                    " (G-02)");
    ++run.dead;
    ++deaths_[reason];
    const auto at = messages_.find(id);
    if (at == messages_.end()) continue;
    letters_[id] = at->second;
    close(id);
  }
  return {};
}

std::string GraphRules::onEffect(const json::object& step) {
  const Message& message = *spanOf(step);
  const std::string span = message.span;
  if (textOf(step, "operation") != span) return "an effect has another operation than its span (T2)";
  if (std::string wrong = passage(message); !wrong.empty()) return wrong;
  return effects_.try_emplace(span, Effect{message.run, message.node, ++sequence_}).second
             ? std::string()
             : "span " + shortly(span) + " has two effects (T2)";
}

// The last one first.
std::string GraphRules::undo(Effect& effect) {
  for (const auto& [span, other] : effects_)
    if (other.run == effect.run && other.node == effect.node && other.number > effect.number && !other.undone)
      return "an effect is undone before a later one of its run, that of span " + shortly(span);
  effect.undone = true;
  return {};
}

std::string GraphRules::onAsk(const json::object& step) {
  Message& message = *spanOf(step);
  message.asked = textOf(step, "digest");
  message.waits = true;
  return {};
}

std::string GraphRules::onAnswer(const json::object& step) {
  Message& message = *spanOf(step);
  if (!message.waits) return "an answer to what nobody asks";
  if (message.asked != textOf(step, "digest")) return "an answer about another body (G-03)";
  const Version& version = versions_.at(runs_.at(message.run).version);
  const auto gate = version.gates.find(message.node);
  if (gate != version.gates.end() && !gate->second.empty() && !gate->second.contains(textOf(step, "by")))
    return textOf(step, "by") + " answers at " + message.node + " and may not (G-03)";
  message.waits = false;
  message.approved = isTrue(step, "approve");
  return {};
}

std::string GraphRules::onEnd(const json::object& step) {
  if (std::string wrong = bury(step); !wrong.empty()) return wrong;
  Run& run = runs_.at(textOf(step, "run"));
  if (!run.open.empty()) return "run " + shortly(textOf(step, "run")) + " ends with open messages (G-01)";
  if (run.deliveries != numberOf(step, "deliveries")) return "a run ends with another count of deliveries";
  run.status = textOf(step, "status");
  if (run.status == (run.dead > 0 ? "completed" : "degraded"))
    return concat("run ", shortly(textOf(step, "run")), " ends as ", run.status, " with ", run.dead, " dead letters");
  if (run.status == "timed_out" && atMs_ - run.sinceMs < versions_.at(run.version).timeoutMs)
    return concat("run ", shortly(textOf(step, "run")), " is stopped ", atMs_ - run.sinceMs, " ms after it began");
  run.endedMs = atMs_;
  return {};
}

std::string GraphRules::onRedrive(const json::object& step) {
  const auto letter = letters_.find(textOf(step, "message"));
  if (letter == letters_.end()) return "what never died is sent again";
  Message again{.run = letter->second.run, .node = letter->second.node, .key = letter->second.key};
  again.measures = letter->second.measures;
  again.again = true;
  letters_.erase(letter);
  runs_.at(again.run).status = "running";
  runs_.at(again.run).sinceMs = atMs_;
  runs_.at(again.run).failed.erase({again.node, again.key});
  return open(toHex(sha256(concat("v1|message|", textOf(step, "message"), "#1"))), std::move(again));
}

bool GraphRules::isOpen(const std::string& span) const {
  const auto id = spans_.find(span);
  if (id == spans_.end()) return false;
  const auto message = messages_.find(id->second);
  return message != messages_.end() && message->second.span == span;
}

std::string GraphRules::atRest() const {
  for (const auto& [id, run] : runs_) {
    if (run.status != "running") continue;
    bool waits = false;
    for (const std::string& message : run.open) waits = waits || messages_.at(message).waits;
    if (!waits) return concat("run ", shortly(id), " neither ends nor waits for a person (G-01)");
  }
  return {};
}

}  // namespace witan::sim
