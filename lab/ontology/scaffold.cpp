#include "lab/ontology/scaffold.h"

#include "base/utf8.h"
#include "lab/ontology/scaffold_plan.h"

namespace witan::ontology {

namespace {

// One line of a comment: no control characters, and no backslash that would draw the next line in.
std::string commentLine(std::string_view text) {
  std::string out(clip(text, 100));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == '?') c = ' ';
  return out;
}

std::string rolesFrom(const Derivation& d) {
  return d.pinned ? "roles as declared"
                  : "Procedure 1, theta " + std::to_string(d.theta.of) + "/" + std::to_string(d.theta.to);
}

std::string head(const Model& model, const Derivation& derivation, const Plan& plan, const std::string& file) {
  return "// " + commentLine(model.title.empty() ? model.domain.name : model.title) +
         "\n//\n// Begun from the ontology " + commentLine(file) + " (" + rolesFrom(derivation) + ": " +
         std::to_string(derivation.roles.size()) +
         " roles).\n// It says which fields, processes, roles and rules there are. What it does not say is yours: each "
         "process\n// below writes its arguments as they come, and each invariant passes until you write when it holds."
         "\n// docs/ADD_A_DOMAIN.md shows how; hold it against the ontology with\n//   witan domain lint " +
         plan.domain + " --against " + commentLine(file) +
         "\n#include \"domains/registry.h\"\n#include \"kernel/typed_module.h\"\n\nnamespace witan::domains::" +
         plan.domain + " {\n\nusing namespace kernel;\n\n";
}

}  // namespace

Result<Scaffold> scaffold(const Model& model, const Derivation& derivation, const std::string& file) {
  WITAN_TRY(plan, planScaffold(model, derivation));
  Scaffold out;
  out.name = plan.domain;
  out.notes = plan.notes;
  out.source = head(model, derivation, plan, file) + typesText(plan) + stateText(model, plan) +
               processesText(model, plan) + rolesText(derivation, plan) + invariantsText(model, plan) +
               domainText(model, plan) + "}  // namespace witan::domains::" + plan.domain + "\n\nWITAN_DEFINE_DOMAIN(" +
               plan.domain + ", " + plan.domain + "::" + plan.domainStruct + ")\n";
  return out;
}

}  // namespace witan::ontology
