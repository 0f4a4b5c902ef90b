// Lies about the replicated data: rows in the name of an honest device, one of them a statement that retires another.
#include "replication/records/record_schemas.h"
#include "replication/records/records.h"
#include "replication/statement.h"
#include "replication/sync_messages.h"
#include "sim/check/liar_rules.h"
#include "sim/run/lies.h"

namespace witan::sim {

namespace {

constexpr std::uint16_t kStatements = 0, kAgents = 1;  // numbers of spaces in every session

}  // namespace

// The next version of a writer of `author`, under any of the numbers that the session may have for it, without a seal
// or under one of this device.
void Lies::sayRow(const Seat& to, bool statement, Seat& author, const std::string& key, const std::string& body) {
  const replication::Space* space = author.replica().data().findSpace(replication::LocalReplica::spaceId(
      replication::DatabaseName::agents, statement ? replication::kClusterScope : std::string_view("main")));
  if (space == nullptr) return;
  replication::VersionRow row{.kind = statement ? replication::Kind::statement : replication::Kind::link,
                              .key = key,
                              .writer = draw(space->writers().size()),
                              .seq = space->vector().at(space->self()) + 1 + draw(3),
                              .body = body};
  replication::Segment segment{.space = statement ? kStatements : kAgents};
  std::string rows;
  if (draw(2) == 0) {
    row.sealed = true;
    replication::appendSealRow(rows, row.seq, std::string(100, 's'));
  }
  replication::appendVersionRow(rows, row);
  if (draw(2) == 0) {
    const std::pair<std::uint64_t, replication::Seq> covered(row.writer, row.seq);
    replication::appendClockRow(rows, replication::RowTag::commit, {&covered, 1});
  }
  segment.rows = asData(rows);
  std::string frame;
  WordWriter words;
  replication::appendFrame(frame, words, segment);
  c_.network().forge(self_.index(), to.index(), std::move(frame));
}

bool Lies::row() {
  Seat *const to = victim(), *const author = victim();
  if (to == nullptr || to == author) return false;
  const std::string key = concat(kRowLie, random_.next());
  const auto body = replication::encodeRecord(replication::LinkBody{key, "agent-0", "m-1", "m-2", "answers"});
  if (!body.ok()) return false;
  sayRow(*to, false, *author, key, *body);
  return true;
}

// That its author proposes to retire a third device, or the one that is told.
bool Lies::revocation() {
  Seat *const to = victim(), *const author = victim(), *const gone = victim();
  if (to == nullptr || to == author || author == gone) return false;
  const auto known = author->replica().data().statements();
  if (!known.ok()) return false;
  const replication::Statement statement =
      replication::proposeRetire(*known, author->replica().data().writer(), gone->name(), 1);
  sayRow(*to, true, *author, concat(author->replica().data().writer(), ":", statement.number),
         replication::encodeStatement(statement));
  return true;
}

}  // namespace witan::sim
