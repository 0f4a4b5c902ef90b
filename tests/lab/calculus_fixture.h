// A toy architecture and random programs for the tests of the calculus.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "lab/redux/calculus/calculus.h"

namespace witan::kernel::calculus::toy {

// One balance. "add N" is rejected below 0, escalated above 50, else approved. Oracle elements:
//   "ops:add 5"     the arbitration picks ops, whose agent answers "add 5"
//   "choose"        the arbitration alone; the agent's answer is the next element (pi reads twice)
//   "hang"          the agent does not come back: pi is undefined
//   "commit alice 7", "reject alice"   counselor directives; only alice is authorised
class ToyArchitecture final : public Architecture {
 public:
  struct State {
    std::int64_t balance = 0;
    std::vector<std::string> audit;
    std::vector<std::string> queue;
    friend bool operator==(const State&, const State&) = default;
  };

  State state;

  bool isRole(std::string_view role) const override { return role == "ops" || role == "sales"; }
  bool isAction(std::string_view action) const override { return action == "crash" || amount(action).has_value(); }
  std::size_t queueLength() const override { return state.queue.size(); }

  std::optional<Proposal> coordinate(Oracle& oracle) override {
    const std::string* element = oracle.next();
    if (element != nullptr && *element == "choose") element = oracle.next();
    if (element == nullptr) return std::nullopt;
    const std::size_t colon = element->find(':');
    if (colon == std::string::npos) return std::nullopt;
    return Proposal{element->substr(0, colon), element->substr(colon + 1)};
  }

  std::optional<Outcome> adjudicate(const Proposal& proposal, Time) override {
    const std::optional<std::int64_t> added = amount(proposal.action);
    if (!added) return std::nullopt;  // "crash"
    const std::int64_t candidate = state.balance + *added;
    if (candidate < 0) return state.audit.push_back("rejected"), Outcome::rejected;
    if (candidate > 50) {
      state.audit.push_back("escalated");
      state.queue.push_back(proposal.action);
      return Outcome::escalated;
    }
    state.balance = candidate;
    state.audit.push_back("approved");
    return Outcome::approved;
  }

  CounselorAnswer awaitCounselor(Oracle& oracle) override {
    const std::string* element = oracle.next();
    if (element == nullptr) return CounselorAnswer::undefined;
    const bool commit = element->starts_with("commit ");
    if (!commit && !element->starts_with("reject ")) return CounselorAnswer::undefined;
    if (!std::string_view(*element).substr(7).starts_with("alice")) return CounselorAnswer::unauthorised;
    if (commit) state.balance = *amount("add" + element->substr(12));
    state.queue.clear();
    state.audit.push_back(commit ? "cCommitted" : "cRejected");
    return commit ? CounselorAnswer::cCommitted : CounselorAnswer::cRejected;
  }

 private:
  static std::optional<std::int64_t> amount(std::string_view action) {
    if (!action.starts_with("add ")) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(action.data() + 4, action.data() + action.size(), value);
    if (error != std::errc{} || end != action.data() + action.size()) return std::nullopt;
    return value;
  }
};

// Random decisions out of a byte string, so that a failing case shrinks with it. Past the end: always 0.
class Choices {
 public:
  explicit Choices(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  unsigned below(unsigned limit) { return at_ < bytes_.size() ? bytes_[at_++] % limit : 0; }
  template <class T>
  const T& of(const std::vector<T>& options) {
    return options[below(static_cast<unsigned>(options.size()))];
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

inline const std::vector<Type> baseTypes = {Type::outcome, Type::proposal, Type::time,
                                            Type::unit,    Type::role,     Type::action};

inline Type anyType(Choices& choices, System system) {
  const unsigned pick = choices.below(system == System::base ? 6 : 7);
  return pick == 6 ? Type::counselorOutcome : baseTypes[pick];
}

inline std::string anyAction(Choices& choices) {
  return choices.of<std::string>({"add 5", "add -20", "add 40", "crash", "add 60"});
}

inline std::string anyRole(Choices& choices) { return choices.of<std::string>({"ops", "sales"}); }

inline Value anyValue(Choices& choices, Type type) {
  switch (type) {
    case Type::unit: return choices.below(2) == 0 ? Value(Unit{}) : Value(Done{});
    case Type::role: return Role{anyRole(choices)};
    case Type::action: return Action{anyAction(choices)};
    case Type::time: return Time{static_cast<std::int64_t>(choices.below(200)) - 100};
    case Type::proposal: return Proposal{anyRole(choices), anyAction(choices)};
    case Type::outcome: return static_cast<Outcome>(choices.below(3));
    case Type::counselorOutcome: return static_cast<CounselorOutcome>(choices.below(2));
  }
  return Unit{};
}

inline std::string anyName(Choices& choices) { return choices.of<std::string>({"x", "y", "z"}); }  // few: they shadow

inline TermPtr leafOf(Choices& choices, Type type, const TypingContext& context) {
  std::map<std::string, Type> visible;
  for (const auto& [name, bound] : context) visible[name] = bound;
  const unsigned pick = choices.below(4);
  if (pick == 0 && type == Type::proposal) return makeCoordinate();
  if (pick <= 1 && type == Type::counselorOutcome) return makeAwaitCounselor();
  if (pick <= 2) {
    for (const auto& [name, bound] : visible) {
      if (bound == type) return makeVariable(name);
    }
  }
  return makeValue(anyValue(choices, type));
}

// A term with context |- term : type, by construction.
inline TermPtr typedTerm(Choices& choices, Type type, System system, const TypingContext& context = {},
                         unsigned depth = 5) {
  const unsigned pick = depth == 0 ? 9 : choices.below(10);
  if (pick <= 3) {
    const Type bound = anyType(choices, system);
    const std::string name = anyName(choices);
    TermPtr first = typedTerm(choices, bound, system, context, depth - 1);
    TypingContext inner = context;
    inner.emplace_back(name, bound);
    return makeLet(name, std::move(first), typedTerm(choices, type, system, inner, depth - 1));
  }
  if (type == Type::outcome && pick <= 7) {
    TermPtr proposal = typedTerm(choices, Type::proposal, system, context, depth - 1);
    return makeAdjudicate(std::move(proposal), typedTerm(choices, Type::time, system, context, depth - 1));
  }
  if (type == Type::outcome && pick == 8) return makeEntry(typedTerm(choices, type, system, context, depth - 1));
  return leafOf(choices, type, context);
}

// Any term at all: free variables, wrong types.
inline TermPtr wildTerm(Choices& choices, unsigned depth = 4) {
  switch (depth == 0 ? choices.below(4) : choices.below(9)) {
    case 0: return makeValue(anyValue(choices, anyType(choices, System::withCounselor)));
    case 1: return makeVariable(anyName(choices));
    case 2: return makeCoordinate();
    case 3: return makeAwaitCounselor();
    case 4: return makeEntry(wildTerm(choices, depth - 1));
    case 5:
    case 6: {
      TermPtr first = wildTerm(choices, depth - 1);
      return makeAdjudicate(std::move(first), wildTerm(choices, depth - 1));
    }
    default: {
      const std::string name = anyName(choices);
      TermPtr first = wildTerm(choices, depth - 1);
      return makeLet(name, std::move(first), wildTerm(choices, depth - 1));
    }
  }
}

inline Oracle anyOracle(Choices& choices) {
  static const std::vector<std::string> elements = {
      "ops:add 5",     "sales:add 60", "ops:add 60",     "choose",       "commit alice 7", "reject alice",
      "sales:add -20", "ops:crash",    "commit eve 900", "reject eve",   "commit alice 7", "ops:add 60",
      "ops:no action", "nobody:add 1", "hang",           "reject alice", "ops:add 40",     "commit alice 90"};
  std::vector<std::string> trace;
  for (unsigned i = choices.below(9) + 1; i > 0; --i) trace.push_back(choices.of(elements));
  return Oracle(std::move(trace));
}

// A whole configuration <e, s, omega>, and the type of e.
struct Configuration {
  TermPtr term;
  Type type = Type::unit;
  ToyArchitecture architecture;
  Oracle oracle{{}};
};

// A well-typed configuration (A.39), its queue empty.
inline Configuration anyConfiguration(Choices& choices, System system) {
  Configuration configuration;
  configuration.oracle = anyOracle(choices);
  configuration.architecture.state.balance = choices.below(60);
  configuration.type = anyType(choices, system);
  configuration.term = typedTerm(choices, configuration.type, system);
  return configuration;
}

}  // namespace witan::kernel::calculus::toy
