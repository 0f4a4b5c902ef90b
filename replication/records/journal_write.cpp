#include "replication/records/journal_write.h"

#include "replication/records/notification.h"
#include "replication/records/record_write.h"

namespace witan::replication {

Result<std::vector<Write>> journalWrites(const Space& space, std::span<const JournalChange> changes,
                                         std::string_view sourceCursor, std::span<const NotificationToken> more) {
  std::vector<Write> writes;
  BatchDraft draft;
  draft.localBatchId = space.selfName() + ":" + std::to_string(space.vector().at(space.self()) + 1);
  draft.deps = space.dependencies();
  draft.sourceCursor = sourceCursor;
  draft.tokens.assign(more.begin(), more.end());
  for (const JournalChange& change : changes) {
    draft.changes.push_back({std::string(kJournalPayload), change.id, change.origin});
    draft.tokens.push_back({TokenClass::entityId, std::nullopt, change.id});
    const std::string& type = change.body ? change.body->type : change.type;
    if (!type.empty()) draft.tokens.push_back({TokenClass::subtypeToken, std::string(kJournalNamespace), type});
    if (!change.body) {
      writes.push_back({Kind::journal, change.id, {}, true});
      continue;
    }
    WITAN_TRY(write, recordWrite(change.id, *change.body));
    writes.push_back(std::move(write));
  }
  WITAN_TRY(body, batchBodyOf(draft));
  WITAN_TRY(batch, recordWrite("", body));
  writes.push_back(std::move(batch));
  return writes;
}

Result<JournalView> journalViewIn(Space& space, std::string_view id) {
  WITAN_DO(validateId("journal entity", id));
  WITAN_TRY(versions, space.versions(Kind::journal, id));
  return journalViewOf(versions);
}

}  // namespace witan::replication
