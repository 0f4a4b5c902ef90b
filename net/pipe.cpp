#include "net/pipe.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <deque>

#include "net/pipe_impl.h"
#include "net/sockets.h"

namespace witan::net {

namespace {

using UnixSocket = asio::local::stream_protocol::socket;

// What the link wrote before it ended is read although nobody allows it any more: so much at a time, and thrown away.
constexpr std::size_t kAside = 4096;

}  // namespace

// Lives as long as an operation of its socket is under way.
struct Pipe::State : std::enable_shared_from_this<Pipe::State> {
  State(UnixSocket itsSocket, PipeEvents itsEvents) : socket(std::move(itsSocket)), events(std::move(itsEvents)) {}

  UnixSocket socket;
  PipeEvents events;
  std::size_t allowed = 0;
  std::deque<std::string> queue;
  bool waiting = false, writing = false, released = false, over = false, minding = false, left = false;

  void watch();
  void mind();
  void readable(const ErrorCodeOf& error);
  void write();
  void end();
};

// That the link is gone is heard of while nothing may be read, too.
void Pipe::State::mind() {
  if (minding || over) return;
  minding = true;
  socket.async_wait(UnixSocket::wait_error, [self = shared_from_this()](const ErrorCodeOf&) {
    self->left = true;
    if (!self->over && !self->released && self->allowed == 0) self->end();
  });
}

void Pipe::State::watch() {
  mind();
  if (waiting || over || (allowed == 0 && !released)) return;
  waiting = true;
  socket.async_wait(UnixSocket::wait_read, [self = shared_from_this()](const ErrorCodeOf& error) {
    self->waiting = false;
    self->readable(error);
  });
}

void Pipe::State::readable(const ErrorCodeOf& waited) {
  if (over) return;
  if (waited) return end();
  std::array<char, kMaxPipeRead> buffer;
  const std::size_t most = released ? kAside : std::min(allowed, buffer.size());
  if (most == 0) return;  // taken back meanwhile
  ErrorCodeOf error;
  const std::size_t bytes = socket.read_some(asio::buffer(buffer.data(), most), error);
  if (error == asio::error::would_block || error == asio::error::try_again) return watch();
  if (error) return end();
  if (released) return watch();
  allowed = 0;
  const auto came = events.came;  // it may destroy the Pipe, which lets go of the events
  came({buffer.data(), bytes});
  if (left && !over && !released && allowed == 0) end();
}

void Pipe::State::write() {
  if (writing || over) return;
  if (queue.empty()) {
    ErrorCodeOf ignored;
    if (released) socket.shutdown(UnixSocket::shutdown_send, ignored);
    return;
  }
  writing = true;
  asio::async_write(socket, asio::buffer(queue.front()),
                    [self = shared_from_this()](const ErrorCodeOf& error, std::size_t bytes) {
                      self->writing = false;
                      if (self->over) return;
                      if (error) return self->end();
                      self->queue.pop_front();
                      self->write();
                      if (const auto delivered = self->events.delivered) delivered(bytes);
                    });
}

void Pipe::State::end() {
  over = true;
  queue.clear();
  ErrorCodeOf ignored;
  socket.close(ignored);
  if (const auto ended = std::exchange(events, {}).ended) ended();
}

Pipe::~Pipe() {
  state_->released = true;
  state_->events = {};
  state_->write();
  state_->watch();
}

void Pipe::allow(std::size_t bytes) {
  state_->allowed = bytes;
  state_->watch();
}

void Pipe::deliver(std::string bytes) {
  if (state_->over || bytes.empty()) return;
  state_->queue.push_back(std::move(bytes));
  state_->write();
}

Result<ConnectedPipe> connectedPipe(asio::io_context& io, PipeEvents events) {
  UnixSocket ours(io), theirs(io);
  ErrorCodeOf error;
  asio::local::connect_pair(ours, theirs, error);
  if (!error) ours.non_blocking(true, error);
  if (error) return Error{ErrorCode::unavailable, "no connection within this process (" + error.message() + ")", ""};
  closeOnExec(ours.native_handle());
  closeOnExec(theirs.native_handle());
  auto state = std::make_shared<Pipe::State>(std::move(ours), std::move(events));
  return ConnectedPipe{std::make_unique<Pipe>(std::move(state)), Socket(std::move(theirs))};
}

}  // namespace witan::net
