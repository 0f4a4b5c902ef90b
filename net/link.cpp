#include "net/link.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/bytes.h"
#include "net/link_frames.h"

namespace witan::net {
namespace {

constexpr std::size_t kProbeFrames = 16;          // 16 KiB: several packets of any size
constexpr std::size_t kBatchBytes = 64 * 1024;    // small frames are gathered into writes of about this size
constexpr std::uint64_t kPongBehind = 64 * 1024;  // so much came since a ping: its pong waits behind more of that

std::string shortKey(const PublicKey& key) { return toHex(key).substr(0, 16); }

}  // namespace

Link::Link(asio::io_context& io, LinkOwner& owner, std::shared_ptr<const PeerNetworkOptions> options,
           std::shared_ptr<asio::ssl::context> context, LinkId id)
    : io_(io),
      owner_(&owner),
      options_(std::move(options)),
      context_(std::move(context)),
      connecting_(io),
      cutter_(options_->maxUnknownFrameBytes),
      deadline_(io, [this] { onTime(); }) {
  info_.id = id;
}

void Link::accept(Socket socket) {
  info_.address = remoteAddress(socket);
  limitedBy_ = net::limitedBy(socket);
  deadline_.within(options_->handshakeTimeoutMs);
  spawn(io_, runAccepted(shared_from_this(), std::move(socket)));
}

void Link::carry(Socket socket, const CarriedLink& carried) {
  info_.via = carried.via;
  info_.address = limitedBy_ = "via " + carried.via;
  info_.dialled = !carried.name.empty();
  info_.name = carried.name;
  info_.purpose = kMemberPurpose;
  expected_ = carried.key;
  deadline_.within(options_->handshakeTimeoutMs);
  spawn(io_, runAccepted(shared_from_this(), std::move(socket)));
}

void Link::dial(Address address, std::string name, std::string purpose, std::optional<PublicKey> key) {
  info_.address = toText(address);
  info_.dialled = true;
  info_.name = std::move(name);
  info_.purpose = std::move(purpose);
  expected_ = key;
  deadline_.within(options_->handshakeTimeoutMs);
  spawn(io_, runDialled(shared_from_this(), std::move(address)));
}

asio::awaitable<void> Link::runAccepted(Self, Socket socket) { co_await run(std::move(socket)); }

asio::awaitable<void> Link::runDialled(Self, Address address) {
  auto socket = co_await connecting_.run(std::move(address));
  if (state_ == State::ended) co_return;
  if (!socket.ok()) {
    end(socket.error().message);
    co_return;
  }
  info_.address = remoteAddress(*socket);
  co_await run(std::move(*socket));
}

asio::awaitable<void> Link::run(Socket socket) {
  if (state_ == State::ended) co_return;
  stream_ = tlsStream(std::move(socket), context_);
  const bool shaken = co_await shakeHands();
  if (!shaken || state_ == State::ended) co_return;
  Status verdict = judge();
  if (state_ == State::ended) co_return;
  if (!verdict.ok()) {
    Error why = verdict.error();
    co_await refuse(std::move(why));
    co_return;
  }
  welcomed_ = true;
  queue(welcomeFrame());
  co_await readFrames();
}

// False: it ended.
asio::awaitable<bool> Link::shakeHands() {
  if (info_.dialled) stream_->offerProtocol(info_.purpose);
  const ErrorCodeOf error = co_await stream_->handshake(!info_.dialled);
  if (state_ == State::ended) co_return false;
  if (error) {
    // Our alert must arrive: not closed over what the other end may have sent already.
    state_ = State::refusing;
    closeReason_ = "no handshake: " + wordsOf(error);
    co_await stream_->linger();
    end(closeReason_);
    co_return false;
  }
  co_return true;
}

// Who is it, and do we want it? RFC 7301 lets both ends go on without a protocol: we do not.
Status Link::judge() {
  WITAN_TRY(key, stream_->peerKey());
  info_.key = key;
  const std::string purpose = stream_->protocol();
  if (purpose.empty() || (info_.dialled && purpose != info_.purpose)) return invalid("no purpose (ALPN) was agreed on");
  info_.purpose = purpose;
  if (expected_ && *expected_ != key)
    return Error{
        ErrorCode::unauthorised,
        "at " + info_.address + " the key " + shortKey(*expected_) + "... was expected, found " + shortKey(key) + "...",
        ""};
  return owner_->onHandshake(*this);
}

asio::awaitable<void> Link::refuse(Error why) {
  state_ = State::refusing;
  closeReason_ = "refused: " + why.message;
  const std::string words = goodbyeFrame(why.message);
  const ErrorCodeOf error = co_await stream_->writeAll(words);
  if (!error && state_ != State::ended) co_await stream_->linger();
  end(closeReason_);
}

asio::awaitable<void> Link::readFrames() {
  while (state_ != State::ended) {
    const std::span<char> space = cutter_.space();
    const IoResult result = co_await stream_->read(space);
    if (state_ == State::ended) co_return;
    if (result.error) {
      lost(result.error);
      co_return;
    }
    lastIn_ = Loop::nowMs();
    stats_.bytesIn += result.bytes;
    if (state_ == State::closing) {  // read away, so that our goodbye arrives
      cutter_.clear();
      continue;
    }
    cutter_.filled(result.bytes);
    while (state_ == State::starting || state_ == State::up) {
      auto frame = cutter_.next();
      if (!frame.ok()) {
        close("bad frame: " + frame.error().message);
      } else if (!*frame) {
        break;
      } else {
        take(**frame);
      }
    }
  }
}

void Link::take(const CutFrame& frame) {
  ++stats_.framesIn;
  if (isLinkFrame(frame.header.type)) return takeLinkFrame(frame);
  if (state_ != State::up) return close("bad frame: one before the welcome");
  if (!owner_->knowsFrame(*this, frame.header.type))
    return close("bad frame: type " + std::to_string(frame.header.type) + " is not for " + info_.purpose);
  owner_->onFrame(*this, frame.bytes);
}

void Link::takeLinkFrame(const CutFrame& frame) {
  switch (static_cast<LinkFrame>(frame.header.type)) {
    case LinkFrame::welcome:
      if (state_ == State::starting) onUp();
      break;
    case LinkFrame::ping:
      if (queuedBytes_ < options_->maxQueuedBytes) queue(pongFrame(frame.message()));
      break;
    case LinkFrame::pong: takePong(stampOf(frame.message())); break;
    case LinkFrame::goodbye:
      end((wasUp_ ? "closed by the other end: " : "refused by the other end: ") + reasonOf(frame.message()));
      break;
    default: break;  // of a later version
  }
}

// A pong that answers no ping of ours has any stamp: kept is what can be true.
void Link::takePong(std::uint64_t stamp) {
  const std::uint64_t took = static_cast<std::uint64_t>(Loop::nowMs()) - stamp;
  if (took <= static_cast<std::uint64_t>(options_->deadAfterMs)) stats_.roundTripMs = static_cast<std::int64_t>(took);
  if (asked_ == 0 || stamp < static_cast<std::uint64_t>(asked_)) return;
  ++stats_.pongs;
  asked_ = 0;
}

void Link::onUp() {
  state_ = State::up;
  wasUp_ = true;
  stats_.upSinceMs = lastProgress_ = Loop::nowMs();
  beat();
  owner_->onUp(*this);
}

bool Link::send(std::string frames) {
  if (state_ != State::up) return false;
  if (queuedBytes_ + frames.size() > options_->maxQueuedBytes) {
    end("slow: more than " + std::to_string(options_->maxQueuedBytes) + " bytes would wait to be sent");
    return false;
  }
  ++stats_.framesOut;
  queue(std::move(frames));
  return true;
}

void Link::probe() {
  if (state_ == State::up) queue(paddingFrames(kProbeFrames));
}

void Link::queue(std::string bytes) {
  if (queuedBytes_ == 0) lastProgress_ = Loop::nowMs();
  queuedBytes_ += bytes.size();
  queue_.push_back(std::move(bytes));
  pressed_ = pressed_ || queuedBytes_ >= options_->maxQueuedBytes / 4;
  if (writing_) return;
  writing_ = true;
  spawn(io_, writeQueued(shared_from_this()));
}

void Link::fillBatch() {
  batch_ = std::move(queue_.front());
  queue_.pop_front();
  while (!queue_.empty() && batch_.size() + queue_.front().size() <= kBatchBytes) {
    batch_ += queue_.front();
    queue_.pop_front();
  }
}

asio::awaitable<void> Link::writeQueued(Self) {
  co_await asio::post(io_, asio::use_awaitable);  // whatever else this turn of the loop sends goes along
  while (!queue_.empty() && state_ != State::ended && !writeError_) {
    fillBatch();
    std::string_view rest = batch_;
    while (!rest.empty() && state_ != State::ended && !writeError_) {
      const IoResult result = co_await stream_->write(rest);
      writeError_ = result.error;  // the reader finds out why: a goodbye may have come
      rest.remove_prefix(result.bytes);
      queuedBytes_ -= result.bytes;
      stats_.bytesOut += result.bytes;
      lastProgress_ = Loop::nowMs();
    }
    if (pressed_ && queuedBytes_ < options_->maxQueuedBytes / 4) {
      pressed_ = false;
      if (state_ == State::up) owner_->onRoom(*this);
    }
  }
  writing_ = false;
  if (state_ != State::closing) co_return;
  ErrorCodeOf ignored;
  stream_->socket().shutdown(Socket::shutdown_send, ignored);
}

void Link::lost(const ErrorCodeOf& error) {
  if (state_ == State::closing) return end(closeReason_);
  end((wasUp_ ? "connection lost: " : "no handshake: ") + wordsOf(writeError_ && !error ? writeError_ : error, wasUp_));
}

void Link::close(std::string reason) {
  if (state_ == State::closing || state_ == State::ended || state_ == State::refusing) return;
  if (!welcomed_) return end(std::move(reason));
  queue(goodbyeFrame(reason));
  cutter_.clear();
  state_ = State::closing;
  closeReason_ = std::move(reason);
  deadline_.within(options_->closeTimeoutMs);
}

void Link::end(std::string reason) {
  if (state_ == State::ended) return;
  wentQuiet_ = isQuiet();
  state_ = State::ended;
  deadline_.off();
  connecting_.cancel();
  if (stream_) stream_->close();
  queue_.clear();
  queuedBytes_ = 0;
  asio::post(io_, [self = shared_from_this(), why = std::move(reason)] {
    if (self->owner_ != nullptr) self->owner_->onEnd(*self, why);
  });
}

// Whoever noticed first that nothing passes ends the connection, which the other end may still hear: so what counts is
// what passed before, and not how it ended. If this process itself stood still, that proves nothing (see beat()). Nor
// does a pong that waits behind the other end's own data. If that has heard nothing meanwhile, it counts it.
bool Link::isQuiet() const {
  if (state_ != State::up) return false;
  const std::int64_t now = Loop::nowMs(), period = std::min(options_->heartbeatMs, options_->deadAfterMs / 4);
  if (now > nextBeat_ + std::max<std::int64_t>(1, period)) return false;
  std::int64_t since = lastIn_;
  if (queuedBytes_ > 0) since = std::min(since, lastProgress_);
  if (asked_ != 0 && stats_.bytesIn - bytesAtAsk_ < kPongBehind) since = std::min(since, asked_);
  return now - since >= options_->deadAfterMs / 2;
}

void Link::abandon() {
  owner_ = nullptr;
  end("");
}

void Link::onTime() {
  switch (state_) {
    case State::starting: return end("no handshake within " + std::to_string(options_->handshakeTimeoutMs) + " ms");
    case State::up: return beat();
    case State::refusing:
    case State::closing: return end(closeReason_);
    case State::ended: return;
  }
}

// Every heartbeat: is there life, does it move, and a ping. If this process itself stood still (stopped, suspended, a
// long write), the silence proves nothing: what came meanwhile is still unread.
void Link::beat() {
  const std::int64_t now = Loop::nowMs(), dead = options_->deadAfterMs;
  const std::int64_t period = std::max<std::int64_t>(1, std::min(options_->heartbeatMs, dead / 4));
  if (nextBeat_ == 0 || now > nextBeat_ + period) lastIn_ = lastProgress_ = now, asked_ = 0;
  nextBeat_ = now + period;
  if (now - lastIn_ >= dead) return end("no sign of life for " + std::to_string(dead) + " ms");
  if (queuedBytes_ > 0 && now - lastProgress_ >= dead)
    return end("slow: nothing could be written for " + std::to_string(dead) + " ms");
  if (queuedBytes_ == 0) {
    if (asked_ == 0) asked_ = now, bytesAtAsk_ = stats_.bytesIn;
    queue(pingFrame(static_cast<std::uint64_t>(now)));
  }
  deadline_.within(period);
}

}  // namespace witan::net
