// Every history of three devices with up to four writes, up to a stated number of steps: writes, deletions, whole
// sessions, sessions that die after any frame, frames that come twice, a stale session played once more, stability, a
// disk that goes back to a copy. No randomness; one step more with WITAN_LONG=1. A state is what the three disks hold;
// each is visited once, and every step begins with a restart.
//
// In every state:  the promise of the vector (replication/space.h), against contexts that are never shortened;
//                  equal vectors mean equal contents, where both are settled.
// From every state: whole sessions between all make all equal, and equal to the oracle.
#include <cstdio>
#include <cstdlib>
#include <set>

#include "replication/writer.h"
#include "tests/replication/history_oracle.h"
#include "tests/replication/stories.h"

namespace witan::replication::test::small_scope_test {
namespace {

constexpr std::size_t kDevices = 3;
constexpr std::pair<int, int> kPairs[] = {{0, 1}, {0, 2}, {1, 2}};
using Rows = std::vector<std::pair<std::string, std::string>>;

struct State {
  std::array<Rows, 2 * kDevices> disks;
  std::vector<Written> written;
  std::array<Rows, 2> copy;  // of a's disks
  std::size_t copied = 0;    // how much a had written then, and one; 0: there is no copy
  bool wentBack = false;
  std::vector<std::string> stale;  // frames of an earlier session
  int staleTo = 0;
  std::string story;
};

struct Scope {
  const char* name;
  int steps;
  int writes;
  int keys;
  bool members = false;   // a, b and c are admitted, and may tidy up
  bool removals = false;  // a write may be a deletion
  bool cuts = false;      // sessions die after any frame
  bool repeats = false;   // frames come twice, and sessions once more
  bool backups = false;   // a's disk goes back to a copy, after which it had written nothing
  int devices = 3;        // that take part
};

class Scene {
 public:
  explicit Scene(const State& from) : state_(from) {
    for (std::size_t d = 0; d < kDevices; ++d) {
      devices_[d] = std::make_unique<Device>(std::string(1, static_cast<char>('a' + d)));
      load(devices_[d]->journalStore(), from.disks[2 * d]);
      load(devices_[d]->agentStore(), from.disks[2 * d + 1]);
      devices_[d]->open();
    }
  }
  Device& at(int d) { return *devices_[static_cast<std::size_t>(d)]; }
  const State& state() const { return state_; }

  State saved(const std::string& step) {
    State out = state_;
    out.story += "\n  " + step;
    for (std::size_t d = 0; d < kDevices; ++d) {
      devices_[d]->flush();
      out.disks[2 * d] = rowsOf(devices_[d]->journalStore());
      out.disks[2 * d + 1] = rowsOf(devices_[d]->agentStore());
    }
    return out;
  }

  void write(int d, int key, bool removal) {
    const std::string agent = "agent-" + std::to_string(key), self = at(d).replica().writer();
    Written written{Kind::agentState, agent, {}, "", removal, {}};
    const auto versions = at(d).agents().versions(Kind::agentState, agent);
    for (const Version& version : *versions)
      for (const Written& other : state_.written)
        if (other.dot == version.dot) written.context.join(other.context);
    AgentState body = at(d).view(agent);
    body.consecutiveFailureCount += state_.written.size() + 1;
    if (!removal) written.body = encodeAgentState(body, self);
    const Write write{Kind::agentState, agent, written.body, removal};
    written.dot = *at(d).replica().commit(DatabaseName::agents, "main", {&write, 1});
    written.context.raise(written.dot.host, written.dot.counter);
    state_.written.push_back(std::move(written));
  }
  std::size_t writtenByA() const {
    return static_cast<std::size_t>(
        std::count_if(state_.written.begin(), state_.written.end(),
                      [](const Written& written) { return deviceOf(written.dot.host) == "a"; }));
  }
  void copyA() {
    at(0).flush();
    state_.copy = {rowsOf(at(0).journalStore()), rowsOf(at(0).agentStore())};
    state_.copied = writtenByA() + 1;
  }
  void takeABack() {
    at(0).lose();
    at(0).journalStore().wipe();
    at(0).agentStore().wipe();
    load(at(0).journalStore(), state_.copy[0]);
    load(at(0).agentStore(), state_.copy[1]);
    at(0).open();
    state_.wentBack = true;
  }
  // Everything that goes to b is kept, to come once more.
  void remembered(int a, int b) {
    Link link(at(a), at(b));
    state_.stale.clear();
    state_.staleTo = b;
    do {
      while (!link.queueToB().empty()) {
        state_.stale.push_back(link.queueToB().front());
        link.deliverToB();
      }
      while (!link.queueToA().empty()) link.deliverToA();
      link.say(1 << 20);
    } while (!link.queueToA().empty() || !link.queueToB().empty());
  }
  void again() {
    Device& device = at(state_.staleTo);
    SyncSession session(device.replica(), {}, 0);
    std::string out;
    for (const std::string& frame : state_.stale) {
      if (session.state() == SessionState::closed || !session.receive(frame, 0).ok()) break;
      session.produce(out, 1 << 20, 0);
      device.flush();
    }
  }
  // The n-th frame to b comes twice; false if there are not so many.
  bool doubled(int a, int b, int n) {
    Link link(at(a), at(b));
    do {
      while (!link.queueToB().empty()) {
        if (n-- == 0) link.queueToB().push_front(link.queueToB().front());
        link.deliverToB();
      }
      while (!link.queueToA().empty()) link.deliverToA();
      link.say(1 << 20);
    } while (!link.queueToA().empty() || !link.queueToB().empty());
    return n < 0;
  }

  // What is wrong, or "".
  std::string check() {
    for (int d = 0; d < static_cast<int>(kDevices); ++d) {
      if (at(d).replica().restored("agents/main")) continue;  // it promises nothing
      if (std::string problem = checkPromise(at(d)); !problem.empty()) return at(d).name() + ": " + problem;
    }
    for (const auto& [a, b] : kPairs) {
      if (at(a).replica().restored("agents/main") || at(b).replica().restored("agents/main")) continue;
      Space &one = at(a).agents(), &other = at(b).agents();
      if (one.settled() && other.settled() && one.clock() == other.clock() && one.digest() != other.digest())
        return at(a).name() + " and " + at(b).name() + " have equal vectors and different contents";
    }
    return "";
  }
  std::string checkEnd(int devices) {
    for (int round = 0; round < 2; ++round)
      for (const auto& [a, b] : kPairs)
        if (b < devices) sync(at(a), at(b));
    VectorClock everything;
    for (const Written& written : state_.written) everything.raise(written.dot.host, written.dot.counter);
    for (int d = 0; d < devices; ++d) {
      if (at(d).agents().clock() != everything) return at(d).name() + " did not hear of everything";
      if (at(d).agents().digest() != at(0).agents().digest()) return at(d).name() + " holds something else than a";
      const auto incidents = at(d).replica().incidents();
      for (const Incident& incident : *incidents)
        if (incident.kind != "olderCopy" || d != 0 || !state_.wentBack)
          return at(d).name() + " raised an alarm: " + incident.kind + ": " + incident.what;
    }
    return check();
  }

 private:
  static void load(store::MemoryStore& store, const Rows& rows) {
    store::WriteBatch batch;
    for (const auto& [key, value] : rows) batch.put(key, value);
    ASSERT_TRUE(store.writeSynced(batch).ok());
  }
  static Rows rowsOf(store::MemoryStore& store) {
    Rows rows;
    EXPECT_TRUE(store
                    .scan("", {},
                          [&](std::string_view key, std::string_view value) {
                            rows.emplace_back(key, value);
                            return true;
                          })
                    .ok());
    return rows;
  }
  std::string checkPromise(Device& device) {
    Space& space = device.agents();
    if (Status status = space.checkIntegrity(); !status.ok()) return status.error().message;
    const VectorClock clock = space.clock();
    std::vector<const Written*> held;
    for (const std::string& key : space.keys(Kind::agentState)) {
      const auto versions = space.versions(Kind::agentState, key);
      for (const Version& version : *versions)
        for (const Written& w : state_.written)
          if (w.dot == version.dot && w.key == key) held.push_back(&w);
    }
    const auto sees = [](const Written* later, const Written& w) {
      return later->dot != w.dot && later->key == w.key && later->context.covers(w.dot);
    };
    for (const Written& w : state_.written) {
      const std::string name = w.key + " " + w.dot.host + ":" + std::to_string(w.dot.counter);
      const bool isHeld = std::any_of(held.begin(), held.end(), [&](const Written* h) { return h->dot == w.dot; });
      // A tombstone that everybody has may be gone, and vouches for what it removed.
      const bool seen = std::any_of(state_.written.begin(), state_.written.end(), [&](const Written& later) {
        const bool there = std::any_of(held.begin(), held.end(), [&](const Written* h) { return h->dot == later.dot; });
        return sees(&later, w) && (there || (later.tombstone && clock.covers(later.dot)));
      });
      // An older copy's tombstones are in no digest: they go with the next tidying.
      if (isHeld && seen && !(w.tombstone && state_.wentBack)) return name + " is held beside what superseded it";
      if (clock.covers(w.dot) && !isHeld && !seen && !w.tombstone) return name + " is covered and not held";
    }
    return "";
  }

  State state_;
  std::array<std::unique_ptr<Device>, kDevices> devices_;
};

class Search {
 public:
  explicit Search(const Scope& scope) : scope_(scope) {
    const char* lengthy = std::getenv("WITAN_LONG");
    if (lengthy != nullptr && std::string_view(lengthy) == "1") ++scope_.steps;
  }

  void run() {
    State start;
    {
      Scene scene(start);
      if (scope_.members) {
        for (int d = 0; d < scope_.devices; ++d) admit(scene.at(0), scene.at(d));
        for (int d = 1; d < scope_.devices; ++d) sync(scene.at(0), scene.at(d));
      }
      visit(scene, "start");
    }
    for (int step = 0; step < scope_.steps && problem_.empty(); ++step) {
      std::vector<State> now;
      now.swap(next_);
      for (const State& state : now)
        if (problem_.empty()) expand(state);
    }
    for (const State& state : next_)
      if (problem_.empty()) end(state);
    EXPECT_EQ(problem_, "");
    std::printf("%s: %d steps, %d writes, %d keys: %zu states, %zu transitions\n", scope_.name, scope_.steps,
                scope_.writes, scope_.keys, seen_.size(), transitions_);
  }

 private:
  template <class Step>
  void take(const State& from, const std::string& name, Step step) {
    if (!problem_.empty()) return;
    Scene scene(from);
    step(scene);
    visit(scene, name);
  }
  void visit(Scene& scene, const std::string& name) {
    ++transitions_;
    State state = scene.saved(name);
    std::string all;
    for (const Rows& rows : state.disks) {
      for (const auto& [key, value] : rows) all += key + '\0' + value + '\1';
      all += '\2';
    }
    for (const Written& w : state.written) {
      all += w.key + w.dot.host + std::to_string(w.dot.counter) + w.body;
      for (const auto& [host, counter] : w.context.entries()) all += host + std::to_string(counter) + ",";
    }
    for (const std::string& frame : state.stale) all += frame;
    if (scope_.backups) {
      all += std::to_string(state.copied) + (state.wentBack ? "b" : "-");
      for (const Rows& rows : state.copy)
        for (const auto& [key, value] : rows) all += key + '\0' + value + '\1';
    }
    if (!seen_.insert(key_.hash128(all)).second) return;
    if (const std::string problem = scene.check(); !problem.empty()) {
      problem_ = problem + ", after" + state.story;
      return;
    }
    next_.push_back(std::move(state));
  }
  void end(const State& state) {
    Scene scene(state);
    if (const std::string problem = scene.checkEnd(scope_.devices); !problem.empty())
      problem_ = problem + ", after whole sessions between all and" + state.story;
  }

  void expand(const State& from) {
    end(from);
    const auto name = [](int d) { return std::string(1, static_cast<char>('a' + d)); };
    if (from.written.size() < static_cast<std::size_t>(scope_.writes))
      for (int d = 0; d < scope_.devices; ++d)
        for (int key = 0; key < scope_.keys; ++key)
          for (int removal = 0; removal <= (scope_.removals ? 1 : 0); ++removal)
            take(from, name(d) + (removal == 1 ? " removes " : " writes ") + std::to_string(key),
                 [&](Scene& scene) { scene.write(d, key, removal == 1); });
    for (const auto& [x, y] : kPairs) {
      const int a = x, b = y;
      if (b >= scope_.devices) continue;
      const std::string both = name(a) + " and " + name(b);
      take(from, both + " in session", [&](Scene& scene) { sync(scene.at(a), scene.at(b)); });
      bool died = scope_.cuts;
      for (std::size_t frames = 1; died; ++frames)
        take(from, both + " in session, cut after " + std::to_string(frames) + " frames",
             [&](Scene& scene) { died = Link(scene.at(a), scene.at(b), onePerSegment()).runUntilCut(frames); });
    }
    if (scope_.backups && from.copied == 0) take(from, "a is copied", [](Scene& scene) { scene.copyA(); });
    if (scope_.backups && from.copied == Scene(from).writtenByA() + 1)
      take(from, "a goes back to the copy", [](Scene& scene) { scene.takeABack(); });
    if (scope_.members)
      for (int d = 0; d < scope_.devices; ++d)
        take(from, name(d) + " tidies up", [&](Scene& scene) { stabilise(scene.at(d)); });
    if (scope_.repeats) repeats(from);
  }
  void repeats(const State& from) {
    const auto name = [](int d) { return std::string(1, static_cast<char>('a' + d)); };
    if (!from.stale.empty()) take(from, "the remembered session once more", [](Scene& scene) { scene.again(); });
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        if (a == b) continue;
        if (from.stale.empty())
          take(from, name(a) + " to " + name(b) + ", remembered", [&](Scene& scene) { scene.remembered(a, b); });
        bool any = true;
        for (int n = 0; any; ++n)
          take(from, name(a) + " to " + name(b) + ", frame " + std::to_string(n) + " twice",
               [&](Scene& scene) { any = scene.doubled(a, b, n); });
      }
    }
  }

  Scope scope_;
  const FingerprintKey key_{"search"};
  std::set<Uint128> seen_;
  std::vector<State> next_;
  std::size_t transitions_ = 0;
  std::string problem_;
};

// That the checks can fail: a version vanishes below the vector.
TEST(SmallScope, TheChecksNoticeALoss) {
  Scene scene(State{});
  scene.write(0, 1, false);
  EXPECT_EQ(scene.check(), "");
  Space& space = scene.at(0).agents();
  space.drop(*space.table().find(Kind::agentState, "agent-1")->versions.front());
  EXPECT_NE(scene.check(), "");
}

TEST(SmallScope, WholeSessions) { Search({"whole sessions", 6, 4, 1}).run(); }
TEST(SmallScope, WholeSessionsTwoKeys) { Search({"whole sessions, two keys", 4, 4, 2}).run(); }
TEST(SmallScope, SessionsCutAfterEveryFrame) { Search({"cut sessions", 4, 4, 1, false, false, true}).run(); }
TEST(SmallScope, RepeatedFramesAndStaleSessions) { Search({"repeats", 4, 4, 1, false, false, false, true}).run(); }
// Nothing contradicts the copy but what the others remember that a had acknowledged.
TEST(SmallScope, ACopyComesBackThatNothingContradicts) {
  Search({"an older copy", 9, 2, 1, true, true, false, false, true, 2}).run();
  Search({"an older copy, three devices", 5, 2, 1, true, true, false, false, true, 3}).run();
}
TEST(SmallScope, DeletionsAndStability) { Search({"deletions", 4, 4, 1, true, true}).run(); }

}  // namespace
}  // namespace witan::replication::test::small_scope_test
