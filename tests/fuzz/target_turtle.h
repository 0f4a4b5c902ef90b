// Any bytes as an ontology: a model or errors with places, never both. What is read is reviewed, derived, shown, made
// into a skeleton and compared with a domain, none of which may end the process.
#pragma once

#include "domains/registry.h"
#include "lab/ontology/against.h"
#include "lab/ontology/ontology.h"
#include "lab/ontology/report.h"
#include "lab/ontology/scaffold.h"

namespace witan::fuzz {

inline void fuzzTurtle(std::string_view text) {
  using namespace ontology;
  static const auto budget = domains::makeDomain("budget").value();
  Diagnostics found;
  const auto model = readOntology(text, found, {.bytes = 1 << 16, .depth = 8});
  WITAN_CHECK(model.has_value() != found.hasErrors(), "a model or an error");
  if (!model) {
    WITAN_CHECK(!checkText("x.ttl", found).empty() && !found.asError("x.ttl").message.empty(), "words");
    return;
  }
  review(*model, found);
  const Derivation roles = deriveRoles(*model, Share{1, 3});
  std::size_t performed = 0;
  for (const DerivedRole& role : roles.roles) performed += role.processes.size();
  WITAN_CHECK(performed == roles.excess.size(), "every process of a worker is in one role");
  const Derived derived = derivedOf(*model, roles);
  WITAN_CHECK(parseJson(deriveJson(derived), {.bytes = 64 << 20}).ok(), "JSON");
  WITAN_CHECK(parseJson(checkJson("x.ttl", found), {.bytes = 64 << 20}).ok(), "JSON");
  deriveText(derived);
  (void)scaffold(*model, roles, "x.ttl").ok();
  compareWith(budget->signature(), *model);
}

}  // namespace witan::fuzz
