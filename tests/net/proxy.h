// A TCP proxy of the tests: what a bad network does, on command. Listens on loopback and carries each connection to its
// target, in a thread of its own; commands may come from any thread and count from the next turn of that thread on.
//
// It cuts, refuses, swallows (both ends believe the link is there), delays, throttles, flips a bit, repeats and swaps
// what passes, keeps what a client said, and lets held connections through in another order than they came. What is
// delayed or throttled is bounded: beyond 1 MiB a direction is not read, so the sender feels it.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace witan::net::test {

class Proxy {
 public:
  // `target`: "127.0.0.1:PORT". `port` 0: any.
  explicit Proxy(const std::string& target, std::uint16_t port = 0) : target_(target) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address = loopback(port);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 1024) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
        ::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0)
      std::abort();
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { run(); });
  }
  ~Proxy() {
    command([](Settings& settings) { settings.stop = true; });
    thread_.join();
    for (const int fd : {listener_, wake_[0], wake_[1]}) ::close(fd);
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  const std::string& address() const { return address_; }

  // Ends every connection with a reset, and each new one at once, until heal().
  void cut() {
    command([](Settings& settings) {
      settings.refuse = true;
      ++settings.resets;
    });
  }
  // Ends every connection with a reset; new ones are welcome.
  void reset() {
    command([](Settings& settings) { ++settings.resets; });
  }
  // Nothing arrives any more, in either direction, and nobody is told.
  void swallow() {
    command([](Settings& settings) { settings.swallow = true; });
  }
  // The same, but what the target says still arrives.
  void swallowThere() {
    command([](Settings& settings) { settings.swallowThere = true; });
  }
  // Of each connection and direction so many bytes arrive, and nothing after them.
  void swallowAfter(std::size_t bytes) {
    command([bytes](Settings& settings) { settings.most = bytes; });
  }
  // Everything arrives this much later.
  void delay(std::int64_t ms) {
    command([ms](Settings& settings) { settings.delayMs = ms; });
  }
  // At most so many bytes a second, each connection and direction; 0: no limit.
  void throttle(std::size_t bytesPerSecond) {
    command([bytesPerSecond](Settings& settings) { settings.bytesPerSecond = bytesPerSecond; });
  }
  // One bit of the next piece that passes is wrong.
  void corrupt() {
    command([](Settings& settings) { settings.corrupt = true; });
  }
  // The next piece that a client says passes twice.
  void repeat() {
    command([](Settings& settings) { settings.repeat = true; });
  }
  // The next two pieces that a client says pass in the other order.
  void swap() {
    command([](Settings& settings) { settings.swap = true; });
  }
  // What the client that spoke last has said, from its connection's first byte on; of more than 64 KiB the beginning.
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  // New connections wait; release() lets them through, those that came last first.
  void hold() {
    command([](Settings& settings) { settings.hold = true; });
  }
  void release() {
    command([](Settings& settings) { settings.hold = false; });
  }
  // What the target says waits, on connections whose first request began with this, until heal().
  void mute(const std::string& request) {
    command([&request](Settings& settings) { settings.mute = request; });
  }
  // Back to a good network for what comes; what was swallowed is lost.
  void heal() {
    command([](Settings& settings) {
      const std::uint64_t resets = settings.resets;
      settings = Settings{};
      settings.resets = resets;
    });
  }
  // For connections from now on.
  void retarget(const std::string& target) {
    const std::lock_guard lock(mutex_);
    target_ = target;
  }

  // From now on what arrives is kept, of all connections in both directions.
  void keep() { keeps_ = true; }
  std::string kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t carriedBytes() const { return carried_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostHeld = 1 << 20, kMostKept = 1 << 16;

  struct Settings {
    bool stop = false, refuse = false, swallow = false, corrupt = false, hold = false;
    bool swallowThere = false, repeat = false, swap = false;
    std::string mute;
    std::int64_t delayMs = 0;
    std::size_t bytesPerSecond = 0, most = SIZE_MAX;
    std::uint64_t resets = 0;
  };
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  struct Direction {
    int from = -1, to = -1;
    std::deque<Piece> pieces;
    std::size_t held = 0, came = 0;
    bool ended = false, passedOn = false;  // the sender closed; and the receiver was told
    Clock::time_point nextWrite{};
  };
  struct Pair {
    Direction there, back;
    bool broken = false;
    std::string request;  // its first bytes
    std::string said;     // by the client
    std::string later;    // a piece that waits for the next, which passes first
    bool muted(const Direction& way, const std::string& what) const {
      return &way == &back && !what.empty() && request.starts_with(what);
    }
  };

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  template <class Change>
  void command(Change change) {
    const std::lock_guard lock(mutex_);
    change(settings_);
    (void)!::write(wake_[1], "x", 1);
  }

  static void resetSocket(int fd) {
    const linger now{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(fd);
  }

  void run() {
    std::uint64_t resets = 0;
    while (true) {
      Settings now;
      {
        const std::lock_guard lock(mutex_);
        now = settings_;
      }
      if (now.stop) break;
      if (std::exchange(resets, now.resets) != now.resets) endAll();
      if (!now.hold) letThrough();
      for (Pair& pair : pairs_) {
        deliver(pair, pair.there, now);
        deliver(pair, pair.back, now);
      }
      pairs_.remove_if([](const Pair& pair) {
        const bool over = pair.broken || (pair.there.passedOn && pair.back.passedOn);
        if (over)
          for (const int fd : {pair.there.from, pair.there.to}) pair.broken ? resetSocket(fd) : (void)::close(fd);
        return over;
      });
      turn(now);
    }
    endAll();
  }

  void endAll() {
    for (Pair& pair : pairs_)
      for (const int fd : {pair.there.from, pair.there.to}) resetSocket(fd);
    for (const int fd : waiting_) resetSocket(fd);
    pairs_.clear();
    waiting_.clear();
  }

  void letThrough() {
    std::string target;
    {
      const std::lock_guard lock(mutex_);
      target = target_;
    }
    const auto port = static_cast<std::uint16_t>(std::stoi(target.substr(target.rfind(':') + 1)));
    for (; !waiting_.empty(); waiting_.pop_back()) {
      const int to = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = loopback(port);
      if (::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        resetSocket(waiting_.back());
        ::close(to);
        continue;
      }
      const int on = 1;
      for (const int fd : {to, waiting_.back()}) {
        ::fcntl(fd, F_SETFL, O_NONBLOCK);
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      }
      Pair& pair = pairs_.emplace_back();
      pair.there.from = pair.back.to = waiting_.back();
      pair.there.to = pair.back.from = to;
    }
  }

  void deliver(Pair& pair, Direction& way, const Settings& now) {
    const auto time = Clock::now();
    if (now.swallow) {
      way.pieces.clear();
      way.held = 0;
    }
    while (!way.pieces.empty() && way.pieces.front().due <= time && way.nextWrite <= time && !pair.broken) {
      std::string& bytes = way.pieces.front().bytes;
      const std::size_t most =
          now.bytesPerSecond == 0 ? bytes.size() : std::max<std::size_t>(1, now.bytesPerSecond / 100);
      const ssize_t wrote = ::send(way.to, bytes.data(), std::min(most, bytes.size()), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (wrote < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (wrote <= 0) {
        pair.broken = true;
        break;
      }
      carried_ += static_cast<std::uint64_t>(wrote);
      if (keeps_) {
        const std::lock_guard lock(mutex_);
        kept_.append(bytes, 0, static_cast<std::size_t>(wrote));
      }
      way.held -= static_cast<std::size_t>(wrote);
      bytes.erase(0, static_cast<std::size_t>(wrote));
      if (bytes.empty()) way.pieces.pop_front();
      if (now.bytesPerSecond > 0)
        way.nextWrite = time + std::chrono::microseconds(1'000'000 * wrote / static_cast<ssize_t>(now.bytesPerSecond));
    }
    if (way.ended && way.pieces.empty() && !way.passedOn) {
      if (!now.swallow) ::shutdown(way.to, SHUT_WR);
      way.passedOn = !now.swallow;
    }
  }

  // Waits for something to happen and takes it.
  void turn(const Settings& now) {
    std::vector<pollfd> polled{{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    std::vector<std::pair<Pair*, Direction*>> ways;
    auto soonest = Clock::now() + std::chrono::hours(1);
    const auto time = Clock::now();
    for (Pair& pair : pairs_)
      for (Direction* way : {&pair.there, &pair.back}) {
        polled.push_back(
            {way->ended || way->held >= kMostHeld || pair.muted(*way, now.mute) ? -1 : way->from, POLLIN, 0});
        const bool due = !way->pieces.empty() && way->pieces.front().due <= time && way->nextWrite <= time;
        polled.push_back({due ? way->to : -1, POLLOUT, 0});
        ways.emplace_back(&pair, way);
        if (!way->pieces.empty() && !due)
          soonest = std::min(soonest, std::max(way->pieces.front().due, way->nextWrite));
      }
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(soonest - time).count() + 1;
    ::poll(polled.data(), polled.size(), static_cast<int>(wait));
    char rest[256];
    while (::read(wake_[0], rest, sizeof rest) > 0) {
    }
    if ((polled[1].revents & POLLIN) != 0) acceptAll(now);
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (polled[2 + 2 * i].revents != 0) takeFrom(*ways[i].first, *ways[i].second, now);
  }

  void acceptAll(const Settings& now) {
    for (int fd; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      ++accepted_;
      if (now.refuse)
        resetSocket(fd);
      else
        waiting_.push_back(fd);
    }
  }

  void takeFrom(Pair& pair, Direction& way, const Settings& now) {
    if (way.ended || way.held >= kMostHeld || pair.muted(way, now.mute)) return;
    std::string bytes(64 * 1024, '\0');
    const ssize_t got = ::recv(way.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got < 0) {
      pair.broken = true;
    } else if (got == 0) {
      way.ended = true;
    } else if (&way == &pair.there && now.swallowThere) {
      return;
    } else if (!now.swallow && way.came < now.most) {
      bytes.resize(std::min(static_cast<std::size_t>(got), now.most - way.came));
      way.came += bytes.size();
      if (&way == &pair.there && pair.request.empty()) pair.request = bytes.substr(0, 256);
      if (now.corrupt) {
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        const std::lock_guard lock(mutex_);
        settings_.corrupt = false;
      }
      if (&way == &pair.there) bytes = tampered(pair, std::move(bytes), now);
      if (bytes.empty()) return;
      way.held += bytes.size();
      way.pieces.push_back({Clock::now() + std::chrono::milliseconds(now.delayMs), std::move(bytes)});
    }
  }

  // What passes in place of what a client said.
  std::string tampered(Pair& pair, std::string bytes, const Settings& now) {
    const std::lock_guard lock(mutex_);
    if (pair.said.size() < kMostKept) said_ = pair.said.append(bytes, 0, kMostKept - pair.said.size());
    if (!pair.later.empty()) return bytes + std::exchange(pair.later, {});
    if (now.repeat) {
      settings_.repeat = false;
      return bytes + bytes;
    }
    if (now.swap) {
      settings_.swap = false;
      pair.later = std::move(bytes);
      return {};
    }
    return bytes;
  }

  std::string target_, address_;
  int listener_ = -1, wake_[2] = {-1, -1};
  std::mutex mutex_;
  Settings settings_;
  std::string said_;
  std::atomic<std::uint64_t> accepted_{0}, carried_{0};
  std::atomic<bool> keeps_{false};
  std::string kept_;
  std::list<Pair> pairs_;
  std::vector<int> waiting_;  // accepted, not carried on yet
  std::thread thread_;
};

}  // namespace witan::net::test
