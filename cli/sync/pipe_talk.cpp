#include "cli/sync/pipe_talk.h"

#include "replica/membership_duties.h"

namespace witan::node {

using namespace replication;

namespace {

constexpr std::uint8_t kDone = 255;
constexpr std::size_t kBudget = 256 * 1024;

struct Done {
  std::uint64_t received = 0;
  WITAN_MEMBERS(Done, received)
};

}  // namespace

PipeSession::PipeSession(ReplicaDir& dir, SessionOptions options, std::int64_t nowMs)
    : dir_(dir), session_(dir.replica(), std::move(options), nowMs) {}

Status PipeSession::receive(std::string_view bytes, std::int64_t nowMs) {
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

Status PipeSession::takeFrame(std::string_view frame, std::int64_t nowMs) {
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

Status PipeSession::heedStatements() {
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
  WITAN_TRY(paid, payRetireAcks(replica));
  if (paid > 0) statements_ = cluster->changes();
  return okStatus();
}

Status PipeSession::say(std::string& out, std::int64_t nowMs) {
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

bool PipeSession::through() const { return session_.state() == SessionState::running && waiting() && heard_ == sent_; }

}  // namespace witan::node
