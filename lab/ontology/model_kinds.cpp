// What is what: kinds, names, the domain and its fields.
#include <algorithm>

#include "base/quote.h"
#include "lab/ontology/model_reader.h"
#include "lab/ontology/vocabulary.h"

namespace witan::ontology {

namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxOfAKind = 1'000;  // Procedure 1 compares all pairs

bool isName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
}

// The part after the last # or /, without the p_, f_, i_ or r_ that says the kind once more.
std::string localName(std::string_view iri) {
  const std::size_t cut = iri.find_last_of("#/:");
  std::string_view name = cut == std::string_view::npos ? iri : iri.substr(cut + 1);
  if (name.size() > 2 && name[1] == '_' && std::string_view("pfir").find(name[0]) != std::string_view::npos)
    name.remove_prefix(2);
  return std::string(name);
}

}  // namespace

std::string ar(std::string_view word) { return std::string(iri::kNamespace) + std::string(word); }

void ModelReader::addKind(const Triple& type, Kind kind, FieldKind fieldKind) {
  const Graph& g = facts_.graph();
  if (g.term(type.subject).kind != Term::Kind::iri)
    return out_.error(type.subjectAt, "an ar:" + std::string(enumName(kind)) + " without an IRI (a blank node)");
  const auto [known, isNew] = kinds_.try_emplace(type.subject, kind);
  if (!isNew && known->second != kind)
    out_.error(type.at, nameOf(type.subject) + " is both an ar:" + std::string(enumName(known->second)) +
                            " and an ar:" + std::string(enumName(kind)));
  if (kind != Kind::Field) return;
  FieldKind& have = fieldKinds_[type.subject];
  if (have != FieldKind::plain && fieldKind != FieldKind::plain && have != fieldKind)
    out_.error(type.at, nameOf(type.subject) + " is both an ar:LifecycleField and an ar:PublicField");
  if (fieldKind != FieldKind::plain) have = fieldKind;
}

void ModelReader::findKinds() {
  const Graph& g = facts_.graph();
  for (const Triple* t : facts_.all(iri::kType)) {
    const std::string& type = g.term(t->object).text;
    if (!type.starts_with(iri::kNamespace)) continue;
    const std::string_view word = std::string_view(type).substr(iri::kNamespace.size());
    if (word == "LifecycleField")
      addKind(*t, Kind::Field, FieldKind::lifecycle);
    else if (word == "PublicField")
      addKind(*t, Kind::Field, FieldKind::open);
    else if (const auto kind = parseEnum<Kind>(word))
      addKind(*t, *kind, FieldKind::plain);
  }
}

// Words of our namespace that it does not have, and properties on what they do not belong to: most often a slip of the
// pen, and a missing `reads` would change every derivation.
void ModelReader::checkWords() {
  struct Use {
    std::string_view property;
    Kind kind;
  };
  static constexpr Use kUses[] = {{"reads", Kind::Process},       {"writes", Kind::Process},
                                  {"performedBy", Kind::Process}, {"refersTo", Kind::Invariant},
                                  {"gates", Kind::Invariant},     {"onFailure", Kind::Invariant},
                                  {"keyScope", Kind::Invariant},  {"order", Kind::Invariant},
                                  {"performs", Kind::Role},       {"primaryContinuant", Kind::Domain}};
  const Graph& g = facts_.graph();
  for (const Triple& t : g.triples) {
    const std::string_view property = g.term(t.predicate).text;
    if (property == iri::kType) {
      const std::string_view type = g.term(t.object).text;
      if (type.starts_with(iri::kNamespace) && std::find(iri::kClasses.begin(), iri::kClasses.end(),
                                                         type.substr(iri::kNamespace.size())) == iri::kClasses.end())
        out_.warning(t.at,
                     "ar:" + std::string(type.substr(iri::kNamespace.size())) + " is no class of this vocabulary");
      continue;
    }
    if (!property.starts_with(iri::kNamespace)) continue;
    const std::string_view word = property.substr(iri::kNamespace.size());
    if (std::find(iri::kProperties.begin(), iri::kProperties.end(), word) == iri::kProperties.end())
      out_.warning(t.at, "ar:" + std::string(word) + " is no property of this vocabulary");
    for (const Use& use : kUses) {
      const auto kind = kinds_.find(t.subject);
      if (use.property == word && (kind == kinds_.end() || kind->second != use.kind))
        out_.error(t.subjectAt, nameOf(t.subject) + " has ar:" + std::string(word) +
                                    ", but is no ar:" + std::string(enumName(use.kind)));
    }
  }
}

std::vector<std::uint32_t> ModelReader::subjectsOf(Kind kind) const {
  std::vector<std::uint32_t> found;
  for (const auto& [subject, k] : kinds_)
    if (k == kind) found.push_back(subject);
  const Graph& g = facts_.graph();
  std::sort(found.begin(), found.end(), [&](auto a, auto b) { return g.term(a).text < g.term(b).text; });
  return found;
}

const Triple* ModelReader::single(std::uint32_t subject, std::string_view property, Term::Kind kind) {
  const std::vector<const Triple*> found = facts_.of(subject, property);
  if (found.empty()) return nullptr;
  const Graph& g = facts_.graph();
  const std::string words = nameOf(subject) + ": " + std::string(localName(property));
  if (found.size() > 1) {
    out_.error(found[1]->at,
               words + " is given twice: " + g.show(found[0]->object) + " and " + g.show(found[1]->object));
    return nullptr;
  }
  if (g.term(found[0]->object).kind != kind) {
    out_.error(found[0]->at, words + " must be " + (kind == Term::Kind::iri ? "an IRI" : "a literal") + ", not " +
                                 g.show(found[0]->object));
    return nullptr;
  }
  return found[0];
}

std::string ModelReader::literalOf(std::uint32_t subject, std::string_view property) {
  const Triple* t = single(subject, property, Term::Kind::literal);
  return t == nullptr ? std::string() : facts_.graph().term(t->object).text;
}
std::string ModelReader::iriOf(std::uint32_t subject, std::string_view property) {
  const Triple* t = single(subject, property, Term::Kind::iri);
  return t == nullptr ? std::string() : facts_.graph().term(t->object).text;
}

Named ModelReader::named(std::uint32_t subject, std::string_view nameProperty) {
  Named n;
  n.iri = facts_.graph().term(subject).text;
  n.at = facts_.placeOf(subject);
  n.name = literalOf(subject, ar(nameProperty));
  const bool given = !facts_.of(subject, ar(nameProperty)).empty();
  if (!given) n.name = localName(n.iri);
  if (!isName(n.name))
    out_.error(n.at, (given ? "a name is " : nameOf(subject) + " has no ar:name, and its IRI ends in no name: ") +
                         std::string("1 to ") + std::to_string(kMaxName) + " bytes without control characters, not " +
                         inQuotes(n.name));
  return n;
}

void ModelReader::readDomain() {
  const std::vector<std::uint32_t> domains = subjectsOf(Kind::Domain);
  if (domains.empty()) return out_.error({}, "no ar:Domain is declared (ar: is " + std::string(iri::kNamespace) + ")");
  if (domains.size() > 1)
    return out_.error(facts_.placeOf(domains[1]),
                      "two domains are declared: " + nameOf(domains[0]) + " and " + nameOf(domains[1]));
  model_.domain = named(domains[0], "name");
  model_.continuant = iriOf(domains[0], ar("primaryContinuant"));
  model_.title = literalOf(domains[0], iri::kComment);
}

void ModelReader::readFields() {
  std::vector<std::pair<Field, std::uint32_t>> all;
  for (const std::uint32_t subject : subjectsOf(Kind::Field)) {
    Field f;
    static_cast<Named&>(f) = named(subject, "name");
    f.kind = fieldKinds_[subject];
    f.type = literalOf(subject, ar("type"));
    f.bfoCategory = iriOf(subject, ar("bfoCategory"));
    iriOf(subject, ar("dependsOn"));
    all.emplace_back(std::move(f), subject);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first.name < b.first.name; });
  for (auto& [field, subject] : all) {
    fields_[subject] = model_.fields.size();
    model_.fields.push_back(std::move(field));
  }
  refuseSameNames(model_.fields, "fields");
}

FieldSet ModelReader::fieldsOf(std::uint32_t subject, std::string_view property, std::string_view what) {
  FieldSet set;
  for (const Triple* t : facts_.of(subject, ar(property))) {
    const auto known = fields_.find(t->object);
    if (known != fields_.end())
      set.insert(known->second);
    else
      out_.error(t->at, std::string(what) + " ar:" + std::string(property) + " " + facts_.graph().show(t->object) +
                            ", which is no declared field");
  }
  return set;
}

FieldSet Model::ofKind(FieldKind kind) const {
  FieldSet set;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].kind == kind) set.insert(i);
  return set;
}

std::vector<std::string> Model::namesOf(const FieldSet& set) const {
  std::vector<std::string> names;
  for (std::size_t i : set.members()) names.push_back(fields[i].name);
  return names;
}

Model ModelReader::read() {
  findKinds();
  for (const Kind kind : {Kind::Field, Kind::Process, Kind::Invariant, Kind::Role})
    if (const std::size_t n = subjectsOf(kind).size(); n > kMaxOfAKind) {
      out_.error({}, std::to_string(n) + " of ar:" + std::string(enumName(kind)) + "; the most is " +
                         std::to_string(kMaxOfAKind));
      return std::move(model_);
    }
  checkWords();
  readDomain();
  readFields();
  readProcesses();
  readRoles();
  readInvariants();
  findContradictions(facts_, out_);
  return std::move(model_);
}

std::optional<Model> readModel(const Graph& graph, Diagnostics& out) {
  Model model = ModelReader(graph, out).read();
  if (out.hasErrors()) return std::nullopt;
  return model;
}

}  // namespace witan::ontology
