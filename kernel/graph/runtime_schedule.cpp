// What starts next, what a span does, and how it ends.
#include <algorithm>

#include "base/mutant.h"
#include "kernel/graph/runtime.h"

namespace witan::graph {

bool Runtime::dispatch(std::int64_t now, std::size_t most) {
  now_ = now;
  wakeBackoffs();
  while (startNext()) {
    close();
    if (--most == 0) return true;
  }
  endQuiet();
  return false;
}

void Runtime::wakeBackoffs() {
  while (!backoffs_.empty() && std::get<0>(*backoffs_.begin()) <= now_) {
    Span* const span = std::get<2>(*backoffs_.begin());
    backoffs_.erase(backoffs_.begin());
    NodeState& node = *span->message->state;
    node.retries.emplace(span->message->sequence, span);
    refresh(node);
  }
}

bool Runtime::hasRoom(const Message& message) const {
  const Document& document = *message.run->document;
  const Node& node = *message.node;
  for (const std::size_t at : document.outOf(node.id)) {
    const Edge& edge = document.edges[at];
    if (edge.guard) continue;  // a feedback edge that made its source wait could deadlock a cycle
    const auto queued = edgeQueued_.find(edge.name);
    const double busy = double(message.state->running + message.state->asking + 1);
    if (double(queued == edgeQueued_.end() ? 0 : queued->second) + double(node.maxOut) * busy > double(edge.capacity()))
      return false;
  }
  return true;
}

bool Runtime::canStart(const Message& message) const {
  return message.state->running < message.node->concurrency && hasRoom(message);
}

// Round robin. A node that starts nothing changes nothing.
bool Runtime::startNext() {
  const auto behind = active_.lower_bound(cursor_ ? *cursor_ + 1 : 0);
  const auto starts = [&](std::size_t at) { return startAt(*order_[at].second); };
  const auto found = std::find_if(behind, active_.end(), starts);
  return found != active_.end() || std::any_of(active_.begin(), behind, starts);
}

// Starts the lane whose head has the least sequence, if one can start. Whether one can is a matter of its document.
bool Runtime::startAt(NodeState& node) {
  std::set<const Document*> blocked;
  const auto firstOf = [&](const auto& candidates, const auto& messageOf) {
    blocked.clear();
    for (auto at = candidates.begin(); at != candidates.end() && blocked.size() < versions_.size(); ++at) {
      const Message& message = *messageOf(at->second);
      const Document* document = message.run->document.get();
      if (blocked.contains(document) || !isHere(message)) continue;
      if (canStart(message)) return at;
      blocked.insert(document);
    }
    return candidates.end();
  };
  const auto retry = firstOf(node.retries, [](const Span* span) { return span->message; });
  const auto fresh = firstOf(node.ready, [](const MessagePtr& message) { return message; });
  if (fresh != node.ready.end() && (retry == node.retries.end() || fresh->first < retry->first)) {
    begin(MessagePtr(fresh->second), 1);
    return true;
  }
  if (retry == node.retries.end()) return false;
  begin(MessagePtr(retry->second->message), retry->second->attempt + 1);
  return true;
}

void Runtime::begin(const MessagePtr& message, std::int64_t attempt) {
  const Run& run = *message->run;
  if (attempt == 1 && run.deliveries >= run.document->maxDeliveries) return bury(*message, "run_bound", false);
  const std::string runId = run.id.hex(), messageId = message->id.hex();
  const std::string id = identityOf("v1|span|" + runId + "|" + message->node->id + "|" + messageId);
  stalled_.erase(id);
  emit(Delivered{runId, message->node->id, messageId, message->key, id, attempt});
  work(span(id), false);
}

// Nodes that need no time are done at once, the others become work.
void Runtime::work(Span& span, bool resumed) {
  const Node& node = *span.message->node;
  const bool crosses = node.kind == NodeKind::ingress || node.kind == NodeKind::egress || node.kind == NodeKind::market;
  if (crosses && !span.passed && !passGate(span)) return;
  const MessagePtr message = span.message;
  if (node.kind == NodeKind::counselor)
    emit(Asked{message->run->id.hex(), node.id, span.id.hex(), message->key, message->body, "counselor"});
  else if (node.kind == NodeKind::ingress)
    complete(span, {{message->type(), message->body}});
  else if (node.kind == NodeKind::function)
    completeFunction(span);
  else if (node.kind == NodeKind::egress && !node.sink)
    complete(span, {});
  else
    taken_.work.push_back({span.id.hex(), span.attempt, message->run->id.hex(), message->run->document, node.id,
                           message->type(), message->body, resumed, message->run->hops});
}

// Whether the body may cross now. The verdict holds for every attempt of the span.
bool Runtime::passGate(Span& span) {
  const MessagePtr message = span.message;
  const Node& node = *message->node;
  Decision decision;
  if (monitor_ && node.monitor) decision = monitor_(*node.monitor, *message->body);
  if (decision.verdict == "deny" && mutated("graphOpenGate")) decision.verdict = "allow";
  Judged judged{message->run->id.hex(), node.id, span.id.hex(), decision.verdict, decision.token};
  const bool redacted = decision.verdict == "redact";
  const bool fits = !redacted || conforms(decision.body, message->run->document->type(message->type())->schema);
  judged.passes = fits && (redacted || decision.verdict == "allow" || decision.verdict == "require-human");
  if (redacted && fits) judged.redacted = std::make_shared<const json::value>(std::move(decision.body));
  const bool passes = judged.passes;
  if (passes) judged.crosses = judged.redacted ? judged.redacted : message->body;
  emit(std::move(judged));
  if (!passes && !mutated("graphUnheeded")) {
    failSpan(span, fits ? "denied" : "schema", true);
    return false;
  }
  if (decision.verdict != "require-human") return true;
  emit(Asked{message->run->id.hex(), node.id, span.id.hex(), message->key, message->body, "require-human"});
  return false;
}

// ---- ends of spans

void Runtime::failSpan(Span& span, const std::string& why, bool terminal, std::string_view cause) {
  const MessagePtr message = span.message;
  Failed failed{message->run->id.hex(), message->node->id, span.id.hex(), span.attempt, why,
                std::nullopt,           std::string(cause)};
  if (!terminal && span.attempt < message->node->retry.maxAttempts) {
    const std::int64_t wait = message->node->backoffMs(span.attempt);
    failed.retryAtMs = wait > kNever - now_ ? kNever : now_ + wait;
    return emit(std::move(failed));
  }
  emit(std::move(failed));
  bury(*message, terminal ? why : "attempts_exhausted", true);
}

void Runtime::bury(const Message& message, const std::string& reason, bool poisons) {
  Run& run = *message.run;
  const Lane lane(message.lane());
  emit(Dead{run.id.hex(), lane.first, message.id.hex(), lane.second, reason, poisons});
  if (!poisons) return;
  std::vector<MessagePtr> later;
  for (const auto& [sequence, other] : run.queued)
    if (other->lane() == LaneView(lane) && !mutated("graphLaterGoOn")) later.push_back(other);
  for (const MessagePtr& other : later) bury(*other, "after_failure", false);
}

std::vector<Runtime::Sending> Runtime::sendings(std::vector<Output> outputs) {
  std::vector<Sending> all;
  for (Output& output : outputs)
    all.push_back({std::move(output.type), std::make_shared<const json::value>(std::move(output.body))});
  return all;
}

const std::vector<Runtime::MessagePtr>& Runtime::collectedWith(const Message& message) {
  static const std::vector<MessagePtr> none;
  const auto& all = message.run->rare().collected;
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return LaneView(one.first) == message.lane(); });
  return at == all.end() ? none : at->second;
}

void Runtime::completeFunction(Span& span) {
  const MessagePtr message = span.message;
  const Node& node = *message->node;
  if (node.name != "collect") {
    auto outputs = evaluate(node, message->type(), *message->body);
    if (!outputs) return failSpan(span, "schema", true);
    return complete(span, sendings(*std::move(outputs)));
  }
  json::array bodies;
  for (const MessagePtr& earlier : collectedWith(*message)) bodies.push_back(*earlier->body);
  bodies.push_back(*message->body);
  if (std::int64_t(bodies.size()) < *integerOf(node.args.at("count"))) return complete(span, {});
  json::object body{{std::string(node.args.at("field").as_string()), std::move(bodies)}};
  complete(span,
           {{node.out.empty() ? std::string() : node.out[0], std::make_shared<const json::value>(std::move(body))}});
}

std::size_t Runtime::openMessages(const Run& run) {
  std::size_t all = run.queued.size() + run.spans.size();
  for (const auto& [lane, messages] : run.rare().collected) all += messages.size();
  return all;
}

void Runtime::complete(Span& span, const std::vector<Sending>& outputs) {
  const MessagePtr message = span.message;
  const Node& node = *message->node;
  const Document& document = *message->run->document;
  const std::string runId = message->run->id.hex();
  if (node.kind == NodeKind::egress && !node.sink) emit(Emitted{runId, node.id, message->id.hex(), message->body});
  std::vector<std::pair<const Edge*, const Sending*>> sends;
  std::map<const Edge*, std::int64_t> counts;
  for (const Sending& output : outputs) {
    if (!node.emits(output.type) || !conforms(*output.body, document.type(output.type)->schema))
      return failSpan(span, "schema", true);
    for (const std::size_t at : document.outOf(node.id))
      if (const Edge& edge = document.edges[at]; edge.type == output.type) {
        if (++counts[&edge] > node.maxOut) return failSpan(span, "max_out", true);
        if (const auto why = misfit(*message, edge, output)) return failSpan(span, std::string(*why), true);
        sends.emplace_back(&edge, &output);
      }
  }
  if (std::int64_t(sends.size()) > kMaxOut || openMessages(*message->run) + sends.size() > kMostOpenMessages)
    return failSpan(span, "max_out", true);
  Measures measures = message->measures;
  if (!outputs.empty())
    for (const MessagePtr& parent : collectedWith(*message))
      for (const auto& [edge, value] : parent->measures) {
        const auto at = measures.try_emplace(edge, value).first;
        at->second = std::min(at->second, value);
      }
  const std::string id = span.id.hex();
  emit(Finished{runId, node.id, id, std::int64_t(sends.size())});
  counts.clear();
  for (const auto& [edge, output] : sends) send(*message, id, *edge, *output, counts[edge]++, measures);
}

// Why a message of this size cannot be sent; none: it can. What is passed on is as large as it was.
std::optional<std::string_view> Runtime::misfit(const Message& cause, const Edge& edge, const Sending& output) const {
  if (output.body != cause.body && canonicalJson(*output.body).size() > kMostMessageBytes) return "too_large";
  if (!edge.key.empty() && keyText(*valueAt(*output.body, edge.key)).size() > kMostLaneKeyBytes) return "key";
  return std::nullopt;
}

void Runtime::send(const Message& cause, const std::string& span, const Edge& edge, const Sending& output,
                   std::int64_t count, const Measures& measures) {
  Run& run = *cause.run;
  const json::value& body = *output.body;
  const std::string runId = run.id.hex();
  const std::string id = identityOf(concat("v1|message|", runId, "|", span, "|", edge.name, "|", count));
  Message message{.id = Digest(id),
                  .run = &run,
                  .node = run.document->node(edge.to),
                  .key = edge.key.empty() ? cause.key : keyText(*valueAt(body, edge.key))};
  Sent sent{.run = runId,
            .node = edge.to,
            .edge = edge.name,
            .message = id,
            .key = message.key,
            .type = edge.as,
            .body = output.body,
            .measures = measures,
            .sequence = sequence_ + 1};
  const auto bound = mutated("graphEndless") ? std::nullopt : edge.bound();
  sent.counts = bound.has_value();
  if (bound)
    if (const auto& all = run.rare().passes; all.contains(edge.name) && all.at(edge.name) >= *bound)
      return bury(message, "guard_bound", false);
  if (const auto measure = edge.measure()) {
    const std::int64_t value = *integerOf(*valueAt(body, *measure));
    const auto last = measures.find(edge.name);
    if (last != measures.end() && value >= last->second) return bury(message, "guard_measure", false);
    sent.measures[edge.name] = value;
  }
  if (!edge.dedup.empty()) {
    sent.dedup = keyText(*valueAt(body, edge.dedup));
    if (!deduped_.isFresh(valueOf(edge.to, sent.key, *sent.dedup), now_, run.document->horizonMs))
      return emit(Duplicate{runId, edge.to, edge.name, id, message.key, sent.counts});
  }
  emit(std::move(sent));
  if (run.rare().poisoned.contains(Lane(message.lane()))) bury(message, "after_failure", false);
}

// ---- ends of runs

void Runtime::stop(Run& run, const std::string& status) {
  std::vector<MessagePtr> dying;
  for (const auto& [sequence, message] : run.queued) dying.push_back(message);
  std::map<std::int64_t, const Span*> open;
  for (const Span* span : run.spans) open.emplace(span->number, span);
  for (const auto& [number, span] : open) dying.push_back(span->message);
  for (const auto& [lane, messages] : run.rare().collected) dying.insert(dying.end(), messages.begin(), messages.end());
  for (const MessagePtr& message : dying) bury(*message, status, false);
  if (run.document->compensates) {
    std::vector<EffectDone> effects = run.rare().effects;  // an undone one leaves the run
    if (mutated("graphUndoesFirst")) std::ranges::reverse(effects);
    for (auto effect = effects.rbegin(); effect != effects.rend(); ++effect) {
      if (effect->undo.empty()) continue;
      const std::string operation = identityOf("v1|compensate|" + effect->span);
      taken_.undos.push_back({operation, effect->undo, effect->span});
      emit(Compensated{run.id.hex(), effect->node, effect->span, operation, effect->undo});
    }
  }
  end(run, status);
}

void Runtime::end(Run& run, const std::string& status) {
  emit(Ended{run.id.hex(), status, run.deliveries, run.dead});
  close();
}

void Runtime::endQuiet() {
  while (!touched_.empty()) {
    Run& run = runs_.at(*touched_.begin());
    touched_.erase(touched_.begin());
    if (!run.isRunning() || !run.queued.empty() || !run.spans.empty()) continue;
    std::vector<MessagePtr> rest;
    for (const auto& [lane, messages] : run.rare().collected) rest.insert(rest.end(), messages.begin(), messages.end());
    for (const MessagePtr& message : rest) bury(*message, "collect_incomplete", false);
    end(run, run.dead > 0 && !mutated("graphAllGood") ? "degraded" : "completed");
  }
}

}  // namespace witan::graph
