// Many devices in real sessions over links of 50 ms, for tests of replication/tree_link.h.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "tests/replication/cluster.h"

namespace witan::replication::test {
namespace tree_test {

struct Treeless {
  bool prunes = true, grafts = true;
  int jitterMs = 0;  // a frame takes up to so much longer
};

class Mesh {
 public:
  static constexpr std::int64_t kDelayMs = 50;

  Mesh(int size, Treeless without = {}) : without_(without), graftedMs_(size, -1'000), dead_(size) {
    for (int i = 0; i < size; ++i) devices_.push_back(std::make_unique<Device>("d" + std::to_string(100 + i)));
  }

  void link(int a, int b) {
    if (a == b || sessions_.contains({a, b})) return;
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      SessionOptions options;
      options.prunes = [this] { return without_.prunes; };
      options.mayGraft = [this, from = from](const std::string&, std::int64_t nowMs) {
        if (nowMs - graftedMs_[from] < TreeLink::kGraftMs) return false;
        graftedMs_[from] = nowMs;
        return true;
      };
      sessions_[{from, to}] = std::make_unique<SyncSession>(devices_[from]->replica(), options, now_);
    }
    pump(a), pump(b);
  }
  void linkAll() {
    for (int a = 0; a < size(); ++a)
      for (int b = 0; b < a; ++b) link(a, b);
  }
  // A ring with three chords from each second device: 2 to 8 links each.
  void linkFew() {
    for (int i = 0; i < size(); ++i) {
      link(i, (i + 1) % size());
      for (int step : {5, 11, 17})
        if (i % 2 == 0) link(i, (i + step) % size());
    }
  }
  // Each device with the next one and `each` that are drawn.
  void linkDrawn(int each) {
    for (int i = 0; i < size(); ++i) {
      link(i, (i + 1) % size());
      for (int n = 0; n < each; ++n) link(i, draw(size()));
    }
  }
  // Both ends notice.
  void unlink(int a, int b) {
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      const auto at = sessions_.find({from, to});
      const bool fed = at->second->feeds();
      sessions_.erase(at);
      for (auto& [ends, session] : sessions_)
        if (fed && ends.first == from && without_.grafts) session->regraft();
      pump(from);
    }
  }
  // The others do not notice.
  void kill(int device) { dead_[device] = true; }

  void write(int device) {
    const Dot dot = devices_[device]->write("a" + std::to_string(device), failures(++writes_));
    edits_.push_back({dot, now_, {}});
    pump(device);
  }
  void run(std::int64_t ms) {
    const std::int64_t until = now_ + ms;
    while (!events_.empty() && events_.top().ms <= until) {
      now_ = events_.top().ms;
      const auto what = events_.top().what;
      events_.pop();
      what();
    }
    now_ = until;
  }

  int size() const { return static_cast<int>(devices_.size()); }
  Device& device(int i) { return *devices_[i]; }
  void count() { frames_.clear(), edits_.clear(); }
  std::uint64_t frames(FrameType type) { return frames_[static_cast<std::uint8_t>(type)]; }
  // Of the edits since count(), to all devices that live; an edit that is not everywhere took a year.
  std::int64_t slowestMs() const {
    std::int64_t slowest = 0;
    for (const Edit& edit : edits_) {
      std::int64_t last = 0;
      for (int i = 0; i < size(); ++i) {
        const auto at = edit.arrived.find(i);
        if (!dead_[i]) last = std::max(last, at == edit.arrived.end() ? 1'000'000'000 : at->second - edit.bornMs);
      }
      slowest = std::max(slowest, last);
    }
    return slowest;
  }

 private:
  struct Edit {
    Dot dot;
    std::int64_t bornMs;
    std::map<int, std::int64_t> arrived;
  };
  struct Event {
    std::int64_t ms;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Event& other) const { return std::tie(ms, order) > std::tie(other.ms, other.order); }
  };

  void at(std::int64_t ms, std::function<void()> what) { events_.push({ms, ++order_, std::move(what)}); }

  void pump(int from) {
    if (dead_[from]) return;
    look(from);
    std::int64_t next = now_ + 60'000;
    for (auto& [ends, session] : sessions_) {
      if (ends.first != from) continue;
      std::string out;
      session->produce(out, 1 << 20, now_);
      devices_[from]->flush();
      for (std::string& frame : framesOf(out)) send(from, ends.second, std::move(frame));
      next = std::min(next, session->nextMs(now_));
    }
    if (next < now_ + 60'000) at(next, [this, from] { pump(from); });
  }
  void send(int from, int to, std::string frame) {
    const auto type = static_cast<FrameType>(frame[4]);
    ++frames_[static_cast<std::uint8_t>(type == FrameType::live ? FrameType::segment : type)];
    const bool graft = type == FrameType::tree;
    if (graft && !without_.grafts && frame.size() > kFrameHeaderBytes + 10 && frame[kFrameHeaderBytes + 10] != 0)
      return;
    std::int64_t& arrives = arrives_[{from, to}];
    arrives = std::max(arrives, now_ + kDelayMs + (without_.jitterMs == 0 ? 0 : draw(without_.jitterMs + 1)));
    at(arrives, [this, from, to, frame = std::move(frame)] {
      const auto session = sessions_.find({to, from});
      if (session == sessions_.end() || dead_[to]) return;
      ASSERT_TRUE(session->second->receive(frame, now_).ok());
      pump(to);
    });
  }
  int draw(int below) {
    drawn_ = drawn_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int>((drawn_ >> 33) % static_cast<std::uint64_t>(below));
  }
  void look(int device) {
    Space& space = devices_[device]->agents();
    for (Edit& edit : edits_) {
      const auto writer = space.writers().find(edit.dot.host);
      if (writer && space.vector().covers(*writer, edit.dot.counter)) edit.arrived.emplace(device, now_);
    }
  }

  const Treeless without_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::map<std::pair<int, int>, std::unique_ptr<SyncSession>> sessions_;
  std::vector<std::int64_t> graftedMs_;
  std::vector<char> dead_;
  std::vector<Edit> edits_;
  std::map<std::uint8_t, std::uint64_t> frames_;
  std::priority_queue<Event> events_;
  std::map<std::pair<int, int>, std::int64_t> arrives_;  // the last frame over a link
  std::uint64_t order_ = 0, writes_ = 0, drawn_ = 1;
  std::int64_t now_ = 0;
};

// Segments for each device and edit, once the tree stands.
inline double segments(Mesh& mesh) {
  mesh.run(5'000);
  for (int i = 0; i < 3; ++i) mesh.write(i), mesh.run(3'000);
  mesh.count();
  for (int i = 0; i < 10; ++i) mesh.write(i % mesh.size()), mesh.run(3'000);
  return static_cast<double>(mesh.frames(FrameType::segment)) / (10.0 * mesh.size());
}

// A device dies without a word; what went through it comes another way.
inline std::int64_t slowestAmidDeaths(Treeless without) {
  Mesh mesh(24, without);
  mesh.linkFew();
  (void)segments(mesh);
  for (int device : {0, 6, 13}) mesh.kill(device);
  mesh.count();
  for (int i = 1; i < 6; ++i) mesh.write(i), mesh.run(100);
  mesh.run(30'000);
  return mesh.slowestMs();
}

// Two links of the tree end, and both ends notice.
inline std::int64_t slowestAfterLosses() {
  Mesh mesh(24);
  mesh.linkFew();
  (void)segments(mesh);
  mesh.unlink(4, 5);
  mesh.unlink(10, 11);
  mesh.run(1'000);
  mesh.count();
  for (int i = 1; i < 6; ++i) mesh.write(i), mesh.run(100);
  mesh.run(30'000);
  return mesh.slowestMs();
}

}  // namespace tree_test
}  // namespace witan::replication::test
