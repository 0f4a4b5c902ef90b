// Checker "settled": no entry that only agents write stays in conflict once devices have met.
#include "agents/wake/agent_conflict.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

class ConflictChecker final : public Checker {
 public:
  explicit ConflictChecker(Cluster& cluster) : Checker(cluster) {}

  // All devices hold the same by now; agents work on those that host them.
  void atEnd() override {
    for (Seat* at : c_.members()) {
      if (std::as_const(at->replica()).agents() == nullptr) continue;
      auto wrong = leftBy(at->replica().data());
      if (!wrong.ok()) return c_.failed("store", at->name() + ": " + wrong.error().message);
      if (!wrong->empty()) return c_.failed("settled", *wrong);
      return;
    }
  }

 private:
  Result<std::string> leftBy(LocalReplica& replica) {
    WITAN_TRY(agents, replica.database(DatabaseName::agents).space("main"));
    for (const auto& [scope, journal] : replica.database(DatabaseName::journal).spaces())
      for (const std::string& id : journal->keys(Kind::journal)) {
        WITAN_TRY(view, journalViewIn(*journal, id));
        if (!view.inConflict()) continue;
        WITAN_TRY(settler, agents::settlerOf(replica, "main", *journal, view));
        c_.probe(settler ? "conflict of agents at the end" : "conflict for a person at the end");
        if (!settler) continue;
        WITAN_TRY(job, agents::conflictJob(*settler, scope, id, view));
        WITAN_TRY(run, agents::runView(*agents, job.key()));
        // A paused agent settles nothing, nor one whose run came to nothing: people hear of both.
        const bool excused =
            run.run && isTerminal(run.run->body.status) && run.run->body.status != WakeStatus::completed;
        if (!excused)
          return concat("agents alone wrote ", id, ", and it stays in conflict (run ", job.key().hex(), ")");
      }
    return std::string();
  }
};

}  // namespace

std::unique_ptr<Checker> makeConflictChecker(Cluster& cluster) { return std::make_unique<ConflictChecker>(cluster); }

}  // namespace witan::sim
