// The small calculus of appendix A of "Agentic Redux" (A.1.13-A.1.15, with the counselor of A.3): terms, types, and one
// small step at a time, over any Architecture that supplies pi (coordinate), kappa (adjudicate) and the counselor.
//
// For tests of the theorems. Terms are immutable and shared; they may be copied freely. An Architecture and an Oracle
// must outlive the call that receives them; neither is thread-safe. The framework state s of a configuration <e, s,
// omega> lives inside the Architecture.
//
// Where the text of the paper leaves a choice:
//  - `done` is a value (as in lemma A.57; the grammar of A.1.14 lists it among the terms only);
//  - role, action and time constants are values (their types have axioms in A.1.15);
//  - a coordinate whose result lies outside Roles x Action counts as an undefined pi (definition A.21 excludes it);
//  - a rule that does not fire consumes no oracle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace witan::kernel::calculus {

// Nesting of terms; deeper ones cannot be built, so recursion over terms is safe.
inline constexpr unsigned maxTermDepth = 512;

enum class Outcome { approved, rejected, escalated };
enum class CounselorOutcome { cCommitted, cRejected };

// The action is opaque text here: what it means is the domain's affair.
struct Proposal {
  std::string role;
  std::string action;
  friend bool operator==(const Proposal&, const Proposal&) = default;
};

struct Done {
  friend bool operator==(Done, Done) = default;
};
struct Role {
  std::string name;
  friend bool operator==(const Role&, const Role&) = default;
};
struct Action {
  std::string text;
  friend bool operator==(const Action&, const Action&) = default;
};

// v ::= () | done | r | a | t | (r, a) | approved | rejected | escalated | cCommitted | cRejected
using Value = std::variant<Unit, Done, Role, Action, Time, Proposal, Outcome, CounselorOutcome>;

class Term;
using TermPtr = std::shared_ptr<const Term>;  // never null

// e ::= v | x | let x = e in e | coordinate | adjudicate(e, e) | entry(e) | awaitCounselor
class Term {
 public:
  enum class Kind { value, variable, let, coordinate, adjudicate, entry, awaitCounselor };

  Kind kind = Kind::value;
  Value value;       // value
  std::string name;  // variable; let: the bound one
  TermPtr first;     // let: the bound term; adjudicate: the proposal; entry: its argument
  TermPtr second;    // let: the body; adjudicate: the time
  unsigned depth = 1;

  bool isValue() const { return kind == Kind::value; }
};

// Deep equality, binders by name.
bool equal(const TermPtr& a, const TermPtr& b);

// Require: a result of at most maxTermDepth.
TermPtr makeValue(Value value);
TermPtr makeVariable(std::string name);
TermPtr makeLet(std::string name, TermPtr bound, TermPtr body);
TermPtr makeCoordinate();
TermPtr makeAdjudicate(TermPtr proposal, TermPtr time);
TermPtr makeEntry(TermPtr argument);
TermPtr makeAwaitCounselor();

// e[v/x]. `value` is closed, so nothing can be captured. O(size).
TermPtr substitute(const TermPtr& term, std::string_view name, const Value& value);

// The base calculus (A.1.14), or the one with counselor queue and freeze (A.64, "AgenticRedux+").
enum class System { base, withCounselor };

// ---- Typing (A.1.15) ----

// Products: Roles x Action is the only one that a term can have.
enum class Type { unit, role, action, time, proposal, outcome, counselorOutcome };
const char* toString(Type type);

// Membership in Roles_D and Action_D: what T-Role and T-Action ask of the domain. Whether the action belongs to the
// role is not typing's affair (remark A.53).
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  virtual bool isRole(std::string_view role) const = 0;
  virtual bool isAction(std::string_view action) const = 0;
};

using TypingContext = std::vector<std::pair<std::string, Type>>;  // the last binding of a name counts

// Gamma |- value : type, which needs no Gamma.
Result<Type> typeOfValue(const Value& value, const Vocabulary& vocabulary);
// Gamma |- term : type. The error names the rule whose premise fails. O(size * |context|).
Result<Type> typeOf(const TermPtr& term, const Vocabulary& vocabulary, System system,
                    const TypingContext& context = {});

// ---- Evaluation contexts ----

// One layer of E: the term whose `first` (or `second`, for adjudicate(v, E)) is the hole.
struct Frame {
  TermPtr term;
  bool holeIsSecond = false;
};
using Context = std::vector<Frame>;  // outermost first; empty: [.]

struct Decomposition {
  Context context;
  TermPtr redex;  // no value; its subterms in evaluation position are values
};

// The unique E and redex with E[redex] = term; none for a value. O(depth).
std::optional<Decomposition> decompose(const TermPtr& term);
// E[term].
TermPtr plug(const Context& context, TermPtr term);

// ---- Reduction (A.1.14, A.3.1) ----

// omega: a finite sequence of opaque elements, consumed left to right. Its end makes pi undefined.
class Oracle {
 public:
  explicit Oracle(std::vector<std::string> trace) : trace_(std::move(trace)) {}
  const std::string* next() { return position_ < trace_.size() ? &trace_[position_++] : nullptr; }
  std::size_t consumed() const { return position_; }
  std::size_t size() const { return trace_.size(); }
  void rewind(std::size_t consumed);  // Requires: consumed <= consumed()

 private:
  std::vector<std::string> trace_;
  std::size_t position_ = 0;
};

enum class CounselorAnswer {
  cCommitted,
  cRejected,
  unauthorised,  // the next element names someone who is no counselor: nothing changed
  undefined,     // the next element is no counselor directive, or the trace has ended: nothing changed
};

// pi, kappa and the counselor over one framework state. Deterministic functions of that state and their arguments.
class Architecture : public Vocabulary {
 public:
  virtual std::size_t queueLength() const = 0;
  // pi: none if undefined. Never changes the state.
  virtual std::optional<Proposal> coordinate(Oracle& oracle) = 0;
  // kappa: appends exactly one audit entry; none, and no change, if undefined. Consumes no oracle.
  virtual std::optional<Outcome> adjudicate(const Proposal& proposal, Time time) = 0;
  // Called with one pending proposal only. An outcome empties the queue and appends exactly one audit entry.
  virtual CounselorAnswer awaitCounselor(Oracle& oracle) = 0;
};

enum class Rule {
  eLet,
  eCoordinate,
  eAdjudicateApprove,
  eAdjudicateReject,
  eAdjudicateEscalate,
  eEntry,
  eCounselorCommit,
  eCounselorReject,
};
const char* toString(Rule rule);

enum class Stuck {
  coordinateUndefined,    // pi or an agent of the population (theorem 3)
  adjudicateUndefined,    // kappa (theorem 3)
  frozen,                 // coordinate or adjudicate while a proposal is pending (A.3.1)
  nothingPending,         // awaitCounselor with an empty queue (theorem 3+)
  unauthorisedCounselor,  // theorem 3+
  counselorUndefined,     // no directive comes
  freeVariable,           // cannot happen to a well-typed term
  illTyped,               // cannot happen to a well-typed term
};
const char* toString(Stuck reason);

struct StepResult {
  enum class Kind { stepped, value, stuck };

  Kind kind = Kind::value;
  TermPtr term;                    // stepped: e'; otherwise e
  Rule rule = Rule::eLet;          // stepped
  Stuck reason = Stuck::illTyped;  // stuck
  std::size_t contextDepth = 0;    // stepped, stuck: how often E-Ctx lifts the redex
};

// One step of <term, architecture, oracle>. A function of the configuration (lemma A.45): it changes the architecture
// and the oracle only when it steps. O(depth) plus the substitution or the architecture's work.
StepResult step(const TermPtr& term, Architecture& architecture, Oracle& oracle, System system);

struct Execution {
  std::vector<Rule> rules;  // in the order they fired
  StepResult last;          // value or stuck
};

// Steps until a value or stuck. Ends: every rule removes a term constructor that is not a value.
Execution execute(TermPtr term, Architecture& architecture, Oracle& oracle, System system);

}  // namespace witan::kernel::calculus
