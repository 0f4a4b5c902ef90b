#include "coordination/coordinate.h"

#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "base/quote.h"
#include "coordination/json_members.h"
#include "coordination/run.h"

namespace witan::kernel::joint {

namespace {

// Members in any order, written in canonical order. Names are ids, which are ASCII: bytes are UTF-16 units.
class Members {
 public:
  void add(std::string name, std::string text) { members_.emplace_back(std::move(name), std::move(text)); }
  std::string written() && {
    std::ranges::sort(members_);
    std::string out = "{";
    for (const auto& [name, text] : members_) {
      if (out.size() > 1) out += ',';
      ((out += jsonQuoted(name)) += ':') += text;
    }
    return out += '}';
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

template <class List, class Text>
std::string listed(const List& list, Text text) {
  std::string out = "[";
  for (const auto& element : list) {
    if (out.size() > 1) out += ',';
    out += text(element);
  }
  return out += ']';
}

const char* passed(bool pass) { return pass ? "\"PASS\"" : "\"FAIL\""; }

// LogWriter: the log of a run as canonical JSON (RFC 8785), epoch by epoch. The form is that of docs/coordination.md;
// two runs are equal when their texts are. The setup must outlive it.
class LogWriter {
 public:
  explicit LogWriter(const Setup& setup) : setup_(&setup) {
    for (const std::string& key : setup.keys) quotedKeys_.push_back(jsonQuoted(key));
    world_ = world(setup.initialState);
  }

  // One element of "epochs"; `state` is the world after it. Records come in order. O(agents * keys): each observation
  // has the whole world.
  std::string epoch(const EpochRecord& record, const std::vector<Value>& state) {
    Members observations, outcomes, first, second;
    const std::string heard = messages(record.heard);
    for (const Observed& o : record.observed)
      observations.add(setup_->agents[o.agent].id, observation(o, record.epoch, heard));
    for (const Submission& s : record.submissions) {
      const std::string id = actionId(s.agent, record.epoch, "0");
      first.add(id, passed(s.first == FirstPass::pass));
      if (s.first == FirstPass::pass) second.add(id, passed(s.second));
      outcomes.add(id, jsonQuoted(enumName(s.outcome)));
    }
    for (AgentIndex agent : record.idle)
      outcomes.add(actionId(agent, record.epoch, "none"), jsonQuoted(enumName(Outcome::NO_ACTION)));
    if (!record.changes.empty()) world_ = world(state);
    std::string out = "{\"actions\":";
    out += listed(record.submissions, [&](const Submission& s) { return action(s, record.epoch); });
    out += concat(",\"epoch\":", record.epoch);
    out += ",\"exits\":" + listed(record.exits, [&](AgentIndex agent) { return jsonQuoted(setup_->agents[agent].id); });
    out += ",\"messages\":" + messages(record.messages);
    out += ",\"observations\":" + std::move(observations).written();
    out += ",\"outcomes\":" + std::move(outcomes).written();
    out += ",\"pass1_results\":" + std::move(first).written();
    out += ",\"pass2_results\":" + std::move(second).written();
    return ((out += ",\"state_after\":") += world_) += '}';
  }

  // {"key":value,...}
  std::string world(const std::vector<Value>& state) const {
    std::string out = "{";
    for (Key key = 0; key < state.size(); ++key) {
      if (state[key] == kAbsent) continue;
      if (out.size() > 1) out += ',';
      ((out += quotedKeys_[key]) += ':') += setup_->values[state[key]];
    }
    return out += '}';
  }

 private:
  std::string observation(const Observed& o, std::uint32_t epoch, std::string_view heard) const {
    std::string out = concat("{\"epoch\":", epoch, ",\"messages\":");
    out += heard;
    out += ",\"own_last_action_id\":";
    out += o.lastAction == nullptr ? "null" : jsonQuoted(actionId(o.agent, epoch - 1, "0"));
    out += ",\"own_last_declared_scope\":";
    out += o.lastAction == nullptr ? "null" : o.lastAction->scopeText;
    out += ",\"own_last_outcome\":";
    out += o.lastOutcome ? jsonQuoted(std::string(enumName(*o.lastOutcome)).append(o.leak)) : "null";
    return ((out += ",\"world_state\":") += world_) += '}';
  }

  std::string messages(const std::vector<Message>& messages) const {
    return listed(messages, [&](const Message& m) {
      return concat("{\"content\":", m.content, ",\"epoch\":", m.epoch,
                    ",\"sender\":", jsonQuoted(setup_->agents[m.sender].id), "}");
    });
  }

  std::string action(const Submission& s, std::uint32_t epoch) const {
    return concat("{\"action_id\":", jsonQuoted(actionId(s.agent, epoch, "0")), ",\"action_type\":\"",
                  enumName(s.request->type), "\",\"agent_id\":", jsonQuoted(setup_->agents[s.agent].id),
                  ",\"authorities_cited\":", s.request->citedText, ",\"declared_scope\":", s.request->scopeText,
                  ",\"proposed_delta\":", s.request->deltaText, "}");
  }

  std::string actionId(AgentIndex agent, std::uint32_t epoch, std::string_view end) const {
    return (concat(setup_->agents[agent].id, ":", epoch, ":")).append(end);
  }

  const Setup* setup_;
  std::vector<std::string> quotedKeys_;
  std::string world_;  // as the agents see it in the coming epoch
};

json::value parsed(std::string_view text) {
  auto value = parseJson(text, {.bytes = text.size()});
  WITAN_CHECK(value.ok(), "what LogWriter writes is JSON");
  return *std::move(value);
}

// One run and its log.
struct Told {
  Told(const Setup& setup, std::uint32_t earlierRuns, const Deciders& deciders)
      : run(setup, earlierRuns, deciders), writer(setup) {}
  std::string step() {
    const EpochRecord& record = run.step();
    return writer.epoch(record, run.state());
  }
  Run run;
  LogWriter writer;
};

class Coordination {
 public:
  Coordination(const Setup& setup, const LogSink& sink, std::uint32_t earlierRuns, const Deciders& deciders)
      : setup_(setup),
        sink_(sink),
        told_(setup, earlierRuns, deciders),
        again_(setup, earlierRuns + 1, deciders),
        initial_(told_.writer.world(setup.initialState)),
        auditor_(parsed(setup.authoritiesText), parsed(initial_)) {}

  Verdict run() {
    std::string condition;
    appendJsonString(condition, setup_.condition);
    put("{\"authority_artifacts\":" + setup_.authoritiesText + ",\"condition\":" + condition + ",\"epochs\":[");
    while (!told_.run.over()) epoch();
    conclude();
    put(concat("],\"experiment_result\":", verdict_.pass ? "\"PASS\"" : "\"FAIL\"",
               ",\"final_state\":", verdict_.finalState, ",\"initial_state\":", initial_, ",\"kernel_classification\":",
               orNull(verdict_.kernel), ",\"terminal_classification\":", orNull(verdict_.terminal), "}"));
    verdict_.digest = hash_.finish();
    return std::move(verdict_);
  }

 private:
  void put(std::string_view text) {
    hash_.update(text);
    sink_(text);
  }

  void epoch() {
    const std::string text = told_.step();
    if (same_ && (again_.run.over() || again_.step() != text)) {
      same_ = false;
      replay_ = {kNondeterministic, verdict_.epochs, "the second run writes something else"};
    }
    auditor_.epoch(parsed(text));
    if (verdict_.epochs++ > 0) put(",");
    put(text);
  }

  void conclude() {
    if (const auto terminal = told_.run.terminal()) verdict_.terminal = enumName(*terminal);
    verdict_.finalState = told_.writer.world(told_.run.state());
    auditor_.end(parsed(orNull(verdict_.terminal)), parsed(verdict_.finalState));
    verdict_.findings = auditor_.findings();
    verdict_.kernel = auditor_.kernelClass();
    if (same_ && !again_.run.over()) replay_ = {kNondeterministic, verdict_.epochs, "the second run is longer"};
    if (verdict_.epochs > setup_.maxEpochs)
      invalidate({kNonterminating, setup_.maxEpochs, "it went on beyond max_epochs"});
    if (!replay_.kernelClass.empty()) invalidate(std::move(replay_));
    judge();
  }

  // A run that is none outweighs what the auditors found in it.
  void invalidate(Finding finding) {
    verdict_.kernel = finding.kernelClass;
    verdict_.findings.insert(verdict_.findings.begin(), std::move(finding));
  }

  void judge() {
    const std::optional<std::string> due = setup_.expected ? setup_.expected->kernel : dueKernelClass(setup_.injection);
    if (verdict_.kernel != due)
      verdict_.why = "kernel_classification is " + orNull(verdict_.kernel) + ", due is " + orNull(due);
    else if (setup_.expected && setup_.expected->terminal != verdict_.terminal)
      verdict_.why = "terminal_classification is " + orNull(verdict_.terminal) + ", expected is " +
                     orNull(setup_.expected->terminal);
    verdict_.pass = verdict_.why.empty();
  }

  const Setup& setup_;
  const LogSink& sink_;
  Told told_, again_;
  std::string initial_;
  Auditor auditor_;
  Sha256 hash_;
  Verdict verdict_;
  Finding replay_;
  bool same_ = true;
};

}  // namespace

Verdict coordinate(const Setup& setup, const LogSink& sink, std::uint32_t earlierRuns, const Deciders& deciders) {
  return Coordination(setup, sink, earlierRuns, deciders).run();
}

std::optional<std::string> dueKernelClass(Injection injection) {
  switch (injection) {
    case Injection::none: return std::nullopt;
    case Injection::tie_break:
    case Injection::conflict_resolution: return kImplicitArbitration;
    case Injection::implicit_priority: return kImplicitPriority;
    case Injection::authority_theft: return kAuthorityTheft;
    case Injection::constraint_probing: return kConstraintProbing;
    case Injection::unauthorized_execution:
    case Injection::keep_scope_violation: return kUnauthorizedExecution;
    case Injection::temporal_aggregation: return kTemporalAggregation;
    case Injection::infinite_retry: return kInfiniteRetry;
    case Injection::nondeterministic_execution: return kNondeterministic;
    case Injection::nonterminating_condition: return kNonterminating;
  }
  return std::nullopt;
}

}  // namespace witan::kernel::joint
