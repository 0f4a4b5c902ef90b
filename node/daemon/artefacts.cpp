#include "node/daemon/artefacts.h"

#include "base/bytes.h"
#include "node/inbox/inbox_answers.h"
#include "replication/records/record_write.h"

namespace witan::node {

using graph::Artefact;
using graph::ArtefactKind;
using graph::ValidationResult;
using replication::Kind;

namespace {

struct AgentIdentity {
  std::string id, version;
  std::vector<agents::Capability> capabilities;
  std::vector<std::string> locale;
  agents::Budget budget;
  WITAN_MEMBERS(AgentIdentity, id, version, capabilities, locale, budget)
};

bool counts(const Artefact& a, const Artefact& b) {
  const auto rank = [](const Artefact& one) {
    return std::pair(one.validation.at, one.validation.result == ValidationResult::fail);
  };
  return rank(a) > rank(b);
}

}  // namespace

std::string agentDigest(const agents::AgentSpec& spec) {
  return toHex(sha256(toJson(AgentIdentity{spec.id, spec.version, spec.capabilities, spec.locale, spec.budget})));
}

std::map<std::string, Artefact> artefactsIn(replication::Space& space, const PublicKey& admin) {
  std::map<std::string, Artefact> all;
  for (const std::string& key : space.keys(Kind::artefact)) {
    if (key.starts_with(kAnswerKeys)) continue;
    const auto versions = space.versions(Kind::artefact, key);
    if (!versions.ok()) continue;
    for (const replication::Version& version : *versions) {
      const auto body = version.tombstone ? Result<replication::ArtefactBody>(notFound("it is gone"))
                                          : replication::decodeRecord<replication::ArtefactBody>(version.body);
      if (!body.ok()) continue;
      const auto artefact = graph::openArtefact(body->envelope, admin);
      if (!artefact.ok() || artefact->key() != key) continue;
      if (const auto [at, fresh] = all.try_emplace(key, *artefact); !fresh && counts(*artefact, at->second))
        at->second = *artefact;
    }
  }
  return all;
}

bool isValidated(const std::map<std::string, Artefact>& artefacts, const agents::AgentSpec& spec) {
  const auto at = artefacts.find(concat(enumName(ArtefactKind::agent), ":", spec.id, ":", spec.version));
  return at != artefacts.end() && at->second.validation.result == ValidationResult::pass &&
         at->second.digest == agentDigest(spec);
}

Result<replication::Write> artefactWrite(const Artefact& artefact, const SigningKey& admin) {
  return replication::recordWrite(artefact.key(), replication::ArtefactBody{sealedArtefact(artefact, admin)});
}

}  // namespace witan::node
