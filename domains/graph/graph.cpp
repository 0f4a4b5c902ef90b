// Graph: the laws as invariants. A step that breaks one says which, and the invariant of that law rejects it.
#include <algorithm>
#include <charconv>
#include <map>

#include "base/identity.h"
#include "domains/graph/actions.h"
#include "domains/registry.h"
#include "kernel/graph/line.h"
#include "kernel/typed_module.h"

namespace witan::domains::graph {

namespace {

constexpr std::string_view kVersionLaw = "GRAPH_VERSION", kOrder = "GRAPH_ORDER", kOnce = "GRAPH_ONCE",
                           kGuard = "GRAPH_GUARD", kVerdictLaw = "GRAPH_VERDICT", kAnswerLaw = "GRAPH_ANSWER",
                           kLimits = "GRAPH_LIMITS";

// Whoever may deploy cannot use up the numbers.
constexpr std::int64_t kMostVersionsAhead = 1'000'000;

// Rows: the entry of a step is bounded.
constexpr std::size_t kForgottenAtOnce = 2'000;

using M = Mutator<Fields>;
using RunHandle = M::Row<kRuns>;
using MessageHandle = M::Row<kMessages>;

struct Broken {
  std::string_view law;
  std::string why;
};

[[noreturn]] void breaks(std::string_view law, std::string why) { throw Broken{law, std::move(why)}; }

// Carries out a step; what it breaks stands in the candidate, for its invariant to reject.
template <class Step>
void judged(M& m, const Step& step) {
  try {
    step();
  } catch (const Broken& broken) {
    m.set<BreachOf>({std::string(broken.law), broken.why});
  }
}

RunHandle runOf(M& m, const std::string& id) {
  const auto found = m.matching<kRuns, RunById>(Digest(id).bytes());
  if (found.empty()) throw Fault{"there is no run " + id};
  return found.front();
}
std::optional<MessageHandle> findMessage(M& m, const Digest& id) {
  const auto found = m.matching<kMessages, MessageById>(id.bytes());
  return found.empty() ? std::nullopt : std::optional(found.front());
}
MessageHandle spanOf(M& m, const std::string& run, const std::string& node, const std::string& id) {
  const auto found = m.matching<kMessages, MessageBySpan>(Digest(id).bytes());
  if (found.empty()) throw Fault{"no span " + id + " is open"};
  const Message& message = *found.front().get<MessageAt>();
  if (message.run != Digest(run) || message.node != node) throw Fault{"span " + id + " is of another run or node"};
  return found.front();
}

void checkId(const std::string& what, const std::string& id) {
  if (Digest(id).isNone()) breaks(kLimits, what + " is no digest");
}
void checkKey(M& m, const std::string& key) {
  if (std::int64_t(key.size()) > m.policy().mostKeyBytes)
    breaks(kLimits, "a key of " + std::to_string(key.size()) + " bytes");
}

std::int64_t numberOf(std::string_view key) {
  std::int64_t number = 0;
  std::from_chars(key.data(), key.data() + key.size(), number);
  return number;
}

template <auto Table, class RowsField, class NextField>
auto freeRow(M& m) {
  Rows rows = m.get<RowsField>();
  std::string key = std::to_string(rows.free != 0 ? rows.free : ++rows.made);
  key.insert(0, kLogKeyDigits - std::min(kLogKeyDigits, key.size()), '0');
  auto row = m.edit<Table>(key);
  if (row.template has<NextField>()) {
    rows.free = *row.template get<NextField>();
    row.template erase<NextField>();
  }
  ++rows.taken;
  m.set<RowsField>(rows);
  return row;
}
template <class RowsField, class NextField, class Row>
void giveBack(M& m, Row row) {
  Rows rows = m.get<RowsField>();
  row.template set<NextField>(std::exchange(rows.free, numberOf(row.key())));
  m.set<RowsField>(rows);
}

void addMessage(M& m, RunHandle run, Message message, bool again = false) {
  if (message.id.isNone()) breaks(kLimits, "the message is no digest");
  if (message.digest.isNone()) breaks(kLimits, "the body's digest is no digest");
  checkKey(m, message.key);
  if (findMessage(m, message.id)) breaks(kOnce, "message " + message.id.hex() + " is there");
  message.sequence = m.get<Sequence>() + 1;
  m.set<Sequence>(message.sequence);
  // People may send it again while the runtime sends others: it has no place in the order of its lane.
  if (again) message.sequence = 0;
  freeRow<kMessages, MessageRows, MessageNext>(m).set<MessageAt>(std::move(message));
  Run at = *run.get<RunAt>();
  ++at.open;
  run.set<RunAt>(std::move(at));
}
void removeMessage(M& m, RunHandle run, MessageHandle row) {
  row.erase<MessageAt>();
  if (row.has<MessageSpan>()) row.erase<MessageSpan>();
  giveBack<MessageRows, MessageNext>(m, row);
  Run at = *run.get<RunAt>();
  --at.open;
  run.set<RunAt>(std::move(at));
}

void count(RunHandle run, std::int64_t Run::*member, std::int64_t by) {
  Run at = *run.get<RunAt>();
  at.*member += by;
  run.set<RunAt>(std::move(at));
}

// A new row of what a run leaves. The caller sets what it is.
M::Row<kKept> keep(M& m, const Digest& run) {
  auto row = freeRow<kKept, graph::KeptRows, KeptNext>(m);
  row.set<KeptAt>({run, m.get<graph::KeptRows>().taken});
  return row;
}
void forgetKept(M& m, M::Row<kKept> row) {
  row.erase<KeptAt>();
  if (row.has<KeptOutput>()) row.erase<KeptOutput>();
  if (row.has<KeptEffect>()) row.erase<KeptEffect>();
  if (row.has<KeptLetter>()) row.erase<KeptLetter>();
  giveBack<graph::KeptRows, KeptNext>(m, row);
}

// What has no row any more (it was collected, or a guard held it back) is counted and no more.
void bury(M& m, RunHandle run, const std::vector<Lost>& dead) {
  for (const Lost& lost : dead) {
    if (const auto row = findMessage(m, Digest(lost.message))) {
      const Message message = *row->get<MessageAt>();
      if (!(message.run == run.get<RunAt>()->id)) throw Fault{"message " + lost.message + " is of another run"};
      removeMessage(m, run, *row);
      if (run.get<RunAt>()->letters < m.policy().mostLetters) {
        keep(m, message.run).set<KeptLetter>({message, lost.reason});
        count(run, &Run::letters, 1);
      }
    }
    Run at = *run.get<RunAt>();
    ++at.dead;
    run.set<RunAt>(std::move(at));
  }
}

Version versionOf(M& m, std::int64_t number) {
  const auto row = m.find<kVersions>(std::to_string(number));
  if (!row || !row->has<VersionAt>()) throw Fault{"version " + std::to_string(number) + " is not deployed"};
  return *row->get<VersionAt>();
}
const Gate* gateOf(const Version& version, const std::string& node) {
  const auto at =
      std::find_if(version.gates.begin(), version.gates.end(), [&](const Gate& g) { return g.node == node; });
  return at == version.gates.end() ? nullptr : &*at;
}

const Digest& askedOf(const Message& message, const Span& span) {
  return span.asked.isNone() ? message.digest : span.asked;
}

RunHandle runningRun(M& m, const std::string& id) {
  RunHandle run = runOf(m, id);
  if (run.get<RunAt>()->status != "running") breaks(kOnce, "run " + id + " has ended");
  return run;
}

// Lemma 1: nothing crosses a boundary that no verdict lets pass.
void demandPassage(M& m, const Run& run, const std::string& node, const Span& span) {
  const Version version = versionOf(m, run.version);
  const Gate* gate = gateOf(version, node);
  if (gate == nullptr) return;
  if (!gate->who.empty() && !span.approved) breaks(kAnswerLaw, node + " goes on without an approval");
  if (gate->who.empty() && (!span.passed || (span.mustAsk && !span.approved)))
    breaks(kVerdictLaw, node + " is crossed without a verdict that lets it pass");
}

void count(RunHandle run, const Version& version, const std::string& edge) {
  const auto bound =
      std::find_if(version.bounds.begin(), version.bounds.end(), [&](const Bound& b) { return b.edge == edge; });
  if (bound == version.bounds.end() || bound->most == 0) return;
  std::vector<Passes> passes = run.get<RunPasses>().value_or(std::vector<Passes>());
  auto at = std::find_if(passes.begin(), passes.end(), [&](const Passes& p) { return p.edge == edge; });
  if (at == passes.end()) at = passes.insert(passes.end(), {edge, 0});
  if (++at->count > bound->most)
    breaks(kGuard, edge + " is passed more than " + std::to_string(bound->most) + " times");
  run.set<RunPasses>(std::move(passes));
}

void demandFall(const Message& cause, const Send& send) {
  const auto of = [&](const std::vector<Measure>& all) {
    return std::find_if(all.begin(), all.end(), [&](const Measure& measure) { return measure.edge == send.edge; });
  };
  const auto before = of(cause.measures), now = of(send.measures);
  if (before == cause.measures.end()) return;
  if (now == send.measures.end() || now->value >= before->value)
    breaks(kGuard, "the measure of " + send.edge + " does not fall");
}

// The head of a lane that is idle.
void demandTurn(M& m, const Message& message) {
  for (const MessageHandle& other : m.matching<kMessages, Lane>(message.node, message.key)) {
    if (other.has<MessageSpan>()) breaks(kOrder, "the lane " + message.node + "|" + message.key + " is busy");
    const std::int64_t before = other.get<MessageAt>()->sequence;
    if (before > 0 && before < message.sequence)
      breaks(kOrder, "an earlier message waits in the lane " + message.node + "|" + message.key);
  }
}

void deliverFirst(M& m, RunHandle run, MessageHandle row, const Deliver& step) {
  if (row.has<MessageSpan>()) breaks(kOnce, "message " + step.message + " is delivered already");
  demandTurn(m, *row.get<MessageAt>());
  checkId("the span", step.span);
  Run at = *run.get<RunAt>();
  const std::int64_t most = versionOf(m, at.version).deliveries;
  if (++at.deliveries > most) breaks(kLimits, "more than " + std::to_string(most) + " deliveries in a run");
  run.set<RunAt>(std::move(at));
  row.set<MessageSpan>({.id = Digest(step.span), .attempt = 1});
}

}  // namespace

std::string redrivenId(std::string_view dead) { return toHex(sha256("v1|message|" + std::string(dead) + "#1")); }

void Deploy::apply(M& m, Time) const {
  judged(m, [&] {
    checkId("the document's digest", digest);
    const std::int64_t now = m.get<CurrentVersion>();
    if (version < 1 || version < now) breaks(kVersionLaw, "version " + std::to_string(now) + " is deployed");
    if (version - now > kMostVersionsAhead)
      breaks(kVersionLaw, concat("version ", now, " is deployed: the next one is at most ", now + kMostVersionsAhead));
    const Version next = said();
    if (version == now && toJson(versionOf(m, version)) != toJson(next))
      breaks(kVersionLaw, "another document is deployed as version " + std::to_string(now));
    if (version == now) return;
    m.set<CurrentVersion>(version);
    m.edit<kVersions>(std::to_string(version)).set<VersionAt>(next);
  });
}

void Cancel::apply(M& m, Time) const {
  judged(m, [&] {
    RunHandle row = runningRun(m, run);
    Run at = *row.get<RunAt>();
    at.cancelled = why.empty() ? "cancelled" : why;
    row.set<RunAt>(std::move(at));
  });
}

void Redrive::apply(M& m, Time) const {
  judged(m, [&] {
    RunHandle row = runOf(m, run);
    const auto kept = m.matching<kKept, KeptByRun>(Digest(run).bytes());
    const auto found = std::ranges::find_if(kept, [id = Digest(message)](const auto& one) {
      return one.template has<KeptLetter>() && one.template get<KeptLetter>()->message.id == id;
    });
    if (found == kept.end()) throw Fault{"the run has no dead letter " + message};
    Message again = found->get<KeptLetter>()->message;
    forgetKept(m, *found);
    Run at = *row.get<RunAt>();
    again.id = Digest(redrivenId(message));
    at.status = "running";
    --at.letters;
    row.set<RunAt>(std::move(at));
    addMessage(m, row, std::move(again), true);
  });
}

void Begin::apply(M& m, Time) const {
  judged(m, [&] {
    checkId("the run", run);
    if (hops >= ::witan::graph::kMostHops)
      breaks(kLimits, concat("run ", run, " is the end of a chain of more than ", ::witan::graph::kMostHops, " runs"));
    if (version != m.get<CurrentVersion>()) breaks(kVersionLaw, "a run begins under the deployed version");
    if (!m.matching<kRuns, RunById>(Digest(run).bytes()).empty()) breaks(kOnce, "run " + run + " has begun");
    RunHandle row = freeRow<kRuns, graph::RunRows, RunNext>(m);
    row.set<RunAt>({.id = Digest(run), .node = node, .external = external, .status = "running", .version = version});
    addMessage(m, row, {.id = Digest(message), .run = Digest(run), .digest = Digest(digest), .node = node, .key = key});
  });
}

void Verdict::apply(M& m, Time) const {
  judged(m, [&] {
    MessageHandle row = spanOf(m, run, node, span);
    Span at = *row.get<MessageSpan>();
    at.mustAsk = verdict == "require-human";
    at.passed = !digest.empty() && (at.mustAsk || verdict == "allow" || verdict == "redact");
    row.set<MessageSpan>(std::move(at));
  });
}

void Deliver::apply(M& m, Time) const {
  judged(m, [&] {
    RunHandle of = runningRun(m, run);
    auto row = findMessage(m, Digest(message));
    if (!row) breaks(kOnce, "message " + message + " does not wait");
    const Message& at = *row->get<MessageAt>();
    if (at.run != Digest(run) || at.node != node) throw Fault{"message " + message + " is of another run or node"};
    if (attempt == 1) return deliverFirst(m, of, *row, *this);
    if (!row->has<MessageSpan>()) breaks(kOnce, "attempt " + std::to_string(attempt) + " is the first");
    Span open = *row->get<MessageSpan>();
    if (open.id != Digest(span) || open.attempt + 1 != attempt || open.state != SpanState::backoff)
      breaks(kOnce, "attempt " + std::to_string(attempt) + " of span " + span + " is not due");
    open.attempt = attempt;
    open.state = SpanState::running;
    row->set<MessageSpan>(std::move(open));
  });
}

void Resume::apply(M& m, Time) const {
  judged(m, [&] {
    MessageHandle row = spanOf(m, run, node, span);
    const Span& at = *row.get<MessageSpan>();
    if (at.attempt != attempt || at.state == SpanState::backoff) breaks(kOnce, "span " + span + " does not run");
  });
}

void Finish::apply(M& m, Time) const {
  judged(m, [&] {
    RunHandle of = runningRun(m, run);
    MessageHandle row = spanOf(m, run, node, span);
    const Message cause = *row.get<MessageAt>();
    demandPassage(m, *of.get<RunAt>(), node, *row.get<MessageSpan>());
    const Version version = versionOf(m, of.get<RunAt>()->version);
    removeMessage(m, of, row);
    if (!output.empty() && of.get<RunAt>()->outputs < m.policy().mostOutputs) {
      keep(m, Digest(run)).set<KeptOutput>({node, output});
      count(of, &Run::outputs, 1);
    }
    for (const Send& send : sends) {
      demandFall(cause, send);
      count(of, version, send.edge);
      if (!send.duplicate)
        addMessage(m, of,
                   {.id = Digest(send.message),
                    .run = Digest(run),
                    .digest = Digest(send.digest),
                    .node = send.node,
                    .key = send.key,
                    .edge = send.edge,
                    .measures = send.measures});
    }
    bury(m, of, dead);
  });
}

void Fail::apply(M& m, Time) const {
  judged(m, [&] {
    RunHandle of = runningRun(m, run);
    if (attempt == 0) return bury(m, of, dead);
    MessageHandle row = spanOf(m, run, node, span);
    Span at = *row.get<MessageSpan>();
    if (at.attempt != attempt)
      breaks(kOnce, "attempt " + std::to_string(attempt) + " of span " + span + " does not run");
    if (!retryAtMs) return bury(m, of, dead);
    at.state = SpanState::backoff;
    row.set<MessageSpan>(std::move(at));
  });
}

void Effect::apply(M& m, Time) const {
  judged(m, [&] {
    RunHandle of = runningRun(m, run);
    MessageHandle row = spanOf(m, run, node, span);
    Span at = *row.get<MessageSpan>();
    if (at.effect || operation != span) breaks(kOnce, "span " + span + " has one effect, under its own id");
    demandPassage(m, *of.get<RunAt>(), node, at);
    at.effect = true;
    row.set<MessageSpan>(std::move(at));
    keep(m, Digest(run)).set<KeptEffect>({Digest(span), node, false});
  });
}

void Ask::apply(M& m, Time) const {
  judged(m, [&] {
    MessageHandle row = spanOf(m, run, node, span);
    checkId("the body's digest", digest);
    Span at = *row.get<MessageSpan>();
    at.state = SpanState::asking;
    at.asked = row.get<MessageAt>()->digest == Digest(digest) ? Digest() : Digest(digest);
    row.set<MessageSpan>(std::move(at));
  });
}

void Answer::apply(M& m, Time) const {
  judged(m, [&] {
    RunHandle of = runningRun(m, run);
    MessageHandle row = spanOf(m, run, node, span);
    Span at = *row.get<MessageSpan>();
    if (at.state != SpanState::asking || !at.by.empty()) breaks(kAnswerLaw, "nothing is asked at " + node);
    if (askedOf(*row.get<MessageAt>(), at) != Digest(digest)) breaks(kAnswerLaw, "the answer is to another body");
    if (by.empty()) breaks(kAnswerLaw, "an answer names who gives it");
    const Version version = versionOf(m, of.get<RunAt>()->version);
    const Gate* gate = gateOf(version, node);
    if (gate != nullptr && !gate->who.empty() && std::find(gate->who.begin(), gate->who.end(), by) == gate->who.end())
      breaks(kAnswerLaw, by + " may not answer at " + node);
    at.by = by;
    at.approved = approve;
    row.set<MessageSpan>(std::move(at));
  });
}

void Compensate::apply(M& m, Time) const {
  judged(m, [&] {
    (void)runningRun(m, run);
    const auto found = m.matching<kKept, KeptBySpan>(Digest(span).bytes());
    if (found.empty() || found.front().get<KeptAt>()->run != Digest(run) || found.front().get<KeptEffect>()->undone)
      breaks(kOnce, "span " + span + " has no effect to undo");
    M::Row<kKept> effect = found.front();
    effect.set<KeptEffect>({Digest(span), effect.get<KeptEffect>()->node, true});
  });
}

void End::apply(M& m, Time now) const {
  judged(m, [&] {
    RunHandle of = runningRun(m, run);
    bury(m, of, dead);
    Run at = *of.get<RunAt>();
    if (at.open != 0) breaks(kOrder, "messages of run " + run + " are open");
    if (at.deliveries != deliveries || at.dead != lost) breaks(kLimits, "the ledger has other counts of run " + run);
    at.status = status;
    at.endedMs = now.micros / 1000;
    of.set<RunAt>(std::move(at));
  });
}

void Forget::apply(M& m, Time now) const {
  judged(m, [&] {
    RunHandle row = runOf(m, run);
    const Run& at = *row.get<RunAt>();
    if (at.status == "running") breaks(kOnce, "run " + run + " has not ended");
    // Its id could begin again, and its effects be made again.
    if (now.micros / 1000 - at.endedMs <= versionOf(m, at.version).horizonMs)
      breaks(kOnce, "run " + run + " has ended within the horizon");
    const auto kept = m.matching<kKept, KeptByRun>(Digest(run).bytes());
    const std::size_t some = std::min(kept.size(), kForgottenAtOnce);
    for (std::size_t i = 0; i < some; ++i) forgetKept(m, kept[i]);
    if (some < kept.size()) return;
    row.erase<RunAt>();
    if (row.has<RunPasses>()) row.erase<RunPasses>();
    giveBack<graph::RunRows, RunNext>(m, row);
  });
}

namespace {

// Each law is an invariant over the same field.
template <class Law>
struct LawBase {
  using Reads = Footprint<BreachOf>;
  static kernel::Verdict check(const View<Law>& s) {
    const Breach& breach = s.template get<BreachOf>();
    return breach.law == Law::id ? kernel::Verdict::reject(breach.why) : kernel::Verdict::pass();
  }
};
struct VersionLaw : LawBase<VersionLaw> {
  static constexpr std::string_view id = kVersionLaw;
  static constexpr std::string_view rule = "versions only rise, one has one document, and a run begins under the last";
};
struct OrderLaw : LawBase<OrderLaw> {
  static constexpr std::string_view id = kOrder;
  static constexpr std::string_view rule = "a lane delivers in the order of sending, one span at a time";
};
struct OnceLaw : LawBase<OnceLaw> {
  static constexpr std::string_view id = kOnce;
  static constexpr std::string_view rule =
      "a message is delivered once an attempt, a span has one effect, a run one end";
};
struct GuardLaw : LawBase<GuardLaw> {
  static constexpr std::string_view id = kGuard;
  static constexpr std::string_view rule =
      "a guarded edge is passed at most as often as its bound, or its measure falls";
};
struct VerdictLaw : LawBase<VerdictLaw> {
  static constexpr std::string_view id = kVerdictLaw;
  static constexpr std::string_view rule = "nothing crosses a boundary without a verdict that lets it pass";
};
struct AnswerLaw : LawBase<AnswerLaw> {
  static constexpr std::string_view id = kAnswerLaw;
  static constexpr std::string_view rule = "who is asked answers, and about the body that was asked about";
};
struct LimitsLaw : LawBase<LimitsLaw> {
  static constexpr std::string_view id = kLimits;
  static constexpr std::string_view rule =
      "ids are digests, keys are short, a run has at most the deliveries of its graph";
};

std::string drawn(Random& random) { return toHex(sha256(std::to_string(random.below(1'000'000)))); }

}  // namespace

struct Graph {
  static constexpr std::string_view name = "graph";
  static constexpr std::string_view title = "Graphs of episodes: the ledger of their runs";
  using Fields = graph::Fields;
  using Roles = RoleList<OperatorRole, RuntimeRole, PersonRole>;
  using Invariants = InvariantList<VersionLaw, OrderLaw, OnceLaw, GuardLaw, VerdictLaw, AnswerLaw, LimitsLaw>;
  static std::vector<std::string> counselors() { return {}; }

  using AnyAction = AnyActionOf<Roles>;

  // Of a graph in -> work -> out, whose `in` and `out` are gates; now and then a step that breaks a law.
  static AnyAction sample(const State& s, Random& random, Time) {
    const std::uint64_t draw = random.below(100);
    if (random.below(s.version == 0 ? 2 : 20) == 0) return sampleAny(random);
    if (s.version == 0 || draw < 2)
      return Deploy{.version = s.version + std::int64_t(random.below(3)),
                    .digest = drawn(random),
                    .deliveries = 8,
                    .edges = {{"work>work:T", 2}},
                    .gates = {{"in", {}}, {"out", {}}, {"who", {"ada"}}}};
    const auto open = [&] {
      std::vector<const MessageRow*> rows;
      for (Slot slot = 0; slot < s.messages.size(); ++slot)
        if (s.messages.row(slot).at) rows.push_back(&s.messages.row(slot));
      return rows;
    }();
    if (open.empty() || draw < 15) {
      const std::string run = drawn(random);
      return Begin{.run = run,
                   .version = s.version,
                   .node = "in",
                   .external = "x",
                   .message = drawn(random),
                   .key = "k" + std::to_string(random.below(2)),
                   .digest = drawn(random)};
    }
    const MessageRow& row = *open[random.below(open.size())];
    const Message& at = *row.at;
    if (!row.span)
      return Deliver{.run = at.run.hex(), .node = at.node, .message = at.id.hex(), .span = drawn(random), .attempt = 1};
    return sampleStep(at, *row.span, draw, random);
  }

 private:
  // Of nothing that is there.
  static AnyAction sampleAny(Random& random) {
    const std::string run = drawn(random), span = drawn(random), digest = drawn(random);
    switch (random.below(14)) {
      case 0: return Cancel{.run = run, .why = "not needed"};
      case 1: return Redrive{.run = run, .message = span};
      case 2: return Begin{.run = run, .version = 1, .node = "in", .message = span, .digest = digest};
      case 3: return Verdict{.run = run, .node = "in", .span = span, .verdict = "allow", .digest = digest};
      case 4: return Deliver{.run = run, .node = "in", .message = digest, .span = span, .attempt = 1};
      case 5: return Resume{.run = run, .node = "in", .span = span, .attempt = 1};
      case 6: return Finish{.run = run, .node = "in", .span = span};
      case 7: return Fail{.run = run, .node = "in", .span = span, .attempt = 1, .why = "error"};
      case 8: return Effect{.run = run, .node = "out", .span = span, .tool = "journal.put", .operation = span};
      case 9: return Ask{.run = run, .node = "who", .span = span, .digest = digest, .why = "counselor"};
      case 10: return Compensate{.run = run, .node = "out", .span = span, .operation = digest, .tool = "t"};
      case 11: return End{.run = run, .status = "completed"};
      case 12: return Answer{.run = run, .node = "who", .span = span, .digest = digest, .by = "ada", .approve = true};
      default: return Forget{.run = run};
    }
  }
  static AnyAction sampleStep(const Message& at, const Span& span, std::uint64_t draw, Random& random) {
    const std::string run = at.run.hex(), id = span.id.hex();
    const bool gate = at.node == "in" || at.node == "out";
    if (gate && !span.passed)
      return Verdict{.run = run,
                     .node = at.node,
                     .span = id,
                     .boundary = "b",
                     .operation = "o",
                     .verdict = draw < 80 ? "allow" : "deny",
                     .token = "",
                     .policy = "p",
                     .digest = at.digest.hex()};
    if (span.state == SpanState::backoff)
      return Deliver{.run = run, .node = at.node, .message = at.id.hex(), .span = id, .attempt = span.attempt + 1};
    if (draw < 25)
      return Fail{.run = run, .node = at.node, .span = id, .attempt = span.attempt, .why = "error", .retryAtMs = 1};
    Finish finish{.run = run, .node = at.node, .span = id};
    if (at.node == "out") return finish;
    const bool again = at.node == "work" && draw < 60;
    finish.sends.push_back({.edge = again             ? "work>work:T"
                                    : at.node == "in" ? "in>work:T"
                                                      : "work>out:T",
                            .message = drawn(random),
                            .node = again || at.node == "in" ? "work" : "out",
                            .key = at.key,
                            .digest = at.digest.hex()});
    return finish;
  }
};

namespace {

const RunRow* rowOf(const EntityState* entity, const Digest& run) {
  if (entity == nullptr) return nullptr;
  const auto& runs = TypedModule<Graph>::boxOf(*entity).state.runs;
  for (const Slot slot : runs.index<RunById>().candidates(run.bytes()))
    if (RunById::holds(runs.row(slot), run.bytes())) return &runs.row(slot);
  return nullptr;
}

}  // namespace

std::optional<Run> runIn(const EntityState* entity, const Digest& run) {
  const RunRow* row = rowOf(entity, run);
  return row == nullptr ? std::nullopt : row->at;
}

namespace {

// Of a run, in the order in which they came.
template <class T>
std::vector<T> keptIn(const EntityState* entity, const Digest& run, Cell<T> KeptRow::*cell) {
  std::map<std::int64_t, T> inOrder;
  if (entity == nullptr) return {};
  const auto& rows = TypedModule<Graph>::boxOf(*entity).state.kept;
  for (const Slot slot : rows.index<KeptByRun>().candidates(run.bytes()))
    if (const KeptRow& row = rows.row(slot); KeptByRun::holds(row, run.bytes()) && row.*cell)
      inOrder.emplace(row.at->number, *(row.*cell));
  std::vector<T> all;
  for (auto& [number, one] : inOrder) all.push_back(std::move(one));
  return all;
}

}  // namespace

std::vector<Output> outputsIn(const EntityState* entity, const Digest& run) {
  return keptIn(entity, run, &KeptRow::output);
}

std::vector<Letter> lettersIn(const EntityState* entity, const Digest& run) {
  return keptIn(entity, run, &KeptRow::letter);
}

std::vector<Run> runsIn(const EntityState* entity) {
  std::vector<Run> all;
  if (entity == nullptr) return all;
  const auto& runs = TypedModule<Graph>::boxOf(*entity).state.runs;
  for (const Slot slot : runs.byKey())
    if (runs.row(slot).at) all.push_back(*runs.row(slot).at);
  return all;
}

std::optional<Version> versionIn(const EntityState* entity, std::int64_t number) {
  if (entity == nullptr) return std::nullopt;
  const State& state = TypedModule<Graph>::boxOf(*entity).state;
  const Slot slot = state.versions.find(std::to_string(number));
  return slot == kNoSlot ? std::nullopt : state.versions.row(slot).at;
}

std::optional<Version> deployedIn(const EntityState* entity) {
  return entity == nullptr ? std::nullopt : versionIn(entity, TypedModule<Graph>::boxOf(*entity).state.version);
}

std::optional<Asked> askedIn(const EntityState* entity, const Digest& span) {
  if (entity == nullptr) return std::nullopt;
  const auto& messages = TypedModule<Graph>::boxOf(*entity).state.messages;
  for (const Slot slot : messages.index<MessageBySpan>().candidates(span.bytes()))
    if (const MessageRow& row = messages.row(slot);
        MessageBySpan::holds(row, span.bytes()) && row.span->state == SpanState::asking)
      return Asked{askedOf(*row.at, *row.span), !row.span->by.empty()};
  return std::nullopt;
}

std::vector<Question> questionsIn(const EntityState* entity) {
  std::vector<Question> all;
  if (entity == nullptr) return all;
  const State& state = TypedModule<Graph>::boxOf(*entity).state;
  for (Slot slot = 0; slot < state.messages.size(); ++slot) {
    const MessageRow& row = state.messages.row(slot);
    if (!row.span || row.span->state != SpanState::asking || !row.span->by.empty()) continue;
    Question question{
        row.at->run.hex(), row.at->node, row.span->id.hex(), row.at->key, askedOf(*row.at, *row.span).hex(), {}};
    if (const RunRow* run = rowOf(entity, row.at->run))
      if (const Slot version = state.versions.find(std::to_string(run->at->version)); version != kNoSlot)
        if (const auto& deployed = state.versions.row(version).at)
          if (const Gate* gate = gateOf(*deployed, row.at->node)) question.who = gate->who;
    all.push_back(std::move(question));
  }
  return all;
}

}  // namespace witan::domains::graph

WITAN_DEFINE_DOMAIN(graph, graph::Graph)
