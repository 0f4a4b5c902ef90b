#include "kernel/graph/script.h"

#include <algorithm>
#include <deque>

namespace witan::graph {

namespace {

bool matches(const json::value& body, const json::object& rule) {
  const json::value* when = rule.if_contains("when");
  if (when == nullptr) return true;
  return std::all_of(when->as_object().begin(), when->as_object().end(), [&](const auto& one) {
    const json::value* field = valueAt(body, one.key());
    return field != nullptr && *field == one.value();
  });
}

// {"$": path} copies a field, {"$add": [path, n]} adds to one; everything else stays.
json::value made(const json::value& form, const json::value& body) {
  if (const json::array* list = form.if_array()) {
    json::array out;
    for (const json::value& item : *list) out.push_back(made(item, body));
    return out;
  }
  const json::object* object = form.if_object();
  if (object == nullptr) return form;
  if (object->size() == 1 && object->contains("$")) {
    const json::value* field = valueAt(body, object->at("$").as_string());
    return field != nullptr ? *field : json::value(nullptr);
  }
  if (object->size() == 1 && object->contains("$add")) {
    const json::array& sum = object->at("$add").as_array();
    return *integerOf(*valueAt(body, sum.at(0).as_string())) + *integerOf(sum.at(1));
  }
  json::object out;
  for (const auto& member : *object) out[member.key()] = made(member.value(), body);
  return out;
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

Decision decide(const json::array& rules, const Crossing& crossing, const json::value& body) {
  for (const json::value& each : rules) {
    const json::object& rule = each.as_object();
    if (rule.at("boundary").as_string() != crossing.boundary ||
        rule.at("operation").as_string() != crossing.operation || !matches(body, rule))
      continue;
    Decision decision{std::string(rule.at("verdict").as_string()), "", body};
    if (const json::value* token = rule.if_contains("token")) decision.token = token->as_string();
    if (decision.verdict == "redact")
      for (const json::value& path : rule.at("remove").as_array()) removePath(decision.body, path.as_string());
    return decision;
  }
  return {};
}

class Player {
 public:
  explicit Player(const json::object& scripted)
      : rules_(listOf(scripted, "monitor")),
        script_(listOf(scripted, "script")),
        used_(script_.size()),
        runtime_([this](const Crossing& crossing, const json::value& body) { return decide(rules_, crossing, body); }) {
    for (const json::value& event : listOf(scripted, "events")) events_.push_back(event.as_object());
  }

  Result<ScriptedRun> play(const json::value& graph) {
    WITAN_DO(deploy(graph));
    while (true) {
      if (down_) {
        down_ = false;
        now_ = upAt_;
        runtime_.recover(now_);
        collect();
      }
      completions();
      if (!down_) runtime_.expire(now_);
      while (!down_ && !events_.empty() && atOf(events_.front()) <= now_) {
        const json::object event = events_.front();
        events_.pop_front();
        WITAN_DO(outside(event));
      }
      if (down_) continue;
      runtime_.dispatch(now_);
      collect();
      const auto next = nextTime();
      if (!next) return result();
      now_ = std::max(now_, *next);
    }
  }

 private:
  struct Running {
    Work work;
    std::int64_t doneAt;
    const json::object* rule;
  };

  static json::array listOf(const json::object& from, const char* member) {
    const json::value* list = from.if_contains(member);
    return list != nullptr ? list->as_array() : json::array();
  }
  static std::int64_t atOf(const json::object& event) { return *integerOf(event.at("atMs")); }

  Status deploy(const json::value& graph) {
    const ReadDocument read = readDocument(graph);
    if (!read.document) return invalid("graph: " + read.findings[0].place + ": " + read.findings[0].message);
    runtime_.deploy(read.document, now_);
    return okStatus();
  }

  const json::object* ruleFor(const Work& work) {
    for (std::size_t i = 0; i < script_.size(); ++i) {
      const json::object& rule = script_[i].as_object();
      const json::value* times = rule.if_contains("times");
      if (rule.at("node").as_string() != work.node || !matches(*work.body, rule) ||
          (times != nullptr && used_[i] >= *integerOf(*times)))
        continue;
      ++used_[i];
      return &rule;
    }
    return nullptr;
  }

  // Entries leave the runtime, then the work that they permit begins.
  void collect() {
    Taken taken = runtime_.take();
    for (Entry& entry : taken.entries) entries_.push_back(std::move(entry));
    for (const Undo& undo : taken.undos) ++world_[undo.operation];
    for (Work& work : taken.work) {
      const auto before = chosen_.find(work.span);
      const json::object* rule = work.resumed && before != chosen_.end() ? before->second : ruleFor(work);
      chosen_[work.span] = rule;
      const json::value* lasts = rule != nullptr ? rule->if_contains("durationMs") : nullptr;
      running_.push_back({std::move(work), now_ + (lasts != nullptr ? *integerOf(*lasts) : 1), rule});
    }
  }

  // The list is in the order of starts.
  void completions() {
    while (!down_) {
      std::erase_if(running_, [&](const Running& one) { return !runtime_.isRunning(one.work.span, one.work.attempt); });
      const auto first = std::min_element(running_.begin(), running_.end(),
                                          [](const Running& a, const Running& b) { return a.doneAt < b.doneAt; });
      if (first == running_.end() || first->doneAt > now_) return;
      const Running done = *first;
      running_.erase(first);
      finish(done);
      collect();
    }
  }

  void finish(const Running& done) {
    const Work& work = done.work;
    if (const json::value* failure = done.rule != nullptr ? done.rule->if_contains("fail") : nullptr) {
      const json::value* why = done.rule->if_contains("why");
      return runtime_.fail(work.span, work.attempt, why != nullptr ? std::string(why->as_string()) : "error",
                           failure->as_string() == "terminal", now_);
    }
    if (work.document->node(work.node)->kind == NodeKind::egress) return effect(work);
    std::vector<Output> outputs;
    if (const json::value* emits = done.rule != nullptr ? done.rule->if_contains("emit") : nullptr)
      for (const json::value& one : emits->as_array())
        outputs.push_back({std::string(one.at("type").as_string()), made(one.at("body"), *work.body)});
    runtime_.finish(work.span, work.attempt, std::move(outputs), now_);
  }

  void effect(const Work& work) {
    const bool first = world_.emplace(work.span, 1).second;
    if (armed_ && armed_->at("node").as_string() == work.node) {
      crash(*integerOf(armed_->at("downMs")));
      armed_.reset();
      return;
    }
    runtime_.finishEffect(work.span, work.attempt, !first, now_);
  }

  void crash(std::int64_t downMs) {
    down_ = true;
    upAt_ = now_ + downMs;
    running_.clear();
  }

  Status outside(const json::object& event) {
    if (const json::value* ingress = event.if_contains("ingress")) {
      runtime_.admit(std::string(ingress->as_string()), std::string(event.at("id").as_string()), event.at("body"),
                     now_);
    } else if (const json::value* answer = event.if_contains("answer")) {
      const json::object& given = answer->as_object();
      std::optional<std::string> digest;
      if (const json::value* seen = given.if_contains("digest")) digest = seen->as_string();
      const auto text = [&](const char* member) { return std::string(given.at(member).as_string()); };
      runtime_.answer(text("node"), text("key"), text("by"), given.at("approve").as_bool(), digest, now_);
    } else if (const json::value* cancelled = event.if_contains("cancel")) {
      runtime_.cancel(std::string(cancelled->as_string()), now_);
    } else if (const json::value* crashed = event.if_contains("crash")) {
      crash(*integerOf(crashed->at("downMs")));
    } else if (const json::value* arm = event.if_contains("crashAfterEffect")) {
      armed_ = arm->as_object();
    } else if (const json::value* nth = event.if_contains("redeliver")) {
      WITAN_DO(redeliver(std::size_t(*integerOf(*nth))));
    } else if (const json::value* graph = event.if_contains("deploy")) {
      WITAN_DO(deploy(*graph));
    } else {
      return invalid("events: an unknown event");
    }
    collect();
    return okStatus();
  }

  Status redeliver(std::size_t nth) {
    for (const Entry& entry : entries_)
      for (const Line& line : entry)
        if (line.kind == LineKind::sent && --nth == 0) return runtime_.redeliver(line.message, now_);
    return invalid("events: redeliver names no message");
  }

  std::optional<std::int64_t> nextTime() const {
    std::optional<std::int64_t> next = runtime_.due();
    const auto consider = [&](std::int64_t at) { next = next ? std::min(*next, at) : at; };
    for (const Running& one : running_)
      if (runtime_.isRunning(one.work.span, one.work.attempt)) consider(one.doneAt);
    if (!events_.empty()) consider(atOf(events_.front()));
    return next;
  }

  ScriptedRun result() {
    json::array ledger, runs, waiting;
    std::map<std::string, std::int64_t> counts;
    for (const Entry& entry : entries_)
      for (const Line& line : entry) {
        if (line.kind == LineKind::deployed) continue;
        ++counts[toString(line.kind)];
        ledger.push_back(toJson(line, std::int64_t(ledger.size()) + 1));
      }
    for (const RunView& run : runtime_.runs())
      runs.push_back({{"run", run.run},
                      {"external", run.external},
                      {"status", run.status},
                      {"version", run.version},
                      {"deliveries", run.deliveries},
                      {"dead", run.dead}});
    for (const std::string& question : runtime_.waitingFor()) waiting.emplace_back(question);
    json::object result{{"ledger", std::move(ledger)},
                        {"counts", json::value_from(counts)},
                        {"runs", std::move(runs)},
                        {"world", json::value_from(world_)},
                        {"waiting", std::move(waiting)}};
    return {std::move(result), std::move(entries_), runtime_.fingerprint()};
  }

  const json::array rules_;
  const json::array script_;
  std::vector<std::int64_t> used_;  // how often each rule of the script was
  Runtime runtime_;
  std::deque<json::object> events_;
  std::vector<Running> running_;
  std::map<std::string, const json::object*> chosen_;  // the rule of each span
  std::map<std::string, std::int64_t> world_;          // how often each operation changed the world
  std::vector<Entry> entries_;
  std::optional<json::object> armed_;
  std::int64_t now_ = 0;
  std::int64_t upAt_ = 0;
  bool down_ = false;
};

}  // namespace

Result<ScriptedRun> runScript(const json::object& scripted) {
  try {  // Boost.JSON throws where a member is missing or of another kind
    return Player(scripted).play(scripted.at("graph"));
  } catch (const std::exception& error) {
    return invalid(std::string("the case has another form: ") + error.what());
  }
}

}  // namespace witan::graph
