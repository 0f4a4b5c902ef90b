// The fold: how each line changes the state of the runs.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/mutant.h"
#include "kernel/graph/runtime.h"

namespace witan::graph {

namespace {

std::int64_t later(std::int64_t at, std::int64_t ms) { return ms > kNever - at ? kNever : at + ms; }

std::uint64_t recurrenceKey(const std::string& ingress, const std::string& external) {
  return std::hash<std::string>()(ingress + "|" + external);
}

std::array<std::uint64_t, 2> markOf(const std::string& what) {
  const Hash hash = sha256(what);
  std::array<std::uint64_t, 2> mark;
  std::memcpy(mark.data(), hash.data(), sizeof mark);
  return mark;
}

}  // namespace

Runtime::Seen::Mark Runtime::arrivalOf(const std::string& ingress, const std::string& external) {
  return markOf(concat(ingress, "|", external));
}

Runtime::Seen::Mark Runtime::valueOf(const std::string& node, const std::string& key, const std::string& value) {
  return markOf(mutated("graphValueAnywhere") ? concat(node, "|", value)
                                              : concat(node, "|", key.size(), "|", key, "|", value));
}

Runtime::Run& Runtime::run(const std::string& id) {
  Run* const found = findRun(id);
  WITAN_CHECK(found != nullptr, "a run that is known");
  return *found;
}

Runtime::Span& Runtime::span(const std::string& id) {
  Span* const found = findSpan(id);
  WITAN_CHECK(found != nullptr, "a span that is open");
  return *found;
}

void Runtime::apply(const Entry& entry) {
  for (const Line& line : entry) fold(line);
}

void Runtime::fold(const Line& line) {
  now_ = line.atMs;
  forget();
  std::visit([this](const auto& fact) { on(fact); }, line.fact);
}

std::uint32_t Runtime::recurrencesOf(const std::string& ingress, const std::string& external) const {
  const auto found = recurrences_.find(recurrenceKey(ingress, external));
  return found == recurrences_.end() ? 0 : found->second;
}

void Runtime::on(const Deployed& fact) {
  const std::string at = cursor_ ? order_[*cursor_].first : std::string();
  document_ = fact.document;
  horizonMs_ = std::max(horizonMs_, document_->horizonMs);
  const auto isNeeded = [&](const std::string& id) {
    return id == at || std::any_of(versions_.begin(), versions_.end(),
                                   [&](const auto& version) { return version.first->node(id) != nullptr; });
  };
  std::vector<std::pair<std::string, NodeState*>> order;
  for (const Node& node : document_->nodes) order.emplace_back(node.id, &nodes_[node.id]);
  for (const auto& [id, state] : order_) {
    if (document_->node(id) != nullptr) continue;
    if (isNeeded(id))
      order.emplace_back(id, state);
    else
      nodes_.erase(id);
  }
  order_ = std::move(order);
  active_.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    order_[i].second->position = i;
    refresh(*order_[i].second);
    if (cursor_ && order_[i].first == at) cursor_ = i;
  }
}

void Runtime::on(const Begun& fact) {
  if (!mutated("graphTwice")) admitted_.see(arrivalOf(fact.node, fact.external), now_);
  ++recurrences_[recurrenceKey(fact.node, fact.external)];
  Run& run = runs_[++begun_];
  run.id = Digest(fact.run);
  run.external = fact.external;
  run.document = document_;
  run.ordinal = begun_;
  run.hops = fact.hops;
  run.deadline = later(now_, document_->timeoutMs);
  runAt_.insert(&run);
  if (scripted_) open_.emplace(run.external, run.ordinal);
  ++versions_[run.document.get()];
  deadlines_.emplace(run.deadline, run.ordinal);
  Message message{.id = Digest(fact.message), .run = &run, .node = document_->node(fact.node), .key = fact.key};
  message.setBody(fact.body);
  enqueue(std::make_shared<Message>(std::move(message)));
}

void Runtime::on(const Sent& fact) {
  Run& of = run(fact.run);
  if (fact.counts) ++of.rareToChange().passes[fact.edge];
  if (fact.dedup) deduped_.see(valueOf(fact.node, fact.key, *fact.dedup), now_);
  if (scripted_) of.rareToChange().sent[fact.message] = {fact.node, fact.key, now_};
  Message message{.id = Digest(fact.message),
                  .run = &of,
                  .node = of.document->node(fact.node),
                  .edge = of.document->edge(fact.edge),
                  .key = fact.key,
                  .measures = fact.measures};
  message.setBody(fact.body);
  enqueue(std::make_shared<Message>(std::move(message)));
}

void Runtime::on(const Delivered& fact) {
  Span* at = nullptr;
  if (fact.attempt == 1) {
    const auto queued = queuedAt_.find(Digest(fact.message));
    WITAN_CHECK(queued != queuedAt_.end(), "a message that waits");
    MessagePtr message = unqueue((*queued)->sequence);
    if (const auto busy = spans_.find(message.get()); busy != spans_.end()) {  // of a lane that a mutant unlocked
      auto moved = spans_.extract(busy);
      moved.key() = message.get();
      spans_.insert(std::move(moved));
    }
    Span& made = spans_[message.get()];
    at = &made;
    made.id = Digest(fact.span);  // for good: spanAt_ refers to it
    made.message = std::move(message);
    ++made.message->run->deliveries;
    made.message->run->spans.insert(at);
    spanAt_.insert(at);
    NodeState& node = *made.message->state;
    ++node.running;
    refreshHead(fact.key, node, false);
  } else {
    at = &span(fact.span);
    setState(*at, SpanState::running);
  }
  stopTimers(*at);
  refresh(*at->message->state);
  cursor_ = at->message->state->position;
  at->attempt = fact.attempt;
  at->number = ++started_;
  setTimeout(*at);
}

void Runtime::on(const Resumed& fact) { setTimeout(span(fact.span)); }

void Runtime::on(const Redriven& fact) {
  Run& of = run(fact.run);
  Rare& rare = of.rareToChange();
  const auto letter = std::find_if(rare.letters.begin(), rare.letters.end(),
                                   [id = Digest(fact.dead)](const MessagePtr& message) { return message->id == id; });
  WITAN_CHECK(letter != rare.letters.end(), "a dead letter that is kept");
  auto again = std::make_shared<Message>(**letter);
  again->id = Digest(fact.message);
  rare.letters.erase(letter);
  if (!mutated("redrivenStaysFailed")) rare.poisoned.erase(Lane(again->lane()));
  if (!of.isRunning()) {
    of.status = "running";
    std::erase_if(ended_, [&](const auto& ended) { return ended.second == of.ordinal; });
    if (scripted_) open_.emplace(of.external, of.ordinal);
    ++versions_[of.document.get()];
    for (const Node& node : of.document->nodes) {  // a later version may have no such node
      const auto [at, missing] = nodes_.try_emplace(node.id);
      if (!missing) continue;
      at->second.position = order_.size();
      order_.emplace_back(node.id, &at->second);
      refresh(at->second);
    }
  }
  deadlines_.erase({of.deadline, of.ordinal});
  if (!mutated("graphKeepsDeadline")) of.deadline = later(now_, of.document->timeoutMs);
  deadlines_.emplace(of.deadline, of.ordinal);
  enqueue(std::move(again));
}

void Runtime::on(const Judged& fact) {
  Span& of = span(fact.span);
  of.passed = fact.passes;
  if (fact.redacted && !mutated("graphUnredacted")) of.message->setBody(fact.redacted);
}

void Runtime::on(const Asked& fact) {
  Span& of = span(fact.span);
  setState(of, SpanState::asking);
  if (!scripted_) sleep(*of.message);
}

void Runtime::on(const Answered& fact) {
  Span& of = span(fact.span);
  if (!fact.approve || of.message->node->kind == NodeKind::counselor) return;
  setState(of, SpanState::running);
  setTimeout(of);
}

void Runtime::on(const Effected& fact) {
  const Span& of = span(fact.span);
  of.message->run->rareToChange().effects.push_back({fact.span, fact.node, of.message->node->undo()});
}

// A redriven run that stops again undoes what came since.
void Runtime::on(const Compensated& fact) {
  std::erase_if(run(fact.run).rareToChange().effects,
                [&](const EffectDone& effect) { return effect.span == fact.span; });
}

void Runtime::on(const Duplicate& fact) {
  if (fact.counts) ++run(fact.run).rareToChange().passes[fact.edge];
}

void Runtime::on(const Dead& fact) {
  Run& of = run(fact.run);
  const LaneView lane(fact.node, fact.key);
  Rare& rare = of.rareToChange();
  ++of.dead;
  touched_.insert(of.ordinal);
  if (fact.poisons) rare.poisoned.insert(Lane(lane));
  if (fact.reason == "run_bound") cursor_ = nodes_.at(fact.node).position;
  const auto bury = [&](const MessagePtr& message) {
    if (!scripted_) sleep(*message);
    rare.letters.push_back(message);
  };
  const Digest id(fact.message);
  if (const auto queued = queuedAt_.find(id); queued != queuedAt_.end()) return bury(unqueue((*queued)->sequence));
  if (const auto at = spans_.find(lane); at != spans_.end() && at->second.message->id == id) {
    bury(at->second.message);
    return release(at->second);
  }
  for (auto at = rare.collected.begin(); at != rare.collected.end(); ++at) {
    if (LaneView(at->first) != lane) continue;
    std::erase_if(at->second, [&](const MessagePtr& message) { return message->id == id; });
    if (at->second.empty()) rare.collected.erase(at);
    return;
  }
}

void Runtime::on(const Finished& fact) {
  Span& of = span(fact.span);
  const MessagePtr message = of.message;
  release(of);
  const Node& node = *message->node;
  if (node.kind != NodeKind::function || node.name != "collect") return;
  auto& all = message->run->rareToChange().collected;
  const Lane lane(message->lane());
  auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == lane; });
  if (at == all.end()) at = all.insert(all.end(), {lane, {}});
  at->second.push_back(message);
  if (std::int64_t(at->second.size()) >= *integerOf(node.args.at("count"))) all.erase(at);
}

void Runtime::on(const Failed& fact) {
  Span& of = span(fact.span);
  if (!fact.retryAtMs) {
    if (!scripted_) sleep(*of.message);
    of.message->run->rareToChange().letters.push_back(of.message);
    return release(of);
  }
  of.readyAt = *fact.retryAtMs;
  setState(of, SpanState::backoff);
}

void Runtime::on(const Ended& fact) {
  Run& of = run(fact.run);
  of.status = named(fact.status);
  deadlines_.erase({of.deadline, of.ordinal});
  if (scripted_) open_.erase({of.external, of.ordinal});
  if (--versions_.at(of.document.get()) == 0) versions_.erase(of.document.get());
  ended_.emplace_back(now_, of.ordinal);
}

void Runtime::enqueue(std::shared_ptr<Message> message) {
  message->sequence = ++sequence_;
  NodeState& node = nodes_.at(message->node->id);
  message->state = &node;
  const MessagePtr kept = std::move(message);
  kept->run->queued.emplace(sequence_, kept);
  node.queues[kept->key].emplace(sequence_, kept);
  ++node.queued;
  ++edgeQueued_[kept->edgeName()];
  queuedAt_.insert(kept.get());
  queue_.emplace(sequence_, kept);
  refreshHead(kept->key, node, !spans_.contains(kept->lane()));
}

Runtime::MessagePtr Runtime::unqueue(std::int64_t sequence) {
  const auto found = queue_.find(sequence);
  MessagePtr message = std::move(found->second);
  queue_.erase(found);
  queuedAt_.erase(message.get());
  message->run->queued.erase(sequence);
  touched_.insert(message->run->ordinal);
  NodeState& node = *message->state;
  node.ready.erase(sequence);
  const auto queue = node.queues.find(message->key);
  queue->second.erase(sequence);
  if (queue->second.empty()) node.queues.erase(queue);
  --node.queued;
  if (const auto edge = edgeQueued_.find(message->edgeName()); --edge->second == 0) edgeQueued_.erase(edge);
  refreshHead(message->key, node, !spans_.contains(message->lane()));
  return message;
}

void Runtime::refresh(NodeState& node) {
  if (node.ready.empty() && node.retries.empty())
    active_.erase(node.position);
  else
    active_.insert(node.position);
}

// Whether the first message of a lane is ready: if the lane is idle.
void Runtime::refreshHead(const std::string& key, NodeState& node, bool idle) {
  if (const auto queue = node.queues.find(key); queue != node.queues.end()) {
    const auto& [sequence, head] = mutated("graphNewest") ? *queue->second.rbegin() : *queue->second.begin();
    if (idle || mutated("graphUnlocked"))
      node.ready.emplace(sequence, head);
    else
      node.ready.erase(sequence);
  }
  refresh(node);
}

void Runtime::setTimeout(Span& span) {
  if (span.timeoutAt != 0) timeouts_.erase({span.timeoutAt, span.number, &span});
  span.timeoutAt = later(now_, span.message->node->timeoutMs());
  timeouts_.emplace(span.timeoutAt, span.number, &span);
}

void Runtime::stopTimers(Span& span) {
  timeouts_.erase({span.timeoutAt, span.number, &span});
  backoffs_.erase({span.readyAt, span.number, &span});
  span.message->state->retries.erase(span.message->sequence);
}

void Runtime::setState(Span& span, SpanState state) {
  NodeState& node = *span.message->state;
  const auto count = [&](SpanState of, std::int64_t by) {
    if (of == SpanState::running) node.running += by;
    if (of == SpanState::asking) node.asking += by;
  };
  count(span.state, -1);
  span.state = state;
  count(state, 1);
  if (state == SpanState::backoff) {
    stopTimers(span);
    backoffs_.emplace(span.readyAt, span.number, &span);
  }
  refresh(node);
}

void Runtime::release(Span& span) {
  const MessagePtr message = span.message;
  NodeState& node = *message->state;
  stopTimers(span);
  setState(span, SpanState::running);
  --node.running;
  message->run->spans.erase(&span);
  touched_.insert(message->run->ordinal);
  spanAt_.erase(&span);
  spans_.erase(message.get());
  refreshHead(message->key, node, true);
}

// Nothing asks for what is older than the longest horizon.
void Runtime::forget() {
  admitted_.forget(now_, horizonMs_);
  deduped_.forget(now_, horizonMs_);
  for (; scripted_ && !ended_.empty() && now_ - ended_.front().first > horizonMs_; ended_.pop_front())
    erase(ended_.front().second);
}

void Runtime::erase(std::int64_t ordinal) {
  const auto at = runs_.find(ordinal);
  runAt_.erase(&at->second);
  touched_.erase(at->first);
  runs_.erase(at);
}

void Runtime::forgetRun(const std::string& id) {
  const Run* of = findRun(id);
  if (of == nullptr || of->isRunning()) return;
  const std::int64_t ordinal = of->ordinal;
  std::erase_if(ended_, [&](const auto& ended) { return ended.second == ordinal; });
  erase(ordinal);
}

void Runtime::endBy(const std::string& id, std::int64_t deadline) {
  Run* const of = findRun(id);
  if (of == nullptr || !of->isRunning() || of->deadline <= deadline) return;
  deadlines_.erase({of->deadline, of->ordinal});
  of->deadline = deadline;
  deadlines_.emplace(of->deadline, of->ordinal);
}

std::string Runtime::fingerprint() const {
  std::string all = std::to_string(sequence_) + "," + std::to_string(started_) + "," +
                    (cursor_ ? order_[*cursor_].first : std::string()) + "," + (document_ ? document_->digest : "") +
                    "\n";
  for (const auto& [sequence, message] : queue_) {
    all += concat("q", sequence, message->id.hex(), message->bodyDigest());
    for (const auto& [edge, value] : message->measures) all += edge + std::to_string(value);
  }
  for (const auto& [message, span] : spans_)
    all += "\ns" + span.id.hex() + std::to_string(int(span.state)) + "," + std::to_string(span.attempt) + "," +
           std::to_string(span.number) + "," + std::to_string(span.timeoutAt) + "," + std::to_string(span.readyAt) +
           std::to_string(span.passed) + message->bodyDigest();
  for (const auto& [ordinal, run] : runs_) {
    all += concat("\nr", run.id.hex(), run.status, run.deliveries, ",", run.dead);
    for (const auto& [edge, count] : run.rare().passes) all += edge + std::to_string(count);
    for (const auto& [lane, messages] : run.rare().collected)
      for (const MessagePtr& message : messages) all += message->id.hex();
    for (const Lane& lane : run.rare().poisoned) all += lane.first + "|" + lane.second;
    for (const EffectDone& effect : run.rare().effects) all += effect.span;
    std::map<std::string, std::int64_t> sent;
    for (const auto& [message, one] : run.rare().sent) sent[message] = one.atMs;
    for (const auto& [message, at] : sent) all += message + std::to_string(at);
  }
  for (const Seen* seen : {&admitted_, &deduped_})
    for (const auto& [mark, at] : std::map(seen->at.begin(), seen->at.end()))
      all += concat(mark[0], ",", mark[1], ",", at, ";");
  for (const auto& [hash, count] : std::map(recurrences_.begin(), recurrences_.end())) all += concat(",", count);
  for (const auto& [id, state] : order_)
    all += "\nn" + id + std::to_string(state->running) + "," + std::to_string(state->asking) + "," +
           std::to_string(state->queued) + "," + std::to_string(state->ready.size());
  return identityOf(all);
}

}  // namespace witan::graph
