// Checker "memory": what people tell the agent that remembers stands in its memory once, whatever was folded where. By
// the remarks that were made, and not by what the product says of them.
#include <map>
#include <set>

#include "agents/host/agent_host.h"
#include "agents/memory/memory_context.h"
#include "replication/records/record_write.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

class MemoryChecker final : public Checker {
 public:
  explicit MemoryChecker(Cluster& cluster)
      : Checker(cluster), on_(cluster.plan().options.work.remarks > 0 && cluster.plan().options.cluster.hosts > 0) {}

  void onStopped(Seat& at) override { heard_[at].clear(); }
  void onDiskLost(Seat& at) override { heard_[at].clear(), answered_[at].clear(); }

  void onDurable(Seat& at) override {
    if (!on_ || at.replica().agents() == nullptr) return;
    answered_[at].merge(std::exchange(heard_[at], {}));
    const std::int64_t latest = at.device->now(c_.agenda().now()).ms + agents::CompactionOptions{}.lastBackoffMs;
    for (const auto& [id, waiting] : at.replica().agents()->memory().jobs())
      if (waiting.job.status == agents::FoldStatus::failed || waiting.dueMs > latest)
        return c_.failed("memory", concat(at.name(), " does not try fold ", id.hex().substr(0, 16), " of ",
                                          waiting.job.agentId, " again: ", waiting.job.lastError));
  }

  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string&) override {
    if (call.tool == kSumTool && answered_[at].contains(call.run))
      c_.failed("memory",
                concat(at.name(), " asks again for the fold of run ", call.run.hex(), ", which was answered"));
  }

  void onToolAnswer(Seat& at, const ToolAnswer& answer) override {
    if (answer.call.tool == kSumTool && answer.says == ToolSays::done) heard_[at].insert(answer.call.run);
  }

  void atEnd() override {
    if (!on_) return;
    for (Seat* at : c_.members()) {
      if (std::as_const(at->replica()).agents() == nullptr) continue;
      auto wrong = remembers(at->replica().data());
      if (!wrong.ok()) return c_.failed("store", at->name() + ": " + wrong.error().message);
      if (!wrong->empty()) return c_.failed("memory", at->name() + wrong.value());
    }
  }

 private:
  Result<std::string> remembers(LocalReplica& data) {
    WITAN_TRY(space, data.database(DatabaseName::agents).space("main"));
    WITAN_TRY(graph, agents::agentGraph(*space, kSimKeeper));
    WITAN_TRY(state, agents::agentStateToWrite(*space, kSimKeeper));
    WITAN_TRY(chosen, agents::chosenSummary(*space, graph, "main", state.pointers.latestSummaryMessageId));
    std::map<std::string, std::size_t> times;
    const auto count = [&](std::string_view text) {
      for (const std::string& mark : marksIn(text)) ++times[mark];
    };
    if (chosen) c_.probe("memory folded"), count(chosen->view.winner->body.text);
    for (const Message* message : agents::notCovered(agents::threadMessages(graph, "main"), chosen))
      count(message->body.content);
    for (const TurnRecord& turn : c_.history().agents.turns)
      if (turn.kept && turn.durable && !times.contains(turn.text)) return " has forgotten " + turn.text;
    for (const auto& [mark, n] : times)
      if (n > 1) return concat(" remembers ", mark, " ", n, " times");
    return std::string();
  }

  const bool on_;
  PerDevice<std::set<RunKey>> heard_, answered_;  // folds that were summed up: in this step; durably
};

}  // namespace

std::unique_ptr<Checker> makeMemoryChecker(Cluster& cluster) { return std::make_unique<MemoryChecker>(cluster); }

}  // namespace witan::sim
