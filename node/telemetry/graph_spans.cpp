#include "node/telemetry/graph_spans.h"

#include "kernel/record/log_batch.h"

namespace witan::node {

namespace steps = domains::graph;

namespace {

constexpr std::size_t kMostRuns = 20'000;
constexpr std::size_t kMostOfARun = 10'000;  // messages on their way, and open spans

std::string traceOf(const std::string& run) { return run.substr(0, 32); }
std::string rootOf(const std::string& run) { return run.substr(32, 16); }
std::string spanIdOf(const std::string& span) { return span.substr(0, 16); }

}  // namespace

Span GraphSpans::spanOf(const std::string& run, const Run& of, const std::string& id, Time end) const {
  const Open& open = of.open.at(id);
  Span span;
  span.traceId = traceOf(run), span.spanId = spanIdOf(id), span.name = "witan.graph.span";
  const auto sender = of.senders.find(open.message);
  span.parentSpanId = sender == of.senders.end() ? rootOf(run) : sender->second;
  span.start = open.start, span.end = end;
  span.attributes = {
      {"witan.graph.id", of.graph}, {"witan.graph.node", open.node}, {"witan.graph.attempts", open.attempts}};
  return span;
}

std::vector<Span> GraphSpans::ended(const kernel::EntryView& entry) {
  std::vector<Span> made;
  auto action = parseJson(entry.action, {.bytes = kernel::kRecordMax, .depth = 64});
  if (!action.ok() || !action->is_object()) return made;
  const auto step = steps::readStep(std::move(action->get_object()));
  if (!step.ok()) return made;
  if (const auto* begin = std::get_if<steps::Begin>(&*step)) {
    if (runs_.size() < kMostRuns) runs_[begin->run] = {std::string(entry.entity), entry.time, {}, {}};
    return made;
  }
  const auto run = runs_.find(std::visit(
      [](const auto& one) {
        if constexpr (requires { one.run; })
          return one.run;
        else
          return std::string();
      },
      *step));
  if (run == runs_.end()) return made;
  auto& [id, of] = *run;
  const auto end = [&](const std::string& span) -> Span* {
    if (!of.open.contains(span)) return nullptr;
    made.push_back(spanOf(id, of, span, entry.time));
    of.senders.erase(of.open.at(span).message);
    of.open.erase(span);
    return &made.back();
  };
  if (const auto* deliver = std::get_if<steps::Deliver>(&*step)) {
    if (of.open.size() < kMostOfARun) {
      const auto [at, fresh] = of.open.try_emplace(deliver->span);
      if (fresh) at->second = {deliver->message, deliver->node, entry.time, 0};
      at->second.attempts = deliver->attempt;
    }
  } else if (const auto* finish = std::get_if<steps::Finish>(&*step)) {
    if (Span* const span = end(finish->span); span != nullptr && !finish->model.empty()) {
      span->attributes.push_back({"witan.graph.model", finish->model});
      span->attributes.push_back({"witan.graph.tokens", finish->tokens});
    }
    for (const steps::Send& send : finish->sends)
      if (!send.duplicate && of.senders.size() < kMostOfARun) of.senders[send.message] = spanIdOf(finish->span);
  } else if (const auto* fail = std::get_if<steps::Fail>(&*step)) {
    if (Span* const span = fail->retryAtMs ? nullptr : end(fail->span)) span->error = fail->why;
    for (const steps::Lost& lost : fail->dead) of.senders.erase(lost.message);
  } else if (const auto* done = std::get_if<steps::End>(&*step)) {
    while (!of.open.empty()) end(of.open.begin()->first)->error = done->status;
    Span span;
    span.traceId = traceOf(id), span.spanId = rootOf(id), span.name = "witan.graph.run";
    span.start = of.start, span.end = entry.time;
    span.attributes = {{"witan.graph.id", of.graph},
                       {"witan.graph.status", done->status},
                       {"witan.graph.deliveries", done->deliveries},
                       {"witan.graph.dead", done->lost}};
    if (done->status != "completed") span.error = done->status;
    made.push_back(std::move(span));
    runs_.erase(run);
  }
  return made;
}

}  // namespace witan::node
