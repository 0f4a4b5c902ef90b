#include "replication/sync_session.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/identity.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

constexpr std::uint32_t kSmallestMaxFrame = 1536 * 1024;  // one commit in one frame
constexpr std::size_t kOutboxBytes = 8 * 1024 * 1024;
constexpr std::uint8_t kIgnorableTypes = 128;

}  // namespace

SyncSession::SyncSession(LocalReplica& local, SessionOptions options, std::int64_t nowMs)
    : local_(local), options_(std::move(options)), peer_(options_.peer), startedMs_(nowMs), progressMs_(nowMs) {
  Hello hello;
  hello.maxFrame = options_.maxFrame;
  hello.window = options_.window;
  hello.cluster = local_.cluster();
  hello.device = local_.device();
  hello.keyCheck = local_.keyCheck();
  say(hello);
  // Who is not known yet gets nothing but a name.
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
  limited_ = members->epoch > 0 && members->standing(peer_) != Standing::active;
  statementsSeen_ = statementsNow();
  return okStatus();
}

std::uint64_t SyncSession::statementsNow() {
  const Space* cluster = local_.database(DatabaseName::agents).find(kClusterScope);
  return cluster == nullptr ? 0 : cluster->changes();
}

// Whoever has acknowledged a retirement takes nothing more from that device, so a session in which the peer turns out
// to be leaving ends. What else the peer may have stays as it was to the end of the session: statements come one by
// one.
Status SyncSession::followStatements() {
  if (statementsNow() == statementsSeen_) return okStatus();
  WITAN_TRY(members, local_.membership());
  statementsSeen_ = statementsNow();
  WITAN_DO(local_.noticeOwnRetirement(members));
  if (limited_) return okStatus();
  const Standing standing = members.standing(peer_);
  if (standing == Standing::active || members.active.empty()) return okStatus();
  const bool stranger = standing == Standing::unknown;
  const std::string why = peer_ + (stranger ? " is no member" : std::string(" is ") + toString(standing));
  close(stranger ? "stranger" : "retired", why);
  return Error{ErrorCode::unauthorised, why, ""};
}

// --- receiving

Status SyncSession::receive(std::string_view frame, std::int64_t nowMs) {
  if (state_ == SessionState::closed) return Error{ErrorCode::unavailable, "the session is closed", ""};
  Status status = [&]() -> Status {
    if (frame.size() < kFrameHeaderBytes) return invalid("a frame without a whole header");
    WITAN_TRY(header, readFrameHeader(frame, options_.maxFrame));
    if (header.length != frame.size() - kFrameHeaderBytes) return invalid("a frame of another length than it says");
    ++stats_.framesIn;
    stats_.bytesIn += frame.size();
    std::string_view message = frame.substr(kFrameHeaderBytes);
    if (reinterpret_cast<std::uintptr_t>(message.data()) % 8 != 0) {
      WITAN_TRY(words, alignedWords(message));
      aligned_ = std::move(words);
      message = {reinterpret_cast<const char*>(aligned_.data()), message.size()};
    }
    return dispatch(header, message, nowMs);
  }();
  if (status.ok() && outbox_.size() > kOutboxBytes) status = invalid("it asks for more than it reads");
  if (status.ok()) return status;
  for (Shared& shared : spaces_)
    if (const auto& violation = shared.sync->violation(); violation && violation->lie && !local_.quarantined(peer_))
      local_.quarantine(peer_, violation->what);
  close(local_.quarantined(peer_) ? "quarantined" : "protocol", status.error().message);
  return status;
}

Status SyncSession::dispatch(const FrameHeader& header, std::string_view message, std::int64_t nowMs) {
  const auto type = static_cast<FrameType>(header.type);
  if (header.type >= kIgnorableTypes) return okStatus();
  if (state_ == SessionState::running) WITAN_DO(followStatements());
  if (state_ == SessionState::opening && type != FrameType::hello && type != FrameType::bye)
    return invalid("a frame of type " + std::to_string(header.type) + " before HELLO");
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
        return okStatus();
      });
    case FrameType::segment:
      return with(Segment{}, [&](const Segment& m) { return onSegment(m, message.size() + kFrameHeaderBytes, nowMs); });
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
        WITAN_DO(s->repair->onList(m, s->items, outbox_, words_));
        afterRepair(*s);
        return okStatus();
      });
    case FrameType::need:
      return with(Need{}, [&](const Need& m) -> Status {
        WITAN_TRY(s, shared(m.space));
        return s->items.add(m);
      });
    case FrameType::items:
      return with(Items{}, [&](const Items& m) -> Status {
        WITAN_TRY(s, shared(m.space));
        return onItems(*s, m);
      });
    case FrameType::acks: return with(Acks{}, [&](const Acks& m) { return onAcks(m, nowMs); });
    case FrameType::bye:
      return with(Bye{}, [&](const Bye& m) -> Status {
        state_ = SessionState::closed;
        closeCode_ = m.code;
        closeReason_ = m.reason;
        outbox_.clear();
        return okStatus();
      });
  }
  return invalid("a frame of unknown type " + std::to_string(header.type));
}

Status SyncSession::onHello(const Hello& hello) {
  const auto refuse = [&](std::string_view code, const std::string& reason) -> Status {
    close(code, reason);
    return okStatus();
  };
  if (state_ != SessionState::opening) return invalid("HELLO came twice");
  if (hello.oldest > kProtocol || hello.protocol < kProtocol)
    return refuse("version", "it speaks protocol " + std::to_string(hello.oldest) + " to " +
                                 std::to_string(hello.protocol) + ", this device speaks " + std::to_string(kProtocol));
  if (hello.cluster != local_.cluster())
    return refuse("cluster",
                  "it is of cluster '" + std::string(hello.cluster) + "', this is '" + local_.cluster() + "'");
  if (hello.keyCheck != 0 && hello.keyCheck != local_.keyCheck())
    return refuse("key", "its key of cluster '" + local_.cluster() + "' is another than this device's");
  WITAN_DO(validateDeviceId("device", hello.device));
  if (!options_.peer.empty() && hello.device != options_.peer)
    return invalid("it calls itself '" + std::string(hello.device) + "' and is '" + options_.peer + "'");
  if (hello.device == local_.device())
    return refuse("protocol", "it has this device's own id '" + local_.device() + "': one of the two is a copy");
  if (hello.maxFrame < kSmallestMaxFrame)
    return refuse("protocol", "it accepts frames of " + std::to_string(hello.maxFrame) + " bytes at most, " +
                                  std::to_string(kSmallestMaxFrame) + " are needed");
  if (hello.window == 0) return refuse("protocol", "it accepts no bytes at all (a window of 0)");
  const bool named = !peer_.empty();
  peer_ = hello.device;
  if (!named) WITAN_DO(admit());
  peerWindow_ = std::min(hello.window, options_.window);
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
  if (theirs_.size() + spaces.spaces.size() > kMaxSpaces)
    return invalid("more than " + std::to_string(kMaxSpaces) + " spaces");
  for (const SpaceSummary& theirs : spaces.spaces) WITAN_DO(onSpace(theirs, nowMs));
  return okStatus();
}

// A space that the peer has. This side makes it too, if the peer may have it.
Status SyncSession::onSpace(const SpaceSummary& theirs, std::int64_t nowMs) {
  if (theirs.database > 1) return invalid("database " + std::to_string(theirs.database));
  const auto database = static_cast<DatabaseName>(theirs.database);
  WITAN_DO(validateId("scope", theirs.scope));
  theirs_.emplace_back();
  if (!peerMayHave(database, theirs.scope)) return okStatus();
  WITAN_TRY(space, local_.database(database).space(theirs.scope));
  (void)space;
  announce();
  const auto at = std::find_if(spaces_.begin(), spaces_.end(),
                               [&](const Shared& s) { return s.database == database && s.scope == theirs.scope; });
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
    return invalid("space number " + std::to_string(theirs) + " was not named, or may not be had");
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
    close("silent", "no HELLO within " + std::to_string(options_.helloTimeoutMs / 1000) + " s");
  if (state_ == SessionState::running && segmentBytesOut_ > segmentBytesAcked_ &&
      nowMs - progressMs_ > options_.silenceTimeoutMs)
    close("silent", "nothing acknowledged for " + std::to_string(options_.silenceTimeoutMs / 1000) + " s");
  for (Shared& shared : spaces_) shared.acksDue = true;
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
         std::all_of(spaces_.begin(), spaces_.end(),
                     [](const Shared& s) { return (!s.theirs || s.sync->allSent()) && !s.repair && s.items.empty(); });
}

}  // namespace witan::replication
