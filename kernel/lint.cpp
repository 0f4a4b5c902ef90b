#include "kernel/lint.h"

#include <algorithm>
#include <bit>
#include <map>

#include "base/string_util.h"

namespace witan::kernel {

namespace {

// Names that a state's JSON already uses.
constexpr std::string_view kReservedFields[] = {"clock", "policy", "waivers"};

FieldMask lifecycleFields(const Signature& signature) {
  FieldMask mask = 0;
  for (std::size_t i = 0; i < signature.fields.size(); ++i)
    if (signature.fields[i].lifecycle) mask |= FieldMask{1} << i;
  return mask;
}

void findDuplicates(const char* what, const std::vector<std::string>& names, std::vector<std::string>& problems) {
  std::map<std::string, int> seen;
  for (const std::string& name : names)
    if (++seen[name] == 2) problems.push_back(concat("two ", what, " are called ", name));
}

template <class T, class Name>
std::vector<std::string> namesOf(const std::vector<T>& all, Name name) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const T& one : all) names.push_back(one.*name);
  return names;
}

void findProblems(const Signature& signature, std::vector<std::string>& problems) {
  findDuplicates("fields", namesOf(signature.fields, &FieldInfo::name), problems);
  findDuplicates("processes", namesOf(signature.processes, &ProcessInfo::name), problems);
  findDuplicates("roles", namesOf(signature.roles, &RoleInfo::name), problems);
  findDuplicates("invariants", namesOf(signature.invariants, &InvariantInfo::id), problems);
  for (const FieldInfo& field : signature.fields)
    if (std::find(std::begin(kReservedFields), std::end(kReservedFields), field.name) != std::end(kReservedFields))
      problems.push_back("field " + field.name + " has the name of a public field");
  for (const ProcessInfo& process : signature.processes)
    if (process.footprint() == 0) problems.push_back("process " + process.name + " has an empty footprint");
  for (const RoleInfo& role : signature.roles)
    if (std::ranges::none_of(signature.processes, [&](const auto& p) { return p.role == role.name; }))
      problems.push_back("role " + role.name + " performs no process");
  const bool asks = std::ranges::any_of(
      signature.invariants, [](const InvariantInfo& one) { return one.mixed || one.onFailure == InvResult::escalate; });
  const auto isSomebody = [](const std::string& name) { return name.find_first_not_of(" \t") != std::string::npos; };
  if (asks && std::ranges::none_of(signature.counselors, isSomebody))
    problems.push_back("an escalation would wait for ever: no counselor is named who could answer it");
  const auto versionAt = std::ranges::find(signature.fields, kRulesVersionField, &FieldInfo::name);
  const FieldMask version =
      versionAt == signature.fields.end() ? ~FieldMask{0} : FieldMask{1} << (versionAt - signature.fields.begin());
  const InvariantInfo* escalating = nullptr;
  for (const InvariantInfo& invariant : signature.invariants) {
    if (invariant.id == kKernelIntegrity) problems.push_back("invariant " + invariant.id + " has the kernel's own id");
    if (invariant.footprint == 0) problems.push_back("invariant " + invariant.id + " has an empty footprint");
    if (invariant.onFailure == InvResult::escalate)
      escalating = &invariant;
    else if (escalating != nullptr && !within(version, invariant.footprint))
      problems.push_back("invariant " + invariant.id + " rejects but stands after " + escalating->id +
                         ", which escalates: a doomed proposal would be sent to a human");
  }
}

}  // namespace

std::string InvariantLint::section23() const {
  const bool local = !containedIn.empty();
  if (local) return crossBySection23() ? "local and cross-cutting" : "local";
  return crossBySection23() ? "cross-cutting" : "neither";
}

SignatureLint lintSignature(const Signature& signature) {
  SignatureLint lint;
  FieldMask inSomeRole = 0;
  FieldMask written = 0;
  FieldMask read = 0;
  for (const RoleInfo& role : signature.roles) inSomeRole |= role.footprint;
  for (const ProcessInfo& process : signature.processes) {
    written |= process.writes;
    read |= process.reads;
  }
  std::vector<RoleReach<FieldMask>> reaches;
  for (const RoleInfo& role : signature.roles) reaches.push_back({role.name, role.footprint, role.writes});
  for (const InvariantInfo& invariant : signature.invariants) {
    read |= invariant.footprint;
    lint.invariants.push_back(classifyInvariant(invariant.id, invariant.footprint, reaches));
    lint.invariants.back().orphans = signature.fieldNames(invariant.footprint & ~inSomeRole);
  }
  const FieldMask all = signature.fields.size() == 64 ? ~FieldMask{0} : (FieldMask{1} << signature.fields.size()) - 1;
  lint.inNoRole = signature.fieldNames(all & ~inSomeRole);
  lint.neverWritten = signature.fieldNames(all & ~written);
  lint.neverRead = signature.fieldNames(all & ~read);
  const FieldMask lifecycle = lifecycleFields(signature);
  for (const ProcessInfo& process : signature.processes) {
    ProcessLint one{process.name, process.role};
    for (const RoleInfo& role : signature.roles) {
      if (role.name != process.role) continue;
      one.excess = static_cast<std::uint32_t>(std::popcount(role.footprint & ~(process.footprint() & ~lifecycle)));
      one.of = static_cast<std::uint32_t>(std::popcount(role.footprint));
    }
    lint.processes.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < signature.fields.size(); ++i) {
    const FieldInfo& field = signature.fields[i];
    const bool plain =
        field.type == "text" || field.type == "map<text, text>" || field.type == "map<text, list of text>";
    if (!plain || ((inSomeRole & written) >> i & 1) == 0) continue;
    std::vector<std::string> readers;
    for (const InvariantInfo& invariant : signature.invariants)
      if (invariant.footprint >> i & 1) readers.push_back(invariant.id);
    if (!readers.empty()) lint.freeText.push_back(concat(field.name, " (", joined(readers), ")"));
  }
  findProblems(signature, lint.problems);
  return lint;
}

// The search for write skew (kernel/lint.h, findWriteSkew).

namespace {

constexpr std::size_t kWalkLength = 80;  // steps before a new beginning

// An action that keeps every invariant from the state at hand.
struct Lawful {
  ActionPtr action;
  Time at;
  std::string role;
  json::object writes;
  std::string text;
};

class SkewSearch {
 public:
  SkewSearch(const DomainModule& module, const SkewOptions& options)
      : module_(module), options_(options), random_(options.seed) {}

  SkewReport run() {
    for (std::size_t step = 0; step < options_.steps; ++step) {
      if (step % kWalkLength == 0 && !begin()) return finish();
      collect();
      for (std::size_t i = 0; i < lawful_.size(); ++i)
        for (std::size_t j = i + 1; j < lawful_.size(); ++j)
          if (lawful_[i].role != lawful_[j].role) tryPair(lawful_[i], lawful_[j]);
      ++report_.states;
      report_.severalRoles +=
          std::ranges::any_of(lawful_, [&](const Lawful& l) { return l.role != lawful_.front().role; });
      advance();
    }
    return finish();
  }

 private:
  bool begin() {
    now_ = kSampleStart;
    for (int attempt = 0; attempt < 20; ++attempt) {
      auto init = parseJson(module_.sampleInit(random_, now_), kOwnJson);
      if (!init || !init->is_object()) continue;
      auto created = module_.create(init->get_object(), now_);
      if (created) state_ = std::move(*created);
      if (created) return true;
    }
    return false;
  }

  void collect() {
    lawful_.clear();
    escalating_.reset();
    for (std::size_t i = 0; i < options_.actionsPerState; ++i) {
      // Def. A.11 lets the two have times of their own.
      const Time at{now_.micros + static_cast<std::int64_t>(random_.below(2)) * 1'000'000};
      ActionPtr action = module_.sample(*state_, random_, at);
      if (!action) return;
      report_.searched = true;
      const std::string& role = module_.signature().processes[action->process].role;
      EntityPtr candidate = module_.clone(*state_);
      module_.evaluate(*candidate, role, *action, at, evaluation_);
      if (evaluation_.tag == Evaluation::Tag::escalated) escalating_ = std::move(action);
      if (evaluation_.tag != Evaluation::Tag::approved) continue;
      ++report_.actions;
      json::object writes = parseJson(evaluation_.writes, kOwnJson).value().as_object();
      lawful_.push_back({std::move(action), at, role, std::move(writes), evaluation_.writes});
    }
  }

  // The first cell that both write.
  static std::optional<std::string> sharedCell(const json::object& a, const json::object& b) {
    for (const auto& [field, value] : a) {
      const json::value* other = b.if_contains(field);
      if (other == nullptr) continue;
      // A scalar's value may be an object in JSON too, but then both hold the same members.
      if (!value.is_object() || !other->is_object()) return std::string(field);
      for (const auto& [key, cell] : value.get_object())
        if (other->get_object().contains(key)) return concat(field, "[", key, "]");
    }
    return std::nullopt;
  }

  SkewAction describe(const Lawful& lawful) const {
    SkewAction action{lawful.role, lawful.at, {}, lawful.text};
    module_.writeAction(action.action, *lawful.action);
    return action;
  }

  void tryPair(const Lawful& a, const Lawful& b) {
    if (auto cell = sharedCell(a.writes, b.writes)) {
      if (report_.lostUpdate) return;
      report_.lostUpdate = LostUpdate{{}, describe(a), describe(b), std::move(*cell)};
      module_.writeState(report_.lostUpdate->state, *state_);
      return;
    }
    ++report_.pairs;
    EntityPtr merged = module_.clone(*state_);
    const bool folded = module_.applyWrites(*merged, a.writes).ok() && module_.applyWrites(*merged, b.writes).ok();
    WITAN_CHECK(folded, "a write set of our own can be folded");
    merged->shared.clock = std::max(a.at, b.at);
    const std::vector<Verdict> verdicts = module_.walk(*merged);
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      if (!verdicts[i].passed()) keep(i, a, b, *merged, verdicts[i].message());
  }

  void keep(std::size_t invariant, const Lawful& a, const Lawful& b, const EntityState& merged,
            const std::string& message) {
    SkewWitness witness{{}, {}, describe(a), describe(b), module_.signature().invariants[invariant].id, message};
    module_.writeState(witness.state, *state_);
    module_.writeState(witness.merged, merged);
    const auto known = found_.find(invariant);
    if (known != found_.end() && known->second.state.size() <= witness.state.size()) return;
    found_.insert_or_assign(invariant, std::move(witness));
  }

  // One lawful action, or a counselor's safe commit of one that escalated; then time passes, at times much of it.
  void advance() {
    if (escalating_ && (lawful_.empty() || random_.below(2) == 0))
      commitSafely(*escalating_);
    else if (!lawful_.empty()) {
      const Lawful& chosen = lawful_[random_.below(lawful_.size())];
      module_.evaluate(*state_, chosen.role, *chosen.action, chosen.at, evaluation_);
    }
    const std::int64_t days = random_.below(8) == 0 ? static_cast<std::int64_t>(random_.below(40)) : 0;
    now_ = Time{std::max(now_, state_->shared.clock).micros + days * kMicrosPerDay +
                static_cast<std::int64_t>(random_.below(86'400)) * kMicrosPerSecond};
  }

  void commitSafely(const Action& pending) {
    const auto& counselors = module_.signature().counselors;
    if (counselors.empty()) return;
    const Time at{now_.micros + 2'000'000};
    auto edit = parseJson(module_.sampleEdit(*state_, pending, counselors.front(), random_, at), kOwnJson);
    if (!edit || !edit->is_object()) return;
    EntityPtr candidate = module_.clone(*state_);
    if (!module_
             .counselorCommit(*candidate, CommitBase::candidate, &pending, edit->get_object(), counselors.front(), at,
                              evaluation_)
             .ok())
      return;
    if (evaluation_.findings.empty()) state_ = std::move(candidate);
  }

  SkewReport finish() {
    for (auto& [invariant, witness] : found_) report_.witnesses.push_back(std::move(witness));
    return std::move(report_);
  }

  const DomainModule& module_;
  const SkewOptions options_;
  SeededRandom random_;
  Time now_;
  EntityPtr state_;
  std::vector<Lawful> lawful_;
  ActionPtr escalating_;
  Evaluation evaluation_;
  std::map<std::size_t, SkewWitness> found_;  // by place in the list
  SkewReport report_;
};

}  // namespace

SkewReport findWriteSkew(const DomainModule& module, const SkewOptions& options) {
  return SkewSearch(module, options).run();
}

// Lint reports as text (kernel/lint.h).

namespace {

std::string orNone(const std::vector<std::string>& words) { return joined(words, "none"); }

void appendAction(std::string& out, const SkewAction& action) {
  out += "  " + action.role + " at " + formatTime(action.at) + "  " + action.action + "\n    writes " + action.writes +
         "\n";
}

}  // namespace

std::string lintText(const Signature& signature, const SignatureLint& lint) {
  std::string out = "footprints of roles\n";
  for (const RoleInfo& role : signature.roles)
    out += "  " + role.name + ": " + orNone(signature.fieldNames(role.footprint)) + "\n    writes " +
           orNone(signature.fieldNames(role.writes)) + "\n";
  out += "invariants\n";
  for (std::size_t i = 0; i < lint.invariants.size(); ++i) {
    const InvariantLint& one = lint.invariants[i];
    out +=
        "  " + one.id + "\n    footprint           " + orNone(signature.fieldNames(signature.invariants[i].footprint));
    out += "\n    Def. A.10           " +
           (one.crossCutting() ? std::string("cross-cutting") : "local to " + orNone(one.containedIn));
    out += "\n    section 2.3         " + one.section23() + " (meets " + orNone(one.touches) + ")";
    out += "\n    locally enforceable " +
           (one.enforcer.empty() ? "no (writers: " + orNone(one.writers) + ")" : "by " + one.enforcer) + "\n";
    if (!one.orphans.empty()) out += "    in no role          " + orNone(one.orphans) + "\n";
  }
  out += "privilege excess (fields of the role that the process does not need)\n";
  for (const ProcessLint& process : lint.processes)
    out += "  " + padded(process.name, 20) + " " +
           (process.role.empty() ? "performed by counselors"
                                 : concat(process.role, " ", process.excess, "/", process.of)) +
           "\n";
  out += "fields in no role: " + orNone(lint.inNoRole) + "\nfields never written: " + orNone(lint.neverWritten) +
         "\nfields never read: " + orNone(lint.neverRead) +
         "\nfree text that invariants read: " + orNone(lint.freeText) + "\n";
  for (const std::string& problem : lint.problems) out += "problem: " + problem + "\n";
  return out;
}

std::string skewText(const SkewReport& report) {
  if (!report.searched) return "write skew: not searched (the domain offers no sample actions)\n";
  std::string out = concat("write skew: ", report.states, " states, ", report.actions, " lawful actions, ",
                           report.pairs, " pairs of different roles merged\n");
  if (report.witnesses.empty()) out += "  no witness found\n";
  for (const SkewWitness& witness : report.witnesses) {
    out += "witness against " + witness.invariant + ": each alone keeps all invariants, both together do not\n  from " +
           witness.state + "\n";
    appendAction(out, witness.first);
    appendAction(out, witness.second);
    out += "  merged " + witness.merged + "\n  " + witness.message + "\n";
  }
  if (report.lostUpdate) {
    out += "lost update (not write skew): both write " + report.lostUpdate->cell + "\n  from " +
           report.lostUpdate->state + "\n";
    appendAction(out, report.lostUpdate->first);
    appendAction(out, report.lostUpdate->second);
  }
  return out;
}

}  // namespace witan::kernel
