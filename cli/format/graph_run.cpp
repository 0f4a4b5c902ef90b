#include "cli/format/graph_run.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/string_util.h"
#include "base/time.h"
#include "domains/graph/actions.h"
#include "program/output.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostDepth = 24;  // that is shown: loops go on as deep as they ran

std::string textIn(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  if (value == nullptr) return "";
  return value->is_string() ? std::string(value->get_string()) : canonicalJson(*value);
}

// What people chose does not make lines of its own.
std::string lineIn(const json::object& object, std::string_view member) { return oneLine(textIn(object, member)); }

std::int64_t millisOf(const std::string& time) {
  const auto parsed = parseTime(time);
  return parsed.ok() ? parsed->micros / 1000 : 0;
}

struct SpanLine {
  std::string node, key, id;
  std::string first, last;  // entries
  std::int64_t beganMs = 0, ms = 0;
  std::int64_t attempts = 0;
  std::vector<std::string> words;
  std::vector<std::string> sent;  // messages
};

class Tree {
 public:
  void add(const std::string& seq, std::int64_t atMs, const json::object& action) {
    const std::string type = textIn(action, "type");
    if (type == "Begin") {
      keys_[textIn(action, "message")] = textIn(action, "key");
      roots_.push_back(textIn(action, "message"));
    }
    if (type == "Redrive") {
      const std::string dead = textIn(action, "message");
      roots_.push_back(domains::graph::redrivenId(dead));
      keys_[roots_.back()] = keys_[dead];
    }
    SpanLine* const line = lineOf(seq, type, action);
    if (line == nullptr) return;
    line->last = seq;
    if (line->beganMs == 0) line->beganMs = atMs;
    line->ms = atMs - line->beganMs;
    if (type == "Deliver") line->attempts = std::max(line->attempts, std::atol(textIn(action, "attempt").c_str()));
    if (type == "Verdict") line->words.push_back(textIn(action, "verdict"));
    if (type == "Ask") line->words.push_back("asks (" + textIn(action, "why") + ")");
    if (type == "Answer")
      line->words.push_back((textIn(action, "approve") == "true" ? "approved by " : "denied by ") +
                            lineIn(action, "by"));
    if (type == "Effect")
      line->words.push_back(textIn(action, "tool") + " " + textIn(action, "operation").substr(0, 8) +
                            (textIn(action, "found") == "true" ? " (found)" : ""));
    if (type == "Fail") {
      const std::string why = lineIn(action, "why"), cause = lineIn(action, "cause");
      line->words.push_back((why.starts_with("failed") ? "the agent gave up" + why.substr(6) : "failed: " + why) +
                            (cause.empty() ? "" : " (" + cause + ")"));
    }
    if (type == "Finish") finish(*line, action);
  }

  std::string words() const {
    std::string all;
    std::vector<std::pair<std::string, std::size_t>> open;  // messages, and how far in
    const auto push = [&](const std::vector<std::string>& messages, std::size_t depth) {
      for (auto at = messages.rbegin(); at != messages.rend(); ++at) open.emplace_back(*at, depth);
    };
    push(roots_, 0);
    while (!open.empty()) {
      const auto [message, depth] = open.back();
      open.pop_back();
      const auto span = spanOf_.find(message);
      if (span == spanOf_.end()) continue;
      const SpanLine& line = spans_.at(span->second);
      all.append(2 * std::min(depth, kMostDepth), ' ');
      all += lineWords(line);
      push(line.sent, depth + 1);
    }
    return all;
  }

 private:
  SpanLine* lineOf(const std::string& seq, const std::string& type, const json::object& action) {
    const std::string span = textIn(action, "span");
    if (span.empty()) return nullptr;
    if (type == "Deliver" && !spans_.contains(span)) {
      const std::string message = textIn(action, "message");
      spanOf_[message] = span;
      spans_[span] = {textIn(action, "node"), keys_[message], span, seq, seq, 0, 0, 0, {}, {}};
    }
    const auto at = spans_.find(span);
    return at == spans_.end() ? nullptr : &at->second;
  }
  void finish(SpanLine& line, const json::object& action) {
    line.words.emplace_back("finished");
    if (const std::string model = textIn(action, "model"); !model.empty())
      line.words.push_back("by " + model.substr(0, model.find('/')) + ", " + textIn(action, "tokens") + " tokens");
    const json::value* sends = action.if_contains("sends");
    if (sends == nullptr || !sends->is_array()) return;
    for (const json::value& one : sends->get_array()) {
      if (!one.is_object() || textIn(one.get_object(), "duplicate") == "true") continue;
      line.sent.push_back(textIn(one.get_object(), "message"));
      keys_[line.sent.back()] = textIn(one.get_object(), "key");
    }
  }
  static std::string lineWords(const SpanLine& line) {
    const std::string attempts = line.attempts > 1 ? std::to_string(line.attempts) + " attempts, " : "";
    return line.node + "  " + oneLine(line.key) + "  " + attempts + joined(line.words) + "  " +
           std::to_string(line.ms) + " ms  [span " + line.id.substr(0, 8) + ", entries " + line.first + " to " +
           line.last + "]\n";
  }

  std::vector<std::string> roots_;
  std::map<std::string, std::string> keys_, spanOf_;  // of messages
  std::map<std::string, SpanLine> spans_;
};

}  // namespace

std::string spanTree(const json::array& steps) {
  Tree tree;
  for (const json::value& step : steps)
    if (step.is_object() && step.get_object().contains("action") && step.get_object().at("action").is_object())
      tree.add(textIn(step.get_object(), "seq"), millisOf(textIn(step.get_object(), "time")),
               step.get_object().at("action").get_object());
  return tree.words();
}

}  // namespace witan::node
