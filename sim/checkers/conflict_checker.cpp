// Checker "settled": no entry that only agents write stays in conflict once devices have met.
#include <array>

#include "agents/wake/agent_conflict.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

class ConflictChecker final : public Checker {
 public:
  explicit ConflictChecker(Cluster& cluster) : Checker(cluster) {}

  // Where only agents write, and each entry was settled before it is contradicted again.
  void onDurable(Seat& at) override {
    if (c_.plan().options.work.contradictions == 0 || std::as_const(at.replica()).agents() == nullptr) return;
    replication::Space* journal = at.replica().data().findSpace("journal/main");
    for (std::uint64_t n = 0; journal != nullptr && n < kContraries; ++n) {
      auto view = journalViewIn(*journal, concat(kContraryFolder, n));
      if (!view.ok()) return c_.failed("store", concat(at.name(), ": ", view.error().message));
      bool& before = contradicted_[at][n];
      if (before == view->inConflict()) continue;
      c_.probe(before ? "contradiction of agents settled" : "contradiction of agents");
      before = !before;
    }
  }

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
  // About what a plan that lost has left, which then keeps its agents from settling.
  Result<bool> peopleAreAsked() {
    bool asked = false;
    for (Seat* at : c_.members())
      if (agents::AgentHost* host = at->replica().agents(); host != nullptr)
        WITAN_DO(host->sagas().rows().visitHeld([&](saga::SagaRow&&) { asked = true; }));
    return asked;
  }

  Result<std::string> leftBy(LocalReplica& replica) {
    WITAN_TRY(agents, replica.database(DatabaseName::agents).space("main"));
    WITAN_TRY(asked, peopleAreAsked());
    for (const auto& [scope, journal] : replica.database(DatabaseName::journal).spaces())
      for (const std::string& id : journal->keys(Kind::journal)) {
        WITAN_TRY(view, journalViewIn(*journal, id));
        if (!view.inConflict()) continue;
        WITAN_TRY(settler, agents::settlerOf(replica, "main", *journal, view));
        c_.probe(settler ? "conflict of agents at the end" : "conflict for a person at the end");
        if (!settler && id.starts_with(kContraryFolder) && !asked)
          return concat("only agents write ", id, ", and no agent settles its conflict");
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

  PerDevice<std::array<bool, kContraries>> contradicted_;  // by entry
};

}  // namespace

std::unique_ptr<Checker> makeConflictChecker(Cluster& cluster) { return std::make_unique<ConflictChecker>(cluster); }

}  // namespace witan::sim
