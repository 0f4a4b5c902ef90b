// Terms: construction, substitution, evaluation contexts.
#include <algorithm>

#include "base/check.h"
#include "lab/redux/calculus/calculus.h"

namespace witan::kernel::calculus {

namespace {

TermPtr make(Term term) {
  for (const TermPtr& child : {term.first, term.second}) {
    if (child != nullptr) term.depth = std::max(term.depth, child->depth + 1);
  }
  WITAN_CHECK(term.depth <= maxTermDepth, "terms are at most maxTermDepth deep");
  return std::make_shared<const Term>(std::move(term));
}

// `term` with other children; itself if they are the same.
TermPtr withChildren(const TermPtr& term, TermPtr first, TermPtr second) {
  if (first == term->first && second == term->second) return term;
  Term changed = *term;
  changed.first = std::move(first);
  changed.second = std::move(second);
  changed.depth = 1;
  return make(std::move(changed));
}

// Where evaluation goes on inside `term`, left to right; none if `term` is a redex (or stuck as it stands).
std::optional<Frame> innerFrame(const TermPtr& term) {
  switch (term->kind) {
    case Term::Kind::let:
    case Term::Kind::entry:
      if (!term->first->isValue()) return Frame{term, false};
      return std::nullopt;
    case Term::Kind::adjudicate:
      if (!term->first->isValue()) return Frame{term, false};
      if (!term->second->isValue()) return Frame{term, true};
      return std::nullopt;
    case Term::Kind::value:
    case Term::Kind::variable:
    case Term::Kind::coordinate:
    case Term::Kind::awaitCounselor: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

TermPtr makeValue(Value value) { return make({.kind = Term::Kind::value, .value = std::move(value)}); }
TermPtr makeVariable(std::string name) { return make({.kind = Term::Kind::variable, .name = std::move(name)}); }
TermPtr makeCoordinate() { return make({.kind = Term::Kind::coordinate}); }
TermPtr makeAwaitCounselor() { return make({.kind = Term::Kind::awaitCounselor}); }
TermPtr makeEntry(TermPtr argument) { return make({.kind = Term::Kind::entry, .first = std::move(argument)}); }

TermPtr makeLet(std::string name, TermPtr bound, TermPtr body) {
  return make({.kind = Term::Kind::let, .name = std::move(name), .first = std::move(bound), .second = std::move(body)});
}

TermPtr makeAdjudicate(TermPtr proposal, TermPtr time) {
  return make({.kind = Term::Kind::adjudicate, .first = std::move(proposal), .second = std::move(time)});
}

bool equal(const TermPtr& a, const TermPtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->kind == b->kind && a->value == b->value && a->name == b->name && equal(a->first, b->first) &&
         equal(a->second, b->second);
}

TermPtr substitute(const TermPtr& term, std::string_view name, const Value& value) {
  if (term == nullptr || term->isValue()) return term;
  if (term->kind == Term::Kind::variable) return term->name == name ? makeValue(value) : term;
  const bool shadowed = term->kind == Term::Kind::let && term->name == name;
  return withChildren(term, substitute(term->first, name, value),
                      shadowed ? term->second : substitute(term->second, name, value));
}

std::optional<Decomposition> decompose(const TermPtr& term) {
  if (term->isValue()) return std::nullopt;
  Decomposition result{{}, term};
  while (const std::optional<Frame> frame = innerFrame(result.redex)) {
    result.context.push_back(*frame);
    result.redex = frame->holeIsSecond ? frame->term->second : frame->term->first;
  }
  return result;
}

TermPtr plug(const Context& context, TermPtr term) {
  for (std::size_t i = context.size(); i > 0; --i) {
    const auto& [outer, holeIsSecond] = context[i - 1];
    term = holeIsSecond ? withChildren(outer, outer->first, std::move(term))
                        : withChildren(outer, std::move(term), outer->second);
  }
  return term;
}

}  // namespace witan::kernel::calculus
