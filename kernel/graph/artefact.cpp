#include "kernel/graph/artefact.h"

#include "base/bytes.h"

namespace witan::graph {

namespace {

struct ArtefactSubject {
  market::Word name;
  market::SubjectDigest digest;
  WITAN_MEMBERS(ArtefactSubject, name, digest)
};

struct ArtefactPredicate {
  ArtefactKind kind = ArtefactKind::agent;
  market::Word id, version;
  Validation validation;
  WITAN_MEMBERS(ArtefactPredicate, kind, id, version, validation)
};

struct ArtefactStatement {
  static constexpr std::string_view payloadType = market::Statement::payloadType;
  market::Fixed<"https://in-toto.io/Statement/v1"> _type;
  std::vector<ArtefactSubject> subject;
  market::Fixed<"urn:witan:validation:v1"> predicateType;
  ArtefactPredicate predicate;
  WITAN_MEMBERS(ArtefactStatement, _type, subject, predicateType, predicate)
};

}  // namespace

std::string Artefact::key() const { return concat(enumName(kind), ":", id, ":", version); }

std::string sealedArtefact(const Artefact& a, const SigningKey& admin) {
  ArtefactStatement statement;
  statement.subject = {{market::Word(a.key()), {a.digest}}};
  statement.predicate = {a.kind, a.id, a.version, a.validation};
  return market::sealedDocument(statement, {&admin, 1});
}

Result<Artefact> openArtefact(std::string_view envelope, const PublicKey& admin) {
  WITAN_TRY(value, parseJson(envelope, {.bytes = market::kMostEnvelopeBytes}));
  WITAN_TRY(opened, market::openEnvelope<ArtefactStatement>(value));
  const ArtefactPredicate& predicate = opened.document.predicate;
  Artefact artefact{predicate.kind, predicate.id, predicate.version, {}, predicate.validation};
  const std::vector<ArtefactSubject>& subject = opened.document.subject;
  if (subject.size() != 1 || subject[0].name != artefact.key())
    return invalid("payload.subject: exactly one, the artefact " + artefact.key());
  artefact.digest = subject[0].digest.sha256;
  if (!market::isSignedBy(opened.text, admin))
    return Error{ErrorCode::unauthorised,
                 "the artefact " + artefact.key() + " is not signed by the cluster's admin key",
                 "register it where the cluster was begun: witan graph register"};
  return artefact;
}

}  // namespace witan::graph
