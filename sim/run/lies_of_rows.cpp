// Lies about the replicated data: rows in the name of an honest device, one of them a statement that retires another,
// and commits that it has not made.
//
// What a member can say and no checker here would miss is left out: that a third device has acknowledged what it has
// not (docs/SECURITY.md, what nothing prevents).
#include "kernel/record/signed_leaves.h"
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

replication::Space* Lies::spaceOf(const Seat& at, bool statements) {
  return at.replica().data().findSpace(replication::LocalReplica::spaceId(
      replication::DatabaseName::agents, statements ? replication::kClusterScope : std::string_view("main")));
}

// The writer of an honest device, mostly under the number that the session has for it, and a counter that it has not
// reached.
std::optional<Lies::Unmade> Lies::unmade(const Seat& author, bool statements) {
  const replication::Space *theirs = spaceOf(author, statements), *own = spaceOf(self_, statements);
  if (theirs == nullptr || own == nullptr) return std::nullopt;
  const auto& names = own->writers().byName();
  const auto at = names.find(author.replica().data().writer());
  if (at == names.end()) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(std::distance(names.begin(), at));
  return Unmade{own->seals(), at->second, draw(4) == 0 ? draw(names.size()) : number,
                theirs->vector().at(theirs->self()) + 1 + draw(3)};
}

// Under its own seal: of these leaves, the last of which says how many commits there are.
std::string Lies::ownSeal(const Unmade& of, std::vector<Hash> leaves) const {
  leaves.push_back(of.seals.countLeaf(of.writer, 1, of.seq));
  std::string rows;
  replication::appendSealRow(
      rows, 1, kernel::packSet(kernel::signSet(ClusterSetup::kCluster, leaves, ClusterSetup::keyOf(self_.index()))));
  return rows;
}

void Lies::sayRow(const Seat& to, bool statement, const Seat& author, const std::string& key, const std::string& body) {
  const auto of = unmade(author, statement);
  if (!of) return;
  replication::VersionRow row{.kind = statement ? replication::Kind::statement : replication::Kind::link,
                              .key = key,
                              .writer = of->number,
                              .seq = of->seq,
                              .body = body};
  std::string rows;
  row.sealed = draw(8) == 0;  // then it is in quarantine
  if (row.sealed) rows = ownSeal(*of, {of->seals.leafOf({of->writer, of->seq, 1, row.kind, key, false, {}, body})});
  if (row.sealed && draw(2) == 0) replication::appendCountRow(rows, of->number, of->seq, 0, 1);
  replication::appendVersionRow(rows, row);
  saySegment(to, statement, rows);
}

void Lies::saySegment(const Seat& to, bool statement, const std::string& rows) {
  const replication::Segment segment{.space = statement ? kStatements : kAgents, .rows = replication::asData(rows)};
  std::string frame;
  WordWriter words;
  replication::appendFrame(frame, words, segment);
  c_.network().forge(self_.index(), to.index(), std::move(frame));
}

bool Lies::row() {
  Seat *const to = victim(), *const author = victim();
  if (to == nullptr) return false;
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

// That it has commits of another device which that has not made: without a word of that device, or under its own seal.
bool Lies::commits() {
  Seat *const to = victim(), *const author = victim();
  if (to == nullptr) return false;
  const bool statement = draw(2) == 0;
  const auto of = unmade(*author, statement);
  if (!of) return false;
  std::string rows;
  if (draw(8) == 0) {
    rows = ownSeal(*of, {});
    replication::appendCountRow(rows, of->number, of->seq, 0, 0);
  }
  const std::pair<std::uint64_t, replication::Seq> covered(of->number, of->seq);
  replication::appendClockRow(rows, replication::RowTag::commit, {&covered, 1});
  saySegment(*to, statement, rows);
  return true;
}

}  // namespace witan::sim
