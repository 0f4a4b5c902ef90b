// Membership on random walks: five devices that write, admit, retire, return and meet in any order. Longer and wider
// than the exhaustive search of membership_model_test.cpp, and with devices that come back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "replication/membership.h"
#include "replication/writer.h"

namespace witan::replication::membership_walk_test {
namespace {

const std::vector<std::string> kDevices{"a", "b", "c", "d", "e"};

// One incarnation an admission.
std::string writerOf(const Member& member) { return writerName(member.device, member.admission); }

struct Replica {
  std::vector<Statement> known;
  std::uint32_t admission = 0;  // under which it writes; 0: it never joined
  VectorClock committed;
};

class Walk {
 public:
  Walk() {
    std::vector<Statement> known{admit({}, writerOf({"a", 1}), "a", 1, "")};
    for (const char* device : {"b", "c"}) known.push_back(admit(known, writerOf({"a", 1}), device, 1, ""));
    for (std::size_t x = 0; x < 3; ++x) replicas_[x] = {known, 1, {}};
  }

  // Errors: what does not hold.
  std::string step(std::size_t x, std::size_t y, int what) {
    Replica& me = replicas_[x];
    if (me.admission == 0 || x == y) return "";
    const Membership before = membershipOf(me.known);
    switch (what) {
      case 0: letIn(x, y); break;
      case 1: propose(x, y, before); break;
      case 2: ack(x, before); break;
      case 3: me.committed.raise(self(x), me.committed.at(self(x)) + 1); break;
      case 4: me.known = joinStatements(me.known, replicas_[y].known); break;
      default: meet(x, y); break;
    }
    const Membership after = membershipOf(me.known);
    if (std::string wrong = grown(before, after); !wrong.empty()) return wrong;
    return bounded(after);
  }

  std::size_t retired() const {
    std::size_t most = 0;
    for (const Replica& replica : replicas_) most = std::max(most, membershipOf(replica.known).retired.size());
    return most;
  }

 private:
  std::string self(std::size_t x) const { return writerOf({kDevices[x], replicas_[x].admission}); }

  // The newcomer's statements are read first; it starts with a copy, and its own orphans would be re-issued.
  void letIn(std::size_t x, std::size_t y) {
    Replica &me = replicas_[x], &other = replicas_[y];
    me.known = joinStatements(me.known, other.known);
    const Membership m = membershipOf(me.known);
    const Standing standing = m.standing(kDevices[y]);
    if (m.standing(kDevices[x]) != Standing::active) return;
    if (standing != Standing::unknown && standing != Standing::retired) return;
    me.known.push_back(admit(me.known, self(x), kDevices[y], m.nextAdmission(kDevices[y]), ""));
    other = {me.known, m.nextAdmission(kDevices[y]), me.committed};
  }
  void propose(std::size_t x, std::size_t y, const Membership& m) {
    if (m.standing(kDevices[y]) != Standing::active) return;
    Replica& me = replicas_[x];
    me.known.push_back(proposeRetire(me.known, self(x), kDevices[y], m.nextAdmission(kDevices[y]) - 1));
  }
  void ack(std::size_t x, const Membership& m) {
    Replica& me = replicas_[x];
    for (const Member& due : acksDue(m, kDevices[x])) {
      std::vector<AckedCounter> counters = countersToAck(m, {{"space", me.committed}});
      me.known.push_back(retireAck(me.known, self(x), due.device, due.admission, std::move(counters)));
    }
  }
  void meet(std::size_t x, std::size_t y) {
    Replica &me = replicas_[x], &other = replicas_[y];
    if (other.admission == 0) return;
    me.known = other.known = joinStatements(me.known, other.known);
    const Membership m = membershipOf(me.known);
    if (m.standing(kDevices[x]) == Standing::active && m.standing(kDevices[y]) == Standing::active)
      me.committed.join(other.committed);
  }

  static std::string grown(const Membership& before, const Membership& after) {
    if (after.waiting != 0) return "statements without their past";
    if (after.epoch < before.epoch) return "the epoch fell";
    for (const RetiredMember& r : before.retired)
      if (std::none_of(after.retired.begin(), after.retired.end(),
                       [&](const RetiredMember& now) { return now.member == r.member; }))
        return writerOf(r.member) + " is not retired any more";
    for (const auto& [space, clock] : before.finals)
      if (!le(clock, after.finals.at(space))) return "a final counter fell";
    return "";
  }
  std::string bounded(const Membership& view) const {
    const auto at = view.finals.find("space");
    const VectorClock finals = at == view.finals.end() ? VectorClock{} : at->second;
    for (const RetiredMember& r : view.retired)
      for (const std::string& device : view.presentDevices()) {
        const std::size_t y = static_cast<std::size_t>(device[0] - 'a');
        if (replicas_[y].committed.at(writerOf(r.member)) > finals.at(writerOf(r.member)))
          return device + " has committed more than the final counter of " + writerOf(r.member);
      }
    return "";
  }

  std::array<Replica, 5> replicas_;
};

// What is retired stays so, epochs and final counters only grow, and no final counter is below what a present device
// has committed.
RC_GTEST_PROP(MembershipWalk, RetirementsLastAndFinalCountersBoundEverybody, ()) {
  Walk walk;
  const int steps = *rc::gen::inRange(1, 200);
  for (int step = 0; step < steps; ++step) {
    const auto x = *rc::gen::inRange<std::size_t>(0, 5), y = *rc::gen::inRange<std::size_t>(0, 5);
    const int what = *rc::gen::inRange(0, 7);
    RC_LOG() << kDevices[x] << " does " << what << " with " << kDevices[y] << "\n";
    RC_ASSERT(walk.step(x, y, what) == "");
  }
  RC_CLASSIFY(walk.retired() > 1, "several retirements");
}

}  // namespace
}  // namespace witan::replication::membership_walk_test
