// `witan ontology check|derive|scaffold FILE`: from a Turtle file to roles, classes of invariants and a skeleton.
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include "program/command_line.h"

#include "base/json.h"
#include "base/quote.h"
#include "domains/registry.h"
#include "lab/commands/lab_commands.h"
#include "lab/ontology/against.h"
#include "lab/ontology/ontology.h"
#include "lab/ontology/report.h"
#include "lab/ontology/scaffold.h"
#include "program/durable_file.h"
#include "program/output.h"
#include "program/policy_file.h"

namespace witan::node {

using namespace ontology;

namespace {

struct OntologyArguments {
  std::string file;
  std::string cap;
  std::string out;
  std::string domain, policyFile;  // of compare
  bool pinned = false;
  bool json = false;
  bool rules = false;
};

// The bytes, at most as many as the reader takes.
Result<std::string> readOntologyFile(const std::string& path) {
  WITAN_TRY(text, readSmallFile(path, TurtleLimits{}.bytes));
  if (!text) return notFound("there is no file " + path, "give the path of a Turtle file");
  return *std::move(text);
}

// The model, or the file's first error as file:line:col.
Result<Model> loadOntology(const std::string& path) {
  WITAN_TRY(text, readOntologyFile(path));
  Diagnostics found;
  std::optional<Model> model = readOntology(text, found);
  if (!model) return found.asError(path);
  return *std::move(model);
}

// Makes the folders on the way. A file that exists stays as it is, and is an error.
Status writeNewFile(const std::string& path, std::string_view text) {
  std::error_code error;
  if (std::filesystem::exists(path, error))
    return conflict(path + " exists already", "move it away, or give another folder");
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return ioFailed("cannot make the folder of " + path + " (" + error.message() + ")");
  return replaceFile(path, text, 0644);
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// "2/3"; nothing given: no cap.
Result<std::optional<Share>> capOf(const std::string& text) {
  if (text.empty()) return std::optional<Share>();
  Share share{0, 0};
  const char* const end = text.data() + text.size();
  const auto of = std::from_chars(text.data(), end, share.of);
  if (of.ec == std::errc() && of.ptr != end && *of.ptr == '/') {
    const auto to = std::from_chars(of.ptr + 1, end, share.to);
    if (to.ec == std::errc() && to.ptr == end && share.to > 0 && share.to <= 1'000'000 && share.of <= share.to)
      return std::optional<Share>(share);
  }
  return invalid(inQuotes(text) + " is no share", "write it as N/M, for example 2/3");
}

Result<int> check(const OntologyArguments& a) {
  WITAN_TRY(text, readOntologyFile(a.file));
  Diagnostics found;
  if (const auto model = readOntology(text, found)) review(*model, found);
  a.json ? print(checkJson(a.file, found) + "\n") : putWords(checkText(a.file, found));
  return found.hasErrors() ? kExitFailed : kExitOk;
}

Result<Derivation> rolesOf(const OntologyArguments& a, const Model& model) {
  WITAN_TRY(cap, capOf(a.cap));
  if (!a.pinned) return deriveRoles(model, cap);
  if (model.roles.empty())
    return invalid(a.file + ": --pinned, but no ar:Role is declared", "declare roles with ar:performs, or derive them");
  return declaredRoles(model);
}

Result<int> derive(const OntologyArguments& a) {
  WITAN_TRY(model, loadOntology(a.file));
  WITAN_TRY(roles, rolesOf(a, model));
  const Derived derived = derivedOf(model, roles);
  a.json ? print(deriveJson(derived) + "\n") : putWords(deriveText(derived));
  return kExitOk;
}

Result<int> fingerprint(const OntologyArguments& a) {
  WITAN_TRY(model, loadOntology(a.file));
  WITAN_TRY(roles, rolesOf(a, model));
  const Derived derived = derivedOf(model, roles);
  a.json ? print(footprintPrintJson(derived) + "\n") : putWords(footprintPrintText(derived));
  return kExitOk;
}

Result<int> begin(const OntologyArguments& a) {
  WITAN_TRY(model, loadOntology(a.file));
  WITAN_TRY(roles, rolesOf(a, model));
  WITAN_TRY(made, a.rules ? scaffoldRules(model, roles, a.file) : scaffold(model, roles, a.file));
  for (const std::string& note : made.notes) putErr("note: " + note + "\n");
  std::string path;
  if (!a.out.empty()) {
    path =
        a.rules ? concat(a.out, "/", made.name, ".domain.toml") : concat(a.out, "/", made.name, "/", made.name, ".cpp");
    WITAN_DO(writeNewFile(path, made.source));
  }
  if (a.json)
    print(json::serialize(json::object{{"name", made.name},
                                       {"path", path.empty() ? json::value(nullptr) : json::value(path)},
                                       {"source", made.source},
                                       {"notes", json::array(made.notes.begin(), made.notes.end())}}) +
          "\n");
  else if (path.empty())
    print(made.source);
  if (!path.empty())
    putErr(a.rules
               ? concat("wrote ", path, "\nnext: write when each invariant holds, then witan domain check ", path, "\n")
               : "wrote " + path + "\nnext: add WITAN_DOMAIN(" + made.name +
                     ") to domains/registry.inc, configure and build again, then write when each invariant holds "
                     "(docs/ADD_A_DOMAIN.md)\n");
  return kExitOk;
}

// The domain of this build held against an ontology.
Result<int> compare(const OntologyArguments& a) {
  json::object policy;
  if (!a.policyFile.empty()) {
    WITAN_SET(policy, readPolicyFile(a.policyFile));
  }
  WITAN_TRY(module, domains::makeDomain(a.domain, policy));
  WITAN_TRY(model, loadOntology(a.file));
  const Comparison found = compareWith(module->signature(), model);
  a.json ? print(againstJson(a.file, found) + "\n") : putWords(againstText(a.file, module->signature(), found));
  return found.differences.empty() ? kExitOk : kExitFailed;
}

}  // namespace

void addOntologyCommand(Command& app) {
  auto a = std::make_shared<OntologyArguments>();
  Command* noun = app.noun("ontology", "Domain ontologies in Turtle: check them, derive roles, begin a domain",
                           "witan ontology derive domains/udt/udt.ttl");
  const auto verb = [&](const char* name, const char* what, const char* example, auto run) {
    Command* command = noun->command(name, what);
    command->option("file", a->file, "Turtle file, at most 4 MiB")->required();
    command->flag("--json", a->json, "JSON output");
    command->footer(concat("Example: ", example));
    runs(command, a, run);
    return command;
  };
  verb("check", "Report errors and oddities as file:line:col; exit 1 if there are errors",
       "witan ontology check domains/udt/udt.ttl", check);
  const auto withRoles = [&](Command* command) {
    command
        ->option("--max-excess", a->cap,
                 "Share N/M of a role's fields that a process may not need; above it, finer roles are tried")
        ->check([](const std::string& text) {
          const auto cap = capOf(text);
          return cap.ok() ? std::string() : cap.error().message + " (" + cap.error().hint + ")";
        });
    command->flag("--pinned", a->pinned, "Take the declared roles as they are instead of deriving them");
  };
  withRoles(verb("derive", "Derive worker roles (Procedure 1), classify the invariants, walk the life cycle",
                 "witan ontology derive domains/udt/udt.ttl --json", derive));
  withRoles(verb("fingerprint",
                 "Before there is code: does the domain need adjudication, is it a pipeline, must it be audited",
                 "witan ontology fingerprint domains/udt/udt.ttl", fingerprint));
  Command* s = verb("scaffold", "Print the beginning of a domain in C++: it compiles in this tree, the rules are yours",
                    "witan ontology scaffold fridge.ttl --out domains", begin);
  withRoles(s);
  Command* c = verb(
      "compare", "Compare fields, processes, roles and invariants of a domain with an ontology; exit 1 if they differ",
      "witan ontology compare domains/udt/udt.ttl --domain udt", compare);
  c->option("--domain", a->domain, "Domain of this build (see: witan domain list)")->required();
  c->option("--policy", a->policyFile, "TOML or JSON file with the domain's policy");
  s->option("--out", a->out, "Write NAME/NAME.cpp below this folder instead, or NAME.domain.toml; never over a file");
  s->flag("--rules", a->rules, "A rule file instead, which needs no compiler (docs/RULES.md)");
}

}  // namespace witan::node
