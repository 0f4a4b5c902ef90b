#include "lab/ontology/model.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/quote.h"
#include "base/string_util.h"
#include "lab/ontology/vocabulary.h"

namespace witan::ontology {

namespace {

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxOfAKind = 1'000;  // Procedure 1 compares all pairs

bool isName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// The part after the last # or /, without the p_, f_, i_ or r_ that says the kind once more.
std::string localName(std::string_view iri) {
  const std::size_t cut = iri.find_last_of("#/:");
  std::string_view name = cut == std::string_view::npos ? iri : iri.substr(cut + 1);
  if (name.size() > 2 && name[1] == '_' && std::string_view("pfir").find(name[0]) != std::string_view::npos)
    name.remove_prefix(2);
  return std::string(name);
}

WITAN_ENUM(Kind, Domain, Field, Process, Invariant, Role)

// The steps of readModel, each of which appends diagnostics.
class ModelReader {
 public:
  ModelReader(const Graph& graph, Diagnostics& out) : facts_(graph), out_(out) {}

  Model read() {
    findKinds();
    for (const Kind kind : {Kind::Field, Kind::Process, Kind::Invariant, Kind::Role})
      if (const std::size_t n = subjectsOf(kind).size(); n > kMaxOfAKind) {
        out_.error({}, concat(n, " of ar:", enumName(kind), "; the most is ", kMaxOfAKind));
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

 private:
  void findKinds() {
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

  // Words of our namespace that it does not have, and properties on what they do not belong to: most often a slip of
  // the pen, and a missing `reads` would change every derivation.
  void checkWords() {
    struct Use {
      std::string_view property;
      Kind kind;
    };
    static constexpr Use kUses[] = {{"reads", Kind::Process},       {"writes", Kind::Process},
                                    {"performedBy", Kind::Process}, {"refersTo", Kind::Invariant},
                                    {"gates", Kind::Invariant},     {"onFailure", Kind::Invariant},
                                    {"keyScope", Kind::Invariant},  {"order", Kind::Invariant},
                                    {"performs", Kind::Role},       {"primaryContinuant", Kind::Domain},
                                    {"requiresAudit", Kind::Domain}};
    const Graph& g = facts_.graph();
    for (const Triple& t : g.triples) {
      const std::string_view property = g.term(t.predicate).text;
      if (property == iri::kType) {
        const std::string_view type = g.term(t.object).text;
        if (type.starts_with(iri::kNamespace) &&
            std::ranges::find(iri::kClasses, type.substr(iri::kNamespace.size())) == iri::kClasses.end())
          out_.warning(t.at, concat("ar:", type.substr(iri::kNamespace.size()), " is no class of this vocabulary"));
        continue;
      }
      if (!property.starts_with(iri::kNamespace)) continue;
      const std::string_view word = property.substr(iri::kNamespace.size());
      if (std::ranges::find(iri::kProperties, word) == iri::kProperties.end())
        out_.warning(t.at, concat("ar:", word, " is no property of this vocabulary"));
      for (const Use& use : kUses) {
        const auto kind = kinds_.find(t.subject);
        if (use.property == word && (kind == kinds_.end() || kind->second != use.kind))
          out_.error(t.subjectAt, concat(nameOf(t.subject), " has ar:", word, ", but is no ar:", enumName(use.kind)));
      }
    }
  }

  void addKind(const Triple& type, Kind kind, FieldKind fieldKind) {
    const Graph& g = facts_.graph();
    if (g.term(type.subject).kind != Term::Kind::iri)
      return out_.error(type.subjectAt, concat("an ar:", enumName(kind), " without an IRI (a blank node)"));
    const auto [known, isNew] = kinds_.try_emplace(type.subject, kind);
    if (!isNew && known->second != kind)
      out_.error(type.at, concat(nameOf(type.subject), " is both an ar:", enumName(known->second),
                                 " and an ar:", enumName(kind)));
    if (kind != Kind::Field) return;
    FieldKind& have = fieldKinds_[type.subject];
    if (have != FieldKind::plain && fieldKind != FieldKind::plain && have != fieldKind)
      out_.error(type.at, nameOf(type.subject) + " is both an ar:LifecycleField and an ar:PublicField");
    if (fieldKind != FieldKind::plain) have = fieldKind;
  }

  void readDomain() {
    const std::vector<std::uint32_t> domains = subjectsOf(Kind::Domain);
    if (domains.empty()) return out_.error({}, concat("no ar:Domain is declared (ar: is ", iri::kNamespace, ")"));
    if (domains.size() > 1)
      return out_.error(facts_.placeOf(domains[1]),
                        "two domains are declared: " + nameOf(domains[0]) + " and " + nameOf(domains[1]));
    model_.domain = named(domains[0], "name");
    model_.continuant = iriOf(domains[0], ar("primaryContinuant"));
    model_.title = literalOf(domains[0], iri::kComment);
    const std::string audit = literalOf(domains[0], ar("requiresAudit"));
    if (audit == "true" || audit == "false") model_.requiresAudit = audit == "true";
    if (!audit.empty() && !model_.requiresAudit)
      out_.error(model_.domain.at, "ar:requiresAudit must be true or false, not \"" + audit + "\"");
  }

  void readFields() {
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
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.first.name < b.first.name; });
    for (auto& [field, subject] : all) {
      fields_[subject] = model_.fields.size();
      model_.fields.push_back(std::move(field));
    }
    refuseSameNames(model_.fields, "fields");
  }

  void readProcesses() {
    for (const std::uint32_t subject : subjectsOf(Kind::Process)) {
      Process p;
      static_cast<Named&>(p) = named(subject, "name");
      p.reads = fieldsOf(subject, "reads", p.name);
      p.writes = fieldsOf(subject, "writes", p.name);
      p.hasParticipant = !facts_.of(subject, iri::kHasParticipant).empty();
      p.comment = literalOf(subject, iri::kComment);
      readPerformer(subject, p);
      processes_[subject] = model_.processes.size();
      model_.processes.push_back(std::move(p));
    }
    refuseSameNames(model_.processes, "processes");
  }

  void readRoles() {
    std::map<std::size_t, std::string> performer;
    for (const std::uint32_t subject : subjectsOf(Kind::Role)) {
      DeclaredRole role;
      static_cast<Named&>(role) = named(subject, "name");
      const auto perform = [&](std::size_t process, Place at) {
        const Process& p = model_.processes[process];
        if (p.byCounselor)
          out_.error(at, p.name + " is performed by a counselor and by role " + role.name);
        else if (const auto [by, isNew] = performer.try_emplace(process, role.name); !isNew && by->second != role.name)
          out_.error(at, p.name + " is performed by two roles, " + by->second + " and " + role.name);
        if (std::ranges::find(role.performs, process) == role.performs.end()) role.performs.push_back(process);
      };
      for (const Triple* t : facts_.of(subject, ar("performs")))
        if (const auto process = processAt(*t, "role " + role.name + " ar:performs")) perform(*process, t->at);
      for (const auto& [process, at] : performedBy_[subject]) perform(process, at);
      std::ranges::sort(role.performs);
      model_.roles.push_back(std::move(role));
    }
    std::ranges::stable_sort(model_.roles,
                             [](const DeclaredRole& a, const DeclaredRole& b) { return a.name < b.name; });
    refuseSameNames(model_.roles, "roles");
  }

  void readPerformer(std::uint32_t process, Process& into) {
    for (const Triple* t : facts_.of(process, ar("performedBy"))) {
      const std::string& iri = facts_.graph().term(t->object).text;
      const std::vector<const Triple*> types = facts_.of(t->object, iri::kType);
      const bool counselor = iri == ar("Counselor") || std::ranges::any_of(types, [&](const Triple* type) {
                               return facts_.graph().term(type->object).text == ar("Counselor");
                             });
      if (counselor) {
        into.byCounselor = true;
        continue;
      }
      performedBy_[t->object].emplace_back(model_.processes.size(), t->at);
      if (const auto kind = kinds_.find(t->object); kind == kinds_.end() || kind->second != Kind::Role) {
        out_.error(t->at, into.name + " ar:performedBy " + facts_.graph().show(t->object) +
                              ", which is neither ar:Counselor nor an ar:Role");
      }
    }
  }

  void readInvariants() {
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
    std::ranges::stable_sort(model_.invariants, [](const Invariant& a, const Invariant& b) {
      if (a.order.has_value() != b.order.has_value()) return a.order.has_value();
      if (a.order && *a.order != *b.order) return *a.order < *b.order;
      return a.name < b.name;
    });
    refuseSameNames(model_.invariants, "invariants");
    for (std::size_t k = 1; k < model_.invariants.size(); ++k) {
      const Invariant& before = model_.invariants[k - 1];
      const Invariant& one = model_.invariants[k];
      if (one.order && one.order == before.order)
        out_.error(one.at, concat(before.name, " and ", one.name, " both have ar:order ", *one.order));
    }
  }

  void readOrder(std::uint32_t subject, Invariant& into) {
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

  Named named(std::uint32_t subject, std::string_view nameProperty) {
    Named n{.iri = facts_.graph().term(subject).text,
            .name = literalOf(subject, ar(nameProperty)),
            .at = facts_.placeOf(subject)};
    const bool given = !facts_.of(subject, ar(nameProperty)).empty();
    if (!given) n.name = localName(n.iri);
    if (!isName(n.name))
      out_.error(n.at, concat(given ? "a name is " : nameOf(subject) + " has no ar:name, and its IRI ends in no name: ",
                              "1 to ", kMaxName, " bytes without control characters, not ", inQuotes(n.name)));
    return n;
  }

  // Ordered by IRI.
  std::vector<std::uint32_t> subjectsOf(Kind kind) const {
    std::vector<std::uint32_t> found;
    for (const auto& [subject, k] : kinds_)
      if (k == kind) found.push_back(subject);
    const Graph& g = facts_.graph();
    std::ranges::sort(found, [&](auto a, auto b) { return g.term(a).text < g.term(b).text; });
    return found;
  }

  FieldSet fieldsOf(std::uint32_t subject, std::string_view property, std::string_view what) {
    FieldSet set;
    for (const Triple* t : facts_.of(subject, ar(property))) {
      const auto known = fields_.find(t->object);
      if (known != fields_.end())
        set.insert(known->second);
      else
        out_.error(t->at,
                   concat(what, " ar:", property, " ", facts_.graph().show(t->object), ", which is no declared field"));
    }
    return set;
  }

  // The index of the process that a triple points at; nothing: told of.
  std::optional<std::size_t> processAt(const Triple& t, std::string_view what) {
    if (const auto known = processes_.find(t.object); known != processes_.end()) return known->second;
    out_.error(t.at, concat(what, " ", facts_.graph().show(t.object), ", which is no declared process"));
    return std::nullopt;
  }

  // The one literal or IRI of a property, or "". Two different ones are a contradiction.
  std::string literalOf(std::uint32_t subject, std::string_view property) {
    const Triple* t = single(subject, property, Term::Kind::literal);
    return t == nullptr ? std::string() : facts_.graph().term(t->object).text;
  }

  std::string iriOf(std::uint32_t subject, std::string_view property) {
    const Triple* t = single(subject, property, Term::Kind::iri);
    return t == nullptr ? std::string() : facts_.graph().term(t->object).text;
  }

  const Triple* single(std::uint32_t subject, std::string_view property, Term::Kind kind) {
    const std::vector<const Triple*> found = facts_.of(subject, property);
    if (found.empty()) return nullptr;
    const Graph& g = facts_.graph();
    const std::string words = concat(nameOf(subject), ": ", localName(property));
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

  template <class E>
  E wordOf(std::uint32_t subject, std::string_view property, E otherwise) {
    const Triple* t = single(subject, property, Term::Kind::literal);
    if (t == nullptr) return otherwise;
    const std::string& word = facts_.graph().term(t->object).text;
    if (const auto value = parseEnum<E>(word)) return *value;
    out_.error(t->at, facts_.graph().show(t->object) + " is none of: " + joined(enumNames<E>()));
    return otherwise;
  }

  template <class T>
  void refuseSameNames(const std::vector<T>& all, std::string_view what) {
    std::map<std::string_view, const T*> seen;
    for (const T& one : all)
      if (const auto [first, isNew] = seen.try_emplace(one.name, &one); !isNew)
        out_.error(one.at, concat("two ", what, " are called ", one.name, " (the other is at line ",
                                  first->second->at.line, ")"));
  }

  std::string nameOf(std::uint32_t subject) const { return facts_.graph().show(subject); }

  Facts facts_;
  Diagnostics& out_;
  Model model_;
  std::map<std::uint32_t, Kind> kinds_;
  std::map<std::uint32_t, FieldKind> fieldKinds_;
  std::map<std::uint32_t, std::size_t> fields_;                                      // term -> index
  std::map<std::uint32_t, std::size_t> processes_;                                   // term -> index
  std::map<std::uint32_t, std::vector<std::pair<std::size_t, Place>>> performedBy_;  // role's term -> processes
};

}  // namespace

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

std::optional<Model> readModel(const Graph& graph, Diagnostics& out) {
  Model model = ModelReader(graph, out).read();
  if (out.hasErrors()) return std::nullopt;
  return model;
}

}  // namespace witan::ontology
