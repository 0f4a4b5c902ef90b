#include "cli/format/domain_show.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json.h"
#include "base/string_util.h"
#include "kernel/domain_description.h"
#include "kernel/partition.h"
#include "node/events/rule_check.h"

namespace witan::node {

using namespace kernel;

namespace {

std::string orNone(const std::vector<std::string>& words) { return joined(words, "none"); }

json::array listOf(const std::vector<std::string>& words) { return json::array(words.begin(), words.end()); }

std::string argumentsText(const ProcessInfo& process) {
  std::string out = "(";
  for (std::size_t i = 0; i < process.arguments.size(); ++i) {
    const auto& [name, type] = process.arguments[i];
    out += (i ? ", " : "") + name + ": " + type + (i >= process.required ? " (optional)" : "");
  }
  return out + ")";
}

void appendProcess(std::string& out, const kernel::Signature& signature, const ProcessInfo& process) {
  out += "    " + process.name + (process.role.empty() ? "" : argumentsText(process)) + "\n      reads " +
         orNone(signature.fieldNames(process.reads)) + "\n      writes " +
         orNone(signature.fieldNames(process.writes)) + "\n";
}

json::object skewActionJson(const SkewAction& action) {
  return {{"role", action.role},
          {"at", formatTime(action.at)},
          {"action", json::parse(action.action)},
          {"writes", json::parse(action.writes)}};
}

json::object skewJson(const SkewReport& report) {
  json::array witnesses;
  for (const SkewWitness& w : report.witnesses)
    witnesses.push_back(json::object{{"invariant", w.invariant},
                                     {"message", w.message},
                                     {"state", json::parse(w.state)},
                                     {"first", skewActionJson(w.first)},
                                     {"second", skewActionJson(w.second)},
                                     {"merged", json::parse(w.merged)}});
  json::value lost;
  if (const auto& l = report.lostUpdate)
    lost = json::object{{"cell", l->cell},
                        {"state", json::parse(l->state)},
                        {"first", skewActionJson(l->first)},
                        {"second", skewActionJson(l->second)}};
  return {{"searched", report.searched}, {"states", report.states}, {"actions", report.actions},
          {"pairs", report.pairs},       {"witnesses", witnesses},  {"lostUpdate", lost}};
}

}  // namespace

std::string showDomain(const DomainModule& module) {
  const kernel::Signature& s = module.signature();
  std::string out = concat(s.domain, ": ", s.title, "\n\nfields (", s.fields.size(), ")\n");
  for (const FieldInfo& field : s.fields)
    out += "  " + padded(field.name + " ", 22) + field.type + (field.lifecycle ? "  (lifecycle)" : "") +
           (field.human != 0 ? "  (human)" : "") + (field.instances ? "  (instances)" : "") + "\n";
  out += "  clock, policy and waivers are public: everyone reads them, no proposal writes them\n\nroles\n";
  for (const RoleInfo& role : s.roles) {
    out += "  " + role.name + "\n    footprint: " + orNone(s.fieldNames(role.footprint)) + "\n";
    for (const ProcessInfo& process : s.processes)
      if (process.role == role.name) appendProcess(out, s, process);
  }
  const bool counseled = std::ranges::any_of(s.processes, [](const auto& p) { return p.role.empty(); });
  if (counseled) out += "  counselors only\n";
  for (const ProcessInfo& process : s.processes)
    if (process.role.empty()) appendProcess(out, s, process);
  out += "\ninvariants, in list order: the first that does not pass decides\n  " + padded("KERNEL_INTEGRITY", 34) +
         "reject    the proposal is of the proposer's role, in time, within its declared writes and without a fault\n";
  for (const InvariantInfo& invariant : s.invariants)
    out += "  " + padded(invariant.id, 34) + padded(std::string(enumName(invariant.onFailure)), 10) + invariant.rule +
           "\n    " + std::string(34, ' ') + "reads " + orNone(s.fieldNames(invariant.footprint)) + "\n";
  out += "\ncounselors: " + orNone(s.counselors) + "\npolicy: " + module.policyJson() +
         "\ndigest: " + toHex(module.digest()) + "\n";
  return out;
}

std::string showDomainJson(const DomainModule& module) { return toJson(describeDomain(module)); }

std::string lintJson(const kernel::Signature& signature, const SignatureLint& lint, const SkewReport& skew) {
  json::array roles, invariants, processes;
  for (const RoleInfo& role : signature.roles)
    roles.push_back(json::object{{"name", role.name},
                                 {"footprint", listOf(signature.fieldNames(role.footprint))},
                                 {"writes", listOf(signature.fieldNames(role.writes))}});
  for (std::size_t i = 0; i < lint.invariants.size(); ++i) {
    const InvariantLint& one = lint.invariants[i];
    invariants.push_back(
        json::object{{"id", one.id},
                     {"footprint", listOf(signature.fieldNames(signature.invariants[i].footprint))},
                     {"class", one.crossCutting() ? "cross-cutting" : "local"},
                     {"localTo", listOf(one.containedIn)},
                     {"section23", one.section23()},
                     {"meets", listOf(one.touches)},
                     {"writers", listOf(one.writers)},
                     {"locallyEnforceableBy", one.enforcer.empty() ? json::value(nullptr) : json::value(one.enforcer)},
                     {"orphans", listOf(one.orphans)}});
  }
  for (const ProcessLint& process : lint.processes)
    processes.push_back(json::object{{"name", process.name},
                                     {"role", process.role.empty() ? json::value(nullptr) : json::value(process.role)},
                                     {"excess", process.excess},
                                     {"of", process.of}});
  return json::serialize(json::object{{"domain", signature.domain},
                                      {"roles", roles},
                                      {"invariants", invariants},
                                      {"processes", processes},
                                      {"fieldsInNoRole", listOf(lint.inNoRole)},
                                      {"fieldsNeverWritten", listOf(lint.neverWritten)},
                                      {"fieldsNeverRead", listOf(lint.neverRead)},
                                      {"freeText", listOf(lint.freeText)},
                                      {"problems", listOf(lint.problems)},
                                      {"writeSkew", skewJson(skew)}});
}

namespace {

json::object traceJson(const TraceReport& report) {
  json::object violations;
  for (const auto& [id, traces] : report.violations) violations[id] = traces;
  return {{"committed", report.committed},
          {"tracesViolating", report.tracesViolating},
          {"violations", violations},
          {"example", report.example.empty() ? json::value(nullptr) : json::value(report.example)}};
}

}  // namespace

json::object fingerprintJson(const DomainModule& module, const FingerprintOptions& options, const Fingerprint& print) {
  json::array audit;
  for (const PropertyResult& one : print.audit)
    audit.push_back(json::object{{"name", one.name},
                                 {"checked", one.checked},
                                 {"failure", one.failure.empty() ? json::value(nullptr) : json::value(one.failure)}});
  return {{"domain", module.signature().domain},
          {"seed", options.seed},
          {"needsAdjudication", print.needsAdjudication()},
          {"auditable", print.auditable()},
          {"pipelineLike", print.pipelineLike()},
          {"statesWithSeveralRoles", print.skew.severalRoles},
          {"writeSkew", skewJson(print.skew)},
          {"audit", audit},
          {"traces", json::object{{"traces", options.traces},
                                  {"rounds", options.rounds},
                                  {"proposals", print.proposals},
                                  {"naive", traceJson(print.naive)},
                                  {"kernel", traceJson(print.kernel)}}}};
}

std::string checksText(const std::vector<PropertyResult>& checks) {
  std::string out;
  for (const PropertyResult& check : checks) {
    if (!check.failure.empty())
      out += "FAILED " + check.name + ": " + check.failure + "\n";
    else if (check.checked == 0)
      out += "--     " + check.name + ": nothing to check\n";
    else
      out += concat("ok     ", check.name, " (", check.checked, ")\n");
  }
  return out;
}

std::string checksJson(const std::string& domain, const std::vector<PropertyResult>& checks) {
  json::array list;
  for (const PropertyResult& check : checks)
    list.push_back(
        json::object{{"name", check.name},
                     {"checked", check.checked},
                     {"passed", check.failure.empty()},
                     {"failure", check.failure.empty() ? json::value(nullptr) : json::value(check.failure)}});
  return json::serialize(json::object{{"domain", domain}, {"passed", allHeld(checks)}, {"checks", list}});
}

bool allHeld(const std::vector<PropertyResult>& checks) {
  return std::ranges::all_of(checks, [](const auto& check) { return check.failure.empty(); });
}

}  // namespace witan::node
