#include "lab/ontology/against.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/string_util.h"
#include "lab/ontology/field_type.h"
#include "lab/ontology/roles.h"

namespace witan::ontology {

namespace {

using kernel::FieldMask;
using Names = std::set<std::string>;

Names minus(const Names& a, const Names& b) {
  Names rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool sameProcesses(const Derivation& a, const Derivation& b) {
  return std::equal(a.roles.begin(), a.roles.end(), b.roles.begin(), b.roles.end(),
                    [](const DerivedRole& x, const DerivedRole& y) { return x.processes == y.processes; });
}

class Comparing {
 public:
  Comparing(const kernel::Signature& code, const Model& model)
      : code_(code), model_(model), open_(model.ofKind(FieldKind::open)) {}

  Comparison run() {
    if (lower(code_.domain) != lower(model_.domain.name))
      note("the domain is called " + code_.domain + " in the code and " + model_.domain.name + " in the ontology");
    compareFields();
    compareProcesses();
    compareRoles();
    compareInvariants();
    return std::move(result_);
  }

 private:
  void differ(std::string words) { result_.differences.push_back(std::move(words)); }
  void note(std::string words) { result_.notes.push_back(std::move(words)); }

  Names names(FieldMask mask) const {
    const std::vector<std::string> all = code_.fieldNames(mask);
    return {all.begin(), all.end()};
  }
  Names names(const FieldSet& set) const {
    const std::vector<std::string> all = model_.namesOf(set - open_);
    return {all.begin(), all.end()};
  }

  // The names that both have; those that one has alone are told of.
  Names both(const std::string& what, const Names& inCode, const Names& inOntology) {
    for (const std::string& name : minus(inCode, inOntology)) differ(what + " " + name + " is not in the ontology");
    for (const std::string& name : minus(inOntology, inCode)) differ(what + " " + name + " is not in the code");
    return minus(inCode, minus(inCode, inOntology));
  }

  // What the code does beyond the ontology is a difference; what the ontology allows beyond it, a note.
  void within(const std::string& what, const Names& inCode, const Names& inOntology) {
    if (const Names more = minus(inCode, inOntology); !more.empty())
      differ(what + " " + joined(more) + ", which the ontology does not say");
    if (const Names less = minus(inOntology, inCode); !less.empty())
      note(what + " not " + joined(less) + ", which the ontology says");
  }

  void compareFields() {
    Names inCode, inOntology;
    for (const kernel::FieldInfo& f : code_.fields) inCode.insert(f.name);
    for (const Field& f : model_.fields)
      if (f.kind != FieldKind::open) inOntology.insert(f.name);
    const Names shared = both("field", inCode, inOntology);
    result_.fields = shared.size();
    for (const kernel::FieldInfo& f : code_.fields) {
      if (!shared.contains(f.name)) continue;
      const Field& other = *std::ranges::find_if(model_.fields, [&](const Field& one) { return one.name == f.name; });
      if (f.lifecycle != (other.kind == FieldKind::lifecycle))
        differ("field " + f.name + " is of the life cycle only in the " + (f.lifecycle ? "code" : "ontology"));
      if (other.type.empty()) continue;
      const Result<FieldType> type = parseFieldType(other.type);
      if (!type)
        differ("field " + f.name + ": " + type.error().message);
      else if (asDeclared(*type) != f.type)
        differ("field " + f.name + " is " + f.type + " in the code and " + asDeclared(*type) + " in the ontology");
    }
  }

  void compareProcesses() {
    Names inCode, inOntology, counselors;
    for (const kernel::ProcessInfo& p : code_.processes) {
      inCode.insert(p.name);
      if (p.role.empty()) counselors.insert(p.name);
    }
    for (const Process& p : model_.processes) inOntology.insert(p.name);
    // Procedure 1 leaves counselors' processes out, and so may an ontology.
    for (const std::string& name : minus(counselors, inOntology)) {
      note("process " + name + " (counselors') is not in the ontology");
      inCode.erase(name);
    }
    const Names shared = both("process", inCode, inOntology);
    result_.processes = shared.size();
    for (const kernel::ProcessInfo& p : code_.processes) {
      if (!shared.contains(p.name)) continue;
      const Process& other =
          *std::ranges::find_if(model_.processes, [&](const Process& one) { return one.name == p.name; });
      within("process " + p.name + " reads", names(p.reads), names(other.reads));
      within("process " + p.name + " writes", names(p.writes), names(other.writes));
      if (p.role.empty() != other.byCounselor)
        differ("process " + p.name + " is a counselor's only in the " + (p.role.empty() ? "code" : "ontology"));
    }
  }

  // Declared roles pin the derivation: they are what is compared, and where Procedure 1 gives others it is noted.
  void compareRoles() {
    const bool pinned = !model_.roles.empty();
    const Derivation roles = pinned ? declaredRoles(model_) : deriveRoles(model_);
    const std::string says = pinned ? "as the ontology declares" : "as Procedure 1 derives from the ontology";
    if (pinned && !sameProcesses(roles, deriveRoles(model_)))
      note("the ontology declares other roles than Procedure 1 would derive");
    Names matched;
    for (const DerivedRole& role : roles.roles) {
      Names processes;
      for (const std::size_t p : role.processes) processes.insert(model_.processes[p].name);
      const auto same = std::ranges::find_if(
          code_.roles, [&](const kernel::RoleInfo& r) { return processesOf(r.name) == processes; });
      if (same == code_.roles.end()) {
        differ("no role in the code performs just " + joined(processes) + ", " + says);
        continue;
      }
      matched.insert(same->name);
      ++result_.roles;
      if (pinned && role.name != same->name)
        differ("the role that performs " + joined(processes) + " is called " + same->name + " in the code and " +
               role.name + " in the ontology");
      within("role " + same->name + " sees", names(same->footprint), names(role.footprint));
    }
    for (const kernel::RoleInfo& role : code_.roles)
      if (!matched.contains(role.name))
        differ("role " + role.name + " performs " + joined(processesOf(role.name)) + ", and no role does so " + says);
  }

  void compareInvariants() {
    Names inCode, inOntology;
    for (const kernel::InvariantInfo& i : code_.invariants) inCode.insert(i.id);
    for (const Invariant& i : model_.invariants) inOntology.insert(i.name);
    const Names shared = both("invariant", inCode, inOntology);
    result_.invariants = shared.size();
    std::vector<std::string> codeOrder, ontologyOrder;
    for (const kernel::InvariantInfo& i : code_.invariants) {
      if (!shared.contains(i.id)) continue;
      codeOrder.push_back(i.id);
      const Invariant& other =
          *std::ranges::find_if(model_.invariants, [&](const Invariant& one) { return one.name == i.id; });
      within("invariant " + i.id + " reads", names(i.footprint), names(other.footprint));
      const bool escalates = i.onFailure == kernel::InvResult::escalate;
      // A declaration names one outcome; "mixed" says that there are two.
      if (other.onFailure != OnFailure::mixed && escalates != (other.onFailure == OnFailure::escalate))
        differ("invariant " + i.id + " " + (escalates ? "escalates" : "rejects") + " in the code and " +
               (escalates ? "rejects" : "escalates") + " in the ontology");
    }
    for (const Invariant& i : model_.invariants)
      if (shared.contains(i.name)) ontologyOrder.push_back(i.name);
    for (std::size_t k = 0; k < codeOrder.size(); ++k)
      if (codeOrder[k] != ontologyOrder[k])
        return differ("the list order differs: " + codeOrder[k] + " stands in the code where " + ontologyOrder[k] +
                      " stands in the ontology");
  }

  Names processesOf(const std::string& role) const {
    Names all;
    for (const kernel::ProcessInfo& p : code_.processes)
      if (p.role == role) all.insert(p.name);
    return all;
  }

  const kernel::Signature& code_;
  const Model& model_;
  FieldSet open_;
  Comparison result_;
};

std::string count(std::size_t n, const char* what) { return concat(n, " ", what); }

}  // namespace

Comparison compareWith(const kernel::Signature& code, const Model& model) { return Comparing(code, model).run(); }

std::string againstText(const std::string& file, const kernel::Signature& code, const Comparison& c) {
  std::string out = "against " + file + "\n";
  for (const std::string& words : c.differences) out += "  differs: " + words + "\n";
  for (const std::string& words : c.notes) out += "  note: " + words + "\n";
  out += "  " + code.domain + (c.differences.empty() ? " agrees: " : " does not agree; both have ") +
         count(c.fields, "fields, ") + count(c.processes, "processes, ") + count(c.roles, "roles, ") +
         count(c.invariants, "invariants") + "\n";
  return out;
}

std::string againstJson(const std::string& file, const Comparison& c) {
  return json::serialize(json::object{{"file", file},
                                      {"agrees", c.differences.empty()},
                                      {"differences", json::array(c.differences.begin(), c.differences.end())},
                                      {"notes", json::array(c.notes.begin(), c.notes.end())}});
}

}  // namespace witan::ontology
