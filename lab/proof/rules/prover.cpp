#include "lab/proof/rules/prover.h"

#include <algorithm>
#include <chrono>

#include "base/string_util.h"
#include "lab/proof/rules/symbolic_machine.h"
#include "rules/domain/value_json.h"

namespace witan::rules::proof {

using kernel::Evaluation;
using kernel::FieldMask;

namespace {

constexpr std::string_view kSamples[] = {"",
                                         " ",
                                         "K1",
                                         "K2",
                                         "K3",
                                         "a text for the record",
                                         "a@b.org",
                                         "G0480",
                                         "another text",
                                         "CVE-2026-0001",
                                         "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"};

// By invariant: whether it passes. Nothing: it has no term, and `why` says what.
struct Verdicts {
  std::vector<std::optional<z3::expr>> passes;
  std::vector<std::string> why;
};

// A process on a state, with the first or the second set of its arguments.
struct ProcessRun {
  SymbolicState after;
  z3::expr ok;    // it does not fault
  z3::expr fits;  // no table is full
  std::optional<Verdicts> verdicts;
};

// One of an example: a process with a set of its arguments, at one of the two moments.
struct Act {
  std::size_t process = 0, set = 0;
  bool later = false;
  auto operator<=>(const Act&) const = default;
};

// What was played of an example.
struct Played {
  Evaluation::Tag tag;
  std::uint16_t witness;
  std::string state;
};

class Prover {
 public:
  Prover(const RuleDomain& domain, const kernel::DomainModule& module, const ProofOptions& options)
      : domain_(domain), module_(module), options_(options), terms_(context_) {
    takeThirds(1);
    for (const std::string& literal : domain.literals) terms_.codeOf(literal);
    for (const std::string_view sample : kSamples) terms_.codeOf(sample);
    learn(domain.policy);
    const z3::expr &now = moments_[0], &later = moments_[1];
    assumed_.push_back(now >= 0 && now <= later && later <= terms_.whole(parseTime("2100-01-01T00:00:00Z")->micros));
    try {
      state_ = anyState(terms_, domain.layout, options.rows, now, assumed_);
      for (const RuleProcess& process : domain.processes)
        for (auto& set : arguments_) {
          set.emplace_back();
          for (const RuleArgument& argument : process.arguments)
            set.back().push_back(terms_.any(
                *argument.type, concat(process.name, &set == &arguments_[0] ? "." : "'.", argument.name), assumed_));
        }
      terms_.closePool();
      lawful_ = verdictsOf(*state_);
    } catch (const NoTerm& none) {
      noState_ = none.why;
    } catch (const z3::exception& refused) {
      noState_ = refusal(refused);
    }
  }

  ProofReport report() {
    ProofReport report{domain_.signature.domain, options_, {}, {}, {}, {}};
    for (std::size_t p = 0; p < domain_.processes.size(); ++p)
      if (domain_.processes[p].proposable) asked_.push_back(p);
    for (const std::size_t p : asked_) report.commits.emplace_back(domain_.processes[p].name, commits(p));
    for (std::size_t i = 0; i < domain_.invariants.size(); ++i)
      for (const std::size_t p : asked_) report.kept.push_back(kept(i, p));
    takeThirds(2);
    for (std::size_t i = 0; i < domain_.invariants.size(); ++i) report.uncoordinated.push_back(needs(i, report.kept));
    takeThirds(3);
    for (std::size_t a = 0; a < asked_.size(); ++a)
      for (std::size_t b = a; b < asked_.size(); ++b) report.orderless.push_back(orderless(asked_[a], asked_[b]));
    return report;
  }

 private:
  // The texts of a policy.
  void learn(const json::value& from) {
    if (from.is_string()) terms_.codeOf(std::string_view(from.get_string()));
    if (from.is_array())
      for (const json::value& item : from.get_array()) learn(item);
    if (from.is_object())
      for (const auto& [key, value] : from.get_object()) {
        terms_.codeOf(std::string_view(key));
        learn(value);
      }
  }

  // ---- states

  z3::expr passesOn(const RulePart& part, const SymbolicState& state) {
    const auto one = [&](auto prepare) {
      SymbolicMachine machine(terms_, domain_.layout, part.check, state, state.clock, part.check.reads);
      const z3::expr on = prepare(machine);
      machine.run();
      return terms_.either(terms_.negated(on), terms_.negated(terms_.either(machine.fault, machine.refused)));
    };
    if (!part.each) return one([&](SymbolicMachine&) { return terms_.yes; });
    z3::expr all = terms_.yes;
    for (unsigned slot = 0; slot < options_.rows; ++slot)
      all = terms_.both(all, one([&](SymbolicMachine& machine) {
                          machine.setLocal(0, machine.rowAt(*part.each, slot));
                          return machine.sees(state, *part.each, slot);
                        }));
    return all;
  }

  Verdicts verdictsOf(const SymbolicState& state) {
    Verdicts out;
    for (const RuleInvariant& invariant : domain_.invariants) {
      out.why.emplace_back();
      try {
        z3::expr passes = terms_.yes;
        for (const RulePart& part : invariant.parts) passes = terms_.both(passes, passesOn(part, state));
        out.passes.emplace_back(passes);
      } catch (const NoTerm& none) {
        out.passes.emplace_back();
        out.why.back() = none.why;
      }
    }
    return out;
  }

  z3::expr allPass(const Verdicts& verdicts, std::size_t until = ~std::size_t{0}) const {
    z3::expr all = terms_.yes;
    for (std::size_t i = 0; i < std::min(until, verdicts.passes.size()); ++i)
      if (verdicts.passes[i]) all = terms_.both(all, *verdicts.passes[i]);
    return all;
  }
  // All that is known of it.
  z3::expr lawful(ProcessRun& run) { return terms_.both(run.ok, allPass(verdicts(run))); }
  z3::expr commitsIn(ProcessRun& run) { return terms_.both(run.fits, lawful(run)); }
  const Verdicts& verdicts(ProcessRun& run) {
    if (!run.verdicts) run.verdicts = verdictsOf(run.after);
    return *run.verdicts;
  }

  ProcessRun runOn(const SymbolicState& state, const Act& act) {
    const RuleProcess& of = domain_.processes[act.process];
    const z3::expr& now = moments_[act.later ? 1 : 0];
    ProcessRun run{state, terms_.no, terms_.no, {}};
    run.after.clock = now;
    SymbolicMachine machine(terms_, domain_.layout, of.body, state, now, of.footprint);
    for (std::size_t i = 0; i < of.arguments.size(); ++i) machine.setLocal(i, arguments_[act.set][act.process][i]);
    machine.run(&run.after);
    run.ok = terms_.negated(machine.fault);
    run.fits = machine.fits;
    return run;
  }
  // Throws NoTerm.
  ProcessRun& first(const Act& act) {
    if (noState_) throw NoTerm{*noState_};
    if (const auto none = noRun_.find(act); none != noRun_.end()) throw NoTerm{none->second};
    const auto known = runs_.find(act);
    if (known != runs_.end()) return known->second;
    try {
      return runs_.emplace(act, runOn(*state_, act)).first->second;
    } catch (const NoTerm& none) {
      if (millisecondsLeft() > 0) noRun_.emplace(act, none.why);
      throw;
    }
  }

  // ---- questions

  // Up to so many thirds of the time may be gone.
  void takeThirds(unsigned thirds) {
    terms_.until = began_ + std::chrono::milliseconds(std::uint64_t{options_.seconds} * 1000 / 3 * thirds);
  }
  std::int64_t millisecondsLeft() const {
    const auto left = terms_.until - std::chrono::steady_clock::now();
    return std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
  }

  // Unknown also if the time is over.
  z3::check_result check(const z3::expr& goal, std::optional<z3::model>& model) {
    const std::int64_t left = millisecondsLeft();
    if (left <= 0) return z3::unknown;
    z3::solver solver(context_);
    solver.set("timeout", static_cast<unsigned>(std::min<std::int64_t>(options_.milliseconds, left)));
    for (const z3::expr& fact : assumed_) solver.add(fact);
    for (const z3::expr& fact : terms_.facts()) solver.add(fact);
    solver.add(goal);
    const z3::check_result result = solver.check();
    if (result == z3::sat) model = solver.get_model();
    return result;
  }

  std::string noAnswer() const {
    terms_.goOn();
    return concat("Z3 gave no answer within ", options_.milliseconds, " ms");
  }
  static std::string refusal(const z3::exception& refused) {
    return concat("Z3 refused the question (", refused.msg(), ")");
  }

  // What cannot be said to the end is unknown.
  template <class Say>
  static Claim said(Claim claim, Say say) {
    std::string why;
    try {
      say(claim);
      return claim;
    } catch (const NoTerm& none) {
      why = none.why;
    } catch (const z3::exception& refused) {
      why = refusal(refused);
    }
    if (claim.answer != Answer::no) claim.answer = Answer::unknown, claim.vacuous = false, claim.why = why;
    return claim;
  }

  // Is there no state in which `premise` and `broken` hold? `play`: plays an example, "": it is none.
  template <class Play>
  void ask(Claim& claim, const z3::expr& premise, const z3::expr& broken, Play play) {
    std::optional<z3::model> model;
    switch (check(premise && broken, model)) {
      case z3::unsat: {
        claim.answer = Answer::yes;
        const z3::check_result met = check(premise, model);
        claim.vacuous = met == z3::unsat;
        if (met == z3::unknown) claim.why = "no state in which it counts was found in time";
        return;
      }
      case z3::unknown: claim.why = noAnswer(); return;
      default: break;
    }
    claim.why = "each example needs a waiver, or a text of which nothing is known";
    for (const bool withHuman : {false, true}) {
      const z3::expr played = withHuman ? terms_.playable() : terms_.both(terms_.playable(), nothingHuman());
      const z3::check_result found = check(premise && broken && played, model);
      if (found == z3::unknown) claim.why = concat("there are examples, but of one to play ", noAnswer());
      if (found != z3::sat) continue;
      const std::optional<std::string> lines = play(*model);
      claim.why = lines ? "" : "an example was found, but the domain itself does not bear it out";
      if (!lines) continue;
      claim.answer = Answer::no;
      claim.example = *lines;
      claim.decided = withHuman;
      return;
    }
  }

  z3::expr nothingHuman() const {
    z3::expr all = terms_.yes;
    for (const FieldDecl& field : domain_.layout.fields)
      if (field.human)
        for (const auto& cells : state_->tables[field.table].cells)
          all = terms_.both(all, terms_.negated(cells[field.column].there));
    return all;
  }

  FieldMask writesOf(std::size_t process) const { return domain_.processes[process].body.writes; }
  // Also what decides which rows it sees.
  FieldMask readsOf(std::size_t process) const { return domain_.processes[process].footprint; }
  const std::string& nameOf(std::size_t process) const { return domain_.processes[process].name; }
  const std::string& roleOf(std::size_t process) const { return domain_.signature.processes[process].role; }

  Answer commits(std::size_t process) {
    try {
      ProcessRun& run = first({process});
      std::optional<z3::model> model;
      const z3::check_result found = check(terms_.both(allPass(*lawful_), commitsIn(run)), model);
      return found == z3::sat ? Answer::yes : found == z3::unsat ? Answer::no : Answer::unknown;
    } catch (const NoTerm&) {
      return Answer::unknown;
    } catch (const z3::exception&) {
      return Answer::unknown;
    }
  }

  // No lawful state in which the process would make this rule the first that does not pass.
  Claim kept(std::size_t invariant, std::size_t process) {
    Claim unsaid{domain_.invariants[invariant].id, nameOf(process), {}, Answer::unknown, false, false, {}, {}};
    if ((writesOf(process) & domain_.invariants[invariant].footprint) == 0) {
      unsaid.answer = Answer::yes;
      return unsaid;
    }
    return said(std::move(unsaid), [&](Claim& claim) {
      ProcessRun& run = first({process});
      const Verdicts& after = verdicts(run);
      if (!after.passes[invariant]) throw NoTerm{after.why[invariant]};
      ask(claim, terms_.both(allPass(*lawful_), terms_.both(terms_.both(run.ok, run.fits), allPass(after, invariant))),
          terms_.negated(*after.passes[invariant]), [&](const z3::model& model) -> std::optional<std::string> {
            const std::vector<Played> played = play(model, {{process}});
            if (played.size() != 1 || !decides(played[0], invariant)) return std::nullopt;
            return lines(model, concat(nameOf(process), " against ", claim.invariant), {{process}}, played);
          });
    });
  }

  // A rule needs no coordination if no two roles, each of which may act in a lawful state, together break it.
  Claim needs(std::size_t invariant, const std::vector<Claim>& kept) {
    Claim all{domain_.invariants[invariant].id, {}, {}, Answer::yes, false, false, {}, {}};
    for (const std::size_t a : asked_)
      for (const std::size_t b : asked_) {
        const auto alone = std::ranges::find_if(
            kept, [&](const Claim& one) { return one.invariant == all.invariant && one.first == nameOf(b); });
        if (roleOf(a) == roleOf(b) || alone->answer == Answer::yes) continue;
        if ((writesOf(a) & (domain_.invariants[invariant].footprint | readsOf(b) | writesOf(b))) == 0) continue;
        Claim one = together(invariant, a, b);
        if (one.answer == Answer::no) return one;
        if (one.answer == Answer::unknown) all = std::move(one);
      }
    return all;
  }

  Claim together(std::size_t invariant, std::size_t a, std::size_t b) {
    Claim unsaid{domain_.invariants[invariant].id, nameOf(a), nameOf(b), Answer::unknown, false, false, {}, {}};
    return said(std::move(unsaid), [&](Claim& claim) {
      const Act acts[] = {{a}, {b, 1, true}};
      ProcessRun &one = first(acts[0]), &other = first(acts[1]);
      ProcessRun then = runOn(one.after, acts[1]);
      const Verdicts& after = verdicts(then);
      if (!after.passes[invariant]) throw NoTerm{after.why[invariant]};
      const z3::expr premise = terms_.both(
          terms_.both(allPass(*lawful_), commitsIn(one)),
          terms_.both(terms_.both(commitsIn(other), terms_.both(then.ok, then.fits)), allPass(after, invariant)));
      ask(claim, premise, terms_.negated(*after.passes[invariant]),
          [&](const z3::model& model) -> std::optional<std::string> {
            const std::vector<Played> both = play(model, {acts[0], acts[1]}), alone = play(model, {acts[1]});
            const bool shows = both.size() == 2 && alone.size() == 1 && both[0].tag == Evaluation::Tag::approved &&
                               alone[0].tag == Evaluation::Tag::approved && decides(both[1], invariant);
            if (!shows) return std::nullopt;
            return lines(model, concat(nameOf(a), " and ", nameOf(b), " against ", claim.invariant), {acts[0], acts[1]},
                         both) +
                   lines(model, concat(nameOf(b), " alone"), {acts[1]}, alone);
          });
    });
  }

  // Where each may act alone, both orders are approved and give the same state.
  Claim orderless(std::size_t a, std::size_t b) {
    Claim unsaid{{}, nameOf(a), nameOf(b), Answer::unknown, false, false, {}, {}};
    const FieldMask first2 = writesOf(a), second2 = writesOf(b);
    bool apart = (first2 & (readsOf(b) | second2)) == 0 && (second2 & (readsOf(a) | first2)) == 0;
    for (const RuleInvariant& invariant : domain_.invariants)
      apart = apart && ((invariant.footprint & first2) == 0 || (invariant.footprint & second2) == 0);
    if (apart) {
      unsaid.answer = Answer::yes;
      return unsaid;
    }
    return said(std::move(unsaid), [&](Claim& claim) {
      const Act with{a}, then{b, 1};
      ProcessRun &one = first(with), &other = first(then);
      ProcessRun forth = runOn(one.after, then), back = runOn(other.after, with);
      const z3::expr premise = terms_.both(allPass(*lawful_), terms_.both(terms_.both(commitsIn(one), commitsIn(other)),
                                                                          terms_.both(forth.fits, back.fits)));
      const z3::expr alike = terms_.both(terms_.both(lawful(forth), lawful(back)),
                                         sameStates(terms_, domain_.layout, forth.after, back.after));
      ask(claim, premise, terms_.negated(alike), [&](const z3::model& model) -> std::optional<std::string> {
        const std::vector<Played> ab = play(model, {with, then}), ba = play(model, {then, with});
        const auto good = [](const std::vector<Played>& played) { return played[1].tag == Evaluation::Tag::approved; };
        const bool begun = ab.size() == 2 && ba.size() == 2 && ab[0].tag == Evaluation::Tag::approved &&
                           ba[0].tag == Evaluation::Tag::approved;
        if (!begun || (good(ab) && good(ba) && ab[1].state == ba[1].state)) return std::nullopt;
        return lines(model, concat(nameOf(a), ", then ", nameOf(b)), {with, then}, ab) +
               lines(model, concat(nameOf(b), ", then ", nameOf(a)), {then, with}, ba);
      });
      for (const Verdicts* after : {&verdicts(forth), &verdicts(back)})
        for (std::size_t i = 0; i < domain_.invariants.size(); ++i)
          if (!after->passes[i] && (domain_.invariants[i].footprint & (first2 | second2)) != 0)
            throw NoTerm{after->why[i]};
    });
  }

  // ---- examples

  using Acts = std::vector<Act>;

  Time timeIn(const z3::model& model, bool later = false) const {
    std::int64_t micros = 0;
    model.eval(moments_[later ? 1 : 0], true).is_numeral_i64(micros);
    return Time{micros};
  }

  std::string valueText(const z3::model& model, const Sym& sym, const Type& type) const {
    Arena memory;
    std::string out;
    writeValue(out, terms_.valueIn(model, sym, type, memory), type);
    return out;
  }

  // The fields of the state in which the example begins, as "init" has them.
  std::string beginIn(const z3::model& model) const {
    json::object fields;
    const auto jsonOf = [&](const Sym& sym, const Type& type) {
      return parseJson(valueText(model, sym, type), kOwnJson).value();
    };
    for (std::size_t i = 0; i < domain_.layout.fields.size(); ++i) {
      const FieldDecl& field = domain_.layout.fields[i];
      if (!field.isColumn) {
        fields[field.name] = jsonOf(state_->scalars[i], *field.type);
        continue;
      }
      const Rows& rows = state_->tables[field.table];
      json::object cells;
      json::array facts;
      for (std::size_t slot = 0; slot < rows.cells.size(); ++slot) {
        const Cell& cell = rows.cells[slot][field.column];
        if (!model.eval(cell.there, true).is_true()) continue;
        if (field.isLog)
          facts.push_back(jsonOf(cell.value, *field.type));
        else
          cells
              [parseJson(valueText(model, rows.keys[slot], *typeOf(Type::Kind::text)), kOwnJson).value().get_string()] =
                  jsonOf(cell.value, *field.type);
      }
      if (!cells.empty()) fields[field.name] = std::move(cells);
      if (!facts.empty()) fields[field.name] = std::move(facts);
    }
    return canonicalJson(fields);
  }

  std::string actionIn(const z3::model& model, const Act& act) const {
    json::object action{{"type", nameOf(act.process)}};
    const auto& arguments = domain_.processes[act.process].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      action[arguments[i].name] =
          parseJson(valueText(model, arguments_[act.set][act.process][i], *arguments[i].type), kOwnJson).value();
    return canonicalJson(action);
  }

  // Nothing if the state is not lawful. A state with what a person decided is read, not begun.
  std::vector<Played> play(const z3::model& model, const Acts& acts) const {
    const json::value begin = parseJson(beginIn(model), kOwnJson).value();
    const Time at = timeIn(model);
    auto state = module_.create(begin.get_object(), at);
    if (!state.ok()) {
      json::object whole = begin.get_object();
      whole["clock"] = formatTime(at);
      state = module_.readState(whole);
    }
    if (!state.ok() || (*state)->notPassing != 0) return {};
    std::vector<Played> out;
    for (const Act& act : acts) {
      const auto action = module_.parseAction(parseJson(actionIn(model, act), kOwnJson).value());
      if (!action.ok()) return {};
      Evaluation evaluation;
      module_.evaluateFully(**state, roleOf(act.process), **action, timeIn(model, act.later), evaluation);
      std::string text;
      module_.writeState(text, **state);
      out.push_back({evaluation.tag, evaluation.witness, std::move(text)});
    }
    return out;
  }

  static bool decides(const Played& played, std::size_t invariant) {
    return played.tag != Evaluation::Tag::approved && played.witness == invariant + 1;
  }

  std::string lines(const z3::model& model, const std::string& title, const Acts& acts,
                    const std::vector<Played>& played) {
    const std::string entity = concat("E", ++examples_), at = formatTime(timeIn(model));
    std::string out = canonicalJson(json::object{{"at", at},
                                                 {"entity", entity},
                                                 {"title", title},
                                                 {"init", parseJson(beginIn(model), kOwnJson).value()},
                                                 {"expect", "initialised"}}) +
                      "\n";
    for (std::size_t i = 0; i < acts.size(); ++i) {
      const auto tag = played[i].tag;
      const std::string witness(module_.invariantId(played[i].witness));
      const std::string expect = tag == Evaluation::Tag::approved   ? "approved"
                                 : tag == Evaluation::Tag::rejected ? "rejected:" + witness
                                                                    : "escalated:" + witness;
      out += canonicalJson(json::object{{"at", formatTime(timeIn(model, acts[i].later))},
                                        {"entity", entity},
                                        {"role", roleOf(acts[i].process)},
                                        {"action", parseJson(actionIn(model, acts[i]), kOwnJson).value()},
                                        {"expect", expect}}) +
             "\n";
    }
    return out;
  }

  const RuleDomain& domain_;
  const kernel::DomainModule& module_;
  const ProofOptions options_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  z3::context context_;
  Terms terms_;
  const z3::expr moments_[2] = {context_.int_const("now"), context_.int_const("later")};
  std::vector<z3::expr> assumed_;
  std::optional<SymbolicState> state_;
  std::optional<Verdicts> lawful_;
  std::vector<std::vector<Sym>> arguments_[2];  // by set, by process
  std::optional<std::string> noState_;
  std::map<Act, ProcessRun> runs_;
  std::map<Act, std::string> noRun_;
  std::vector<std::size_t> asked_;
  std::size_t examples_ = 0;
};

const char* word(const Claim& claim) {
  return claim.answer == Answer::unknown ? "unknown"
         : claim.answer == Answer::no    ? "no"
         : claim.vacuous                 ? "yes, never met"
                                         : "yes";
}

json::object claimJson(const Claim& claim) {
  json::object out{{"answer", claim.answer == Answer::yes ? "yes" : claim.answer == Answer::no ? "no" : "unknown"}};
  if (!claim.invariant.empty()) out["invariant"] = claim.invariant;
  if (!claim.first.empty()) out["first"] = claim.first;
  if (!claim.second.empty()) out["second"] = claim.second;
  if (claim.vacuous) out["vacuous"] = true;
  if (!claim.why.empty()) out["why"] = claim.why;
  if (!claim.example.empty()) out["example"] = claim.example;
  if (claim.decided) out["decided"] = true;
  return out;
}

std::string line(const std::string& what, const Claim& claim, const std::string& with) {
  std::string out = concat("  ", what, ": ", word(claim), with, "\n");
  if (!claim.why.empty()) out += concat("      ", claim.why, "\n");
  if (claim.decided) out += "      it begins with what a person decided, so it is no scenario:\n";
  for (std::string_view rest = claim.example; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    out += concat("      ", rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

ProofReport prove(const RuleDomain& domain, const kernel::DomainModule& module, const ProofOptions& options) {
  return Prover(domain, module, options).report();
}

std::string proofText(const ProofReport& report) {
  std::string out = concat(report.domain, ": all lawful states of at most ", report.options.rows, " rows a table and ",
                           kListElements, " elements a list; within ", report.options.seconds, " s, ",
                           report.options.milliseconds, " ms a question\n");
  for (const auto& [process, answer] : report.commits)
    if (answer == Answer::no) out += concat("  ", process, " can never be approved\n");
  out += "A process alone keeps a rule:\n";
  for (const Claim& claim : report.kept) out += line(concat(claim.invariant, ", ", claim.first), claim, "");
  out += "A rule needs no coordination of roles:\n";
  for (const Claim& claim : report.uncoordinated)
    out += line(claim.invariant, claim,
                claim.answer == Answer::no ? concat(" (", claim.first, ", ", claim.second, ")") : "");
  out += "Two processes give the same in either order, so that they need no owner:\n";
  for (const Claim& claim : report.orderless) out += line(concat(claim.first, ", ", claim.second), claim, "");
  return out;
}

json::object proofJson(const ProofReport& report) {
  const auto all = [](const std::vector<Claim>& claims) {
    json::array out;
    for (const Claim& claim : claims) out.push_back(claimJson(claim));
    return out;
  };
  json::array never;
  for (const auto& [process, answer] : report.commits)
    if (answer == Answer::no) never.emplace_back(process);
  return {{"domain", report.domain},
          {"rows", report.options.rows},
          {"seconds", report.options.seconds},
          {"limitMs", report.options.milliseconds},
          {"neverApproved", std::move(never)},
          {"kept", all(report.kept)},
          {"uncoordinated", all(report.uncoordinated)},
          {"orderless", all(report.orderless)}};
}

std::string proofScenarios(const ProofReport& report) {
  std::string out;
  for (const std::vector<Claim>* claims : {&report.kept, &report.uncoordinated, &report.orderless})
    for (const Claim& claim : *claims)
      if (!claim.decided) out += claim.example;
  return out;
}

}  // namespace witan::rules::proof
