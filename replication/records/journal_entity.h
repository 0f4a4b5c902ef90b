// The view of a journal entity, with every edit that was made without knowing of the others, and its writes.
//
// Concurrent edits are siblings; none is ever merged or thrown away by a machine. Until a person settles on one, all
// readers see the same: the sibling with the largest (lamport, host, counter). A deletion loses to an edit made beside
// it. Pure functions of the set of versions, in any order (a multi-value register).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/records/records.h"
#include "replication/space.h"

namespace witan::replication {

struct Sibling {
  Dot dot;
  std::optional<JournalBody> body;  // none: a deletion
  friend bool operator==(const Sibling&, const Sibling&) = default;
};

// Two deletions, or two that say the same, whoever made them: a person has nothing to choose between them.
bool sameEdit(const Sibling& a, const Sibling& b);

struct JournalView {
  std::vector<Sibling> siblings;     // by dot
  std::optional<std::size_t> shown;  // which of them readers see; none: it is deleted, or there is nothing
  std::vector<Unreadable> unreadable;

  // Whether a person must choose. What says the same is one edit, however many devices made it.
  bool inConflict() const;
  friend bool operator==(const JournalView&, const JournalView&) = default;
};

JournalView journalViewOf(std::span<const Version> versions);

struct JournalEdit {
  std::string type;
  std::string payload;  // JSON text; kept in canonical form
  std::string author;
  std::int64_t editedAtMs = 0;
  std::optional<OperationId> operationId;
};

// The body of an edit made on top of what the view shows. Errors: a payload that is no JSON, ids, and `conflict` if
// there are siblings to be resolved: an edit would silence those its author was not shown.
Result<JournalBody> journalEdit(const JournalView& view, const JournalEdit& edit);

// The body with which a person settles a conflict. `shown`: the dots that the person saw side by side. Errors: as
// above, and `conflict` if these are not the siblings any more, or there is nothing to resolve.
Result<JournalBody> journalResolution(const JournalView& view, const JournalEdit& edit, std::vector<Dot> shown);

// --- The writes of one commit to a journal: edits and removals of entities, with the notification batch of them
// (docs/FINDINGS.md, F15). Every edit of a journal, by a person's command or an agent's tool, goes through here, so
// that agents are notified. Not thread-safe, as the space.

// In the batch: the change's payload type; the namespace of the subtype token that carries the entity's type.
inline constexpr std::string_view kJournalPayload = "journalEntity";
inline constexpr std::string_view kJournalNamespace = "journal";

struct JournalChange {
  std::string id;
  std::optional<JournalBody> body;  // none: it is removed
  std::string type;                 // of what is removed; otherwise the body's counts
  ChangeOrigin origin = ChangeOrigin::local;
};

// The writes to commit in `space`, in this order, with nothing committed between. `sourceCursor`: of an import,
// where it had got to. `more`: tokens beside those of the changes. Errors: ids, limits, no change.
Result<std::vector<Write>> journalWrites(const Space& space, std::span<const JournalChange> changes,
                                         std::string_view sourceCursor = {},
                                         std::span<const NotificationToken> more = {});

// The view of an entity, as readers of the journal see it: without the repeats, by other devices, of an operation that
// somebody has built upon where it was carried out first, as long as something else is there. Errors: an id that is
// none, a store that fails.
Result<JournalView> journalViewIn(Space& space, std::string_view id);

}  // namespace witan::replication
