// SyncSession: comparing the copies of a space by digests, and what a comparison changes.
#include <algorithm>
#include <utility>

#include "replication/sync_session.h"

namespace witan::replication {

namespace {
constexpr unsigned kRepairsPerSession = 3;
}  // namespace

// Whether equal vectors mean equal contents: not in the middle of a peer's round, and not while something here may have
// been outlived elsewhere. A peer that compared then would take it for lost and bring it back.
bool SyncSession::mayCompare(const Shared& shared) const {
  return !local_.restored(shared.id) && shared.sync->space().settled();
}

// Equal vectors, different contents: a bug or a damaged disk. The device with the smaller id asks; if it does not, the
// other does.
void SyncSession::compareDigests(Shared& shared, const VersionVector& theirs, bool settled, const Digest& digest) {
  Space& space = shared.sync->space();
  if (!settled || shared.repair || !shared.items.empty() || !(theirs == space.vector()) || !mayCompare(shared)) return;
  const bool differed = std::exchange(shared.differs, digest != space.digest());
  if (differed && !shared.differs) space.repaired(), shared.repairs = space.repairs();  // by the peer
  if (!shared.differs || shared.alarms >= kRepairsPerSession) return;
  if (shared.alarms++ == 0)
    local_.note({"digestAlarm", peer_,
                 shared.id + ": equal vectors, but here " + toString(space.digest()) + " and there " +
                     toString(digest) + "; repairing"});
  if (local_.device() < peer_ || (shared.alarms > 1 && !shared.asked)) startRepair(shared, RepairMode::unite);
}

// The digests differ, both sides may compare, and it is the peer's turn to ask.
bool SyncSession::awaitsQuestion(const Shared& shared) const {
  return shared.differs && mayCompare(shared) && !shared.repair && shared.alarms < kRepairsPerSession;
}

bool SyncSession::differs() const {
  return std::ranges::any_of(spaces_, [](const Shared& s) { return s.differs; });
}

void SyncSession::startRepair(Shared& shared, RepairMode mode) {
  ++stats_.repairs;
  shared.checking = shared.sync->unchecked();
  shared.repairs = shared.sync->space().repairs();
  shared.sync->adoptEvents(mode == RepairMode::adopt);
  const auto tookBack = [this, &shared](const Record& record) {
    const KindTraits& traits = shared.sync->space().schemas().traits(record.kind);
    // Of a copy that did not go back all comes again with the items.
    if (shared.database != DatabaseName::agents || !traits.guarded || !local_.restored(shared.id)) return;
    local_.database(DatabaseName::agents).putMeta(tookBackRow(shared.id, record.kind, record.key()), "1");
  };
  shared.repair = std::make_unique<AntiEntropy>(*shared.sync, indexOf(shared), mode, tookBack);
  shared.repair->start(outbox_, words_);
}

// Another peer's copy was taken over while this peer's was compared. This one may be older than that: what is not held
// by now was superseded, and the gate stands again. A copy that did not go back is compared on, if the peer still has
// all that is here.
bool SyncSession::outrun(const Shared& shared) {
  if (!shared.repair || shared.repair->mode() != RepairMode::adopt) return false;
  const Space& space = shared.sync->space();
  return shared.repairs != space.repairs() &&
         (shared.checking.end() == 0 || !space.vector().le(shared.sync->peerClock(), space.self()));
}

Status SyncSession::onItems(const Items& items) {
  WITAN_TRY(s, shared(items.space));
  const Digest before = s->sync->space().digest();
  const bool late = outrun(*s);
  if (late) s->sync->adoptEvents(false);
  SpaceSync::Before comes;
  if (s->repair && !late) comes = [&](const Incoming& item) { s->repair->onItem(item); };
  WITAN_TRY(applied, s->sync->apply(asText(items.rows), 0, late ? Gate::closed : Gate::open, comes));
  note(applied);
  if (!s->repair && before != s->sync->space().digest()) s->differs = true;
  if (s->repair) s->repair->onItems(items.more, late);
  if (!s->repair && !items.more) s->ackDue = ackDue_ = true;  // with the digest that the asker compares
  afterRepair(*s);
  return okStatus();
}

void SyncSession::afterRepair(Shared& shared) {
  if (!shared.repair || !shared.repair->done() || !shared.items.empty()) return;
  const bool counts = !outrun(shared);
  if (counts && shared.repair->disturbed()) return shared.repair->start(outbox_, words_);
  if (shared.repair->mode() == RepairMode::adopt && counts) {
    if (local_.restored(shared.id)) local_.setRestored(shared.id, false);
    shared.sync->checked(shared.checking);
    shared.clockNews = true;
  }
  shared.repair.reset();
  shared.sync->adoptEvents(false);
  if (counts) shared.sync->space().repaired();
  shared.ackDue = ackDue_ = true;
}

}  // namespace witan::replication
