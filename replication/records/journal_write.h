// The writes of one commit to a journal: edits and removals of entities, with the notification batch that tells of them
// (docs/FINDINGS.md, F15). Whoever edits a journal, a person's command or an agent's tool, writes through here, so that
// agents hear of it. Not thread-safe, as the space.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/records/journal_entity.h"
#include "replication/space.h"

namespace witan::replication {

// How agents are told: the change's payload type; the namespace of the subtype token that carries the entity's type.
inline constexpr std::string_view kJournalPayload = "journalEntity";
inline constexpr std::string_view kJournalNamespace = "journal";

struct JournalChange {
  std::string id;
  std::optional<JournalBody> body;  // none: it is removed
  std::string type;                 // of what is removed; otherwise the body's counts
  ChangeOrigin origin = ChangeOrigin::local;
};

// What is to be committed in `space`, in this order, with nothing committed between. `sourceCursor`: of an import,
// where it had got to. `more`: tokens beside those of the changes. Errors: ids, limits, no change.
Result<std::vector<Write>> journalWrites(const Space& space, std::span<const JournalChange> changes,
                                         std::string_view sourceCursor = {},
                                         std::span<const NotificationToken> more = {});

// What readers of the journal see of an entity. Errors: an id that is none, a store that fails.
Result<JournalView> journalViewIn(Space& space, std::string_view id);

}  // namespace witan::replication
