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
  std::string state, writes;
};

// What two write that decided on one state without each other.
struct Merge {
  SymbolicState state;
  z3::expr clash;  // both wrote a cell that the rule reads
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
      if (domain.versionField) assumed_.push_back(versionOf() >= 1 && versionOf() <= terms_.whole(domain.version));
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

  // Of the rules that the entity is of.
  const z3::expr& versionOf() const { return state_->scalars[*domain_.versionField].e; }

  z3::expr passesOn(const RulePart& part, const SymbolicState& state) {
    const auto one = [&](auto prepare) {
      SymbolicMachine machine(terms_, domain_.layout, part.check, state, state.clock, part.check.reads);
      const z3::expr on = prepare(machine);
      machine.run();
      return terms_.either(terms_.negated(on), terms_.negated(terms_.either(machine.fault, machine.refused)));
    };
    if (!part.each) return one([&](SymbolicMachine&) { return terms_.yes; });
    z3::expr all = terms_.yes;
    for (unsigned slot = 0; slot < state.tables[*part.each].cells.size(); ++slot)
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

  z3::expr changed(const Sym& was, const Sym& is) const { return terms_.negated(terms_.same(was, is)); }
  z3::expr changed(const Cell& was, const Cell& is) const {
    const z3::expr kept = terms_.either(terms_.negated(is.there), terms_.same(was.value, is.value));
    return terms_.negated(terms_.both(was.there == is.there, kept));
  }

  Merge mergeOf(std::size_t invariant, const SymbolicState& one, std::size_t b, const SymbolicState& other) const {
    Merge merge{one, terms_.no};
    merge.state.clock = other.clock;
    const auto clashIn = [&](std::size_t field, const z3::expr& both) {
      if ((domain_.invariants[invariant].footprint >> field & 1) != 0) merge.clash = terms_.either(merge.clash, both);
    };
    for (std::size_t i = 0; i < domain_.layout.fields.size(); ++i) {
      const FieldDecl& field = domain_.layout.fields[i];
      if ((writesOf(b) >> i & 1) == 0) continue;
      if (!field.isColumn) {
        const z3::expr here = changed(state_->scalars[i], other.scalars[i]);
        clashIn(i, terms_.both(here, changed(state_->scalars[i], one.scalars[i])));
        merge.state.scalars[i] = terms_.choose(here, other.scalars[i], one.scalars[i]);
        continue;
      }
      const Rows &was = state_->tables[field.table], &is = other.tables[field.table];
      Rows& rows = merge.state.tables[field.table];
      for (std::size_t slot = 0; slot < is.cells.size(); ++slot) {
        const Cell &before = was.cells[slot][field.column], &after = is.cells[slot][field.column];
        if (field.isLog) {  // the facts of both
          rows.keys.push_back(is.keys[slot]);
          rows.cells.push_back({{terms_.both(after.there, terms_.negated(before.there)), after.value}});
          continue;
        }
        const z3::expr here = changed(before, after);
        Cell& cell = rows.cells[slot][field.column];
        clashIn(i, terms_.both(here, changed(before, cell)));
        cell = {terms_.pick(here, after.there, cell.there), terms_.choose(here, after.value, cell.value)};
      }
    }
    return merge;
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

  // So that an entity may begin as it is.
  z3::expr nothingHuman() const {
    z3::expr all = terms_.yes;
    for (const FieldDecl& field : domain_.layout.fields)
      if (field.human)
        for (const auto& cells : state_->tables[field.table].cells)
          all = terms_.both(all, terms_.negated(cells[field.column].there));
    return domain_.versionField ? terms_.both(all, versionOf() == terms_.whole(domain_.version)) : all;
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

  // A rule needs no coordination if no two roles, each of which may act in a lawful state, together break it: neither
  // one after the other, nor by what both write when neither sees the other, nor in that one hides the other's write to
  // a cell that it reads, after which it would have been refused.
  Claim needs(std::size_t invariant, const std::vector<Claim>& kept) {
    Claim all{domain_.invariants[invariant].id, {}, {}, Answer::yes, false, false, {}, {}};
    for (const std::size_t a : asked_)
      for (const std::size_t b : asked_) {
        const auto alone = std::ranges::find_if(
            kept, [&](const Claim& one) { return one.invariant == all.invariant && one.first == nameOf(b); });
        const FieldMask footprint = domain_.invariants[invariant].footprint;
        if (roleOf(a) == roleOf(b) || (writesOf(b) & footprint) == 0) continue;
        if ((writesOf(a) & ((alone->answer == Answer::yes ? 0 : footprint) | readsOf(b) | writesOf(b))) == 0) continue;
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
      const Merge merge = mergeOf(invariant, one.after, b, other.after);
      const Verdicts merged = verdictsOf(merge.state);
      if (!merged.passes[invariant]) throw NoTerm{merged.why[invariant]};
      const z3::expr premise =
          terms_.both(terms_.both(allPass(*lawful_), commitsIn(one)), terms_.both(commitsIn(other), then.fits));
      const z3::expr inTurn =
          terms_.both(terms_.both(then.ok, allPass(after, invariant)), terms_.negated(*after.passes[invariant]));
      const z3::expr skew = terms_.both(terms_.negated(merge.clash), terms_.negated(*merged.passes[invariant]));
      const z3::expr lost = terms_.both(merge.clash, terms_.negated(then.ok));
      std::string how;
      ask(claim, premise, terms_.either(inTurn, terms_.either(skew, lost)),
          [&](const z3::model& model) -> std::optional<std::string> {
            const std::vector<Played> both = play(model, {acts[0], acts[1]}), alone = play(model, {acts[1]});
            const bool begun = both.size() == 2 && alone.size() == 1 && both[0].tag == Evaluation::Tag::approved &&
                               alone[0].tag == Evaluation::Tag::approved;
            if (!begun) return std::nullopt;
            if (!decides(both[1], invariant)) {
              how = brokenApart(model, invariant, both, alone[0]);
              if (how.empty()) return std::nullopt;
            }
            return lines(model, concat(nameOf(a), " and ", nameOf(b), " against ", claim.invariant), {acts[0], acts[1]},
                         both) +
                   lines(model, concat(nameOf(b), " alone"), {acts[1]}, alone);
          });
      if (claim.answer == Answer::no) claim.why = how;
    });
  }

  // How two break the rule that decided without each other, as it was played; empty: they do not.
  std::string brokenApart(const z3::model& model, std::size_t invariant, const std::vector<Played>& both,
                          const Played& alone) const {
    const json::object first = parseJson(both[0].writes, kOwnJson).value().get_object(),
                       second = parseJson(alone.writes, kOwnJson).value().get_object();
    for (const std::string& field : domain_.signature.fieldNames(domain_.invariants[invariant].footprint)) {
      const json::value *one = first.if_contains(field), *other = second.if_contains(field);
      if (one == nullptr || other == nullptr || both[1].tag != Evaluation::Tag::rejected || both[1].witness != 0)
        continue;
      const auto at = std::ranges::find(domain_.layout.fields, field, &FieldDecl::name);
      const bool shared = !at->isColumn || (!at->isLog && std::ranges::any_of(one->get_object(), [&](const auto& cell) {
        return other->get_object().contains(cell.key());
      }));
      if (shared) return concat("both write ", field, ", and the second is refused after the first");
    }
    const kernel::EntityPtr merged = begun(model);
    if (!module_.applyWrites(*merged, first).ok() || !module_.applyWrites(*merged, second).ok()) return {};
    merged->shared.clock = timeIn(model, true);
    return module_.walk(*merged)[invariant].passed() ? std::string()
                                                     : "if neither sees the other, what both write breaks it";
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

  bool isOfThisVersion(const z3::model& model) const {
    std::int64_t version = 1;
    if (domain_.versionField) model.eval(versionOf(), true).is_numeral_i64(version);
    return version == domain_.version;
  }

  // The fields of the state in which the example begins, as "init" has them: it says nothing of the version.
  std::string beginIn(const z3::model& model, bool withVersion = false) const {
    json::object fields;
    const auto jsonOf = [&](const Sym& sym, const Type& type) {
      return parseJson(valueText(model, sym, type), kOwnJson).value();
    };
    for (std::size_t i = 0; i < domain_.layout.fields.size(); ++i) {
      const FieldDecl& field = domain_.layout.fields[i];
      if (!field.isColumn) {
        if (withVersion || i != domain_.versionField) fields[field.name] = jsonOf(state_->scalars[i], *field.type);
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

  // Null if no entity is in that state. One with what a person decided, or of an earlier version, is read, not begun.
  kernel::EntityPtr begun(const z3::model& model) const {
    const Time at = timeIn(model);
    if (isOfThisVersion(model))
      if (auto state = module_.create(parseJson(beginIn(model), kOwnJson).value().get_object(), at); state.ok())
        return *std::move(state);
    json::object whole = parseJson(beginIn(model, true), kOwnJson).value().get_object();
    whole["clock"] = formatTime(at);
    auto state = module_.readState(whole);
    return state.ok() ? *std::move(state) : nullptr;
  }

  // Nothing if the state is not lawful.
  std::vector<Played> play(const z3::model& model, const Acts& acts) const {
    const kernel::EntityPtr state = begun(model);
    if (state == nullptr || state->notPassing != 0) return {};
    std::vector<Played> out;
    for (const Act& act : acts) {
      const auto action = module_.parseAction(parseJson(actionIn(model, act), kOwnJson).value());
      if (!action.ok()) return {};
      Evaluation evaluation;
      module_.evaluateFully(*state, roleOf(act.process), **action, timeIn(model, act.later), evaluation);
      std::string text;
      module_.writeState(text, *state);
      out.push_back({evaluation.tag, evaluation.witness, std::move(text), evaluation.writes});
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

}  // namespace

ProofReport prove(const RuleDomain& domain, const kernel::DomainModule& module, const ProofOptions& options) {
  return Prover(domain, module, options).report();
}

}  // namespace witan::rules::proof
