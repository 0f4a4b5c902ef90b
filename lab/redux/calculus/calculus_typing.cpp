// The typing rules of A.1.15 and A.3.1, one function per rule with premises.
#include "lab/redux/calculus/calculus.h"

namespace witan::kernel::calculus {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 does not deduce it

class Typing {
 public:
  Typing(const Vocabulary& vocabulary, System system, const TypingContext& context)
      : vocabulary_(vocabulary), system_(system), context_(context) {}

  Result<Type> of(const TermPtr& term) {
    switch (term->kind) {
      case Term::Kind::value: return ofValue(term->value);
      case Term::Kind::variable: return variable(*term);
      case Term::Kind::let: return let(*term);
      case Term::Kind::coordinate: return Type::proposal;
      case Term::Kind::adjudicate: return adjudicate(*term);
      case Term::Kind::entry: return entry(*term);
      case Term::Kind::awaitCounselor: return ofCounselor("T-AwaitCounselor");
    }
    return invalid("calculus: a term of no kind");
  }

 private:
  Result<Type> ofValue(const Value& value) {
    if (std::holds_alternative<CounselorOutcome>(value)) return ofCounselor("T-CCommitted, T-CRejected");
    return typeOfValue(value, vocabulary_);
  }

  Result<Type> ofCounselor(const char* rule) {
    if (system_ == System::withCounselor) return Type::counselorOutcome;
    return invalid(std::string(rule) + ": the base calculus has no counselor");
  }

  Result<Type> variable(const Term& term) {
    for (std::size_t i = context_.size(); i > 0; --i) {
      if (context_[i - 1].first == term.name) return context_[i - 1].second;
    }
    return invalid("T-Var: '" + term.name + "' is not bound");
  }

  Result<Type> let(const Term& term) {
    WITAN_TRY(bound, of(term.first));
    context_.emplace_back(term.name, bound);
    Result<Type> body = of(term.second);
    context_.pop_back();
    return body;
  }

  Status premise(const char* rule, const char* subject, const TermPtr& term, Type expected) {
    WITAN_TRY(actual, of(term));
    if (actual == expected) return okStatus();
    return invalid(std::string(rule) + ": the " + subject + " has type " + toString(actual) + ", not " +
                   toString(expected));
  }

  Result<Type> adjudicate(const Term& term) {
    WITAN_DO(premise("T-Adjudicate", "first argument", term.first, Type::proposal));
    WITAN_DO(premise("T-Adjudicate", "second argument", term.second, Type::time));
    return Type::outcome;
  }

  Result<Type> entry(const Term& term) {
    WITAN_DO(premise("T-Entry", "argument", term.first, Type::outcome));
    return Type::outcome;
  }

  const Vocabulary& vocabulary_;
  System system_;
  TypingContext context_;
};

}  // namespace

const char* toString(Type type) {
  switch (type) {
    case Type::unit: return "Unit";
    case Type::role: return "Roles";
    case Type::action: return "Action";
    case Type::time: return "Time";
    case Type::proposal: return "Roles x Action";
    case Type::outcome: return "Outcome";
    case Type::counselorOutcome: return "CounselorOutcome";
  }
  return "unknown";
}

Result<Type> typeOfValue(const Value& value, const Vocabulary& vocabulary) {
  using Answer = Result<Type>;
  const auto role = [&](const std::string& name, Type type) -> Answer {
    if (vocabulary.isRole(name)) return type;
    return invalid("T-Role: '" + name + "' is no role of the domain");
  };
  const auto action = [&](const std::string& text, Type type) -> Answer {
    if (vocabulary.isAction(text)) return type;
    return invalid("T-Action: '" + text + "' is no action of the domain");
  };
  const auto proposal = [&](const Proposal& pair) -> Answer {  // T-Proposal
    if (Answer left = role(pair.role, Type::proposal); !left.ok()) return left;
    return action(pair.action, Type::proposal);
  };
  return std::visit(Overloaded{
                        [](Unit) -> Answer { return Type::unit; },
                        [](Done) -> Answer { return Type::unit; },
                        [&](const Role& r) { return role(r.name, Type::role); },
                        [&](const Action& a) { return action(a.text, Type::action); },
                        [](Time) -> Answer { return Type::time; },
                        proposal,
                        [](Outcome) -> Answer { return Type::outcome; },
                        [](CounselorOutcome) -> Answer { return Type::counselorOutcome; },
                    },
                    value);
}

Result<Type> typeOf(const TermPtr& term, const Vocabulary& vocabulary, System system, const TypingContext& context) {
  return Typing(vocabulary, system, context).of(term);
}

}  // namespace witan::kernel::calculus
