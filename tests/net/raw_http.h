// HTTP as bytes: a socket of the tests that says what it is told and keeps what it hears, from inside the loop's
// thread.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "net/loop.h"
#include "tests/net/device.h"

namespace witan::net::test {

class RawHttp {
 public:
  RawHttp(Loop& loop, const std::string& address) : loop_(loop) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~RawHttp() { ::close(socket_); }
  RawHttp(const RawHttp&) = delete;
  RawHttp& operator=(const RawHttp&) = delete;

  void say(const std::string& bytes) {
    out_ += bytes;
    pump();
  }
  void sayNoMore() { ::shutdown(socket_, SHUT_WR); }

  // Runs the loop until `text` was heard, and gives everything heard so far.
  const std::string& hear(const std::string& text) {
    run([&] { return heard_.find(text) != std::string::npos; });
    EXPECT_NE(heard_.find(text), std::string::npos) << "heard: " << heard_;
    return heard_;
  }
  // Runs it until the server has closed the connection.
  const std::string& hearAll() {
    run([] { return false; });
    EXPECT_TRUE(ended_) << "heard: " << heard_;
    return heard_;
  }
  bool ended() {
    pump();
    return ended_;
  }
  const std::string& heard() const { return heard_; }
  void forget() { heard_.clear(); }

 private:
  template <class Enough>
  void run(Enough enough) {
    const std::int64_t end = Loop::nowMs() + kPatience;
    while (Loop::nowMs() < end) {
      pump();
      if (ended_ || enough()) return;
      loop_.runUntil([] { return false; }, 1);  // one millisecond of whatever the server has to do
    }
  }

  void pump() {
    if (!out_.empty()) {
      const ssize_t wrote = ::send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (wrote > 0) out_.erase(0, static_cast<std::size_t>(wrote));
      if (wrote < 0 && errno != EAGAIN) out_.clear();
    }
    char bytes[65'536];
    ssize_t got = 0;
    while (!ended_ && (got = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
      heard_.append(bytes, static_cast<std::size_t>(got));
    ended_ = ended_ || got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  }

  Loop& loop_;
  int socket_ = -1;
  std::string out_, heard_;
  bool ended_ = false;
};

}  // namespace witan::net::test
