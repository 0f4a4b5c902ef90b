// World: many devices with views and trees under simulated time: links of 50 ms, dials of two round trips, devices that
// die without a word, firewalls, a wall between two halves. What the cores say is carried out here, and counted.
//
// The twins of the tests are worlds that leave out what a core says (Faults), so that a test can be seen to fail.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/frame.h"
#include "overlay/partial_view.h"
#include "replication/tree_link.h"

namespace witan::overlay::tests {

using replication::TreeLink;

struct Faults {
  bool graftsLost = false;      // no repair of the tree
  bool nothingDialled = false;  // no healing
  bool noDirectory = false;     // candidates by the word of others only
  bool onePlace = false;        // sites and addresses do not count
};

class World;

using Vector = std::map<std::uint32_t, std::uint64_t>;  // origin -> the last of its edits

inline std::uint64_t of(const Vector& vector, std::uint32_t origin) {
  const auto at = vector.find(origin);
  return at == vector.end() ? 0 : at->second;
}
inline bool join(Vector& into, const Vector& other) {
  bool fresh = false;
  for (const auto& [origin, number] : other)
    if (number > of(into, origin)) into[origin] = number, fresh = true;
  return fresh;
}
// The entries of `vector` above `known`.
inline Vector above(const Vector& vector, const Vector& known) {
  Vector news;
  for (const auto& [origin, number] : vector)
    if (number > of(known, origin)) news[origin] = number;
  return news;
}

// A sync session as far as the tree goes: what the peer has by its own word, what it was sent besides, what it was
// told.
struct Session {
  TreeLink tree;
  Vector theirs, sent, told;
  std::int64_t timerMs = -1;
};

class Seat final : public Directory {
 public:
  Seat(World& world, std::uint32_t index, ViewLimits limits);

  const Place* find(std::string_view device) const override;
  std::string draw(Random& random) const override;
  std::size_t sites() const override;
  std::size_t hosts() const override;

  World& world;
  const std::uint32_t index;
  SeededRandom random;
  PartialView view;
  Vector vector;
  std::map<std::uint32_t, Session> sessions;
  std::int64_t graftedMs = -1'000;
  bool alive = true, reachable = true, liar = false, half = false;
  std::map<std::uint32_t, std::uint64_t> links;     // -> generation
  std::map<std::uint32_t, std::uint64_t> dialling;  // -> number of the dial
  std::uint64_t bytesOut = 0, payloads = 0;
};

class World {
 public:
  static constexpr std::int64_t kDelayMs = 50;
  static constexpr std::size_t kRecord = 22;                               // TLS, for a frame
  static constexpr std::size_t kPayload = 200, kAck = 72, kHello = 1'500;  // bytes

  World(std::uint32_t devices, std::uint64_t seed, ViewLimits limits = {}, Faults lost = {}, std::uint32_t sites = 40)
      : faults(lost), random(seed), limits_(limits), sites_(sites) {
    for (std::uint32_t i = 0; i < devices; ++i) {
      std::string name = hex(random.next()) + hex(random.next());
      byName[name] = i;
      names.push_back(std::move(name));
      places.push_back(faults.onePlace ? Place{"s", "h"}
                                       : Place{"s" + std::to_string(i % sites), "h" + std::to_string(i % (sites * 8))});
    }
    for (std::uint32_t i = 0; i < devices; ++i) seats.push_back(std::make_unique<Seat>(*this, i, limits));
  }

  // Starts all, one every few milliseconds, by way of a device that is there already.
  void start(std::int64_t everyMs = 5) {
    for (std::uint32_t i = 0; i < seats.size(); ++i)
      at(now + i * everyMs, [this, i] {
        ViewEffects out;
        if (i > 0) seats[i]->view.join(names[random.below(i)], now, out);
        apply(*seats[i], out);
        tick(i);
      });
    run(static_cast<std::int64_t>(seats.size()) * everyMs);
  }

  void at(std::int64_t ms, std::function<void()> what) { events_.push({ms, ++order_, std::move(what)}); }
  void run(std::int64_t forMs) {
    const std::int64_t until = now + forMs;
    while (!events_.empty() && events_.top().ms <= until) {
      now = events_.top().ms;
      const auto what = std::move(const_cast<Event&>(events_.top()).what);
      events_.pop();
      what();
    }
    now = until;
  }

  // --- what happens to devices
  // It loses power: the others notice when their heartbeats go unanswered.
  void kill(std::uint32_t index) {
    Seat& seat = *seats[index];
    seat.alive = false;
    for (const auto& [other, generation] : seat.links) endLater(other, index, generation, 15'000 + draw(5'000));
    seat.links.clear();
  }
  // No link between the halves, until it falls.
  void wall(bool stands) {
    wall_ = stands;
    if (!stands) return;
    for (const auto& seat : seats)
      for (const auto& [other, generation] : std::map(seat->links))
        if (seats[other]->half != seat->half) endLater(seat->index, other, generation, 15'000 + draw(5'000));
  }

  void publish(std::uint32_t index) {
    Seat& seat = *seats[index];
    const Edit edit{index, ++seat.vector[index]};
    born[edit] = now;
    reached[edit][index] = now;
    produceAll(seat);
  }

  void say(std::uint32_t from, std::uint32_t to, ViewMessage message) {
    frame(from, to, sizeOf(message), [this, from, to, message = std::move(message)] {
      if (lies(*seats[to])) return welcome(to, from, message.kind);
      ViewEffects out;
      const Status good = seats[to]->view.received(names[from], message, now, out);
      apply(*seats[to], out);
      if (!good.ok()) ++ended, hangUp(to, from);
    });
  }
  // A liar has a place for all, and lets go of none.
  bool lies(const Seat& seat) const { return seat.liar && swallow; }
  void welcome(std::uint32_t liar, std::uint32_t device, ViewKind kind) {
    if (kind == ViewKind::join || kind == ViewKind::neighbour)
      say(liar, device, ViewMessage{.kind = ViewKind::neighbourAnswer, .accepted = true});
  }
  void dial(std::uint32_t from, std::uint32_t to) {
    Seat& seat = *seats[from];
    const std::uint64_t number = ++order_;
    seat.dialling[to] = number;
    const bool answers = seats[to]->alive && seats[to]->reachable && mayReach(from, to);
    at(now + (answers ? 2 * 2 * kDelayMs : 3'000), [this, from, to, number] {
      Seat& one = *seats[from];
      const auto dialled = one.dialling.find(to);
      if (!one.alive || dialled == one.dialling.end() || dialled->second != number) return;
      one.dialling.erase(dialled);
      if (seats[to]->alive && seats[to]->reachable && mayReach(from, to)) return connect(from, to);
      ViewEffects out;
      one.view.dialFailed(names[to], now, out);
      apply(one, out);
    });
  }

  // --- what is to be seen
  std::size_t alive() const {
    return static_cast<std::size_t>(std::ranges::count_if(seats, [](const auto& seat) { return seat->alive; }));
  }
  // Devices that cannot reach the first one that is alive, over links that are in both views. `honest`: over honest
  // devices only.
  std::size_t apart(bool honest = false) const {
    std::vector<char> seen(seats.size());
    std::deque<std::uint32_t> queue;
    const auto counts = [&](const Seat& seat) { return seat.alive && !(honest && seat.liar); };
    std::size_t all = 0, found = 0;
    for (const auto& seat : seats) all += counts(*seat);
    for (const auto& seat : seats)
      if (counts(*seat) && queue.empty()) queue.push_back(seat->index), seen[seat->index] = 1;
    for (; !queue.empty(); queue.pop_front(), ++found)
      for (const auto& [other, generation] : seats[queue.front()]->links)
        if (!seen[other] && counts(*seats[other]) && inBothViews(queue.front(), other))
          seen[other] = 1, queue.push_back(other);
    return all - found;
  }
  bool inBothViews(std::uint32_t a, std::uint32_t b) const {
    return seats[a]->view.isActive(names[b]) && seats[b]->view.isActive(names[a]);
  }
  std::size_t mostLinks() const {
    std::size_t most = 0;
    for (const auto& seat : seats) most = std::max(most, seat->view.active().size());
    return most;
  }
  // Milliseconds from birth to arrival, over all messages and all devices that are alive, sorted; what did not arrive
  // counts as `never`.
  std::vector<std::int64_t> latencies(std::int64_t never = 1'000'000) const {
    std::vector<std::int64_t> all;
    for (const auto& [id, bornMs] : born)
      for (const auto& seat : seats) {
        if (!seat->alive || seat->liar) continue;
        const auto at = reached.at(id).find(seat->index);
        all.push_back(at == reached.at(id).end() ? never : at->second - bornMs);
      }
    std::sort(all.begin(), all.end());
    return all;
  }
  std::uint64_t sum(std::uint64_t Seat::*what) const {
    std::uint64_t all = 0;
    for (const auto& seat : seats) all += (*seat).*what;
    return all;
  }
  // Of heartbeats (docs/SCALE.md): a ping and a pong of 16 bytes, every 5 s, on each link.
  double heartbeats(double seconds) const {
    double all = 0;
    for (const auto& seat : seats) all += static_cast<double>(seat->links.size()) * seconds / 5 * 2 * (16 + kRecord);
    return all;
  }

  Faults faults;
  SeededRandom random;
  std::vector<std::string> names;
  std::vector<Place> places;
  std::unordered_map<std::string, std::uint32_t> byName;
  std::vector<std::unique_ptr<Seat>> seats;
  using Edit = std::pair<std::uint32_t, std::uint64_t>;
  std::map<Edit, std::int64_t> born;
  std::map<Edit, std::unordered_map<std::uint32_t, std::int64_t>> reached;
  std::int64_t now = 0;
  std::uint64_t ended = 0;  // links, for what no honest device sends
  bool swallow = false;     // liars pass nothing on
  std::uint32_t sites() const { return sites_; }

 private:
  struct Event {
    std::int64_t ms;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Event& other) const { return std::tie(ms, order) > std::tie(other.ms, other.order); }
  };

  static std::string hex(std::uint64_t value) {
    std::string text;
    for (int i = 0; i < 16; ++i, value >>= 4) text += "0123456789abcdef"[value & 15];
    return text;
  }
  std::int64_t draw(std::uint64_t below) { return static_cast<std::int64_t>(random.below(below)); }
  template <class T>
  std::size_t sizeOf(const T& message) {
    return kFrameHeaderBytes + words_.message(message).size();
  }
  bool mayReach(std::uint32_t a, std::uint32_t b) const { return !wall_ || seats[a]->half == seats[b]->half; }

  void frame(std::uint32_t from, std::uint32_t to, std::size_t bytes, std::function<void()> arrives) {
    Seat& seat = *seats[from];
    const auto link = seat.links.find(to);
    if (!seat.alive || link == seat.links.end()) return;
    seat.bytesOut += bytes + kRecord;
    at(now + kDelayMs, [this, from, to, generation = link->second, arrives = std::move(arrives)] {
      const auto here = seats[to]->links.find(from);
      if (seats[to]->alive && here != seats[to]->links.end() && here->second == generation && mayReach(from, to))
        arrives();
    });
  }

  void connect(std::uint32_t from, std::uint32_t to) {
    const bool fresh = !seats[from]->links.contains(to);
    if (fresh) seats[from]->links[to] = seats[to]->links[from] = ++order_;
    ViewEffects out;
    seats[from]->view.linkUp(names[to], true, now, out);
    apply(*seats[from], out);
    if (!fresh) return;
    out.clear();
    seats[to]->view.linkUp(names[from], false, now, out);
    apply(*seats[to], out);
  }
  void hangUp(std::uint32_t from, std::uint32_t to) {
    seats[from]->dialling.erase(to);
    const auto link = seats[from]->links.find(to);
    if (link == seats[from]->links.end()) return;
    const std::uint64_t generation = link->second;
    endLater(from, to, generation, 0);
    endLater(to, from, generation, kDelayMs);
  }
  void endLater(std::uint32_t device, std::uint32_t other, std::uint64_t generation, std::int64_t ms) {
    at(now + ms, [this, device, other, generation] {
      Seat& seat = *seats[device];
      const auto link = seat.links.find(other);
      if (!seat.alive || link == seat.links.end() || link->second != generation) return;
      seat.links.erase(link);
      ViewEffects out;
      seat.view.linkDown(names[other], now, out);
      apply(seat, out);
    });
  }

  // A new session: both ends say what they have.
  void beginSession(std::uint32_t from, std::uint32_t to) {
    Seat& seat = *seats[from];
    if (!seat.alive || !seat.view.isActive(names[to])) return;
    seat.bytesOut += kHello;
    Session& session = seat.sessions[to] = {};
    session.theirs = session.sent = seats[to]->vector;
    session.told = seat.vector;
    produce(seat, to);
  }
  void endSession(Seat& seat, std::uint32_t to) {
    const auto at = seat.sessions.find(to);
    if (at == seat.sessions.end()) return;
    const bool fed = at->second.tree.receives();
    seat.sessions.erase(at);
    for (auto& [other, session] : seat.sessions)
      if (fed && !session.tree.receives() && !faults.graftsLost) session.tree.fresh(), sayTree(seat.index, other, true);
  }
  void produceAll(Seat& seat) {
    for (auto& [to, session] : seat.sessions) produce(seat, to);
  }
  void produce(Seat& seat, std::uint32_t to) {
    const auto at = seat.sessions.find(to);
    if (at == seat.sessions.end()) return;
    Session& session = at->second;
    TreeLink& tree = session.tree;
    if (!tree.plain())
      tree.compare({.peerLacks = !above(seat.vector, session.theirs).empty(),
                    .lacks = !above(session.theirs, seat.vector).empty(),
                    .untold = !above(seat.vector, session.told).empty()},
                   now);
    if (tree.digestDue(now)) acknowledge(seat, to, session);
    if (tree.graftDue(now)) {
      const bool may = now - seat.graftedMs >= TreeLink::kGraftMs;
      tree.graft(may, now);
      if (may) seat.graftedMs = now;
      if (may && !faults.graftsLost) sayTree(seat.index, to, true);
    }
    if (tree.maySend(now) && !lies(seat))
      if (Vector news = above(seat.vector, session.sent); !news.empty()) {
        join(session.sent, news);
        ++seat.payloads;
        frame(seat.index, to, kPayload,
              [this, from = seat.index, to, news = std::move(news)] { onSegment(from, to, news); });
      }
    if (const std::int64_t next = tree.nextMs(now); next < session.timerMs || session.timerMs <= now) {
      session.timerMs = next;
      if (next < now + 60'000)
        this->at(next, [this, index = seat.index, to] {
          if (seats[index]->alive) produce(*seats[index], to);
        });
    }
  }
  void acknowledge(Seat& seat, std::uint32_t to, Session& session) {
    Vector news = above(seat.vector, session.told);
    session.told = seat.vector;
    frame(seat.index, to, kAck, [this, from = seat.index, to, news = std::move(news)] {
      const auto at = seats[to]->sessions.find(from);
      if (at == seats[to]->sessions.end()) return;
      join(at->second.theirs, news), join(at->second.sent, news);
      produce(*seats[to], from);
    });
  }
  void sayTree(std::uint32_t from, std::uint32_t to, bool eager) {
    frame(from, to, kFrameHeaderBytes + 16, [this, from, to, eager] {
      const auto at = seats[to]->sessions.find(from);
      if (at == seats[to]->sessions.end()) return;
      eager ? at->second.tree.grafted() : at->second.tree.pruned();
      produce(*seats[to], from);
    });
  }
  void onSegment(std::uint32_t from, std::uint32_t to, const Vector& news) {
    Seat& seat = *seats[to];
    const auto at = seat.sessions.find(from);
    if (at == seat.sessions.end()) return;
    join(at->second.theirs, news), join(at->second.sent, news);
    const Vector fresh = above(news, seat.vector);
    for (const auto& [origin, number] : fresh)
      for (std::uint64_t n = of(seat.vector, origin) + 1; n <= number; ++n) reached[{origin, n}].emplace(to, now);
    if (join(seat.vector, news)) {
      at->second.tree.fresh();
    } else {
      at->second.tree.repeated();
      sayTree(to, from, false);
    }
    acknowledge(seat, from, at->second);
    produceAll(seat);
  }

  void tick(std::uint32_t index) {
    Seat& seat = *seats[index];
    if (!seat.alive) return;
    ViewEffects out;
    if (now >= seat.view.nextMs()) seat.view.tick(now, out);
    apply(seat, out);
    at(now + 1'000, [this, index] { tick(index); });
  }

 public:
  void apply(Seat& seat, ViewEffects& effects) {
    for (ViewEffect& effect : std::exchange(effects, {})) {
      if (lies(seat)) continue;
      if (const auto* dials = std::get_if<Dial>(&effect); dials != nullptr && !faults.nothingDialled)
        dial(seat.index, byName.at(dials->device));
      if (const auto* ends = std::get_if<HangUp>(&effect)) hangUp(seat.index, byName.at(ends->device));
      if (auto* says = std::get_if<Say>(&effect)) say(seat.index, byName.at(says->device), std::move(says->message));
      if (const auto* came = std::get_if<Entered>(&effect))
        at(now + 2 * kDelayMs, [this, from = seat.index, to = byName.at(came->device)] { beginSession(from, to); });
      if (const auto* went = std::get_if<Gone>(&effect)) endSession(seat, byName.at(went->device));
    }
  }

 private:
  const ViewLimits limits_;
  const std::uint32_t sites_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  bool wall_ = false;
  WordWriter words_;
};

inline Seat::Seat(World& w, std::uint32_t i, ViewLimits limits)
    : world(w), index(i), random(w.random.next()), view(w.names[i], limits, *this, random, 0) {}

inline const Place* Seat::find(std::string_view device) const {
  const auto at = world.byName.find(std::string(device));
  return at == world.byName.end() ? nullptr : &world.places[at->second];
}

inline std::string Seat::draw(Random& dice) const {
  if (world.faults.noDirectory || world.names.size() < 2) return {};
  const std::uint64_t other = dice.below(world.names.size() - 1);
  return world.names[other < index ? other : other + 1];
}

inline std::size_t Seat::sites() const { return world.faults.onePlace ? 1 : world.sites(); }
inline std::size_t Seat::hosts() const { return world.faults.onePlace ? 1 : world.sites() * 8; }

}  // namespace witan::overlay::tests
