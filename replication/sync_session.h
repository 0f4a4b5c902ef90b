// SyncSession: one conversation with one peer over an authenticated, ordered stream that may die anywhere
// (replication/sync.capnp is the protocol). The node drives it over TLS, a script over pipes, the simulator over
// anything.
//
//   on connect:        SyncSession session(replica, options);
//   on a whole frame:  session.receive(frame, nowMs)         one frame, header included
//   after that, after local commits, and when the stream can take more:
//                      session.produce(out, budget, nowMs);  replica.flush();  send(out)
//   now and then:      session.tick(nowMs)
//   when state() is closed: send what produce() gives (the reason), end the stream
//
// The frames of produce() rest on the replica's memory, so none of them may be sent before flush().
//
// Bounds. A frame's length is checked before it is allocated, every count inside before it is used. At most `window`
// bytes of segments are under way unacknowledged; a slow or silent peer costs nothing more, since segments are made
// from what is held when there is room for them. Answers wait in an outbox of bounded size; a peer that asks faster
// than it reads is cut off. Whoever says what no honest peer says is cut off, and quarantined if it was about counters.
//
// The replica outlives it. Not thread-safe. Several sessions may share a replica, on one strand.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "replication/anti_entropy.h"
#include "replication/local_replica.h"
#include "replication/space_sync.h"
#include "replication/tree_link.h"

namespace witan::replication {

struct SessionOptions {
  std::string peer;  // device, as the transport authenticated it; empty: believe its HELLO (pipes, tests)
  // Whether the peer may have a space at all. Default: every one.
  std::function<bool(DatabaseName, std::string_view scope)> mayHave;
  // Whether a device keeps encrypted copies only: it writes nothing into the scopes of these. Default: none does.
  std::function<bool(std::string_view device)> copiesOnly;
  // Whether a link over which everything comes a second time is to become a lazy one. Default: never.
  std::function<bool()> prunes;
  // Whether a lazy link may be made eager for what is missing in a space: one link after the other. Default: it may.
  std::function<bool(const std::string& space, std::int64_t nowMs)> mayGraft;
  std::uint32_t window = 4 * 1024 * 1024;
  std::uint32_t maxFrame = kMaxFrameBytes;
  std::uint32_t segmentBytes = 256 * 1024;
  std::int64_t helloTimeoutMs = 30'000;
  std::int64_t silenceTimeoutMs = 120'000;  // with something unacknowledged under way
  // After what this device wrote was sealed, what it writes next is gathered for so long under one seal.
  std::int64_t gatherMs = 0;
};

WITAN_ENUM(SessionState, opening, running, closed)

struct SessionStats {
  std::uint64_t framesIn = 0, framesOut = 0, bytesIn = 0, bytesOut = 0;
  std::uint64_t segmentsOut = 0, retries = 0, repairs = 0;
};

class SyncSession {
 public:
  SyncSession(LocalReplica& local, SessionOptions options, std::int64_t nowMs);

  SessionState state() const { return state_; }
  // The peer's device, once known.
  const std::string& peer() const { return peer_; }
  // Why it ended; a code of BYE and words.
  const std::string& closeCode() const { return closeCode_; }
  const std::string& closeReason() const { return closeReason_; }

  // Applies one frame. An error ends the session (the reason goes out with the next produce()).
  Status receive(std::string_view frame, std::int64_t nowMs);
  // Appends frames to `out` until nothing is left to say, the window is full, or about `budget` bytes were appended.
  // Returns whether anything was appended.
  bool produce(std::string& out, std::size_t budget, std::int64_t nowMs);
  void tick(std::int64_t nowMs);
  // When produce() has something to say after `nowMs`, if nothing else happens.
  std::int64_t nextMs(std::int64_t nowMs) const;
  // Whether updates come over it as they are made, and not only digests.
  bool feeds() const;
  // Another session that did has ended: what it brought may be behind any link, so this one brings it too, until it
  // brings something twice.
  void regraft();
  // When what is gathered goes out by produce(). None: nothing is.
  std::optional<std::int64_t> dueMs() const;
  // Ends it from this side.
  void close(std::string_view code, std::string_view reason);

  // The peer has said who it is and may take part in more than membership.
  bool full() const { return state_ == SessionState::running && !limited_; }
  // Nothing to say and nothing under way, as far as this side knows.
  bool quiet() const;
  // The digests of a space that could be compared last were different, and no repair has made them equal.
  bool differs() const;
  const SessionStats& stats() const { return stats_; }

 private:
  struct Shared {
    DatabaseName database;
    std::string scope, id;
    std::unique_ptr<SpaceSync> sync;
    std::uint64_t summarisedHash = 0;  // of the writers, as this side named them
    std::optional<std::uint16_t> theirs;
    VersionVector acked;  // what the peer was told of this side's vector
    bool ackDue = false;
    bool clockNews = false;  // a commit told the peer's vector, not yet noted
    bool differs = false;    // the last digests that could be compared were different
    std::unique_ptr<AntiEntropy> repair;
    ItemsQueue items;  // records that the peer needs
    unsigned alarms = 0;
    std::uint64_t repairs = 0;    // of the space, when the peer was told its digest last, or `repair` began
    bool asked = false;           // by the peer, for a repair
    bool acksDue = true;          // say what is known of third devices, if the peer knows otherwise
    std::int64_t acksFromMs = 0;  // after the first time no earlier than then
    std::string acksAfter;        // where they ended last time (SpaceSync::ackGroups)
    std::uint64_t acksBegun = 0;  // the table when its first part was told, if nothing of it was left out since
    bool recalled = false;        // the peer's first claim was held against what it had acknowledged before
    std::uint64_t peerAcksHash = 0;
    VectorClock told;           // of what was forgotten
    VersionVector checking;     // commits that count after the repair
    std::string resume;         // the peer's token, stored
    std::int64_t gatherTo = 0;  // what is written goes out no earlier than then
    bool gathers = false;       // and something waits for that
    TreeLink tree;
    struct Moment {  // until any of these grows, `compared` holds
      std::uint64_t changes = ~std::uint64_t{0}, framesIn = 0, framesOut = 0;
      friend bool operator==(const Moment&, const Moment&) = default;
    } comparedAt;
    TreeLink::Compared compared;
  };

  Status dispatch(const FrameHeader& header, std::string_view message, std::int64_t nowMs);
  Status onHello(const Hello& hello);
  Status onSpaces(const Spaces& spaces, std::int64_t nowMs);
  Status onSpace(const SpaceSummary& theirs, std::int64_t nowMs);
  Status onSegment(const Segment& segment, std::size_t frameBytes, std::int64_t nowMs);
  Status onAck(const Ack& ack, std::int64_t nowMs);
  Status onAckedSpace(const AckedSpace& acked, std::int64_t nowMs);
  Status onRetry(const Retry& retry);
  Status onAcks(const Acks& table, std::int64_t nowMs);
  Status onItems(const Items& items);
  void note(const Applied& applied);

  Status admit();
  std::uint64_t statementsNow();
  Status followStatements();
  bool peerMayHave(DatabaseName database, std::string_view scope) const;
  Result<Shared*> shared(std::uint16_t theirs);
  std::uint16_t indexOf(const Shared& shared) const;
  // Names the spaces that were not named yet.
  void announce();
  void sendSummaries(std::size_t from);
  void sendAck();
  void sendAcks(Shared& shared, std::int64_t nowMs);
  bool lacksForgotten(Shared& shared) const;
  const TreeLink::Compared& compared(Shared& shared) const;
  void sendItems(Shared& shared);
  bool sendSegment(Shared& shared, std::string& out, std::int64_t nowMs);
  void followTree(Shared& shared, std::int64_t nowMs);
  bool statementsHere() const;
  bool statementsSent() const;
  void recall(Shared& shared);
  void learnClock(const Shared& shared, std::int64_t nowMs);
  void compareDigests(Shared& shared, const VersionVector& theirs, bool settled, const Digest& digest);
  bool mayCompare(const Shared& shared) const;
  bool awaitsQuestion(const Shared& shared) const;
  void startRepair(Shared& shared, RepairMode mode);
  static bool outrun(const Shared& shared);
  void afterRepair(Shared& shared);
  std::string cursorRow(const Shared& shared) const;
  template <class T>
  void say(const T& message) {
    appendFrame(outbox_, words_, message);
    ++stats_.framesOut;
  }

  LocalReplica& local_;
  const SessionOptions options_;
  SessionState state_ = SessionState::opening;
  std::string peer_, closeCode_, closeReason_;
  bool trees_ = false;    // the peer knows TREE
  bool alike_ = false;    // and rows of tag 7
  bool live_ = false;     // and LIVE, with aliases
  bool limited_ = false;  // the peer is no active member: membership only
  std::uint64_t statementsSeen_ = 0;
  std::int64_t startedMs_ = 0, progressMs_ = 0;
  std::uint32_t peerWindow_ = 0;  // the smaller of both sides' windows, so that they acknowledge in time for each other
  std::deque<Shared> spaces_;     // in the order in which this side named them; the cluster's own is the first
  std::vector<std::optional<std::size_t>> theirs_;  // by the peer's number
  std::uint64_t segmentBytesOut_ = 0, segmentBytesAcked_ = 0, segmentBytesIn_ = 0, segmentBytesInAcked_ = 0;
  bool ackDue_ = false;
  bool clocksWait_ = false;  // the peer's acknowledgements count once its statements are here
  std::string outbox_;
  WordWriter words_;
  std::vector<std::uint64_t> aligned_;
  SessionStats stats_;
};

}  // namespace witan::replication
