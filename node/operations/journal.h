// Operations on journal entities: what people wrote, kept as they wrote it.
#pragma once

#include "node/operations/operation.h"
#include "node/operations/versions.h"

namespace witan::node::operations {

struct JournalPutRequest {
  std::string id;
  json::value payload;
  Omittable<std::string> type, author, scope;
  WITAN_MEMBERS(JournalPutRequest, id, payload, type, author, scope)
  static constexpr std::array notes{MemberNote{"id", "Id of the entity", 1}, MemberNote{"payload", "Any JSON"},
                                    MemberNote{"type", "Type of the entity; default: as it was"},
                                    MemberNote{"author", "Default: the device"},
                                    MemberNote{"scope", "Scope of the database; default: main"}};
};

struct JournalWritten {
  std::optional<VersionDot> dot;
  std::string id;
  WITAN_MEMBERS(JournalWritten, dot, id)
  static constexpr std::array notes{
      MemberNote{"dot", "Version that was written; null: the entity has this content already"},
      MemberNote{"id", "Id of the entity"}};
};

struct JournalGetRequest {
  std::string id;
  Omittable<std::string> scope;
  WITAN_MEMBERS(JournalGetRequest, id, scope)
  static constexpr std::array notes{MemberNote{"id", "Id of the entity", 1},
                                    MemberNote{"scope", "Scope of the database; default: main"}};
};

struct JournalVersion {
  bool deleted = false;
  VersionDot dot;
  Omittable<std::string> author;
  Omittable<std::int64_t> editedAtMs;
  Omittable<json::value> payload;
  Omittable<std::string> type;
  WITAN_MEMBERS(JournalVersion, deleted, dot, author, editedAtMs, payload, type)
  static constexpr std::array notes{MemberNote{"deleted", "Whether this version deletes the entity"},
                                    MemberNote{"dot", "Which version"},
                                    MemberNote{"author", "Who wrote it"},
                                    MemberNote{"editedAtMs", "When, in milliseconds since 1970"},
                                    MemberNote{"payload", "Content, any JSON"},
                                    MemberNote{"type", "Type of the entity"}};
};

struct JournalUnreadable {
  VersionDot dot;
  std::string why;
  WITAN_MEMBERS(JournalUnreadable, dot, why)
  static constexpr std::array notes{MemberNote{"dot", "Which version"}, MemberNote{"why", "Why it cannot be read"}};
};

struct JournalEntity {
  bool conflict = false;
  std::string id;
  std::optional<VersionDot> shown;
  std::vector<JournalVersion> siblings;
  std::vector<JournalUnreadable> unreadable;
  WITAN_MEMBERS(JournalEntity, conflict, id, shown, siblings, unreadable)
  static constexpr std::array notes{MemberNote{"conflict", "Whether a person has to choose among the siblings"},
                                    MemberNote{"id", "Id of the entity"},
                                    MemberNote{"shown", "Version that readers see; null: none"},
                                    MemberNote{"siblings", "Versions that were written without knowing of each other"},
                                    MemberNote{"unreadable", "Versions that this build cannot read"}};
};

struct JournalListRequest {
  Omittable<std::string> scope;
  WITAN_MEMBERS(JournalListRequest, scope)
  static constexpr std::array notes{MemberNote{"scope", "Scope of the database; default: main"}};
};

struct JournalEntities {
  std::vector<JournalEntity> entities;
  std::map<std::string, std::string> names;
  WITAN_MEMBERS(JournalEntities, entities, names)
  static constexpr std::array notes{MemberNote{"entities", "Entities, by id"},
                                    MemberNote{"names", "Names of devices, by id"}};
};

// Without payload and choose: nothing is written, the entity is answered.
struct JournalResolveRequest {
  std::string id;
  Omittable<json::value> payload;
  Omittable<std::string> choose;
  Omittable<std::vector<std::string>> seen;
  Omittable<std::string> type, author, scope;
  WITAN_MEMBERS(JournalResolveRequest, id, payload, choose, seen, type, author, scope)
  static constexpr std::array notes{MemberNote{"id", "Id of the entity", 1},
                                    MemberNote{"payload", "New content, any JSON"},
                                    MemberNote{"choose", "Version to settle on, WRITER:COUNTER"},
                                    MemberNote{"seen", "Versions that were seen; refused if there are others now"},
                                    MemberNote{"type", "Type of the entity; default: as it was"},
                                    MemberNote{"author", "Default: the device"},
                                    MemberNote{"scope", "Scope of the database; default: main"}};
};

struct JournalResolved {
  Omittable<JournalEntity> entity;
  Omittable<VersionDot> dot;
  WITAN_MEMBERS(JournalResolved, entity, dot)
  static constexpr std::array notes{MemberNote{"entity", "The entity, where nothing was written"},
                                    MemberNote{"dot", "Version that was written"}};
};

Result<JournalWritten> putJournal(OperationContext& context, const JournalPutRequest& request);
Result<JournalEntity> getJournal(OperationContext& context, const JournalGetRequest& request);
Result<JournalEntities> listJournal(OperationContext& context, const JournalListRequest& request);
Result<JournalResolved> resolveJournal(OperationContext& context, const JournalResolveRequest& request);

inline constexpr Operation kJournalPut{"POST", "/v1/journal/put", putJournal};
inline constexpr Operation kJournalGet{"GET", "/v1/journal/get", getJournal};
inline constexpr Operation kJournalList{"GET", "/v1/journal/list", listJournal};
inline constexpr Operation kJournalResolve{"POST", "/v1/journal/resolve", resolveJournal};

}  // namespace witan::node::operations
