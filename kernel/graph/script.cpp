#include "kernel/graph/script.h"

#include <algorithm>

namespace witan::graph {

namespace {

class Player {
 public:
  Player(const ScriptedCase& scripted, const ScriptWatch& watch, const ScriptLimits& limits)
      : case_(scripted),
        watch_(watch),
        limits_(limits),
        used_(rules().size()),
        runtime_(
            [this](const Crossing& crossing, const json::value& body) {
              return case_.monitor ? decide(*case_.monitor, crossing, body) : Decision();
            },
            [this](const Entry& entry) {
              if (watch_.entry) watch_.entry(entry, runtime_);
            }) {}

  Result<json::object> play() {
    WITAN_DO(runtime_.deploy(case_.document, now_));
    while (true) {
      if (down_) {
        down_ = false;
        now_ = upAt_;
        runtime_.recover(now_);
        collect();
      }
      completions();
      if (!down_) runtime_.expire(now_);
      while (!down_ && next_ < case_.events.size() && case_.events[next_].atMs <= now_)
        WITAN_DO(outside(case_.events[next_++]));
      if (down_) continue;
      WITAN_DO(dispatch());
      const auto next = nextTime();
      if (!next) return result();
      now_ = std::max(now_, *next);
    }
  }

 private:
  struct Running {
    Work work;
    const NodeRule* rule;
  };

  const std::vector<NodeRule>& rules() const {
    static const std::vector<NodeRule> none;
    return case_.script ? *case_.script : none;
  }

  Status dispatch() {
    constexpr std::size_t kStarts = 1'000;  // between two looks at the limits
    bool more = true;
    while (more) {
      more = runtime_.dispatch(now_, kStarts);
      collect();
      if (lines_ > limits_.lines || bytes_ > limits_.bytes)
        return invalid("case: the runs make more than " + std::to_string(limits_.lines) + " lines, or send more than " +
                           std::to_string(limits_.bytes) + " bytes",
                       "bound the cycles, or give fewer events");
    }
    return okStatus();
  }

  const NodeRule* ruleFor(const Work& work) {
    for (std::size_t i = 0; i < rules().size(); ++i) {
      const NodeRule& rule = rules()[i];
      if (rule.node != work.node || !matches(*work.body, rule.when) || (rule.times && used_[i] >= *rule.times))
        continue;
      ++used_[i];
      return &rule;
    }
    return nullptr;
  }

  void print(const Line& line) {
    if (std::holds_alternative<Deployed>(line.fact)) return;
    ++lines_;
    ++counts_[nameOf(line)];
    if (watch_.line) watch_.line(toJson(line, lines_));
    if (const auto* begun = std::get_if<Begun>(&line.fact)) {
      runAt_[begun->run] = runs_.size();
      runs_.push_back({begun->run, begun->external, "running", begun->version});
    } else if (const auto* ended = std::get_if<Ended>(&line.fact)) {
      RunView& run = runs_[runAt_.at(ended->run)];
      run.status = ended->status;
      run.deliveries = ended->deliveries;
      run.dead = ended->dead;
    } else if (const auto* sent = std::get_if<Sent>(&line.fact)) {
      sent_.emplace_back(sent->run, sent->message);
      bytes_ += json::serialize(*sent->body).size();
    }
  }

  // Entries leave the runtime, then the work that they permit begins.
  void collect() {
    Taken taken = runtime_.take();
    for (const Entry& entry : taken.entries)
      for (const Line& line : entry) print(line);
    for (const Line& notice : taken.notices) print(notice);
    for (const Undo& undo : taken.undos) ++world_[undo.operation];
    for (Work& work : taken.work) {
      const auto before = chosen_.find(work.span);
      const NodeRule* rule = work.resumed && before != chosen_.end() ? before->second : ruleFor(work);
      chosen_[work.span] = rule;
      const std::int64_t lasts = rule != nullptr ? rule->durationMs.value_or(1) : 1;
      running_.emplace(std::pair(now_ + lasts, ++started_), Running{std::move(work), rule});
    }
  }

  // By the time at which they are done, then in the order of starts.
  void completions() {
    while (!down_ && !running_.empty() && running_.begin()->first.first <= now_) {
      const Running done = std::move(running_.extract(running_.begin()).mapped());
      if (!runtime_.isRunning(done.work.span, done.work.attempt)) continue;
      finish(done);
      collect();
    }
  }

  void finish(const Running& done) {
    const Work& work = done.work;
    if (done.rule != nullptr && done.rule->fail)
      return runtime_.fail(work.span, work.attempt, done.rule->why.value_or("error"), *done.rule->fail == "terminal",
                           now_);
    if (work.document->node(work.node)->kind == NodeKind::egress) return effect(work);
    std::vector<Output> outputs;
    if (done.rule != nullptr && done.rule->emit)
      for (const ScriptedOutput& one : *done.rule->emit) outputs.push_back({one.type, madeFrom(one.body, *work.body)});
    runtime_.finish(work.span, work.attempt, std::move(outputs), now_);
  }

  void effect(const Work& work) {
    const bool first = world_.emplace(work.span, 1).second;
    if (armed_ != nullptr && armed_->node == work.node) return crash(std::exchange(armed_, nullptr)->downMs);
    runtime_.finishEffect(work.span, work.attempt, !first, now_);
  }

  void crash(std::int64_t downMs) {
    down_ = true;
    upAt_ = now_ + downMs;
    running_.clear();
  }

  Status outside(const ScriptedEvent& event) {
    if (event.ingress) runtime_.admit(*event.ingress, *event.id, *event.body, now_);
    if (event.answer)
      runtime_.answer(event.answer->node, event.answer->key, event.answer->by, event.answer->approve,
                      event.answer->digest, now_);
    if (event.cancel) runtime_.cancel(*event.cancel, now_);
    if (event.crash) crash(event.crash->downMs);
    if (event.crashAfterEffect) armed_ = &*event.crashAfterEffect;
    if (event.redeliver) {
      if (std::size_t(*event.redeliver) > sent_.size())
        return invalid("case.events[" + std::to_string(next_ - 1) + "].redeliver: only " +
                       std::to_string(sent_.size()) + " messages were sent");
      const auto& [run, message] = sent_[std::size_t(*event.redeliver) - 1];
      WITAN_DO(runtime_.redeliver(run, message, now_));
    }
    if (event.deploy) WITAN_DO(runtime_.deploy(event.document, now_));
    collect();
    return okStatus();
  }

  std::optional<std::int64_t> nextTime() {
    std::optional<std::int64_t> next = runtime_.due();
    const auto consider = [&](std::int64_t at) { next = next ? std::min(*next, at) : at; };
    while (!running_.empty() &&
           !runtime_.isRunning(running_.begin()->second.work.span, running_.begin()->second.work.attempt))
      running_.erase(running_.begin());
    if (!running_.empty()) consider(running_.begin()->first.first);
    if (next_ < case_.events.size()) consider(case_.events[next_].atMs);
    return next;
  }

  json::object result() {
    for (const RunView& run : runtime_.runs()) runs_[runAt_.at(run.run)] = run;
    json::array runs, waiting;
    for (const RunView& run : runs_)
      runs.push_back({{"run", run.run},
                      {"external", run.external},
                      {"status", run.status},
                      {"version", run.version},
                      {"deliveries", run.deliveries},
                      {"dead", run.dead}});
    for (const std::string& question : runtime_.waitingFor()) waiting.emplace_back(question);
    return {{"counts", json::value_from(counts_)},
            {"runs", std::move(runs)},
            {"world", json::value_from(world_)},
            {"waiting", std::move(waiting)}};
  }

  const ScriptedCase& case_;
  const ScriptWatch& watch_;
  const ScriptLimits limits_;
  std::vector<std::int64_t> used_;  // how often each rule of the script was
  Runtime runtime_;
  std::size_t next_ = 0;                                              // event
  std::map<std::pair<std::int64_t, std::int64_t>, Running> running_;  // by end, then start
  std::map<std::string, const NodeRule*> chosen_;                     // the rule of each span
  std::map<std::string, std::int64_t> world_;                         // how often each operation changed the world
  std::map<std::string, std::int64_t> counts_;
  std::vector<RunView> runs_;  // all of them: the runtime forgets
  std::map<std::string, std::size_t> runAt_;
  std::vector<std::pair<std::string, std::string>> sent_;  // run, message
  const CrashAfterEffect* armed_ = nullptr;
  std::int64_t lines_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t started_ = 0;
  std::int64_t now_ = 0;
  std::int64_t upAt_ = 0;
  bool down_ = false;
};

}  // namespace

Result<json::object> runScript(const ScriptedCase& scripted, const ScriptWatch& watch, const ScriptLimits& limits) {
  return Player(scripted, watch, limits).play();
}

}  // namespace witan::graph
