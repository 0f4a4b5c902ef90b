// Invariants: what Procedure 2 has found and the file declares.
#include <algorithm>
#include <charconv>

#include "lab/ontology/model_reader.h"
#include "lab/ontology/vocabulary.h"

namespace witan::ontology {

void ModelReader::readOrder(std::uint32_t subject, Invariant& into) {
  const Triple* t = single(subject, ar("order"), Term::Kind::literal);
  if (t == nullptr) return;
  const std::string& text = facts_.graph().term(t->object).text;
  std::int64_t order = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), order);
  if (error != std::errc() || end != text.data() + text.size())
    return out_.error(t->at,
                      into.name + ": ar:order must be an integer of 64 bits, not " + facts_.graph().show(t->object));
  into.order = order;
}

void ModelReader::readInvariants() {
  for (const std::uint32_t subject : subjectsOf(Kind::Invariant)) {
    Invariant i;
    static_cast<Named&>(i) = named(subject, "id");
    i.footprint = fieldsOf(subject, "refersTo", i.name);
    i.onFailure = wordOf(subject, ar("onFailure"), OnFailure::reject);
    i.keyScope = wordOf(subject, ar("keyScope"), KeyScope::perKey);
    i.comment = literalOf(subject, iri::kComment);
    readOrder(subject, i);
    for (const Triple* t : facts_.of(subject, ar("gates")))
      if (const auto process = processAt(*t, i.name + " ar:gates")) i.gates.push_back(*process);
    if (const std::string source = iriOf(subject, ar("source")); source == ar("PolicyRule"))
      i.source = Source::policyRule;
    else if (source == ar("Precondition"))
      i.source = Source::precondition;
    model_.invariants.push_back(std::move(i));
  }
  // List order: as numbered; those without a number come after them, by id.
  std::stable_sort(model_.invariants.begin(), model_.invariants.end(), [](const Invariant& a, const Invariant& b) {
    if (a.order.has_value() != b.order.has_value()) return a.order.has_value();
    if (a.order && *a.order != *b.order) return *a.order < *b.order;
    return a.name < b.name;
  });
  refuseSameNames(model_.invariants, "invariants");
  for (std::size_t k = 1; k < model_.invariants.size(); ++k) {
    const Invariant& before = model_.invariants[k - 1];
    const Invariant& one = model_.invariants[k];
    if (one.order && one.order == before.order)
      out_.error(one.at, before.name + " and " + one.name + " both have ar:order " + std::to_string(*one.order));
  }
}

}  // namespace witan::ontology
