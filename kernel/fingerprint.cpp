#include "kernel/fingerprint.h"

#include <algorithm>
#include <set>

#include "kernel/partition.h"

namespace witan::kernel {

namespace {

const RoleInfo& roleNamed(const Signature& signature, std::string_view name) {
  const auto at = std::ranges::find_if(signature.roles, [&](const RoleInfo& role) { return role.name == name; });
  WITAN_CHECK(at != signature.roles.end(), "a service has a role of the domain");
  return *at;
}

// Who signs what is done by hand.
std::string_view somebody(const DomainModule& module) {
  const auto& counselors = module.signature().counselors;
  return counselors.empty() ? std::string_view() : std::string_view(counselors.front());
}

}  // namespace

EntityPtr NaiveServices::sliceOf(const RoleInfo& role) const {
  std::string text;
  module_.writeState(text, *state_, role.footprint);
  return module_.readState(parseJson(text, kOwnJson).value().as_object()).value();
}

// The first local invariant that does not pass on the slice, "" if none; `escalates` if every such one escalates.
std::string NaiveServices::tryOnSlice(const Act& act, const json::object& edit, std::string& writes,
                                      bool& escalates) const {
  const RoleInfo& role = roleNamed(module_.signature(), act.role);
  const EntityPtr slice = sliceOf(role);
  Evaluation out;
  const Status made =
      module_.counselorCommit(*slice, CommitBase::candidate, act.action, edit, somebody(module_), act.at, out);
  escalates = false;
  if (!made.ok()) return std::string(kKernelIntegrity);
  writes = std::move(out.writes);
  std::string first;
  escalates = true;
  for (const Finding& finding : out.findings) {
    const InvariantInfo& invariant = module_.signature().invariants[finding.invariant - 1];
    if ((invariant.footprint & ~role.footprint) != 0) continue;  // not local: no service sees enough to check it
    if (first.empty()) first = invariant.id;
    escalates = escalates && finding.result == InvResult::escalate;
  }
  return first;
}

std::vector<std::string> NaiveServices::commitTogether(const std::vector<Act>& acts, const Person& person) {
  std::vector<std::string> heldBack, writes;
  Time last = state_->shared.clock;
  for (const Act& act : acts) {
    std::string written;
    bool escalates = false;
    std::string by = tryOnSlice(act, {}, written, escalates);
    if (!by.empty() && escalates && person) {
      const json::object edit = person(*sliceOf(roleNamed(module_.signature(), act.role)), act);
      by = tryOnSlice(act, edit, written, escalates);
    }
    if (by.empty()) {
      writes.push_back(std::move(written));
      last = std::max(last, act.at);
    }
    heldBack.push_back(std::move(by));
  }
  for (const std::string& one : writes) {
    const Status folded = module_.applyWrites(*state_, parseJson(one, kOwnJson).value().as_object());
    WITAN_CHECK(folded.ok(), "a write set of our own can be folded");
  }
  state_->shared.clock = last;
  return heldBack;
}

Status NaiveServices::commitByHand(const Act& act, const json::object& edit) {
  Evaluation out;
  return module_.counselorCommit(*state_, CommitBase::candidate, act.action, edit, somebody(module_), act.at, out);
}

std::vector<std::string> NaiveServices::violated() const {
  std::vector<std::string> ids;
  const std::vector<Verdict> verdicts = module_.walk(*state_);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed()) ids.push_back(module_.signature().invariants[i].id);
  return ids;
}

namespace {

// One trace of proposals through both architectures.
class TwinTrace {
 public:
  TwinTrace(const DomainModule& module, std::uint64_t seed) : module_(module), partition_(module), random_(seed) {}

  bool begin() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto init = parseJson(module_.sampleInit(random_, now_), kOwnJson);
      if (!init || !init->is_object()) continue;
      if (partition_.init(kEntity, init->get_object(), now_).outcome != Outcome::initialised) continue;
      naive_.emplace(module_, module_.clone(state()));
      return true;
    }
    return false;
  }

  // Every role is asked, and each second one has something to propose; all act on the state before the round.
  void round() {
    now_.micros += static_cast<std::int64_t>(1 + random_.below(86'400)) * kMicrosPerSecond;
    if (random_.below(12) == 0) now_.micros += static_cast<std::int64_t>(random_.below(40)) * kMicrosPerDay;
    std::vector<ActionPtr> actions;
    for (const RoleInfo& role : module_.signature().roles)
      if (random_.below(2) == 0)
        if (ActionPtr action = proposalOf(role.name)) actions.push_back(std::move(action));
    std::vector<NaiveServices::Act> acts;
    for (const ActionPtr& action : actions) acts.push_back({roleOf(*action), action.get(), now_});
    proposals += acts.size();
    for (const NaiveServices::Act& act : acts) adjudicate(act);
    for (const std::string& heldBack : naive_->commitTogether(acts, person())) naiveCommitted += heldBack.empty();
  }

  const EntityState& state() const { return *partition_.state(kEntity); }
  const NaiveServices& naive() const { return *naive_; }

  std::uint64_t proposals = 0, naiveCommitted = 0, kernelCommitted = 0, decisions = 0, entries = 0;

 private:
  static constexpr std::string_view kEntity = "entity";

  const std::string& roleOf(const Action& action) const { return module_.signature().processes[action.process].role; }

  ActionPtr proposalOf(const std::string& role) {
    for (int tries = 0; tries < 12; ++tries) {
      ActionPtr action = module_.sample(state(), random_, now_);
      if (!action) return nullptr;
      if (roleOf(*action) == role) return action;
    }
    return nullptr;
  }

  json::object editFor(const EntityState& seen, const Action& action) {
    const auto& counselors = module_.signature().counselors;
    if (counselors.empty()) return {};
    const auto edit = parseJson(module_.sampleEdit(seen, action, counselors.front(), random_, now_), kOwnJson);
    return edit && edit->is_object() ? edit->get_object() : json::object();
  }
  NaiveServices::Person person() {
    return [this](const EntityState& slice, const NaiveServices::Act& act) { return editFor(slice, *act.action); };
  }

  void adjudicate(const NaiveServices::Act& act) {
    const std::string id = concat("operation-", ++operations_);
    Proposal p{.entity = kEntity, .role = act.role, .operationId = id, .action = act.action, .at = act.at};
    const Outcome outcome = count(partition_.propose(p));
    kernelCommitted += outcome == Outcome::approved;
    if (outcome == Outcome::escalated) answer(*act.action);
  }

  // The counselor commits what is safe and rejects the rest.
  void answer(const Action& pending) {
    if (module_.signature().counselors.empty()) return;
    const json::object edit = editFor(state(), pending);
    Evaluation tried;
    const EntityPtr copy = module_.clone(state());
    const Status made =
        module_.counselorCommit(*copy, CommitBase::candidate, &pending, edit, somebody(module_), now_, tried);
    const std::string id = concat("operation-", ++operations_);
    CounselorDecision d{.entity = kEntity,
                        .counselor = module_.signature().counselors.front(),
                        .operationId = id,
                        .commit = made.ok() && tried.findings.empty(),
                        .edit = &edit,
                        .at = now_};
    kernelCommitted += count(partition_.decide(d)) == Outcome::cCommitted;
  }

  // Theorem 2: "exactly one entry per adjudication".
  Outcome count(const Decision& decision) {
    const bool adjudicated = decision.outcome != Outcome::refused && decision.outcome != Outcome::frozen &&
                             decision.outcome != Outcome::duplicate;
    decisions += adjudicated;
    entries += partition_.tree().size() - leaves_;
    leaves_ = partition_.tree().size();
    return decision.outcome;
  }

  const DomainModule& module_;
  Partition partition_;
  SeededRandom random_;
  std::optional<NaiveServices> naive_;
  Time now_ = kSampleStart;
  std::uint64_t operations_ = 0;
  std::uint64_t leaves_ = 0;
};

// Adds what is broken now to the invariants broken in this trace.
void note(const DomainModule& module, const EntityState& state, const std::string& where, std::set<std::string>& broken,
          TraceReport& report) {
  const std::vector<Verdict> verdicts = module.walk(state);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].passed()) continue;
    const std::string& id = module.signature().invariants[i].id;
    broken.insert(id);
    if (report.example.empty()) report.example = where + ": " + id + ": " + verdicts[i].message();
  }
}

void finish(const std::set<std::string>& broken, TraceReport& report) {
  report.tracesViolating += !broken.empty();
  for (const std::string& id : broken) ++report.violations[id];
}

void runTraces(const DomainModule& module, const FingerprintOptions& options, Fingerprint& print) {
  PropertyResult entries{"one ledger entry for each decision", 0, {}};
  for (std::size_t trace = 0; trace < options.traces; ++trace) {
    TwinTrace twin(module, options.seed + trace);
    if (!twin.begin()) break;
    std::set<std::string> naiveBroken, kernelBroken;
    for (std::size_t round = 0; round < options.rounds; ++round) {
      twin.round();
      const std::string where = concat("trace ", trace, ", round ", round);
      note(module, twin.naive().state(), where, naiveBroken, print.naive);
      note(module, twin.state(), where, kernelBroken, print.kernel);
    }
    finish(naiveBroken, print.naive);
    finish(kernelBroken, print.kernel);
    print.proposals += twin.proposals;
    print.naive.committed += twin.naiveCommitted;
    print.kernel.committed += twin.kernelCommitted;
    entries.checked += twin.decisions;
    if (twin.entries != twin.decisions && entries.failure.empty())
      entries.failure = concat("trace ", trace, ": ", twin.entries, " entries for ", twin.decisions, " decisions");
  }
  print.audit.push_back(std::move(entries));
}

std::string violationsText(const TraceReport& report) {
  std::string out;
  for (const auto& [id, count] : report.violations) out += concat(out.empty() ? "" : ", ", id, " in ", count);
  return out;
}

std::string traceLine(const char* who, const TraceReport& report, std::size_t traces) {
  std::string out = concat("  ", who, "committed ", report.committed, " proposals and broke invariants in ",
                           report.tracesViolating, " of ", traces, " traces");
  if (!report.violations.empty()) out += " (" + violationsText(report) + ")";
  if (!report.example.empty()) out += "\n    first in " + report.example;
  return out + "\n";
}

}  // namespace

bool Fingerprint::auditable() const {
  return !audit.empty() &&
         std::ranges::all_of(audit, [](const PropertyResult& one) { return one.checked > 0 && one.failure.empty(); });
}

Fingerprint fingerprintOf(const DomainModule& module, const FingerprintOptions& options) {
  Fingerprint print;
  print.skew = findWriteSkew(module, {.seed = options.seed, .steps = options.steps});
  runTraces(module, options, print);
  for (PropertyResult& one : checkHistories(module, {.seed = options.seed, .histories = options.traces}))
    if (one.name.starts_with("replay") || one.name.starts_with("JSON")) print.audit.push_back(std::move(one));
  return print;
}

std::string fingerprintText(const DomainModule& module, const FingerprintOptions& options, const Fingerprint& print) {
  const SkewReport& skew = print.skew;
  std::string out = module.signature().domain + "\n";
  if (!skew.searched) return out + "  not searched: the domain offers no sample actions\n";
  std::string against;
  for (const SkewWitness& witness : skew.witnesses) against += (against.empty() ? "" : ", ") + witness.invariant;
  out +=
      concat("  needs adjudication  ", print.needsAdjudication() ? "yes: write skew against " + against : "no witness",
             "\n    searched ", skew.states, " states, ", skew.actions, " lawful actions, ", skew.pairs,
             " pairs of different roles, from seed ", options.seed, "\n");
  out += concat("  auditable           ", print.auditable() ? "yes" : "NO", "\n");
  for (const PropertyResult& one : print.audit)
    out +=
        concat("    ", one.name, " (", one.checked, ")", one.failure.empty() ? "" : ": FAILED: " + one.failure, "\n");
  out += concat("  pipeline-like       ", print.pipelineLike() ? "yes" : "no", ": two roles or more could act in ",
                skew.severalRoles, " of ", skew.states, " states\n");
  out += concat("on the same ", options.traces, " traces of ", print.proposals, " proposals\n");
  return out + traceLine("naive services  ", print.naive, options.traces) +
         traceLine("the kernel      ", print.kernel, options.traces);
}

}  // namespace witan::kernel
