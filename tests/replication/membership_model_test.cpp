// Membership, exhaustively at small scope: every interleaving of writes, statements and deliveries of three devices
// (and a fourth that may be admitted), up to a number of steps. No randomness: a state is visited once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "replication/membership.h"
#include "replication/writer.h"

namespace witan::replication::membership_model_test {
namespace {

const std::array<std::string, 4> kDevices{"a", "b", "c", "d"};

std::string writerOf(int device) { return writerName(kDevices[static_cast<std::size_t>(device)], 1); }

using Set = std::vector<int>;  // statements by number, sorted

struct Replica {
  Set known;
  std::array<int, 4> committed{};  // of each device's writer
  friend auto operator<=>(const Replica&, const Replica&) = default;
};
using State = std::array<Replica, 4>;

// What goes wrong without a rule, to see that the checks can fire.
enum class Twin { honest, acksOfOneDeviceOnly, sessionsAfterTheAck };

class Model {
 public:
  explicit Model(bool admissions, Twin twin = Twin::honest) : admissions_(admissions), twin_(twin) {
    std::vector<Statement> all;
    for (int device = 0; device < 3; ++device)
      all.push_back(admit(all, writerOf(0), kDevices[static_cast<std::size_t>(device)], 1, "name"));
    Set founding;
    for (const Statement& s : all) founding.push_back(number(s));
    std::sort(founding.begin(), founding.end());
    State start;
    for (int device = 0; device < 3; ++device) start[static_cast<std::size_t>(device)].known = founding;
    seen_.insert(start);
    frontier_ = {start};
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      std::vector<State> frontier;
      frontier.swap(frontier_);
      for (const State& state : frontier) expand(state);
    }
  }

  std::size_t states() const { return seen_.size(); }
  std::size_t completed() const { return completed_; }
  std::size_t sets() const { return memberships_.size(); }
  const std::string& violation() const { return violation_; }  // the first; empty if there was none

 private:
  int number(const Statement& s) {
    const auto [at, isNew] = numbers_.try_emplace(encodeStatement(s), static_cast<int>(statements_.size()));
    if (isNew) statements_.push_back(s);
    return at->second;
  }
  std::vector<Statement> of(const Set& set) const {
    std::vector<Statement> list;
    for (const int s : set) list.push_back(statements_[static_cast<std::size_t>(s)]);
    return list;
  }
  const Membership& membership(const Set& set) {
    const auto [at, isNew] = memberships_.try_emplace(set);
    if (isNew) {
      std::vector<Statement> list = of(set);
      at->second = membershipOf(list);
      std::reverse(list.begin(), list.end());
      check(membershipOf(list) == at->second && at->second.waiting == 0, "the order of statements matters", set);
      completed_ += at->second.retired.size();
    }
    return at->second;
  }
  ClocksBySpace clocks(const Replica& replica) const {
    VectorClock clock;
    for (int device = 0; device < 4; ++device)
      clock.set(writerOf(device), static_cast<std::uint64_t>(replica.committed[static_cast<std::size_t>(device)]));
    return {{"space", clock}};
  }

  void expand(const State& state) {
    for (int x = 0; x < 4; ++x) {
      const Replica& me = state[static_cast<std::size_t>(x)];
      if (me.known.empty()) continue;
      const Standing own = membership(me.known).standing(kDevices[static_cast<std::size_t>(x)]);
      if (me.committed[static_cast<std::size_t>(x)] < 2) {
        State next = state;
        ++next[static_cast<std::size_t>(x)].committed[static_cast<std::size_t>(x)];
        arrive(state, next);
      }
      if (own != Standing::retired) speak(state, x);
      for (int y = 0; y < 4; ++y)
        if (y != x && !state[static_cast<std::size_t>(y)].known.empty()) deliver(state, x, y);
    }
  }

  void speak(const State& state, int x) {
    const Replica& me = state[static_cast<std::size_t>(x)];
    const Membership& view = membership(me.known);
    const std::vector<Statement> known = of(me.known);
    for (const Member& due : acksDue(view, kDevices[static_cast<std::size_t>(x)])) {
      std::vector<AckedCounter> counters = countersToAck(view, clocks(me));
      if (twin_ == Twin::acksOfOneDeviceOnly)
        std::erase_if(counters, [&](const AckedCounter& a) { return deviceOf(a.writer) != due.device; });
      say(state, x, retireAck(known, writerOf(x), due.device, due.admission, counters));
    }
    for (int other = 0; other < 4; ++other) {
      const std::string& device = kDevices[static_cast<std::size_t>(other)];
      if (other != x && view.standing(device) == Standing::active)
        say(state, x, proposeRetire(known, writerOf(x), device, 1));
    }
    if (admissions_ && state[3].known.empty()) {
      State next = state;
      const Set with = plus(me.known, admit(known, writerOf(x), "d", 1, "late"));
      next[static_cast<std::size_t>(x)].known = with;
      next[3] = next[static_cast<std::size_t>(x)];  // it starts with a copy
      arrive(state, next);
    }
  }
  Set plus(Set set, const Statement& s) {
    set.push_back(number(s));
    std::sort(set.begin(), set.end());
    return set;
  }
  void say(const State& state, int x, const Statement& s) {
    State next = state;
    Replica& me = next[static_cast<std::size_t>(x)];
    me.known = plus(me.known, s);
    arrive(state, next);
  }

  // Statements go first and whole, alone or with data; data only between those who are active for both.
  void deliver(const State& state, int x, int y) {
    State next = state;
    const Replica& from = next[static_cast<std::size_t>(x)];
    Replica& to = next[static_cast<std::size_t>(y)];
    Set joined;
    std::set_union(from.known.begin(), from.known.end(), to.known.begin(), to.known.end(), std::back_inserter(joined));
    to.known = joined;
    arrive(state, next);
    next[static_cast<std::size_t>(x)].known = joined;
    const Membership& view = membership(joined);
    for (const int end : {x, y})
      if (!mayTalk(view.standing(kDevices[static_cast<std::size_t>(end)]))) return arrive(state, next);
    for (std::size_t device = 0; device < 4; ++device)
      to.committed[device] = std::max(to.committed[device], from.committed[device]);
    arrive(state, next);
  }

  bool mayTalk(Standing standing) const {
    return standing == Standing::active || (twin_ == Twin::sessionsAfterTheAck && standing == Standing::retiring);
  }

  void check(bool holds, const std::string& what, const Set& set) {
    if (!holds && violation_.empty()) violation_ = what + "\n" + show(set);
  }

  void arrive(const State& before, const State& after) {
    if (!violation_.empty()) return;  // one counterexample is enough
    if (!seen_.insert(after).second) return;
    frontier_.push_back(after);
    for (std::size_t x = 0; x < 4; ++x) {
      if (after[x].known.empty()) continue;
      if (after[x].known != before[x].known && !before[x].known.empty()) checkMonotone(before[x].known, after[x].known);
      checkBound(after, membership(after[x].known));
    }
  }

  void checkMonotone(const Set& smaller, const Set& larger) {
    const Membership& before = membership(smaller);
    const Membership& after = membership(larger);
    check(before.epoch <= after.epoch, "the epoch fell", larger);
    for (const RetiredMember& r : before.retired) {
      const bool stays = std::any_of(after.retired.begin(), after.retired.end(),
                                     [&](const RetiredMember& other) { return other.member == r.member; });
      check(stays, r.member.device + " is not retired any more", larger);
    }
    for (const auto& [space, finals] : before.finals) {
      const auto at = after.finals.find(space);
      check(at != after.finals.end() && le(finals, at->second), "a final counter fell", larger);
    }
  }

  void checkBound(const State& state, const Membership& view) {
    for (std::size_t r = 0; r < 4; ++r) {
      if (view.standing(kDevices[r]) != Standing::retired) continue;
      const auto at = view.finals.find("space");
      const std::uint64_t final = at == view.finals.end() ? 0 : at->second.at(writerOf(static_cast<int>(r)));
      for (const std::string& device : view.presentDevices()) {
        const std::size_t y = static_cast<std::size_t>(device[0] - 'a');
        check(static_cast<std::uint64_t>(state[y].committed[r]) <= final,
              device + " has committed more of " + kDevices[r] + " than its final counter", state[y].known);
      }
    }
  }

  std::string show(const Set& set) const {
    std::string text;
    for (const Statement& s : of(set)) {
      text += s.writer + '/' + std::to_string(s.number) + ' ' + std::string(enumName(s.kind)) + ' ' + s.device;
      for (const AckedCounter& acked : s.acked) text += ' ' + acked.writer + ':' + std::to_string(acked.counter);
      text += " after";
      for (const SeenStatements& seen : s.seen) text += ' ' + seen.writer + '/' + std::to_string(seen.number);
      text += '\n';
    }
    return text;
  }

  const bool admissions_;
  const Twin twin_;
  std::string violation_;
  std::vector<Statement> statements_;
  std::map<std::string, int> numbers_;
  std::map<Set, Membership> memberships_;
  std::set<State> seen_;
  std::vector<State> frontier_;
  std::size_t completed_ = 0;
};

// WITAN_LONG=1: two steps more, minutes and gigabytes.
int steps(int usual) { return std::getenv("WITAN_LONG") != nullptr ? usual + 2 : usual; }

// Same statements, same membership; a retirement stays complete; no final counter below what an active device has
// committed (reference 4.7).
TEST(MembershipModel, EverythingThreeDevicesCanDoInSixSteps) {
  Model model(false);
  model.run(steps(6));
  EXPECT_EQ(model.violation(), "");
  EXPECT_GT(model.completed(), 100u);
  std::printf("%zu states, %zu sets of statements\n", model.states(), model.sets());
}

TEST(MembershipModel, WithAFourthThatIsAdmittedByAny) {
  Model model(true);
  model.run(steps(5));
  EXPECT_EQ(model.violation(), "");
  EXPECT_GT(model.completed(), 10u);
  std::printf("%zu states, %zu sets of statements\n", model.states(), model.sets());
}

// What arrived through one leaving device of another leaving one is in nobody's ack of the other.
TEST(MembershipModel, FailingTwinAcksThatNameOneDeviceOnly) {
  Model model(false, Twin::acksOfOneDeviceOnly);
  model.run(9);
  EXPECT_NE(model.violation(), "");
}

TEST(MembershipModel, FailingTwinSessionsWithADeviceThatIsLeaving) {
  Model model(false, Twin::sessionsAfterTheAck);
  model.run(7);
  EXPECT_NE(model.violation(), "");
}

}  // namespace
}  // namespace witan::replication::membership_model_test
