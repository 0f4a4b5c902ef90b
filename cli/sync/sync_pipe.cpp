#include "cli/sync/sync_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "base/seams.h"
#include "program/output.h"
#include "program/process.h"
#include "replication/sync_session.h"

namespace witan::node {

using namespace replication;

namespace {

constexpr std::uint8_t kDone = 255;
constexpr std::size_t kBudget = 256 * 1024;

struct Done {
  WITAN_DECLARED(Done, (std::uint64_t, received))
};

// PipeSession: one sync session over a stream of bytes that ends, such as a pair of pipes. Sans-I/O.
//
// A stream between two programs has no one to say that all is said: each side may be quiet while the other's next frame
// is on its way. So each side says DONE(bytes received so far) whenever it has nothing more to say; both know that they
// are through when each has nothing to say and the other's DONE counts all that was sent. DONE is a frame of type 255,
// which every other reader of the protocol skips (replication/sync.capnp: types from 128 on); its message is one
// UInt64. The replica directory outlives it. Not thread-safe.
class PipeSession {
 public:
  PipeSession(ReplicaDir& dir, SessionOptions options, std::int64_t nowMs)
      : dir_(dir), session_(dir.replica(), std::move(options), nowMs) {}

  // Takes bytes as they come, whole frames or not. An error ends the session; the reason goes out with the next say().
  Status receive(std::string_view bytes, std::int64_t nowMs) {
    held_ += bytes;
    std::string_view rest = held_;
    Status status = okStatus();
    while (status.ok() && rest.size() >= kFrameHeaderBytes && session_.state() != SessionState::closed) {
      const auto header = readFrameHeader(rest, kMaxFrameBytes);
      // The session words the refusal.
      const std::size_t size = header.ok() ? kFrameHeaderBytes + header->length : rest.size();
      if (rest.size() < size) break;
      status = takeFrame(rest.substr(0, size), nowMs);
      rest.remove_prefix(size);
    }
    held_.erase(0, held_.size() - rest.size());
    WITAN_DO(status);
    return session_.state() == SessionState::running ? heedStatements() : okStatus();
  }
  // Appends what is to be sent, durable already. Call when `out` is short. Errors: the disk.
  Status say(std::string& out, std::int64_t nowMs) {
    std::string frames;
    if (session_.produce(frames, kBudget, nowMs)) sent_ += frames.size();
    if (session_.state() == SessionState::running && session_.quiet() && said_ != received_) {
      said_ = received_;
      appendFrameBytes(frames, static_cast<FrameType>(kDone), words_.message(Done{received_}));
    }
    if (!frames.empty()) WITAN_DO(dir_.flush());
    out += frames;
    return okStatus();
  }
  void tick(std::int64_t nowMs) { session_.tick(nowMs); }

  // This side has said everything and hears what the other has to say. No tick then: what it adds could meet a peer
  // that is through.
  bool waiting() const { return session_.quiet() && said_ == received_; }
  // Both sides have said and received everything.
  bool through() const { return session_.state() == SessionState::running && waiting() && heard_ == sent_; }
  SyncSession& session() { return session_; }

 private:
  Status takeFrame(std::string_view frame, std::int64_t nowMs) {
    if (static_cast<std::uint8_t>(frame[4]) != kDone) {
      heard_.reset();
      received_ += frame.size();
      return session_.receive(frame, nowMs);
    }
    Done done;
    WITAN_TRY(words, alignedWords(frame.substr(kFrameHeaderBytes)));
    WITAN_DO(readFrame({reinterpret_cast<const char*>(words.data()), words.size() * 8}, done));
    heard_ = done.received;
    return okStatus();
  }
  // Statements that arrived may ask for this device's own, and may end the peer's part in it.
  Status heedStatements() {
    LocalReplica& replica = dir_.replica();
    Space* cluster = replica.database(DatabaseName::agents).find(kClusterScope);
    if (cluster->changes() == statements_) return okStatus();
    statements_ = cluster->changes();
    WITAN_TRY(members, replica.membership());
    if (members.standing(session_.peer()) == replication::Standing::retiring &&
        !acksDue(members, replica.device()).empty()) {
      // What it said up to here is acknowledged with the others; nothing more is taken from it.
      session_.close("retired", session_.peer() + " is being retired: witan device list");
    }
    WITAN_TRY(paid, replica.acknowledgeRetirements());
    if (paid > 0) statements_ = cluster->changes();
    return okStatus();
  }

  ReplicaDir& dir_;
  SyncSession session_;
  WordWriter words_;
  std::string held_;                       // an unfinished frame
  std::uint64_t sent_ = 0, received_ = 0;  // bytes of the session's own frames
  std::optional<std::uint64_t> said_;      // what the last DONE of this side counted
  std::optional<std::uint64_t> heard_;     // the last thing the peer said was this DONE
  std::uint64_t statements_ = 0;           // changes of the cluster's space that were heeded
};

// poll() says that so much fits into a pipe without blocking (PIPE_BUF).
constexpr std::size_t kPiece = 4096;
constexpr std::size_t kReadPiece = 256 * 1024;
constexpr std::size_t kEnoughToSend = 512 * 1024;
constexpr int kTickMs = 5'000;
constexpr std::int64_t kSilenceMs = 120'000;
// For the peer to end its side after both are through; and to read a last reason.
constexpr std::int64_t kFarewellMs = 5'000;

std::int64_t wallMs() { return SystemClock().now().micros / 1000; }

std::int64_t steadyMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

enum class Ending { through, refused, died };

// The pump between the two descriptors and the talk.
class Pump {
 public:
  explicit Pump(PipeSession& talk) : talk_(talk) {}

  Result<Ending> run() {
    Status received = okStatus();
    while (talk_.session().state() != SessionState::closed) {
      if (out_.size() < kEnoughToSend && writable_) WITAN_DO(talk_.say(out_, wallMs()));
      if (talk_.through() && out_.empty()) return farewell(Ending::through);
      if (!readable_ || (!writable_ && talk_.session().state() != SessionState::opening)) return Ending::died;
      step(kTickMs, received);
      if (!received.ok() && talk_.session().state() != SessionState::closed) return received.error();
      if (steadyMs() - ticked_ < kTickMs) continue;
      ticked_ = steadyMs();
      if (ticked_ - heard_ > kSilenceMs) {
        why_ = concat("nothing was heard for ", kSilenceMs / 1000, " s");
        return Ending::died;
      }
      if (!talk_.waiting()) talk_.tick(wallMs());
    }
    WITAN_DO(talk_.say(out_, wallMs()));
    return farewell(Ending::refused);
  }

  const std::string& why() const { return why_; }

 private:
  // Waits for one of the two, reads or writes once.
  void step(int patienceMs, Status& received) {
    pollfd fds[2] = {{readable_ ? STDIN_FILENO : -1, POLLIN, 0},
                     {writable_ && !out_.empty() ? STDOUT_FILENO : -1, POLLOUT, 0}};
    if (::poll(fds, 2, patienceMs) <= 0) return;
    if (fds[1].revents != 0) writeSome();
    if (fds[0].revents != 0) received = readSome();
  }

  Status readSome() {
    buffer_.resize(kReadPiece);
    const ssize_t got = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return okStatus();
    if (got <= 0) {
      readable_ = false;
      why_ = got == 0 ? "the other side ended it" : std::strerror(errno);
      return okStatus();
    }
    if (talk_.session().state() == SessionState::closed) return okStatus();
    heard_ = steadyMs();
    return talk_.receive({buffer_.data(), static_cast<std::size_t>(got)}, wallMs());
  }

  void writeSome() {
    const ssize_t put = ::write(STDOUT_FILENO, out_.data(), std::min(out_.size(), kPiece));
    if (put > 0) out_.erase(0, static_cast<std::size_t>(put));
    if (put >= 0 || errno == EINTR || errno == EAGAIN) return;
    writable_ = false;
    why_ = std::strerror(errno);
    out_.clear();
  }

  // Sends what is left, closes this side, and waits for the other to close its own: but not for ever.
  Ending farewell(Ending ending) {
    const std::int64_t until = steadyMs() + kFarewellMs;
    Status unused = okStatus();
    while (writable_ && !out_.empty() && steadyMs() < until) step(100, unused);
    writable_ = false;
    // Closed in a way that keeps its number from the next file that is opened.
    if (const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC); null >= 0)
      ::dup2(null, STDOUT_FILENO), ::close(null);
    while (readable_ && steadyMs() < until) step(100, unused);
    return ending;
  }

  PipeSession& talk_;
  std::string out_;
  std::vector<char> buffer_;
  bool readable_ = true, writable_ = true;
  std::int64_t ticked_ = steadyMs(), heard_ = ticked_;
  std::string why_;
};

// The spaces that the peer may have and is not known to hold just as this device does.
std::vector<std::string> unequal(LocalReplica& replica, const std::string& peer,
                                 const std::vector<std::string>& scopes) {
  std::vector<std::string> out;
  for (const std::string& id : replica.spaceIds()) {
    const std::string scope = id.substr(id.find('/') + 1);
    const bool mayHave = scopes.empty() || scope == kClusterScope || std::ranges::find(scopes, scope) != scopes.end();
    if (mayHave && replica.acks().acked(id, peer) != replica.findSpace(id)->clock()) out.push_back(id);
  }
  return out;
}

Printed summary(const SyncSession& session, const std::vector<std::string>& left) {
  const SessionStats& stats = session.stats();
  std::string words = concat("sync with ", session.peer(), ": ", stats.framesIn, " frames in, ", stats.framesOut,
                             " out, ", stats.bytesIn + stats.bytesOut, " bytes; ");
  if (session.differs()) {
    putErr("witan: " + words + "DIFFERENT: equal vectors, unequal digests; see witan sync status\n");
    return {"", kExitFailed};
  }
  if (left.empty()) {
    putErr("witan: " + words + "equal\n");
    return {};
  }
  words += "NOT exchanged:";
  for (const std::string& id : left) words += " " + id;
  putErr("witan: " + words + " (not a member, or out of scope: see witan device list)\n");
  return {"", kExitSomeRefused};
}

}  // namespace

Result<Printed> syncPipe(ReplicaDir& dir, const PipeArguments& arguments) {
  ignoreBrokenPipes();
  LocalReplica& replica = dir.replica();
  SessionOptions options;
  options.peer = arguments.peer;
  if (!arguments.scopes.empty())
    options.mayHave = [&arguments](DatabaseName, std::string_view scope) {
      return std::ranges::find(arguments.scopes, scope) != arguments.scopes.end();
    };
  WITAN_TRY(paid, replica.acknowledgeRetirements());
  (void)paid;
  PipeSession talk(dir, std::move(options), wallMs());
  Pump pump(talk);
  WITAN_TRY(ending, pump.run());
  // Before stabilise() forgets what those said who are no members.
  const std::vector<std::string> left = unequal(replica, talk.session().peer(), arguments.scopes);
  WITAN_DO(replica.stabilise());
  WITAN_DO(dir.flush());
  const SyncSession& session = talk.session();
  if (ending == Ending::died)
    return unavailable("the stream died before both sides were through (" + pump.why() + ")",
                       "what arrived is kept; run it again");
  if (ending == Ending::refused)
    return conflict("the session ended: " + session.closeCode() + " (" + session.closeReason() + ")",
                    "see: witan sync status");
  return summary(session, left);
}

}  // namespace witan::node
