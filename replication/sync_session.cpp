#include "replication/sync_session.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/identity.h"
#include "base/mutant.h"
#include "replication/sealed_scope.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {
constexpr std::uint32_t kSmallestMaxFrame = 1536 * 1024;  // one commit in one frame
constexpr std::size_t kOutboxBytes = 8 * 1024 * 1024;
constexpr std::uint8_t kIgnorableTypes = 128;
constexpr std::size_t kItemsInOutbox = 1024 * 1024;
}  // namespace

SyncSession::SyncSession(LocalReplica& local, SessionOptions options, std::int64_t nowMs)
    : local_(local), options_(std::move(options)), peer_(options_.peer), startedMs_(nowMs), progressMs_(nowMs) {
  const std::uint16_t protocol = local_.sealsRows() ? kSealedProtocol : kProtocol;
  Hello hello{.protocol = protocol,
              .oldest = protocol,
              .maxFrame = options_.maxFrame,
              .window = options_.window,
              .cluster = local_.cluster(),
              .device = local_.device(),
              .keyCheck = local_.keyCheck(),
              .trees = true,
              .alike = true,
              .live = true};
  say(hello);
  // An unknown peer gets only a name.
  if (peer_.empty()) return;
  if (Status admitted = admit(); admitted.ok()) announce();
}

// Whether the peer may take part at all, and in what.
Status SyncSession::admit() {
  if (const auto why = local_.quarantined(peer_)) {
    close("quarantined", *why);
    return Error{ErrorCode::unauthorised, *why, ""};
  }
  auto members = local_.membership();
  if (!members.ok()) {
    close("closing", members.error().message);
    return members.error();
  }
  limited_ = members->epoch > 0 && members->standing(peer_) != Standing::active && !mutated("welcomeRetired");
  statementsSeen_ = statementsNow();
  return okStatus();
}

std::uint64_t SyncSession::statementsNow() {
  const Space* cluster = local_.database(DatabaseName::agents).find(kClusterScope);
  return cluster == nullptr ? 0 : cluster->changes();
}

// A device that has acknowledged a retirement takes nothing more from the leaving device, so a session in which the
// peer turns out to be leaving ends. What else the peer may have stays as it was to the end of the session: statements
// come one by one.
Status SyncSession::followStatements() {
  if (statementsNow() == statementsSeen_) return okStatus();
  WITAN_TRY(members, local_.membership());
  statementsSeen_ = statementsNow();
  WITAN_DO(local_.noticeOwnRetirement(members));
  if (limited_ || mutated("keepSession")) return okStatus();
  const Standing standing = members.standing(peer_);
  if (standing == Standing::active || members.active.empty()) return okStatus();
  const bool stranger = standing == Standing::unknown;
  const std::string why = peer_ + (stranger ? " is no member" : concat(" is ", toString(standing)));
  close(stranger ? "stranger" : "retired", why);
  return Error{ErrorCode::unauthorised, why, ""};
}

// --- receiving

Status SyncSession::receive(std::string_view frame, std::int64_t nowMs) {
  if (state_ == SessionState::closed) return unavailable("the session is closed");
  Status status = [&]() -> Status {
    if (frame.size() < kFrameHeaderBytes) return invalid("a frame without a whole header");
    WITAN_TRY(header, readFrameHeader(frame, options_.maxFrame));
    if (header.length != frame.size() - kFrameHeaderBytes) return invalid("a frame of another length than it says");
    ++stats_.framesIn;
    stats_.bytesIn += frame.size();
    std::string_view message = frame.substr(kFrameHeaderBytes);
    if (reinterpret_cast<std::uintptr_t>(message.data()) % 8 != 0) {
      WITAN_SET(aligned_, alignedWords(message));
      message = {reinterpret_cast<const char*>(aligned_.data()), message.size()};
    }
    return dispatch(header, message, nowMs);
  }();
  if (status.ok() && outbox_.size() > kOutboxBytes) status = invalid("it asks for more than it reads");
  if (status.ok()) return status;
  for (Shared& shared : spaces_)
    if (const auto& violation = shared.sync->violation()) {
      if (!violation->kind.empty()) local_.note({violation->kind, peer_, violation->what});
      if (violation->lie && !local_.quarantined(peer_)) local_.quarantine(peer_, violation->what);
    }
  const bool waits = status.error().code == ErrorCode::unavailable;
  close(local_.quarantined(peer_) ? "quarantined" : waits ? "closing" : "protocol", status.error().message);
  return status;
}

Status SyncSession::dispatch(const FrameHeader& header, std::string_view message, std::int64_t nowMs) {
  const auto type = static_cast<FrameType>(header.type);
  if (header.type >= kIgnorableTypes) return okStatus();
  if (state_ == SessionState::running) WITAN_DO(followStatements());
  if (state_ == SessionState::opening && type != FrameType::hello && type != FrameType::bye)
    return invalid(concat("a frame of type ", header.type, " before HELLO"));
  const auto with = [&]<class T>(T into, auto handle) -> Status {
    WITAN_DO(readFrame(message, into));
    return handle(into);
  };
  switch (type) {
    case FrameType::hello: return with(Hello{}, [&](const Hello& m) { return onHello(m); });
    case FrameType::spaces: return with(Spaces{}, [&](const Spaces& m) { return onSpaces(m, nowMs); });
    case FrameType::writers:
      return with(Writers{}, [&](const Writers& m) -> Status {
        WITAN_TRY(s, shared(m.space));
        WITAN_DO(s->sync->acceptWriters(asText(m.rows)));
        recall(*s);
        learnClock(*s, nowMs);
        // No commit will have the digests compared.
        if (s->sync->peerClock() == s->sync->space().vector()) s->ackDue = ackDue_ = true;
        return okStatus();
      });
    case FrameType::segment:
      return with(Segment{}, [&](const Segment& m) { return onSegment(m, message.size() + kFrameHeaderBytes, nowMs); });
    case FrameType::live: {
      WITAN_TRY(segment, readLive(message));
      return onSegment(segment, message.size() + kFrameHeaderBytes, nowMs);
    }
    case FrameType::ack: return with(Ack{}, [&](const Ack& m) { return onAck(m, nowMs); });
    case FrameType::retry: return with(Retry{}, [&](const Retry& m) { return onRetry(m); });
    case FrameType::ranges:
      return with(Ranges{}, [&](const Ranges& m) -> Status {
        WITAN_TRY(s, shared(m.space));
        s->asked = s->asked || m.question;
        if (m.question) return answerRanges(*s->sync, indexOf(*s), m, outbox_, words_);
        if (!s->repair) return invalid("an answer to no question");
        WITAN_DO(s->repair->onRanges(m, outbox_, words_));
        afterRepair(*s);
        return okStatus();
      });
    case FrameType::rangeList:
      return with(RangeList{}, [&](const RangeList& m) -> Status {
        WITAN_TRY(s, shared(m.space));
        if (!s->repair) return invalid("a LIST without a question");
        if (outrun(*s)) {
          if (auto named = s->sync->readClockRows(asText(m.rows)); !named.ok()) return named.error();  // of writers
          return okStatus();
        }
        WITAN_DO(s->repair->onList(m, s->items, outbox_, words_));
        afterRepair(*s);
        return okStatus();
      });
    case FrameType::need:
      return with(Need{}, [&](const Need& m) -> Status {
        WITAN_TRY(s, shared(m.space));
        return s->items.add(m);
      });
    case FrameType::items: return with(Items{}, [&](const Items& m) { return onItems(m); });
    case FrameType::acks: return with(Acks{}, [&](const Acks& m) { return onAcks(m, nowMs); });
    case FrameType::tree:
      return with(Tree{}, [&](const Tree& m) -> Status {
        WITAN_TRY(s, shared(m.space));
        if (m.eager && mutated("ignoreGraft")) return okStatus();
        m.eager ? s->tree.grafted() : s->tree.pruned();
        return okStatus();
      });
    case FrameType::bye:
      return with(Bye{}, [&](const Bye& m) -> Status {
        state_ = SessionState::closed;
        closeCode_ = m.code;
        closeReason_ = m.reason;
        outbox_.clear();
        return okStatus();
      });
  }
  return invalid(concat("a frame of unknown type ", header.type));
}

Status SyncSession::onHello(const Hello& hello) {
  const auto refuse = [&](std::string_view code, const std::string& reason) -> Status {
    close(code, reason);
    return okStatus();
  };
  if (state_ != SessionState::opening) return invalid("HELLO came twice");
  if (hello.oldest > kSealedProtocol || hello.protocol < kProtocol)
    return refuse("version", concat("it speaks protocol ", hello.oldest, " to ", hello.protocol,
                                    ", this device speaks ", kProtocol, " and ", kSealedProtocol));
  if (hello.cluster != local_.cluster())
    return refuse("cluster", concat("it is of cluster '", hello.cluster, "', this is '", local_.cluster(), "'"));
  if (hello.keyCheck != 0 && hello.keyCheck != local_.keyCheck())
    return refuse("key", "its key of cluster '" + local_.cluster() + "' is another than this device's");
  WITAN_DO(validateDeviceId("device", hello.device));
  if (!options_.peer.empty() && hello.device != options_.peer)
    return invalid(concat("it calls itself '", hello.device, "' and is '", options_.peer, "'"));
  if (hello.device == local_.device())
    return refuse("protocol", "it has this device's own id '" + local_.device() + "': one of the two is a copy");
  if (hello.maxFrame < kSmallestMaxFrame)
    return refuse("protocol", concat("it accepts frames of ", hello.maxFrame, " bytes at most, ", kSmallestMaxFrame,
                                     " are needed"));
  if (hello.window == 0) return refuse("protocol", "it accepts no bytes at all (a window of 0)");
  const bool named = !peer_.empty();
  peer_ = hello.device;
  if (!named) WITAN_DO(admit());
  peerWindow_ = std::min(hello.window, options_.window);
  trees_ = hello.trees, alike_ = hello.alike, live_ = hello.live;
  for (Shared& shared : spaces_)
    if (live_) shared.sync->useAliases();
  state_ = SessionState::running;
  if (!named) announce();
  return okStatus();
}

bool SyncSession::peerMayHave(DatabaseName database, std::string_view scope) const {
  if (database == DatabaseName::agents && scope == kClusterScope) return true;
  if (limited_) return false;
  return !options_.mayHave || options_.mayHave(database, scope);
}

Status SyncSession::onSpaces(const Spaces& spaces, std::int64_t nowMs) {
  if (theirs_.size() + spaces.spaces.size() > kMaxSpaces) return invalid(concat("more than ", kMaxSpaces, " spaces"));
  for (const SpaceSummary& theirs : spaces.spaces) WITAN_DO(onSpace(theirs, nowMs));
  return okStatus();
}

// A space that the peer has. This side makes it too, if the peer may have it.
Status SyncSession::onSpace(const SpaceSummary& theirs, std::int64_t nowMs) {
  if (theirs.database > 1) return invalid(concat("database ", theirs.database));
  const auto database = static_cast<DatabaseName>(theirs.database);
  WITAN_DO(validateId("scope", theirs.scope));
  theirs_.emplace_back();
  if (!peerMayHave(database, theirs.scope)) return okStatus();
  WITAN_TRY(space, local_.database(database).space(theirs.scope));
  (void)space;
  announce();
  const auto at =
      std::ranges::find_if(spaces_, [&](const Shared& s) { return s.database == database && s.scope == theirs.scope; });
  WITAN_CHECK(at != spaces_.end(), "a space that exists was named");
  Shared& shared = *at;
  if (shared.theirs) return invalid("space " + shared.id + " is named twice");
  shared.theirs = static_cast<std::uint16_t>(theirs_.size() - 1);
  theirs_.back() = static_cast<std::size_t>(at - spaces_.begin());
  if (shared.summarisedHash != theirs.writersHash) {
    const std::string rows = shared.sync->writersRows();
    shared.acked = shared.sync->space().vector();
    say(Writers{indexOf(shared), asData(rows)});
  } else {
    WITAN_DO(shared.sync->agree(asText(theirs.vector)));
    recall(shared);
    learnClock(shared, nowMs);
    compareDigests(shared, shared.sync->peerClock(), theirs.settled,
                   digestOf(theirs.count, theirs.sumHigh, theirs.sumLow));
  }
  if (!theirs.resume.empty()) shared.sync->resume(asText(theirs.resume));
  shared.peerAcksHash = theirs.acksHash;
  return okStatus();
}

Result<SyncSession::Shared*> SyncSession::shared(std::uint16_t theirs) {
  if (theirs >= theirs_.size() || !theirs_[theirs])
    return invalid(concat("space number ", theirs, " was not named, or may not be had"));
  return &spaces_[*theirs_[theirs]];
}

std::uint16_t SyncSession::indexOf(const Shared& shared) const {
  for (std::size_t i = 0; i < spaces_.size(); ++i)
    if (&spaces_[i] == &shared) return static_cast<std::uint16_t>(i);
  WITAN_CHECK(false, "a space of this session");
}

// --- time, end

void SyncSession::tick(std::int64_t nowMs) {
  if (state_ == SessionState::opening && nowMs - startedMs_ > options_.helloTimeoutMs)
    close("silent", concat("no HELLO within ", options_.helloTimeoutMs / 1000, " s"));
  if (state_ == SessionState::running && segmentBytesOut_ > segmentBytesAcked_ &&
      nowMs - progressMs_ > options_.silenceTimeoutMs)
    close("silent", concat("nothing acknowledged for ", options_.silenceTimeoutMs / 1000, " s"));
  for (Shared& shared : spaces_) shared.acksDue = shared.acksDue || nowMs >= shared.acksFromMs;
}

void SyncSession::close(std::string_view code, std::string_view reason) {
  if (state_ == SessionState::closed) return;
  state_ = SessionState::closed;
  closeCode_ = code;
  closeReason_ = reason;
  outbox_.clear();
  say(Bye{closeCode_, closeReason_});
}

bool SyncSession::quiet() const {
  return state_ != SessionState::opening && outbox_.empty() && !ackDue_ && segmentBytesOut_ == segmentBytesAcked_ &&
         std::ranges::all_of(
             spaces_, [](const Shared& s) { return (!s.theirs || s.sync->allSent()) && !s.repair && s.items.empty(); });
}

// --- segments and acknowledgements

Status SyncSession::onSegment(const Segment& segment, std::size_t frameBytes, std::int64_t nowMs) {
  WITAN_TRY(s, shared(segment.space));
  if (!s->sync->agreed()) return invalid("a segment before the writers are agreed");
  segmentBytesIn_ += frameBytes;
  // The last segment of a walk is acknowledged even if it commits to nothing: what it had is above the peer's vector.
  ackDue_ = ackDue_ || segment.resume.empty() || segmentBytesIn_ - segmentBytesInAcked_ > peerWindow_ / 4;
  WITAN_TRY(applied, s->sync->apply(asText(segment.rows), segment.attempt, Gate::closed));
  note(applied);
  if (applied.fresh) s->tree.fresh();
  if (applied.repeated && s != &spaces_.front() && trees_ && options_.prunes && options_.prunes()) {
    s->tree.repeated();
    say(Tree{indexOf(*s), false});
  }
  if (applied.retry) {
    ++stats_.retries;
    const std::string rows = s->sync->wholeClock();
    say(Retry{indexOf(*s), s->sync->expectedAttempt(), asData(rows)});
  }
  // After a break the walk that the tokens speak of has a gap: none of them may be handed back.
  if (applied.committed || applied.retry) {
    if (applied.committed) s->ackDue = ackDue_ = s->clockNews = true;
    if (!s->resume.empty()) local_.database(s->database).eraseMeta(cursorRow(*s));
    s->resume.clear();
    if (clocksWait_) learnClock(*s, nowMs);
  } else if (!segment.resume.empty() && (segment.attempt == s->sync->expectedAttempt() || mutated("keepVoidToken"))) {
    // Not that of a segment with a delta that had no base here, nor of those behind it: they count what is not held.
    s->resume = asText(segment.resume);
    local_.database(s->database).putMeta(cursorRow(*s), s->resume);
  }
  return okStatus();
}

void SyncSession::note(const Applied& applied) {
  for (const auto& [device, what] : applied.incidents) local_.note({"equivocation", device, what});
  for (const std::string& what : applied.forged) local_.note({"forgedRow", "", what});
}

// Whether everything that the peer has stated about membership has arrived, as far as it said.
bool SyncSession::statementsHere() const {
  if (mutated("ackUnheard")) return true;
  SpaceSync& cluster = *spaces_.front().sync;
  return cluster.agreed() && cluster.peerClock().le(cluster.space().vector());
}

bool SyncSession::statementsSent() const { return spaces_.front().sync->allSent(); }

// A peer that claims less than it had acknowledged, as far as is known here, has an older copy on its disk. It cannot
// know, so it hears of it before any segment (LocalReplica::judgeAck).
void SyncSession::recall(Shared& shared) {
  if (limited_ || std::exchange(shared.recalled, true)) return;
  const VectorClock told = shared.sync->named(shared.sync->peerClock());
  const VectorClock known = local_.acks().acked(shared.id, peer_);
  if (!le(known, told)) say(Acks{indexOf(shared), asData(shared.sync->ackRows({{peer_, known}}, false))});
}

// Notes the peer's durable vector, by its own word. It counts from when the peer's statements are here: else it would
// vouch for a device that has admitted another of which this one does not know (replication/stability.h).
void SyncSession::learnClock(const Shared& shared, std::int64_t nowMs) {
  const auto note = [&](const Shared& each) {
    if (each.sync->agreed()) local_.noteAck(each.id, peer_, each.sync->named(each.sync->peerClock()), nowMs);
  };
  if (!statementsHere()) {
    clocksWait_ = true;
  } else if (clocksWait_) {
    clocksWait_ = false;
    for (const Shared& each : spaces_) note(each);
  } else {
    note(shared);
  }
}

Status SyncSession::onAck(const Ack& ack, std::int64_t nowMs) {
  if (ack.received < segmentBytesAcked_ || ack.received > segmentBytesOut_)
    return invalid(concat("an ACK of ", ack.received, " bytes where ", segmentBytesAcked_, " to ", segmentBytesOut_,
                          " are possible"));
  if (ack.received > segmentBytesAcked_) progressMs_ = nowMs;
  segmentBytesAcked_ = ack.received;
  for (const AckedSpace& acked : ack.spaces) WITAN_DO(onAckedSpace(acked, nowMs));
  return okStatus();
}

Status SyncSession::onAckedSpace(const AckedSpace& acked, std::int64_t nowMs) {
  WITAN_TRY(s, shared(acked.space));
  if (!s->sync->agreed()) return invalid("an ACK before the writers are agreed");
  WITAN_TRY(applied, s->sync->readClockRows(asText(acked.rows)));
  if (applied.clock) WITAN_DO(s->sync->peerHas(*applied.clock));
  learnClock(*s, nowMs);
  compareDigests(*s, s->sync->peerClock(), acked.settled, digestOf(acked.count, acked.sumHigh, acked.sumLow));
  // The peer is to ask, and what it compared last may have been equal.
  if (acked.settled && awaitsQuestion(*s)) s->ackDue = ackDue_ = true;
  return okStatus();
}

Status SyncSession::onRetry(const Retry& retry) {
  WITAN_TRY(s, shared(retry.space));
  if (!s->sync->agreed()) return invalid("a RETRY before the writers are agreed");
  return s->sync->restart(asText(retry.rows), retry.attempt);
}

// --- sending: names of spaces, segments, acknowledgements, records for a repair

void SyncSession::announce() {
  const std::size_t named = spaces_.size();
  const auto name = [&](DatabaseName database, const std::string& scope, Space* space) {
    const bool known = std::ranges::any_of(spaces_, [&](const Shared& s) { return &s.sync->space() == space; });
    if (known || !peerMayHave(database, scope) || spaces_.size() >= kMaxSpaces) return;
    Shared& shared = spaces_.emplace_back();
    shared.database = database, shared.scope = scope, shared.id = LocalReplica::spaceId(database, scope);
    shared.sync = std::make_unique<SpaceSync>(
        *space, database,
        [this, space, id = shared.id](const VersionVector& claimed) {
          return local_.judgeClaim(*space, id, peer_, withNames(claimed, space->writers()));
        },
        [this](const std::string& why, bool taken) {
          return taken ? local_.dotWasTaken(peer_, why) : local_.reincarnate(why);
        });
    if (database == DatabaseName::agents && scope == kClusterScope) shared.sync->acceptStatementsOnly();
    if (isSealedScope(scope)) shared.sync->acceptSealedOnly(options_.copiesOnly);
    if (live_) shared.sync->useAliases();
    VersionVector forgotten;
    const VectorClock byName = local_.acks().acked(shared.id, kForgotten);
    for (const auto& [writer, counter] : byName.entries())
      if (const auto index = space->writers().find(writer)) forgotten.raise(*index, counter);
    shared.sync->noteForgotten(forgotten);
  };
  Database& agents = local_.database(DatabaseName::agents);
  if (spaces_.empty()) name(agents.name(), std::string(kClusterScope), agents.find(kClusterScope));
  for (const Database* database : {&agents, &local_.database(DatabaseName::journal)})
    for (const auto& [scope, space] : database->spaces()) name(database->name(), scope, space.get());
  if (spaces_.size() > named) sendSummaries(named);
}

void SyncSession::sendSummaries(std::size_t from) {
  Spaces message;
  std::deque<std::string> kept;  // what the message borrows
  for (std::size_t i = from; i < spaces_.size(); ++i) {
    Shared& shared = spaces_[i];
    Space& space = shared.sync->space();
    auto summary = shared.sync->summarise(local_.fingerprintKey());
    shared.summarisedHash = summary.writersHash;
    shared.acked = space.vector();
    shared.repairs = space.repairs();
    auto token = local_.database(shared.database).meta(cursorRow(shared));
    if (token.ok() && *token) shared.resume = **token;
    SpaceSummary& out = message.spaces.emplace_back();
    out.database = static_cast<std::uint16_t>(shared.database);
    out.settled = mayCompare(shared);
    out.writersHash = summary.writersHash;
    out.count = space.digest().count;
    out.sumHigh = static_cast<std::uint64_t>(space.digest().sum >> 64);
    out.sumLow = static_cast<std::uint64_t>(space.digest().sum);
    local_.noteOwnAck(shared.id, space);
    out.acksHash = local_.acksHash(shared.id, space);
    out.scope = shared.scope;
    out.vector = asData(kept.emplace_back(std::move(summary.vector)));
    out.resume = asData(shared.resume);
  }
  say(message);
}

std::string SyncSession::cursorRow(const Shared& shared) const { return "cursor/" + peer_ + "/" + shared.scope; }

bool SyncSession::produce(std::string& out, std::size_t budget, std::int64_t nowMs) {
  const std::size_t before = out.size();
  if (state_ == SessionState::running && followStatements().ok()) {
    announce();
    for (Shared& shared : spaces_)
      if (shared.sync->agreed() && !shared.repair &&
          (local_.restored(shared.id) || shared.sync->unchecked().end() > 0) &&
          shared.sync->space().vector().le(shared.sync->peerClock(), shared.sync->space().self()))
        startRepair(shared, RepairMode::adopt);
    for (Shared& shared : spaces_) {
      sendItems(shared);
      followTree(shared, nowMs);
      // Also of what was repaired with another peer: no vector shows it.
      if (shared.sync->agreed() && !shared.repair && shared.repairs != shared.sync->space().repairs())
        shared.ackDue = ackDue_ = true;
      if (std::exchange(shared.clockNews, false)) learnClock(shared, nowMs);
    }
  }
  out += outbox_;
  outbox_.clear();
  if (state_ == SessionState::running) {
    const bool first = !statementsSent();
    for (Shared& shared : spaces_) {
      // Acknowledgements first: who gets what has been tidied away knows whose word that rests on, and tells it, if
      // that device comes back with an older copy.
      sendAcks(shared, nowMs);
      out += std::exchange(outbox_, {});
      while (out.size() - before < budget) {
        if (segmentBytesOut_ == segmentBytesAcked_) progressMs_ = nowMs;  // the wait begins with the first
        if (!sendSegment(shared, out, nowMs)) break;
      }
    }
    if (state_ == SessionState::closed) return produce(out, budget, nowMs);
    if (ackDue_) sendAck();
    for (Shared& shared : spaces_)
      if (first) sendAcks(shared, nowMs);  // they had to wait for the statements
    out += outbox_;
    outbox_.clear();
  }
  stats_.bytesOut += out.size() - before;
  return out.size() > before;
}

// Items wait in hashes, not in bytes: the records are read when there is room for them.
void SyncSession::sendItems(Shared& shared) {
  if (shared.items.empty()) return;
  if (Status sent = shared.items.send(*shared.sync, indexOf(shared), outbox_, words_, kItemsInOutbox); !sent.ok())
    return close("closing", sent.error().message);
  afterRepair(shared);
}

// Most calls come when another link has news: vectors of a thousand writers are not compared for these.
const TreeLink::Compared& SyncSession::compared(Shared& shared) const {
  const Shared::Moment now{shared.sync->space().changes(), stats_.framesIn, stats_.framesOut};
  if (std::exchange(shared.comparedAt, now) == now) return shared.compared;
  const VersionVector &mine = shared.sync->space().vector(), &theirs = shared.sync->peerClock();
  return shared.compared = {.peerLacks = !mine.le(theirs), .lacks = !theirs.le(mine), .untold = !mine.le(shared.acked)};
}

// What the tree of a space asks for, over a link that is no plain one.
void SyncSession::followTree(Shared& shared, std::int64_t nowMs) {
  if (shared.tree.plain() || !shared.theirs || !shared.sync->agreed() || mutated("lazyForEver")) return;
  const bool shorter = shared.tree.compare(compared(shared), nowMs);
  if (shared.tree.digestDue(nowMs) && !mutated("neverTell")) shared.ackDue = ackDue_ = true;
  if (!(shorter || shared.tree.graftDue(nowMs)) || mutated("neverGraft")) return;
  const bool may = !options_.mayGraft || options_.mayGraft(shared.id, nowMs);
  shared.tree.graft(may, nowMs);
  if (may) say(Tree{indexOf(shared), true});
}

bool SyncSession::feeds() const {
  return std::ranges::any_of(spaces_, [](const Shared& s) { return s.theirs && s.tree.receives(); });
}

void SyncSession::regraft() {
  for (Shared& shared : spaces_) {
    if (shared.tree.receives() || mutated("neverRegraft")) continue;
    shared.tree.fresh();
    say(Tree{indexOf(shared), true});
  }
}

std::int64_t SyncSession::nextMs(std::int64_t nowMs) const {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const Shared& shared : spaces_) next = std::min(next, shared.tree.nextMs(nowMs));
  return next;
}

std::optional<std::int64_t> SyncSession::dueMs() const {
  std::optional<std::int64_t> due;
  for (const Shared& shared : spaces_)
    if (shared.gathers && (!due || shared.gatherTo < *due)) due = shared.gatherTo;
  return due;
}

bool SyncSession::sendSegment(Shared& shared, std::string& out, std::int64_t nowMs) {
  shared.gathers = false;
  if (mutated("slowRows") && nowMs % 60'000 > 5'000) return false;
  if (!shared.theirs || !shared.sync->agreed() || shared.repair) return false;
  // What the peer has by now is passed over without a frame.
  if (!shared.tree.maySend(nowMs) && compared(shared).peerLacks) return false;
  // Statements first, in both directions: the peer's may say that it is no member.
  if (&shared != &spaces_.front() && !(statementsSent() && statementsHere())) return false;
  if (segmentBytesOut_ - segmentBytesAcked_ >= peerWindow_) return false;
  if (options_.gatherMs > 0 && shared.sync->space().sealDue()) {
    shared.gathers = nowMs < shared.gatherTo;
    if (shared.gathers) return false;
    shared.gatherTo = nowMs + options_.gatherMs;
  }
  std::string rows, resume;
  const auto any = shared.sync->nextRows(rows, resume, options_.segmentBytes);
  if (!any.ok()) close("closing", any.error().message);
  if (!any.ok() || !*any) return false;
  const std::size_t before = out.size();
  const Segment segment{indexOf(shared), shared.sync->attempt(), asData(rows), asData(resume)};
  if (live_ && resume.empty())
    appendLive(out, segment);
  else
    appendFrame(out, words_, segment);
  segmentBytesOut_ += out.size() - before;
  ++stats_.segmentsOut;
  ++stats_.framesOut;
  return true;
}

void SyncSession::sendAck() {
  Ack ack;
  const bool received = segmentBytesIn_ > segmentBytesInAcked_;
  ack.received = segmentBytesInAcked_ = segmentBytesIn_;
  std::deque<std::string> kept;
  ackDue_ = false;
  for (Shared& shared : spaces_) {
    if (!shared.ackDue || !shared.sync->agreed()) continue;
    if (!statementsSent()) {
      ackDue_ = true;  // the peer may count it only with these
      continue;
    }
    shared.ackDue = false;
    Space& space = shared.sync->space();
    if (!shared.repair) shared.repairs = space.repairs();
    AckedSpace& acked = ack.spaces.emplace_back();
    acked.space = indexOf(shared);
    acked.settled = mayCompare(shared);
    acked.count = space.digest().count;
    acked.sumHigh = static_cast<std::uint64_t>(space.digest().sum >> 64);
    acked.sumLow = static_cast<std::uint64_t>(space.digest().sum);
    acked.rows = asData(kept.emplace_back(shared.sync->clockRows(shared.acked, space.vector())));
    shared.acked = space.vector();
  }
  if (received || !ack.spaces.empty()) say(ack);
}

}  // namespace witan::replication
