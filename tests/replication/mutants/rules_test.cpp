// The four rules of sync, each with its failing twin: the same scenario on the real room and on a broken one.
#include "replication/mutant.h"
#include "tests/replication/cluster.h"

namespace witan::replication::test {
namespace {

class WithMutant {
 public:
  explicit WithMutant(Mutant mutant) { activeMutant = mutant; }
  ~WithMutant() { activeMutant = Mutant::none; }
};

auto failures(std::uint64_t n) {
  return [n](AgentState& state, const std::string&) { state.consecutiveFailureCount = n; };
}

// An interrupted session, then the sender is lost: what it had committed to nobody else must still be asked for.
bool survivorsAgree() {
  Device a("a"), b("b"), c("c");
  a.write("agent-1", failures(1));
  sync(a, b);
  sync(a, c);
  a.write("agent-1", failures(2));
  a.write("agent-2", failures(3));
  SessionOptions small;
  small.segmentBytes = 1;
  Link cut(a, b, small);
  cut.runUntilCut(7);
  sync(a, c);
  // a is gone.
  sync(b, c);
  return b.agents().digest() == c.agents().digest() && b.view("agent-2") == c.view("agent-2");
}

TEST(FourRules, Rule1_TheVectorRisesAtTheCommitOnly) { EXPECT_TRUE(survivorsAgree()); }

}  // namespace
}  // namespace witan::replication::test
