// Operations on journal entities: what people wrote, kept as they wrote it.
#pragma once

#include "agents/content_seal.h"
#include "node/operations/operation.h"
#include "node/operations/versions.h"
#include "replication/records/journal_entity.h"

namespace witan::node::operations {

WITAN_STRUCT(JournalPutRequest, (std::string, id, "Id of the entity", 1), (json::value, payload, "Any JSON"),
             (Omittable<std::string>, type, "Type of the entity; default: as it was"),
             (Omittable<std::string>, author, "Default: the device"), (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(JournalWritten,
             (std::optional<VersionDot>, dot, "Version that was written; null: the entity has this content already"),
             (std::string, id, "Id of the entity"))

WITAN_STRUCT(JournalGetRequest, (std::string, id, "Id of the entity", 1), (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(JournalVersion, (bool, deleted, "Whether this version deletes the entity"),
             (VersionDot, dot, "Which version"), (Omittable<std::string>, author, "Who wrote it"),
             (Omittable<std::int64_t>, editedAtMs, "When, in milliseconds since 1970"),
             (Omittable<json::value>, payload, "Content, any JSON"),
             (Omittable<std::string>, type, "Type of the entity"))

WITAN_STRUCT(JournalUnreadable, (VersionDot, dot, "Which version"), (std::string, why, "Why it cannot be read"))

WITAN_STRUCT(JournalEntity, (bool, conflict, "Whether a person has to choose among the siblings"),
             (std::string, id, "Id of the entity"),
             (std::optional<VersionDot>, shown, "Version that readers see; null: none"),
             (std::vector<JournalVersion>, siblings, "Versions that were written without knowing of each other"),
             (std::vector<JournalUnreadable>, unreadable, "Versions that this build cannot read"))

WITAN_STRUCT(JournalEntities, (std::vector<JournalEntity>, entities, "Entities, by id"),
             (ByName<std::string>, names, "Names of devices, by id"))

// Without payload and choose: nothing is written, the entity is answered.
WITAN_STRUCT(JournalResolveRequest, (std::string, id, "Id of the entity", 1),
             (Omittable<json::value>, payload, "New content, any JSON"),
             (Omittable<std::string>, choose, "Version to settle on, WRITER:COUNTER"),
             (Omittable<std::vector<std::string>>, seen, "Versions that were seen; refused if there are others now"),
             (Omittable<std::string>, type, "Type of the entity; default: as it was"),
             (Omittable<std::string>, author, "Default: the device"), (Omittable<std::string>, scope, kScopeNote),
             (Omittable<std::string>, signature,
              "Key and signature of the author, in hex; needed of a person with a key (witan person add)"))

WITAN_STRUCT(JournalResolved, (Omittable<JournalEntity>, entity, "The entity, where nothing was written"),
             (Omittable<VersionDot>, dot, "Version that was written"))

Result<JournalWritten> putJournal(OperationContext& context, const JournalPutRequest& request);
Result<JournalEntity> getJournal(OperationContext& context, const JournalGetRequest& request);
Result<JournalEntities> listJournal(OperationContext& context, const ScopeRequest& request);
Result<JournalResolved> resolveJournal(OperationContext& context, const JournalResolveRequest& request);

inline constexpr Operation kJournalPut{"POST", "/v1/journal/put", putJournal};
inline constexpr Operation kJournalGet{"GET", "/v1/journal/get", getJournal};
inline constexpr Operation kJournalList{"GET", "/v1/journal/list", listJournal};
inline constexpr Operation kJournalResolve{"POST", "/v1/journal/resolve", resolveJournal};

struct JournalWrite {
  std::string id;
  std::string type;
  std::string payload;  // JSON text
  std::string author;   // empty: the device
  ChangeOrigin origin = ChangeOrigin::local;
  std::string sourceCursor;  // of an import: where it had got to
};

// Writes journal entities, each in one commit with the notification batch that tells of it (docs/FINDINGS.md, F15). The
// replica outlives it, and is flushed before an answer leaves. Not thread-safe.
class JournalWriter {
 public:
  JournalWriter(replication::LocalReplica& replica, std::string scope, agents::ContentSeals seals)
      : replica_(replica), scope_(std::move(scope)), seals_(std::move(seals)) {}

  Result<replication::JournalView> view(const std::string& id);

  // An edit of what this device shows. None: it shows just that already, and nothing was written. Errors: JSON, ids,
  // limits; conflict if siblings wait to be resolved.
  Result<std::optional<replication::Dot>> put(const JournalWrite& write, Time now);

  // Settles on `write` after `shown` were seen side by side. Errors: as above; conflict if these are not the siblings
  // any more.
  Result<replication::Dot> resolve(const JournalWrite& write, std::vector<replication::Dot> shown, Time now);

 private:
  Result<replication::JournalEdit> edit(const JournalWrite& write, Time now);
  Result<replication::Dot> commit(const JournalWrite& write, const replication::JournalBody& body);

  replication::LocalReplica& replica_;
  const std::string scope_;
  const agents::ContentSeals seals_;
};

}  // namespace witan::node::operations
