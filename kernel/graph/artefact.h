// Artefacts: what was validated, by which suite and with what result: an agent, a model, an adapter, a graph. An
// in-toto Statement in a DSSE envelope, signed by the cluster's admin key (docs/graphs.md, registry).
//
// Values and pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/crypto.h"
#include "base/json_codec.h"
#include "kernel/market/documents.h"

namespace witan::graph {

WITAN_ENUM(ArtefactKind, agent, model, adapter, graph)
WITAN_ENUM(ValidationResult, pass, fail)

struct Validation {
  market::Word suite;
  ValidationResult result = ValidationResult::fail;
  market::Hex report;  // SHA-256 of the report
  market::Moment at;
  WITAN_MEMBERS(Validation, suite, result, report, at)
};

struct Artefact {
  ArtefactKind kind = ArtefactKind::agent;
  market::Word id, version;
  market::Hex digest;  // of what would run
  Validation validation;

  std::string key() const;  // of its record
};

std::string sealedArtefact(const Artefact& artefact, const SigningKey& admin);
// Errors: another form; unauthorised, it is not signed by this key.
Result<Artefact> openArtefact(std::string_view envelope, const PublicKey& admin);

}  // namespace witan::graph
