#include "lab/ontology/report.h"

#include "base/json.h"
#include "base/string_util.h"

namespace witan::ontology {

namespace {

json::array listOf(const std::vector<std::string>& words) { return json::array(words.begin(), words.end()); }

std::vector<std::string> processNames(const Model& model, const std::vector<std::size_t>& processes) {
  std::vector<std::string> names;
  for (const std::size_t p : processes) names.push_back(model.processes[p].name);
  return names;
}

json::object roleJson(const Model& model, const DerivedRole& role) {
  return {{"name", role.name},
          {"processes", listOf(processNames(model, role.processes))},
          {"footprint", listOf(model.namesOf(role.footprint))},
          {"writes", listOf(model.namesOf(role.writes))},
          {"declared", role.declared}};
}

json::object invariantJson(const Model& model, const InvariantClass& one) {
  const Invariant& invariant = model.invariants[one.invariant];
  return {{"id", invariant.name},
          {"footprint", listOf(model.namesOf(one.footprint))},
          {"class", one.lint.crossCutting() ? "cross-cutting" : "local"},
          {"localTo", listOf(one.lint.containedIn)},
          {"section23", one.lint.section23()},
          {"meets", listOf(one.lint.touches)},
          {"writers", listOf(one.lint.writers)},
          {"locallyEnforceableBy", one.lint.enforcer.empty() ? json::value(nullptr) : json::value(one.lint.enforcer)},
          {"orphans", listOf(one.lint.orphans)},
          {"onFailure", enumName(invariant.onFailure)},
          {"keyScope", enumName(invariant.keyScope)},
          {"acrossKeys", one.acrossKeys}};
}

std::string orNone(const std::vector<std::string>& words) { return joined(words, "none"); }

std::string shareText(const Share& s) { return concat(s.of, "/", s.to); }

void appendInvariant(std::string& out, const Model& model, const InvariantClass& one) {
  const kernel::InvariantLint& lint = one.lint;
  const Invariant& invariant = model.invariants[one.invariant];
  out += concat("  ", padded(invariant.name, 34), enumName(invariant.onFailure), "\n    footprint           ",
                orNone(model.namesOf(one.footprint)), "\n    Def. A.10           ",
                lint.crossCutting() ? std::string("cross-cutting") : "local to " + orNone(lint.containedIn),
                "\n    section 2.3         ", lint.section23(), " (meets ", orNone(lint.touches),
                ")\n    locally enforceable ",
                lint.enforcer.empty() ? "no (writers: " + orNone(lint.writers) + ")" : "by " + lint.enforcer, "\n");
  if (!lint.orphans.empty()) out += "    in no role          " + orNone(lint.orphans) + "\n";
  if (one.acrossKeys) out += "    over several keys   cross-cutting between instances of one role as well\n";
}

void appendCoverage(std::string& out, const Derived& d) {
  const Model& model = d.model;
  out += "no invariant reads what they write: " + orNone(processNames(model, d.coverage.unguarded)) + "\n";
  if (d.coverage.open.empty()) {
    out += model.ofKind(FieldKind::lifecycle).empty()
               ? "life cycle: no field of it\n"
               : "life cycle: every process has an invariant that knows the phase\n";
    return;
  }
  out += "life cycle: no invariant could forbid in one phase and allow in another\n";
  for (std::size_t i = 0; i < d.coverage.open.size();) {
    const std::size_t phase = d.coverage.open[i].phase;
    std::vector<std::size_t> processes;
    for (; i < d.coverage.open.size() && d.coverage.open[i].phase == phase; ++i)
      processes.push_back(d.coverage.open[i].process);
    out += "  " + padded(model.fields[phase].name, 20) + " " + orNone(processNames(model, processes)) + "\n";
  }
}

}  // namespace

std::string checkText(const std::string& file, const Diagnostics& found) {
  std::string out;
  for (const Diagnostic& d : found.sorted()) out += toText(file, d) + "\n";
  return concat(out, file, ": ", found.errors(), found.errors() == 1 ? " error, " : " errors, ", found.warnings(),
                found.warnings() == 1 ? " warning\n" : " warnings\n");
}

std::string checkJson(const std::string& file, const Diagnostics& found) {
  json::array list;
  for (const Diagnostic& d : found.sorted())
    list.push_back(json::object{
        {"severity", enumName(d.severity)}, {"line", d.at.line}, {"column", d.at.column}, {"message", d.message}});
  return json::serialize(json::object{{"file", file},
                                      {"ok", !found.hasErrors()},
                                      {"errors", found.errors()},
                                      {"warnings", found.warnings()},
                                      {"diagnostics", list}});
}

std::string deriveText(const Derived& d) {
  const Model& model = d.model;
  std::string out = concat(model.domain.name, ": ", d.roles.roles.size(), " roles, ",
                           d.roles.pinned ? "as declared" : "theta " + shareText(d.roles.theta), "\nroles\n");
  for (const DerivedRole& role : d.roles.roles)
    out += "  " + role.name + (role.declared ? "" : "  (named by us)") + "\n    processes " +
           orNone(processNames(model, role.processes)) + "\n    footprint " + orNone(model.namesOf(role.footprint)) +
           "\n    writes    " + orNone(model.namesOf(role.writes)) + "\n";
  if (!d.roles.pinned) {
    out += "merged, in this order (shared of the smaller's fields)\n";
    for (const Merge& m : d.roles.merges)
      out += concat("  ", m.left, " + ", m.right, "  ", m.shared, "/", m.smaller, "\n");
    if (d.roles.merges.empty()) out += "  none\n";
  }
  out += "privilege excess (fields of the role that the process does not need)\n";
  for (const Excess& e : d.roles.excess)
    out += concat("  ", padded(model.processes[e.process].name, 24), " ", d.roles.roles[e.role].name, " ", e.fields,
                  "/", e.of, "\n");
  if (d.roles.capExceeded) out += "  above the cap, with theta 1 too: the processes themselves are too wide\n";
  if (d.roles.dependsOnIris) out += "  ties decided: other IRIs could give other roles\n";
  out += "invariants, in list order\n";
  for (const InvariantClass& one : d.invariants) appendInvariant(out, model, one);
  appendCoverage(out, d);
  return out;
}

FootprintPrint footprintPrintOf(const Derived& d) {
  FootprintPrint print{{}, {}, d.model.requiresAudit};
  for (const InvariantClass& one : d.invariants)
    if (one.lint.writers.size() > 1 || (one.acrossKeys && !one.lint.writers.empty()))
      print.shared.push_back(concat(d.model.invariants[one.invariant].name, " (", orNone(one.lint.writers),
                                    one.acrossKeys ? ", over several keys" : "", ")"));
  // Who can be reached by going from writers to readers.
  const auto& roles = d.roles.roles;
  std::vector<std::vector<bool>> reaches(roles.size(), std::vector<bool>(roles.size()));
  for (std::size_t i = 0; i < roles.size(); ++i)
    for (std::size_t j = 0; j < roles.size(); ++j)
      reaches[i][j] = i != j && !(roles[i].writes & roles[j].footprint).empty();
  for (std::size_t k = 0; k < roles.size(); ++k)
    for (std::size_t i = 0; i < roles.size(); ++i)
      for (std::size_t j = 0; j < roles.size(); ++j)
        if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
  for (std::size_t i = 0; i < roles.size(); ++i)
    for (std::size_t j = i + 1; j < roles.size(); ++j)
      if (reaches[i][j] && reaches[j][i]) print.loops.push_back(concat(roles[i].name, " and ", roles[j].name));
  return print;
}

std::string footprintPrintText(const Derived& d) {
  const FootprintPrint print = footprintPrintOf(d);
  std::string out = d.model.domain.name + "\n";
  out +=
      concat("  needs adjudication  ", print.shared.empty() ? "no: each role keeps its invariants alone" : "yes", "\n");
  for (const std::string& one : print.shared) out += "    " + one + "\n";
  out += concat("  pipeline-like       ",
                print.loops.empty() ? "yes: what one role writes never comes back to it" : "no", "\n");
  for (const std::string& one : print.loops) out += "    " + one + " read what the other writes\n";
  return out + concat("  audit               ",
                      !print.audit   ? "not stated (ar:requiresAudit)"
                      : *print.audit ? "required"
                                     : "not required",
                      "\n");
}

std::string footprintPrintJson(const Derived& d) {
  const FootprintPrint print = footprintPrintOf(d);
  return json::serialize(
      json::object{{"domain", d.model.domain.name},
                   {"needsAdjudication", !print.shared.empty()},
                   {"shared", listOf(print.shared)},
                   {"pipelineLike", print.loops.empty()},
                   {"loops", listOf(print.loops)},
                   {"requiresAudit", print.audit ? json::value(*print.audit) : json::value(nullptr)}});
}

std::string deriveJson(const Derived& d) {
  const Model& model = d.model;
  json::array roles, invariants, excess, open;
  for (const DerivedRole& role : d.roles.roles) roles.push_back(roleJson(model, role));
  for (const InvariantClass& one : d.invariants) invariants.push_back(invariantJson(model, one));
  for (const Excess& e : d.roles.excess)
    excess.push_back(json::object{{"process", model.processes[e.process].name},
                                  {"role", d.roles.roles[e.role].name},
                                  {"excess", e.fields},
                                  {"of", e.of}});
  for (const OpenPair& pair : d.coverage.open)
    open.push_back(
        json::object{{"phase", model.fields[pair.phase].name}, {"process", model.processes[pair.process].name}});
  return json::serialize(json::object{
      {"roles", roles},
      {"invariants", invariants},
      {"domain", model.domain.name},
      {"theta", d.roles.pinned ? json::value(nullptr) : json::value(shareText(d.roles.theta))},
      {"pinned", d.roles.pinned},
      {"privilegeExcess", excess},
      {"capExceeded", d.roles.capExceeded},
      {"dependsOnIris", d.roles.dependsOnIris},
      {"coverage",
       json::object{{"openPairs", open}, {"unguarded", listOf(processNames(model, d.coverage.unguarded))}}}});
}

}  // namespace witan::ontology
