#include "node/operations/journal_writer.h"

#include <array>

#include "replication/records/journal_entity.h"

namespace witan::node {

using namespace replication;

Result<JournalView> JournalWriter::view(const std::string& id) {
  WITAN_DO(validateId("journal entity", id));
  Space* space = replica_.database(DatabaseName::journal).find(scope_);
  if (space == nullptr) return JournalView{};
  return journalViewIn(*space, id);
}

Result<JournalEdit> JournalWriter::edit(const JournalWrite& write) {
  WITAN_TRY(payload, seals_.sealed(write.type, write.payload));
  return JournalEdit{write.type, std::move(payload), write.author.empty() ? replica_.device() : write.author,
                     clock_.now().micros / 1000, std::nullopt};
}

Result<std::optional<Dot>> JournalWriter::put(const JournalWrite& write) {
  WITAN_TRY(now, view(write.id));
  WITAN_TRY(wanted, edit(write));
  WITAN_TRY(body, journalEdit(now, wanted));
  if (now.shown) {
    const JournalBody& shown = *now.siblings[*now.shown].body;
    if (shown.type == body.type && shown.payload == body.payload) return std::optional<Dot>();
  }
  WITAN_TRY(dot, commit(write, body));
  return std::optional(dot);
}

Result<Dot> JournalWriter::resolve(const JournalWrite& write, std::vector<Dot> shown) {
  WITAN_TRY(now, view(write.id));
  WITAN_TRY(wanted, edit(write));
  WITAN_TRY(body, journalResolution(now, wanted, std::move(shown)));
  return commit(write, body);
}

Result<Dot> JournalWriter::commit(const JournalWrite& write, const JournalBody& body) {
  WITAN_TRY(space, replica_.database(DatabaseName::journal).space(scope_));
  const std::array change{JournalChange{write.id, body, "", write.origin}};
  WITAN_TRY(writes, journalWrites(*space, change, write.sourceCursor));
  return replica_.commit(DatabaseName::journal, scope_, writes);
}

}  // namespace witan::node
