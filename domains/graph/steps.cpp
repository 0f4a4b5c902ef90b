#include "domains/graph/steps.h"

#include <algorithm>

namespace witan::domains::graph {

using flow::NodeKind;

Deploy deployStep(const flow::Document& document) {
  Deploy step{.version = document.version,
              .digest = document.digest,
              .deliveries = document.maxDeliveries,
              .horizonMs = document.horizonMs};
  for (const flow::Edge& edge : document.edges)
    if (const auto bound = edge.bound()) step.edges.push_back({edge.name, *bound});
  for (const flow::Node& node : document.nodes) {
    if (node.kind == NodeKind::ingress || node.kind == NodeKind::egress || node.kind == NodeKind::market)
      step.gates.push_back({node.id, {}});
    if (node.kind == NodeKind::counselor) step.gates.push_back({node.id, node.who});
  }
  return step;
}

std::string misfitOf(const flow::Checked& checked, const std::string& graph, const std::optional<Version>& version) {
  if (checked.document == nullptr) return "its document is none of a graph";
  const Deploy step = deployStep(*checked.document);
  if (checked.document->id != graph) return "its document is of graph " + checked.document->id;
  if (!version || toJson(*version) != toJson(step.said()))
    return "its document has another version, horizon, other bounds or other gates";
  if (checked.errors.empty()) return {};
  const flow::Finding& first = checked.errors[0];
  return concat(first.id, " ", first.place, ": ", first.message);
}

namespace {

// Lines in, steps out: lines that belong to the step before them are added to it.
class StepWriter {
 public:
  StepWriter(const flow::Runtime& runtime, const std::string& policy, std::vector<flow::Body>& bodies)
      : runtime_(runtime), policy_(policy), bodies_(bodies) {}

  void on(const flow::Deployed&) {}
  void on(const flow::Begun& f) {
    add(Begin{f.run, f.version, f.node, f.external, f.message, f.key, keep(f.body), {}, f.hops});
  }
  void on(const flow::Delivered& f) { add(Deliver{f.run, f.node, f.message, f.span, f.attempt}); }
  void on(const flow::Resumed& f) { add(Resume{f.run, f.node, f.span, f.attempt}); }
  void on(const flow::Redriven&) {}
  void on(const flow::Judged& f) {
    Verdict step{
        .run = f.run, .node = f.node, .span = f.span, .verdict = f.verdict, .token = f.token, .policy = policy_};
    const auto document = runtime_.documentOf(f.run);
    if (const flow::Node* node = document->node(f.node); node->monitor) {
      step.boundary = node->monitor->boundary;
      step.operation = node->monitor->operation;
    }
    if (f.passes) step.digest = f.redacted ? keep(f.redacted) : flow::digestOf(*f.crosses);
    add(std::move(step));
  }
  void on(const flow::Asked& f) { add(Ask{f.run, f.node, f.span, flow::digestOf(*f.body), f.why}); }
  void on(const flow::Answered&) {}
  void on(const flow::Effected& f) { add(Effect{f.run, f.node, f.span, f.tool, f.found, f.span}); }
  void on(const flow::Emitted& f) { output_ = keep(f.body); }
  void on(const flow::Finished& f) {
    add(Finish{.run = f.run, .node = f.node, .span = f.span, .output = std::exchange(output_, {})});
  }
  void on(const flow::Sent& f) {
    Send send{f.edge, f.message, f.node, f.key, keep(f.body), {}, f.dedup};
    for (const auto& [edge, value] : f.measures) send.measures.push_back({edge, value});
    std::get<Finish>(steps_.back()).sends.push_back(std::move(send));
  }
  void on(const flow::Duplicate& f) {
    if (!f.edge.empty())
      std::get<Finish>(steps_.back()).sends.push_back({f.edge, f.message, f.node, f.key, "", {}, {}, true});
  }
  void on(const flow::Failed& f) { add(Fail{f.run, f.node, f.span, f.attempt, f.why, f.retryAtMs, {}, f.cause}); }
  void on(const flow::Dead& f) {
    Lost lost{f.message, f.node, f.key, f.reason};
    Step* const last = steps_.empty() ? nullptr : &steps_.back();
    if (auto* finish = last ? std::get_if<Finish>(last) : nullptr) return finish->dead.push_back(std::move(lost));
    if (auto* fail = last ? std::get_if<Fail>(last) : nullptr) return fail->dead.push_back(std::move(lost));
    if (f.reason == "run_bound") return add(Fail{f.run, f.node, "", 0, f.reason, std::nullopt, {std::move(lost)}, {}});
    dead_.push_back(std::move(lost));
  }
  void on(const flow::Compensated& f) { add(Compensate{f.run, f.node, f.span, f.operation, f.tool}); }
  void on(const flow::Ended& f) { add(End{f.run, f.status, f.deliveries, f.dead, std::exchange(dead_, {})}); }
  void on(const flow::DuplicateArrival&) {}
  void on(const flow::Refused&) {}

  std::vector<Step> steps_;

 private:
  void add(Step step) { steps_.push_back(std::move(step)); }
  std::string keep(const flow::Body& body) {
    bodies_.push_back(body);
    return flow::digestOf(*body);
  }

  const flow::Runtime& runtime_;
  const std::string& policy_;
  std::vector<flow::Body>& bodies_;
  std::string output_;
  std::vector<Lost> dead_;  // of the end that follows
};

class LineReader {
 public:
  LineReader(const flow::Runtime& runtime, const FoldSources& sources) : runtime_(runtime), sources_(sources) {}

  Status on(const Deploy& s) {
    auto document = sources_.document(s.digest);
    if (!document) return notFound("the document " + s.digest + " is not here");
    if (runtime_.deployed() == nullptr || runtime_.deployed()->version < document->version)
      add(flow::Deployed{std::move(document)});
    return okStatus();
  }
  Status on(const Cancel&) { return okStatus(); }
  Status on(const Redrive& s) {
    add(flow::Redriven{s.run, "", redrivenId(s.message), "", s.message});
    return okStatus();
  }
  Status on(const Begin& s) {
    const flow::Node* node = runtime_.deployed() ? runtime_.deployed()->node(s.node) : nullptr;
    if (node == nullptr || node->out.empty()) return corrupt("run " + s.run + " begins at no ingress");
    add(flow::Begun{s.run, s.node, s.external, s.version, s.message, s.key, node->out[0], sources_.body(s.digest),
                    s.hops});
    return okStatus();
  }
  Status on(const Verdict& s) {
    const bool passes = !s.digest.empty();
    add(flow::Judged{s.run, s.node, s.span, s.verdict, s.token, passes,
                     passes && s.verdict == "redact" ? sources_.body(s.digest) : nullptr, nullptr});
    return okStatus();
  }
  Status on(const Deliver& s) {
    std::string key;
    if (s.attempt == 1) WITAN_SET(key, keyOf(s.run, s.node, s.message));
    add(flow::Delivered{s.run, s.node, s.message, std::move(key), s.span, s.attempt});
    return okStatus();
  }
  Status on(const Resume& s) {
    add(flow::Resumed{s.run, s.node, s.span, s.attempt});
    return okStatus();
  }
  Status on(const Finish& s) {
    const auto document = runtime_.documentOf(s.run);
    if (!document) return corrupt("there is no run " + s.run);
    add(flow::Finished{s.run, s.node, s.span, std::int64_t(s.sends.size())});
    for (const Send& send : s.sends) WITAN_DO(onSend(*document, s.run, send));
    for (const Lost& lost : s.dead) addDead(s.run, lost, false);
    return okStatus();
  }
  Status on(const Fail& s) {
    if (s.attempt > 0) add(flow::Failed{s.run, s.node, s.span, s.attempt, s.why, s.retryAtMs, s.cause});
    bool poisons = s.attempt > 0;  // the first of them is the span's own
    for (const Lost& lost : s.dead) addDead(s.run, lost, std::exchange(poisons, false));
    return okStatus();
  }
  Status on(const Effect& s) {
    add(flow::Effected{s.run, s.node, s.span, s.tool, s.found});
    return okStatus();
  }
  Status on(const Ask& s) {
    add(flow::Asked{s.run, s.node, s.span, "", nullptr, s.why});
    return okStatus();
  }
  Status on(const Answer& s) {
    if (runtime_.isAsking(s.span)) add(flow::Answered{s.run, s.node, s.span, s.by, s.approve});
    return okStatus();
  }
  Status on(const Compensate& s) {
    add(flow::Compensated{s.run, s.node, s.span, s.operation, s.tool});
    return okStatus();
  }
  Status on(const End& s) {
    for (const Lost& lost : s.dead) addDead(s.run, lost, false);
    add(flow::Ended{s.run, s.status, s.deliveries, s.lost});
    return okStatus();
  }
  Status on(const Forget&) { return okStatus(); }

  std::int64_t atMs = 0;
  flow::Entry lines;

 private:
  void add(flow::Fact fact) { lines.push_back({atMs, std::move(fact)}); }
  void addDead(const std::string& run, const Lost& lost, bool poisons) {
    add(flow::Dead{run, lost.node, lost.message, lost.key, lost.reason, poisons});
  }
  Result<std::string> keyOf(const std::string& run, const std::string& node, const std::string& message) {
    if (auto key = runtime_.keyOf(message)) return *std::move(key);
    return corrupt("message " + message + " of run " + run + " at " + node + " is not queued");
  }
  Status onSend(const flow::Document& document, const std::string& run, const Send& send) {
    const flow::Edge* edge = document.edge(send.edge);
    if (edge == nullptr) return corrupt("the document has no edge " + send.edge);
    const bool counts = edge->bound().has_value();
    if (send.duplicate) {
      add(flow::Duplicate{run, send.node, send.edge, send.message, send.key, counts});
      return okStatus();
    }
    flow::Sent sent{.run = run,
                    .node = send.node,
                    .edge = send.edge,
                    .message = send.message,
                    .key = send.key,
                    .type = edge->as,
                    .body = sources_.body(send.digest)};
    for (const Measure& measure : send.measures) sent.measures[measure.edge] = measure.value;
    sent.dedup = send.dedup;
    sent.counts = counts;
    add(std::move(sent));
    return okStatus();
  }

  const flow::Runtime& runtime_;
  const FoldSources& sources_;
};

template <std::size_t I = 0>
Result<Step> readAs(std::string_view type, const json::value& action) {
  if constexpr (I == std::variant_size_v<Step>) {
    return corrupt("no action " + std::string(type));
  } else {
    using A = std::variant_alternative_t<I, Step>;
    if (A::name != type) return readAs<I + 1>(type, action);
    A read;
    WITAN_DO(readJson(action, read, A::name));
    return Step(std::move(read));
  }
}

}  // namespace

std::vector<Step> stepsOf(const flow::Entry& entry, const flow::Runtime& runtime, const std::string& policy,
                          std::vector<flow::Body>& bodies) {
  StepWriter writer(runtime, policy, bodies);
  for (const flow::Line& line : entry) std::visit([&](const auto& fact) { writer.on(fact); }, line.fact);
  return std::move(writer.steps_);
}

Result<flow::Entry> linesOf(const Step& step, std::int64_t atMs, const flow::Runtime& runtime,
                            const FoldSources& sources) {
  LineReader reader(runtime, sources);
  reader.atMs = atMs;
  WITAN_DO(std::visit([&](const auto& one) { return reader.on(one); }, step));
  return std::move(reader.lines);
}

Result<Step> readStep(json::object members) {
  const json::value* type = members.if_contains("type");
  if (type == nullptr || !type->is_string()) return corrupt("an action without a type");
  const std::string name(type->get_string());
  members.erase("type");
  return readAs(name, members);
}

}  // namespace witan::domains::graph
