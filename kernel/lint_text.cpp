// Lint reports as text (kernel/lint.h).
#include "base/string_util.h"
#include "kernel/lint.h"

namespace witan::kernel {

namespace {

std::string orNone(const std::vector<std::string>& words) { return joined(words, "none"); }

void appendAction(std::string& out, const SkewAction& action) {
  out += "  " + action.role + " at " + formatTime(action.at) + "  " + action.action + "\n    writes " + action.writes +
         "\n";
}

}  // namespace

std::string lintText(const Signature& signature, const SignatureLint& lint) {
  std::string out = "footprints of roles\n";
  for (const RoleInfo& role : signature.roles)
    out += "  " + role.name + ": " + orNone(signature.fieldNames(role.footprint)) + "\n    writes " +
           orNone(signature.fieldNames(role.writes)) + "\n";
  out += "invariants\n";
  for (std::size_t i = 0; i < lint.invariants.size(); ++i) {
    const InvariantLint& one = lint.invariants[i];
    out +=
        "  " + one.id + "\n    footprint           " + orNone(signature.fieldNames(signature.invariants[i].footprint));
    out += "\n    Def. A.10           " +
           (one.crossCutting() ? std::string("cross-cutting") : "local to " + orNone(one.containedIn));
    out += "\n    section 2.3         " + one.section23() + " (meets " + orNone(one.touches) + ")";
    out += "\n    locally enforceable " +
           (one.enforcer.empty() ? "no (writers: " + orNone(one.writers) + ")" : "by " + one.enforcer) + "\n";
    if (!one.orphans.empty()) out += "    in no role          " + orNone(one.orphans) + "\n";
  }
  out += "privilege excess (fields of the role that the process does not need)\n";
  for (const ProcessLint& process : lint.processes)
    out += "  " + padded(process.name, 20) + " " +
           (process.role.empty()
                ? "performed by counselors"
                : process.role + " " + std::to_string(process.excess) + "/" + std::to_string(process.of)) +
           "\n";
  out += "fields in no role: " + orNone(lint.inNoRole) + "\nfields never written: " + orNone(lint.neverWritten) +
         "\nfields never read: " + orNone(lint.neverRead) + "\n";
  for (const std::string& problem : lint.problems) out += "problem: " + problem + "\n";
  return out;
}

std::string skewText(const SkewReport& report) {
  if (!report.searched) return "write skew: not searched (the domain offers no sample actions)\n";
  std::string out = "write skew: " + std::to_string(report.states) + " states, " + std::to_string(report.actions) +
                    " lawful actions, " + std::to_string(report.pairs) + " pairs of different roles merged\n";
  if (report.witnesses.empty()) out += "  no witness found\n";
  for (const SkewWitness& witness : report.witnesses) {
    out += "witness against " + witness.invariant + ": each alone keeps all invariants, both together do not\n  from " +
           witness.state + "\n";
    appendAction(out, witness.first);
    appendAction(out, witness.second);
    out += "  merged " + witness.merged + "\n  " + witness.message + "\n";
  }
  if (report.lostUpdate) {
    out += "lost update (not write skew): both write " + report.lostUpdate->cell + "\n  from " +
           report.lostUpdate->state + "\n";
    appendAction(out, report.lostUpdate->first);
    appendAction(out, report.lostUpdate->second);
  }
  return out;
}

}  // namespace witan::kernel
