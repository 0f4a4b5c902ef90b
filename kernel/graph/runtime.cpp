#include "kernel/graph/runtime.h"

#include <algorithm>

namespace witan::graph {

void Runtime::emit(Line line) {
  line.atMs = now_;
  applyLine(line);
  open_.push_back(std::move(line));
}

void Runtime::close() {
  if (open_.empty()) return;
  if (watch_) watch_(open_);
  taken_.entries.push_back(std::exchange(open_, {}));
}

void Runtime::notice(Line line) {
  line.atMs = now_;
  taken_.notices.push_back(std::move(line));
}

Taken Runtime::take() { return std::exchange(taken_, {}); }

Line Runtime::lineOf(LineKind kind, const Message& message) const {
  Line line{.kind = kind};
  line.run = message.run;
  line.node = message.node;
  line.message = message.id;
  line.key = message.key;
  return line;
}

bool Runtime::isFresh(const std::map<std::string, std::int64_t>& seen, const std::string& what,
                      const Document& document) const {
  const auto at = seen.find(what);
  return at == seen.end() || now_ - at->second > document.horizonMs;
}

Status Runtime::deploy(std::shared_ptr<const Document> document, std::int64_t now) {
  now_ = now;
  const auto refuse = [&](const std::string& why) {
    return invalid("graph " + document->id + " version " + std::to_string(document->version) + ": " + why,
                   "give the changed document a higher version");
  };
  if (document_ && document_->id != document->id) return refuse("this runtime runs " + document_->id);
  if (document_ && document_->version > document->version)
    return refuse("version " + std::to_string(document_->version) + " is deployed");
  if (document_ && document_->version == document->version) {
    if (document_->digest != document->digest) return refuse("the deployed document of this version is another one");
    return okStatus();
  }
  emit({.kind = LineKind::deployed, .document = std::move(document)});
  close();
  return okStatus();
}

void Runtime::admit(const std::string& ingress, const std::string& external, const json::value& body,
                    std::int64_t now) {
  now_ = now;
  Line line{.kind = LineKind::refused, .node = ingress, .external = external};
  const auto refuse = [&](const char* why) {
    line.why = why;
    notice(line);
  };
  const Node* node = document_->node(ingress);
  if (node == nullptr || node->kind != NodeKind::ingress) return refuse("unknown_ingress");
  if (!conforms(body, document_->type(node->out[0])->schema)) return refuse("schema");
  if (!isFresh(admitted_, ingress + "|" + external, *document_)) {
    line.kind = LineKind::duplicate;
    return notice(line);
  }
  if (std::int64_t(nodes_[ingress].queued) >= node->capacity) return refuse("backpressure");
  // A recurrence after the horizon is a new run: its id has the number of the recurrence.
  const std::string canonical = "v1|graph-run|" + document_->id + "|" + ingress + "|" + external;
  line.run = identityOf(canonical);
  for (std::int64_t k = 1; runAt_.contains(line.run); ++k) line.run = identityOf(canonical + "#" + std::to_string(k));
  line.kind = LineKind::begun;
  line.message = identityOf("v1|message|" + line.run + "||" + ingress + "|0");
  line.key = node->key.empty() ? line.run : keyText(*valueAt(body, node->key));
  line.type = node->out[0];
  line.number = document_->version;
  line.body = std::make_shared<const json::value>(body);
  emit(line);
  close();
}

void Runtime::answer(const std::string& nodeId, const std::string& key, const std::string& by, bool approve,
                     const std::optional<std::string>& digest, std::int64_t now) {
  now_ = now;
  const auto refuse = [&](const char* why) {
    notice({.kind = LineKind::refused, .node = nodeId, .external = by, .why = why});
  };
  const auto at = spans_.find({nodeId, key});
  if (at == spans_.end() || at->second.state != SpanState::asking) return refuse("nothing_asked");
  const Span& span = at->second;
  const std::string id = span.id;
  const Message message = span.message;
  const Node& node = nodeOf(message);
  if (node.kind == NodeKind::counselor && std::find(node.who.begin(), node.who.end(), by) == node.who.end())
    return refuse("unauthorised");
  if (digest && *digest != digestOf(*message.body)) return refuse("stale");
  Line line = lineOf(LineKind::answered, message);
  line.span = id;
  line.by = by;
  line.flag = approve;
  emit(line);
  if (!approve)
    failSpan(id, "human_denied", true);
  else if (node.kind == NodeKind::counselor)
    complete(id, {{message.type, *message.body}});
  else
    work(id, false);
  close();
}

void Runtime::cancel(const std::string& external, std::int64_t now) {
  now_ = now;
  bool found = false;
  for (auto& [ordinal, run] : runs_) {
    if (run.external != external || run.status != "running") continue;
    found = true;
    stop(run, "cancelled");
  }
  if (!found) notice({.kind = LineKind::refused, .external = external, .why = "no_such_run"});
  close();
}

Status Runtime::redeliver(const std::string& message, std::int64_t now) {
  now_ = now;
  const auto sent = sent_.find(message);
  if (sent == sent_.end() ||
      (runs_.at(runAt_.at(sent->second.run)).status != "running" && now - sent->second.atMs > document_->horizonMs))
    return Error{ErrorCode::notFound, "no message " + message + " was sent within the horizon", ""};
  notice({.kind = LineKind::duplicate,
          .run = sent->second.run,
          .node = sent->second.lane.first,
          .message = message,
          .key = sent->second.lane.second});
  return okStatus();
}

bool Runtime::isRunning(const std::string& spanId, std::int64_t attempt) const {
  const Span* span = find(spanId);
  return span != nullptr && span->state == SpanState::running && span->attempt == attempt;
}

void Runtime::finish(const std::string& spanId, std::int64_t attempt, std::vector<Output> outputs, std::int64_t now) {
  now_ = now;
  if (isRunning(spanId, attempt)) complete(spanId, std::move(outputs));
  close();
}

void Runtime::finishEffect(const std::string& spanId, std::int64_t attempt, bool found, std::int64_t now) {
  now_ = now;
  if (!isRunning(spanId, attempt)) return;
  const Message message = find(spanId)->message;
  Line line = lineOf(found ? LineKind::effectFound : LineKind::effect, message);
  line.span = spanId;
  line.token = nodeOf(message).tool();
  emit(line);
  complete(spanId, {});
  close();
}

void Runtime::fail(const std::string& spanId, std::int64_t attempt, const std::string& why, bool terminal,
                   std::int64_t now) {
  now_ = now;
  if (isRunning(spanId, attempt)) failSpan(spanId, terminal ? "terminal_failure" : why, terminal);
  close();
}

void Runtime::expire(std::int64_t now) {
  now_ = now;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> late;
  for (const auto& [lane, span] : spans_)
    if (span.state != SpanState::backoff && span.timeoutAt <= now)
      late.emplace_back(span.timeoutAt, span.number, span.id);
  std::sort(late.begin(), late.end());
  for (const auto& [at, number, id] : late) {
    const bool asking = find(id)->state == SpanState::asking;
    failSpan(id, asking ? "human_timeout" : "timeout", asking);
    close();
  }
  for (auto& [ordinal, run] : runs_) {
    if (run.status == "running" && run.begunAt + run.document->timeoutMs <= now) stop(run, "timed_out");
    close();
  }
}

bool Runtime::dispatch(std::int64_t now, std::size_t most) {
  now_ = now;
  while (startNext()) {
    close();
    if (--most == 0) return true;
  }
  endQuiet();
  close();
  return false;
}

void Runtime::recover(std::int64_t now) {
  now_ = now;
  std::vector<std::pair<std::int64_t, std::string>> ran;
  for (const auto& [lane, span] : spans_)
    if (span.state == SpanState::running) ran.emplace_back(span.number, span.id);
  std::sort(ran.begin(), ran.end());
  for (const auto& [number, id] : ran) {
    Line line = lineOf(LineKind::resumed, find(id)->message);
    line.span = id;
    line.number = find(id)->attempt;
    emit(line);
    work(id, true);
    close();
  }
}

std::optional<std::int64_t> Runtime::due() const {
  std::optional<std::int64_t> least;
  const auto consider = [&](std::int64_t at) { least = least ? std::min(*least, at) : at; };
  for (const auto& [lane, span] : spans_) {
    if (span.state != SpanState::backoff)
      consider(span.timeoutAt);
    else if (span.readyAt > now_)
      consider(span.readyAt);
  }
  for (const auto& [ordinal, run] : runs_)
    if (run.status == "running") consider(run.begunAt + run.document->timeoutMs);
  return least;
}

std::vector<RunView> Runtime::runs() const {
  std::vector<RunView> all;
  for (const auto& [ordinal, run] : runs_)
    all.push_back({run.id, run.external, run.status, run.document->version, run.deliveries, run.dead});
  return all;
}

std::vector<std::string> Runtime::waitingFor() const {
  std::vector<std::string> all;
  for (const auto& [lane, span] : spans_)
    if (span.state == SpanState::asking) all.push_back(lane.first + "|" + lane.second);
  std::sort(all.begin(), all.end());
  return all;
}

// ---- the scheduler

bool Runtime::hasRoom(const Message& message, const Node& node) {
  const Document& document = *runOf(message).document;
  const NodeState& state = nodes_[node.id];
  for (const std::size_t at : document.outOf(node.id)) {
    const Edge& edge = document.edges[at];
    if (edge.guard) continue;  // a feedback edge that made its source wait could deadlock a cycle
    const double busy = double(state.running + state.asking + 1);
    if (double(edgeQueued_[edge.name]) + double(node.maxOut) * busy > double(edge.capacity())) return false;
  }
  return true;
}

bool Runtime::canStart(const Message& message) {
  const Node& node = nodeOf(message);
  return nodes_[node.id].running < node.concurrency && hasRoom(message, node);
}

bool Runtime::startNext() {
  const std::size_t first = cursor_ ? *cursor_ + 1 : 0;
  std::vector<std::size_t> round(active_.lower_bound(first), active_.end());
  round.insert(round.end(), active_.begin(), active_.lower_bound(first));
  return std::any_of(round.begin(), round.end(), [&](std::size_t at) { return startAt(order_[at]); });
}

// Starts the lane whose head has the least sequence, if one can start.
bool Runtime::startAt(const std::string& nodeId) {
  const NodeState& node = nodes_[nodeId];
  std::optional<std::int64_t> retry;
  const Span* again = nullptr;
  for (const auto& [sequence, key] : node.backoffs) {
    const Span& span = spans_.at({nodeId, key});
    if (span.readyAt > now_ || !canStart(span.message)) continue;
    retry = sequence;
    again = &span;
    break;
  }
  for (const auto& [sequence, key] : node.ready) {
    if (retry && *retry < sequence) break;
    const Message message = queue_.at(sequence);
    if (!canStart(message)) continue;
    begin(message, 1);
    return true;
  }
  if (again == nullptr) return false;
  begin(Message(again->message), again->attempt + 1);
  return true;
}

void Runtime::begin(const Message& message, std::int64_t attempt) {
  const Run& run = runOf(message);
  if (attempt == 1 && run.deliveries >= run.document->maxDeliveries) return bury(message, "run_bound", false);
  Line line = lineOf(LineKind::delivered, message);
  line.span = identityOf("v1|span|" + message.run + "|" + message.node + "|" + message.id);
  line.number = attempt;
  emit(line);
  work(line.span, false);
}

// Nodes that need no time are done at once, the others become work.
void Runtime::work(const std::string& spanId, bool resumed) {
  Span& span = *find(spanId);
  const Message message = span.message;
  const Node& node = nodeOf(message);
  const bool crosses = node.kind == NodeKind::ingress || node.kind == NodeKind::egress || node.kind == NodeKind::market;
  if (crosses && !span.passed && !passGate(span, node)) return;
  const Body body = find(spanId)->message.body;
  if (node.kind == NodeKind::counselor) {
    Line line = lineOf(LineKind::asked, message);
    line.span = spanId;
    line.why = "counselor";
    line.body = body;
    emit(line);
  } else if (node.kind == NodeKind::ingress) {
    complete(spanId, {{message.type, *body}});
  } else if (node.kind == NodeKind::function) {
    completeFunction(spanId, node);
  } else if (node.kind == NodeKind::egress && !node.sink) {
    complete(spanId, {});
  } else {
    taken_.work.push_back(workOf(*find(spanId), resumed));
  }
}

Work Runtime::workOf(const Span& span, bool resumed) {
  const Message& message = span.message;
  return {span.id,      span.attempt, message.run,  runOf(message).document,
          message.node, message.type, message.body, resumed};
}

// Whether the body may cross now. The verdict holds for every attempt of the span.
bool Runtime::passGate(Span& span, const Node& node) {
  const Message message = span.message;
  const std::string id = span.id;
  Decision decision;
  if (monitor_ && node.monitor) decision = monitor_(*node.monitor, *message.body);
  Line line = lineOf(LineKind::verdict, message);
  line.span = id;
  line.why = decision.verdict;
  line.token = decision.token;
  const bool redacted = decision.verdict == "redact";
  const bool fits = !redacted || conforms(decision.body, runOf(message).document->type(message.type)->schema);
  line.flag = fits && (redacted || decision.verdict == "allow" || decision.verdict == "require-human");
  if (redacted && fits) line.body = std::make_shared<const json::value>(decision.body);
  emit(line);
  if (!line.flag) {
    failSpan(id, fits ? "denied" : "schema", true);
    return false;
  }
  if (decision.verdict != "require-human") return true;
  Line asked = lineOf(LineKind::asked, message);
  asked.span = id;
  asked.why = "require-human";
  asked.body = find(id)->message.body;
  emit(asked);
  return false;
}

// ---- ends of spans

void Runtime::failSpan(const std::string& spanId, const std::string& why, bool terminal) {
  const Span span = *find(spanId);
  const Node& node = nodeOf(span.message);
  Line line = lineOf(LineKind::failed, span.message);
  line.span = spanId;
  line.number = span.attempt;
  line.why = why;
  if (!terminal && span.attempt < node.retry.maxAttempts) {
    line.retryAtMs = now_ + node.backoffMs(span.attempt);
    return emit(line);
  }
  emit(line);
  bury(span.message, terminal ? why : "attempts_exhausted", true);
}

void Runtime::bury(const Message& message, const std::string& reason, bool poisons) {
  Line line = lineOf(LineKind::dead, message);
  line.why = reason;
  line.flag = poisons;
  emit(line);
  if (!poisons) return;
  std::vector<Message> later;
  for (const std::int64_t sequence : runOf(message).queued)
    if (const Message& other = queue_.at(sequence); other.node == message.node && other.key == message.key)
      later.push_back(other);
  for (const Message& other : later) bury(other, "after_failure", false);
}

void Runtime::completeFunction(const std::string& spanId, const Node& node) {
  const Message message = find(spanId)->message;
  if (node.name != "collect") {
    auto outputs = evaluate(node, message.type, *message.body);
    if (!outputs) return failSpan(spanId, "schema", true);
    return complete(spanId, *std::move(outputs));
  }
  json::array bodies;
  for (const auto& [lane, messages] : runOf(message).collected)
    if (lane == Lane{message.node, message.key})
      for (const Message& earlier : messages) bodies.push_back(*earlier.body);
  bodies.push_back(*message.body);
  if (std::int64_t(bodies.size()) < *integerOf(node.args.at("count"))) return complete(spanId, {});
  json::object body{{std::string(node.args.at("field").as_string()), std::move(bodies)}};
  complete(spanId, {{node.out.empty() ? std::string() : node.out[0], std::move(body)}});
}

void Runtime::complete(const std::string& spanId, std::vector<Output> outputs) {
  const Message message = find(spanId)->message;
  const Node& node = nodeOf(message);
  const Document& document = *runOf(message).document;
  if (node.kind == NodeKind::egress && !node.sink) {
    Line line = lineOf(LineKind::emitted, message);
    line.body = message.body;
    emit(line);
  }
  std::vector<std::pair<const Edge*, const Output*>> sends;
  std::map<std::string, std::int64_t> counts;
  for (const Output& output : outputs) {
    if (!node.emits(output.type) || !conforms(output.body, document.type(output.type)->schema))
      return failSpan(spanId, "schema", true);
    for (const std::size_t at : document.outOf(node.id))
      if (const Edge& edge = document.edges[at]; edge.type == output.type) {
        if (++counts[edge.name] > node.maxOut) return failSpan(spanId, "max_out", true);
        sends.emplace_back(&edge, &output);
      }
  }
  Measures measures = message.measures;
  if (!outputs.empty())
    for (const auto& [lane, messages] : runOf(message).collected)
      if (lane == Lane{message.node, message.key})
        for (const Message& parent : messages)
          for (const auto& [edge, value] : parent.measures) {
            const auto at = measures.try_emplace(edge, value).first;
            at->second = std::min(at->second, value);
          }
  Line line = lineOf(LineKind::finished, message);
  line.span = spanId;
  line.number = std::int64_t(sends.size());
  emit(line);
  counts.clear();
  for (const auto& [edge, output] : sends) send(message, spanId, *edge, *output, counts[edge->name]++, measures);
}

void Runtime::send(const Message& cause, const std::string& span, const Edge& edge, const Output& output,
                   std::int64_t count, const Measures& measures) {
  Run& run = runOf(cause);
  Message message{identityOf("v1|message|" + cause.run + "|" + span + "|" + edge.name + "|" + std::to_string(count)),
                  cause.run,
                  edge.to,
                  edge.name,
                  edge.key.empty() ? cause.key : keyText(*valueAt(output.body, edge.key)),
                  edge.as,
                  std::make_shared<const json::value>(output.body),
                  measures,
                  0};
  const auto bound = edge.bound();
  if (bound && run.passes[edge.name] >= *bound) return bury(message, "guard_bound", false);
  if (const auto measure = edge.measure()) {
    const std::int64_t value = *integerOf(*valueAt(output.body, *measure));
    const auto last = message.measures.find(edge.name);
    if (last != message.measures.end() && value >= last->second) return bury(message, "guard_measure", false);
    message.measures[edge.name] = value;
  }
  Line line = lineOf(LineKind::sent, message);
  line.edge = edge.name;
  line.flag = bound.has_value();
  line.type = message.type;
  line.body = message.body;
  line.measures = message.measures;
  line.sequence = sequence_ + 1;
  if (!edge.dedup.empty()) {
    line.dedup = edge.to + "|" + message.key + "|" + keyText(*valueAt(output.body, edge.dedup));
    if (!isFresh(deduped_, line.dedup, *run.document)) line.kind = LineKind::duplicate;
  }
  emit(line);
  if (line.kind == LineKind::sent && run.poisoned.contains({message.node, message.key}))
    bury(message, "after_failure", false);
}

void Runtime::stop(Run& run, const std::string& status) {
  std::vector<Message> dying;
  for (const std::int64_t sequence : run.queued) dying.push_back(queue_.at(sequence));
  std::vector<std::pair<std::int64_t, Lane>> open;
  for (const auto& [id, lane] : run.spans) open.emplace_back(spans_.at(lane).number, lane);
  std::sort(open.begin(), open.end());
  for (const auto& [number, lane] : open) dying.push_back(spans_.at(lane).message);
  for (const auto& [lane, messages] : run.collected) dying.insert(dying.end(), messages.begin(), messages.end());
  for (const Message& message : dying) bury(message, status, false);
  if (run.document->compensates)
    for (auto effect = run.effects.rbegin(); effect != run.effects.rend(); ++effect) {
      if (effect->undo.empty()) continue;
      Line line{.kind = LineKind::compensated, .run = run.id, .node = effect->node, .span = effect->span};
      line.token = effect->undo;
      line.operation = identityOf("v1|compensate|" + effect->span);
      taken_.undos.push_back({line.operation, line.token});
      emit(line);
    }
  end(run, status);
}

void Runtime::end(Run& run, const std::string& status) {
  Line line{.kind = LineKind::ended, .run = run.id, .why = status};
  line.number = run.deliveries;
  line.sequence = run.dead;
  emit(line);
  close();
}

void Runtime::endQuiet() {
  for (const std::int64_t ordinal : std::exchange(touched_, {})) {
    Run& run = runs_.at(ordinal);
    if (run.status != "running" || !run.queued.empty() || !run.spans.empty()) continue;
    std::vector<Message> rest;
    for (const auto& [lane, messages] : run.collected) rest.insert(rest.end(), messages.begin(), messages.end());
    for (const Message& message : rest) bury(message, "collect_incomplete", false);
    end(run, run.dead > 0 ? "degraded" : "completed");
  }
  touched_.clear();
}

}  // namespace witan::graph
