// The fold: how each line changes the state of the runs.
#include "base/check.h"
#include "kernel/graph/runtime.h"

namespace witan::graph {

void Runtime::apply(const Entry& entry) {
  for (const Line& line : entry) applyLine(line);
}

void Runtime::applyLine(const Line& line) {
  now_ = line.atMs;
  switch (line.kind) {
    case LineKind::deployed: return applyDeployed(line);
    case LineKind::begun: return applyBegun(line);
    case LineKind::sent: return applySent(line);
    case LineKind::delivered: return applyDelivered(line);
    case LineKind::dead: return applyDead(line);
    case LineKind::finished: return applyFinished(line);
    case LineKind::failed: return applyFailed(line);
    case LineKind::resumed: {
      Span& span = *find(line.span);
      span.timeoutAt = line.atMs + nodeOf(span.message).timeoutMs();
      return;
    }
    case LineKind::verdict: {
      Span& span = *find(line.span);
      span.passed = line.flag;
      if (line.body) span.message.body = line.body;
      return;
    }
    case LineKind::asked: return setState(*find(line.span), SpanState::asking);
    case LineKind::answered: {
      Span& span = *find(line.span);
      const Node& node = nodeOf(span.message);
      if (!line.flag || node.kind == NodeKind::counselor) return;
      setState(span, SpanState::running);
      span.timeoutAt = line.atMs + node.timeoutMs();
      return;
    }
    case LineKind::effect:
    case LineKind::effectFound:
      runs_.at(runAt_.at(line.run)).effects.push_back({line.span, line.node, nodeOf(find(line.span)->message).undo()});
      return;
    case LineKind::duplicate:
      if (line.flag) ++runs_.at(runAt_.at(line.run)).passes[line.edge];
      return;
    case LineKind::ended: runs_.at(runAt_.at(line.run)).status = line.why; return;
    case LineKind::emitted:
    case LineKind::refused:
    case LineKind::compensated: return;
  }
}

void Runtime::applyDeployed(const Line& line) {
  const std::string at = cursor_ ? order_[*cursor_] : std::string();
  document_ = line.document;
  std::vector<std::string> order;
  for (const Node& node : document_->nodes) order.push_back(node.id);
  for (const std::string& id : order_)
    if (document_->node(id) == nullptr) order.push_back(id);
  order_ = std::move(order);
  position_.clear();
  active_.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    position_[order_[i]] = i;
    const NodeState& node = nodes_[order_[i]];
    if (!node.ready.empty() || !node.backoffs.empty()) active_.insert(i);
  }
  if (cursor_) cursor_ = position_.at(at);
}

void Runtime::applyBegun(const Line& line) {
  admitted_[line.node + "|" + line.external] = line.atMs;
  const std::int64_t ordinal = std::int64_t(runs_.size()) + 1;
  Run& run = runs_[ordinal];
  run.id = line.run;
  run.external = line.external;
  run.document = document_;
  run.begunAt = line.atMs;
  runAt_[line.run] = ordinal;
  enqueue({line.message, line.run, line.node, "", line.key, line.type, line.body, {}, 0});
}

void Runtime::applySent(const Line& line) {
  if (line.flag) ++runs_.at(runAt_.at(line.run)).passes[line.edge];
  if (!line.dedup.empty()) deduped_[line.dedup] = line.atMs;
  sent_[line.message] = {line.run, {line.node, line.key}, line.atMs};
  enqueue({line.message, line.run, line.node, line.edge, line.key, line.type, line.body, line.measures, 0});
}

void Runtime::applyDelivered(const Line& line) {
  const Lane lane{line.node, line.key};
  cursor_ = position_.at(line.node);
  if (line.number == 1) {
    Span span;
    span.message = unqueue(queuedAt_.at(line.message));
    span.id = line.span;
    Run& run = runOf(span.message);
    ++run.deliveries;
    run.spans[line.span] = lane;
    spanAt_[line.span] = lane;
    spans_.emplace(lane, std::move(span));
    ++nodes_[line.node].running;
  } else {
    setState(spans_.at(lane), SpanState::running);
  }
  Span& span = spans_.at(lane);
  span.attempt = line.number;
  span.number = ++started_;
  span.timeoutAt = line.atMs + nodeOf(span.message).timeoutMs();
  refreshHead(line.node, line.key);
}

void Runtime::applyDead(const Line& line) {
  Run& run = runs_.at(runAt_.at(line.run));
  const Lane lane{line.node, line.key};
  ++run.dead;
  touched_.insert(runAt_.at(line.run));
  if (line.flag) run.poisoned.insert(lane);
  if (line.why == "run_bound") cursor_ = position_.at(line.node);
  if (const auto queued = queuedAt_.find(line.message); queued != queuedAt_.end()) {
    unqueue(queued->second);
    return;
  }
  if (const auto span = spans_.find(lane); span != spans_.end() && span->second.message.id == line.message)
    return release(span->second.id);
  for (auto at = run.collected.begin(); at != run.collected.end(); ++at) {
    if (at->first != lane) continue;
    std::erase_if(at->second, [&](const Message& message) { return message.id == line.message; });
    if (at->second.empty()) run.collected.erase(at);
    return;
  }
}

void Runtime::applyFinished(const Line& line) {
  const Message message = find(line.span)->message;
  const Node& node = nodeOf(message);
  release(line.span);
  if (node.kind != NodeKind::function || node.name != "collect") return;
  auto& all = runOf(message).collected;
  const Lane lane{message.node, message.key};
  auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == lane; });
  if (at == all.end()) at = all.insert(all.end(), {lane, {}});
  at->second.push_back(message);
  if (std::int64_t(at->second.size()) >= *integerOf(node.args.at("count"))) all.erase(at);
}

void Runtime::applyFailed(const Line& line) {
  if (!line.retryAtMs) return release(line.span);
  Span& span = *find(line.span);
  span.readyAt = *line.retryAtMs;
  setState(span, SpanState::backoff);
}

void Runtime::enqueue(Message message) {
  message.sequence = ++sequence_;
  runOf(message).queued.insert(sequence_);
  NodeState& node = nodes_[message.node];
  node.queues[message.key].insert(sequence_);
  ++node.queued;
  ++edgeQueued_[message.edge];
  queuedAt_[message.id] = sequence_;
  const std::string id = message.node, key = message.key;
  queue_.emplace(sequence_, std::move(message));
  refreshHead(id, key);
}

Runtime::Message Runtime::unqueue(std::int64_t sequence) {
  Message message = std::move(queue_.at(sequence));
  queue_.erase(sequence);
  queuedAt_.erase(message.id);
  Run& run = runOf(message);
  run.queued.erase(sequence);
  touched_.insert(runAt_.at(message.run));
  NodeState& node = nodes_[message.node];
  node.ready.erase({sequence, message.key});
  auto queue = node.queues.find(message.key);
  queue->second.erase(sequence);
  if (queue->second.empty()) node.queues.erase(queue);
  --node.queued;
  --edgeQueued_[message.edge];
  refreshHead(message.node, message.key);
  return message;
}

void Runtime::refreshHead(const std::string& nodeId, const std::string& key) {
  NodeState& node = nodes_[nodeId];
  if (const auto queue = node.queues.find(key); queue != node.queues.end()) {
    const std::pair head{*queue->second.begin(), key};
    if (spans_.contains({nodeId, key}))
      node.ready.erase(head);
    else
      node.ready.insert(head);
  }
  const auto position = position_.find(nodeId);
  if (position == position_.end()) return;
  if (node.ready.empty() && node.backoffs.empty())
    active_.erase(position->second);
  else
    active_.insert(position->second);
}

void Runtime::setState(Span& span, SpanState state) {
  NodeState& node = nodes_[span.message.node];
  const auto count = [&](SpanState of, std::int64_t by) {
    if (of == SpanState::running) node.running += by;
    if (of == SpanState::asking) node.asking += by;
    const std::pair waiting{span.message.sequence, span.message.key};
    if (of == SpanState::backoff && by > 0) node.backoffs.insert(waiting);
    if (of == SpanState::backoff && by < 0) node.backoffs.erase(waiting);
  };
  count(span.state, -1);
  span.state = state;
  count(state, 1);
  refreshHead(span.message.node, span.message.key);
}

void Runtime::release(const std::string& spanId) {
  const Lane lane = spanAt_.at(spanId);
  Span& span = spans_.at(lane);
  setState(span, SpanState::running);
  --nodes_[lane.first].running;
  const std::int64_t run = runAt_.at(span.message.run);
  runs_.at(run).spans.erase(spanId);
  touched_.insert(run);
  const std::string id = spanId;
  spans_.erase(lane);
  spanAt_.erase(id);
  refreshHead(lane.first, lane.second);
}

Runtime::Span* Runtime::find(const std::string& spanId) {
  const auto at = spanAt_.find(spanId);
  return at == spanAt_.end() ? nullptr : &spans_.at(at->second);
}

const Runtime::Span* Runtime::find(const std::string& spanId) const {
  const auto at = spanAt_.find(spanId);
  return at == spanAt_.end() ? nullptr : &spans_.at(at->second);
}

std::string Runtime::fingerprint() const {
  std::string all = std::to_string(sequence_) + "," + std::to_string(started_) + "," +
                    (cursor_ ? order_[*cursor_] : std::string()) + "," + (document_ ? document_->digest : "") + "\n";
  for (const auto& [sequence, message] : queue_) {
    all += "q" + std::to_string(sequence) + message.id + digestOf(*message.body);
    for (const auto& [edge, value] : message.measures) all += edge + std::to_string(value);
  }
  for (const auto& [lane, span] : spans_)
    all += "\ns" + span.id + std::to_string(int(span.state)) + "," + std::to_string(span.attempt) + "," +
           std::to_string(span.number) + "," + std::to_string(span.timeoutAt) + "," + std::to_string(span.readyAt) +
           std::to_string(span.passed) + digestOf(*span.message.body);
  for (const auto& [ordinal, run] : runs_) {
    all += "\nr" + run.id + run.status + std::to_string(run.deliveries) + "," + std::to_string(run.dead);
    for (const auto& [edge, count] : run.passes) all += edge + std::to_string(count);
    for (const auto& [lane, messages] : run.collected)
      for (const Message& message : messages) all += message.id;
    for (const Lane& lane : run.poisoned) all += lane.first + "|" + lane.second;
    for (const EffectDone& effect : run.effects) all += effect.span;
  }
  for (const auto* seen : {&admitted_, &deduped_})
    for (const auto& [what, at] : *seen) all += what + std::to_string(at);
  for (const auto& [message, sent] : sent_) all += message + std::to_string(sent.atMs);
  return identityOf(all);
}

}  // namespace witan::graph
