// Events from outside, results of work, and time.
#include "kernel/graph/runtime.h"

#include <algorithm>

#include "base/identity.h"
#include "base/utf8.h"

namespace witan::graph {

void Runtime::emit(Fact fact) {
  entry_.push_back({now_, std::move(fact)});
  fold(entry_.back());
}

void Runtime::close() {
  if (entry_.empty()) return;
  if (watch_) watch_(entry_);
  taken_.entries.push_back(std::exchange(entry_, {}));
}

void Runtime::notice(Fact fact) { taken_.notices.push_back({now_, std::move(fact)}); }

Taken Runtime::take() { return std::exchange(taken_, {}); }

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
  emit(Deployed{std::move(document)});
  close();
  return okStatus();
}

std::string_view Runtime::admit(const std::string& ingress, const std::string& external, const json::value& body,
                                std::int64_t now, std::uint64_t hops) {
  now_ = now;
  const auto refuse = [&](std::string_view why) {
    notice(Refused{ingress, external, std::string(why)});
    return why;
  };
  const Node* node = document_->node(ingress);
  if (node == nullptr || node->kind != NodeKind::ingress) return refuse("unknown_ingress");
  // Only ids have no "#", which makes the id of a recurrence.
  if (!validateId("id", external).ok()) return refuse("external_id");
  if (!conforms(body, document_->type(node->out[0])->schema)) return refuse("schema");
  if (canonicalJson(body).size() > kMostMessageBytes) return refuse("too_large");
  if (!node->key.empty() && keyText(*valueAt(body, node->key)).size() > kMostLaneKeyBytes) return refuse("key");
  if (!admitted_.isFresh(arrivalOf(ingress, external), now_, document_->horizonMs)) {
    notice(DuplicateArrival{ingress, external});
    return "duplicate";
  }
  if (hops >= kMostHops) return refuse("loop");
  if (nodes_.at(ingress).queued >= node->capacity) return refuse("backpressure");
  const std::uint32_t before = recurrencesOf(ingress, external);
  const std::string run = runIdOf(document_->id, ingress, before == 0 ? external : concat(external, "#", before));
  emit(Begun{.run = run,
             .node = ingress,
             .external = external,
             .version = document_->version,
             .message = identityOf("v1|message|" + run + "||" + ingress + "|0"),
             .key = node->key.empty() ? run : keyText(*valueAt(body, node->key)),
             .type = node->out[0],
             .body = std::make_shared<const json::value>(body),
             .hops = hops});
  close();
  return {};
}

void Runtime::answer(const std::string& nodeId, const std::string& key, const std::string& by, bool approve,
                     const std::optional<std::string>& digest, std::int64_t now) {
  now_ = now;
  const auto refuse = [&](const char* why) { notice(Refused{nodeId, by, why}); };
  const auto at = spans_.find(LaneView(nodeId, key));
  if (at == spans_.end() || at->second.state != SpanState::asking) return refuse("nothing_asked");
  Span& span = at->second;
  const MessagePtr message = span.message;
  const Node& node = *message->node;
  if (node.kind == NodeKind::counselor && std::find(node.who.begin(), node.who.end(), by) == node.who.end())
    return refuse("unauthorised");
  if (digest && *digest != message->bodyDigest()) return refuse("stale");
  answered(span, by, approve);
}

void Runtime::answerSpan(const std::string& spanId, const std::string& by, bool approve, std::int64_t now) {
  now_ = now;
  if (isAsking(spanId)) answered(*findSpan(spanId), by, approve);
}

void Runtime::answered(Span& span, const std::string& by, bool approve) {
  const MessagePtr message = span.message;
  emit(Answered{message->run->id.hex(), message->node->id, span.id.hex(), by, approve});
  if (!approve)
    failSpan(span, "human_denied", true);
  else if (message->node->kind == NodeKind::counselor)
    complete(span, {{message->type(), message->body}});
  else
    work(span, false);
  close();
}

void Runtime::cancelRun(const std::string& runId, std::int64_t now) {
  now_ = now;
  if (Run* const of = findRun(runId); of != nullptr && of->isRunning()) stop(*of, "cancelled");
}

void Runtime::cancel(const std::string& external, std::int64_t now) {
  now_ = now;
  std::vector<std::int64_t> of;
  for (auto at = open_.lower_bound({external, 0}); at != open_.end() && at->first == external; ++at)
    of.push_back(at->second);
  if (of.empty()) return notice(Refused{"", external, "no_such_run"});
  for (const std::int64_t ordinal : of) stop(runs_.at(ordinal), "cancelled");
}

Status Runtime::redeliver(const std::string& runId, const std::string& message, std::int64_t now) {
  now_ = now;
  const Error unknown{ErrorCode::notFound, "no message " + message + " was sent within the horizon", ""};
  const Run* of = findRun(runId);
  if (of == nullptr) return unknown;
  const auto& all = of->rare().sent;
  const auto sent = all.find(message);
  if (sent == all.end() || (!of->isRunning() && now - sent->second.atMs > document_->horizonMs)) return unknown;
  notice(Duplicate{.run = runId, .node = sent->second.node, .message = message, .key = sent->second.key});
  return okStatus();
}

Status Runtime::redrive(const std::string& runId, const std::string& message, const std::string& again,
                        std::int64_t now) {
  now_ = now;
  const Run* of = findRun(runId);
  const auto isIt = [id = Digest(message)](const MessagePtr& letter) { return letter->id == id; };
  if (of == nullptr) return notFound("no run " + runId);
  const auto& letters = of->rare().letters;
  const auto letter = std::find_if(letters.begin(), letters.end(), isIt);
  if (letter == letters.end()) return notFound("the run has no dead letter " + message);
  emit(Redriven{runId, (*letter)->node->id, again, (*letter)->key, message});
  close();
  return okStatus();
}

std::shared_ptr<const Document> Runtime::documentOf(const std::string& runId) const {
  const Run* of = findRun(runId);
  return of == nullptr ? nullptr : of->document;
}

std::optional<std::string> Runtime::keyOf(const std::string& message) const {
  const auto at = queuedAt_.find(Digest(message));
  return at == queuedAt_.end() ? std::nullopt : std::optional((*at)->key);
}

bool Runtime::isAsking(const std::string& spanId) const {
  const Span* of = findSpan(spanId);
  return of != nullptr && of->state == SpanState::asking;
}

std::optional<Runtime::Asking> Runtime::asking(const std::string& spanId) const {
  const Span* of = findSpan(spanId);
  if (of == nullptr || of->state != SpanState::asking) return std::nullopt;
  return Asking{of->timeoutAt - of->message->node->timeoutMs(), of->timeoutAt};
}

// Bodies are objects: a text is the digest of one.
Body Runtime::unread(const std::string& digest) { return std::make_shared<const json::value>(json::string(digest)); }

// Its body is where bodies are kept.
void Runtime::sleep(const Message& message) {
  if (message.body == nullptr) return;
  message.digest = Digest(digestOf(*message.body));
  message.body = nullptr;
}

bool Runtime::read(const Message& message) {
  if (message.body == nullptr && bodies_ != nullptr) message.body = bodies_->find(message.digest.hex());
  return message.body != nullptr || bodies_ == nullptr;
}

// Whether its node can take it, and those that were collected before.
bool Runtime::isHere(const Message& message) {
  const auto& earlier = collectedWith(message);
  return message.body != nullptr &&
         std::all_of(earlier.begin(), earlier.end(), [](const MessagePtr& one) { return one->body != nullptr; });
}

template <class Visit>
void Runtime::forEachToWork(const Visit& visit) const {
  for (const auto& [sequence, message] : queue_) visit(*message, false);
  for (const auto& [message, span] : spans_) visit(*message, span.state == SpanState::asking);
  for (const auto& [ordinal, run] : runs_)
    for (const auto& [lane, messages] : run.rare().collected)
      for (const MessagePtr& message : messages) visit(*message, false);
}

std::vector<Runtime::Lacking> Runtime::fill() {
  std::vector<Lacking> lacking;
  forEachToWork([&](const Message& message, bool asks) {
    const bool sleeps = asks && message.body == nullptr && bodies_ != nullptr;
    if (sleeps ? bodies_->has(message.digest.hex()) : read(message)) return;
    lacking.push_back({message.run->id.hex(), message.node->id, message.id.hex(), message.digest.hex()});
  });
  return lacking;
}

void Runtime::goOn(const std::set<std::string>& digests, std::int64_t now) {
  now_ = now;
  forEachToWork([&](const Message& message, bool asks) {
    if (!asks && message.body == nullptr && digests.contains(message.digest.hex())) (void)read(message);
  });
  std::vector<Span*> spans;
  for (const std::string& id : std::exchange(stalled_, {}))
    if (Span* const of = findSpan(id); of != nullptr && of->state == SpanState::running) spans.push_back(of);
  resume(spans);
}

bool Runtime::isOpen(const Lacking& message) const {
  const Run* of = findRun(message.run);
  if (of == nullptr || !of->isRunning()) return false;
  const Digest id(message.message);
  const auto isIt = [&](const MessagePtr& one) { return one->id == id; };
  return queuedAt_.contains(id) ||
         std::any_of(of->spans.begin(), of->spans.end(), [&](const Span* span) { return isIt(span->message); }) ||
         std::any_of(of->rare().collected.begin(), of->rare().collected.end(),
                     [&](const auto& lane) { return std::ranges::any_of(lane.second, isIt); });
}

std::optional<Runtime::Lacking> Runtime::wake(const std::string& spanOrLetter) {
  const auto lacking = [&](const Message& message) {
    return read(message) ? std::nullopt
                         : std::optional(Lacking{message.run->id.hex(), message.node->id, message.id.hex(),
                                                 message.digest.hex()});
  };
  const Digest id(spanOrLetter);
  if (const Span* span = findSpan(spanOrLetter)) return lacking(*span->message);
  for (const auto& [ordinal, run] : runs_)
    for (const MessagePtr& letter : run.rare().letters)
      if (letter->id == id) return lacking(*letter);
  return std::nullopt;
}

bool Runtime::isRunning(const std::string& spanId, std::int64_t attempt) const {
  const Span* of = findSpan(spanId);
  return of != nullptr && of->state == SpanState::running && of->attempt == attempt;
}

void Runtime::finish(const std::string& spanId, std::int64_t attempt, std::vector<Output> outputs, std::int64_t now) {
  now_ = now;
  if (!isRunning(spanId, attempt)) return;
  complete(span(spanId), sendings(std::move(outputs)));
  close();
}

void Runtime::finishEffect(const std::string& spanId, std::int64_t attempt, bool found, std::int64_t now) {
  now_ = now;
  if (!isRunning(spanId, attempt)) return;
  const Message& message = *span(spanId).message;
  emit(Effected{message.run->id.hex(), message.node->id, spanId, message.node->tool(), found});
  complete(span(spanId), {});
  close();
}

void Runtime::fail(const std::string& spanId, std::int64_t attempt, const std::string& why, bool terminal,
                   std::int64_t now) {
  now_ = now;
  if (!isRunning(spanId, attempt)) return;
  if (terminal)
    failSpan(span(spanId), "terminal_failure", true, clip(why, kMostCauseBytes));
  else
    failSpan(span(spanId), why, false);
  close();
}

void Runtime::extend(const std::string& spanId, std::int64_t now) {
  now_ = now;
  if (Span* const of = findSpan(spanId); of != nullptr && of->state == SpanState::running) setTimeout(*of);
}

void Runtime::expire(std::int64_t now, const std::function<bool(const Digest& span)>& answered) {
  now_ = now;
  while (!timeouts_.empty() && std::get<0>(*timeouts_.begin()) <= now) {
    Span& late = *std::get<2>(*timeouts_.begin());
    const bool asking = late.state == SpanState::asking;
    if (asking && answered && answered(late.id)) {
      setTimeout(late);
      continue;
    }
    failSpan(late, asking ? "human_timeout" : "timeout", asking);
    close();
  }
  std::set<std::int64_t> late;
  for (auto at = deadlines_.begin(); at != deadlines_.end() && at->first <= now; ++at) late.insert(at->second);
  for (const std::int64_t ordinal : late) stop(runs_.at(ordinal), "timed_out");
}

void Runtime::recover(std::int64_t now) {
  now_ = now;
  std::vector<Span*> ran;
  for (auto& [lane, span] : spans_)
    if (span.state == SpanState::running) ran.push_back(&span);
  resume(ran);
}

void Runtime::resume(const std::vector<Span*>& spans) {
  std::map<std::int64_t, Span*> inOrder;
  for (Span* const span : spans) inOrder.emplace(span->number, span);
  for (const auto& [number, span] : inOrder) {
    if (!isHere(*span->message)) {
      stalled_.insert(span->id.hex());
      continue;
    }
    emit(Resumed{span->message->run->id.hex(), span->message->node->id, span->id.hex(), span->attempt});
    work(*span, true);
    close();
  }
}

std::optional<std::int64_t> Runtime::due() const {
  std::int64_t least = kNever;
  if (!timeouts_.empty()) least = std::min(least, std::get<0>(*timeouts_.begin()));
  if (!deadlines_.empty()) least = std::min(least, deadlines_.begin()->first);
  if (!backoffs_.empty()) least = std::min(least, std::get<0>(*backoffs_.begin()));
  return least < kNever ? std::optional(least) : std::nullopt;
}

std::vector<RunView> Runtime::runs() const {
  std::vector<RunView> all;
  for (const auto& [ordinal, run] : runs_)
    all.push_back({run.id.hex(), run.external, std::string(run.status), run.document->version, run.deliveries, run.dead,
                   std::int64_t(run.queued.size()), std::int64_t(run.spans.size())});
  return all;
}

std::vector<NodeLoad> Runtime::loads() const {
  std::vector<NodeLoad> all;
  for (const auto& [id, state] : order_)
    all.push_back({id, state->queued, state->running, state->asking, std::int64_t(state->retries.size())});
  for (const auto& [at, number, span] : backoffs_) ++all[span->message->state->position].backoff;
  return all;
}

std::int64_t Runtime::running() const {
  std::int64_t all = 0;
  for (const auto& [document, runs] : versions_) all += runs;
  return all;
}

std::int64_t Runtime::asking() const {
  std::int64_t all = 0;
  for (const auto& [id, node] : nodes_) all += node.asking;
  return all;
}

std::vector<std::string> Runtime::waitingFor() const {
  std::vector<std::string> all;
  for (const auto& [message, span] : spans_)
    if (span.state == SpanState::asking) all.push_back(concat(message->node->id, "|", message->key));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace witan::graph
