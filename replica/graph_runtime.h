// GraphRuntime: the graphs whose partitions this device owns, at work (docs/graphs.md). It joins the scheduler of
// kernel/graph with the ledger, the replicated records, the agents and the sagas of this device, and decides nothing of
// its own.
//
// The state of a graph is the fold of its entries. A step is entered into the ledger in the round that makes it; its
// work begins when the entry is durable. Whoever owns the partition next folds the same entries and goes on: a span
// keeps its id, so an effect that was carried out is found and not made again.
//
// Owned and driven by Replica::drain(); not thread-safe. Replica and setup outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/host/agent_host.h"
#include "domains/graph/steps.h"
#include "replica/agent_runtime.h"
#include "replica/core/messages.h"
#include "replica/graph_meter.h"
#include "replica/graph_triggers.h"
#include "replica/request_router.h"

namespace witan::node {

class PartitionHost;
class Replica;
struct Effects;

inline constexpr std::string_view kGraphDomain = "graph";
// Before the capability, who the activations of market nodes are for.
inline constexpr std::string_view kMarketNodes = "market:";

// The bodies of messages and documents, as records of the agents' database.
class GraphBodies final : public graph::Bodies {
 public:
  GraphBodies(replication::LocalReplica& replica, std::string scope) : replica_(replica), scope_(std::move(scope)) {}

  // Durable with the next flush of the agents' database. What is there already is not written again.
  Status keep(const std::vector<graph::Body>& bodies);
  graph::Body find(const std::string& digest) override;
  bool has(const std::string& digest) override;
  std::shared_ptr<const graph::Document> document(const std::string& digest);
  replication::Space* records();
  const std::string& scope() const { return scope_; }

 private:
  replication::LocalReplica& replica_;
  bool isKept(replication::Space& space, const std::string& digest);

  const std::string scope_;
  std::set<std::string> kept_;  // some that were written or read: they need not be read again
};

// A deployment comes with its document, and the owner checks both.
Result<Request> deployRequest(const kernel::DomainModule& graphs, const graph::Document& document,
                              const json::value& source, std::string operationId);

// What is known of the run that a message at an ingress begins.
void enterWith(Request& ingress, const domains::graph::Entering& entering);

class GraphRuntime {
 public:
  GraphRuntime(Replica& replica, const AgentSetup* setup);

  // For a message at an ingress of a graph of an owned partition.
  RequestRouter::Admission admit(PartitionHost& host, const Request& request, Now now);
  // What is proposed to a graph of an owned partition, before it is decided: a deployment that may not be; an answer or
  // a message again whose body is lost. The document that comes with a deployment is kept.
  Status vet(const PartitionHost& host, const Request& request);

  // One round: what the ledger, agents and people did; time; what starts. Everything lands in the open batch, bodies in
  // the agents' database, which is flushed.
  Status round(Now now, Effects& out);
  // Whether an answer was for a graph: its own step is durable, or what a domain decided.
  bool take(const Answered& answered, Now now);
  // The entity of a domain node waits for its counselor, and so does the span, whatever its timeout says.
  void frozen(const Answer& answer);
  std::optional<std::int64_t> nextMs(Now now) const;
  bool quiet() const;

  // Of a graph that runs here; null: none does.
  const graph::Runtime* runtime(std::string_view graph) const;
  // Why a graph whose partition is here does not run, or a part of it; empty: it does, or there is none.
  std::string waitsFor(std::string_view graph) const;
  // Its messages that wait for bodies that are lost.
  std::vector<graph::Runtime::Lacking> lackingIn(std::string_view graph) const;
  const GraphMeter& meter() const { return meter_; }

 private:
  RequestRouter::Admission again(const PartitionHost& host, const Request& request, Now now);
  using Amounts = std::map<std::string, std::int64_t>;  // of steps, tokens, seconds
  // Of a run whose beginning narrows it.
  struct Limit {
    domains::graph::Limits limits;
    std::int64_t untilMs = 0;
  };
  struct Activity {
    graph::Work work;
    std::int64_t sinceMs = 0;  // wall
    std::optional<RunKey> agentRun;
    std::string inner;  // the graph of a nested run
    std::string innerRun;
    bool frozen = false;  // the entity that it proposes to
    Amounts granted;      // of the budget of the run
  };
  struct Usage {
    std::string model;  // AGENT@VERSION/DIGEST of the transcript
    Amounts spent;
  };
  struct Release {
    std::uint64_t after = 0;  // steps
    std::vector<graph::Work> work;
    std::vector<graph::Undo> undos;
  };
  struct Hosted {
    std::string id;
    std::unique_ptr<graph::Runtime> runtime;
    GraphTriggers triggers;
    bool live = false;   // it has folded all entries and goes on
    std::string why;     // it cannot go on
    std::string misfit;  // a deployment that is not run, and why
    bool misfitTold = false;
    std::set<std::string> loops;                             // ingresses where a chain of runs ended, as was told
    std::optional<domains::graph::Deploy> awaited;           // whose document is not here
    std::set<std::string> missing;                           // digests of what was not here
    std::optional<std::uint64_t> looked;                     // changes of records, when that was looked for
    std::map<std::string, graph::Runtime::Lacking> lacking;  // messages that wait for their bodies
    bool lackingTold = true;
    std::map<std::string, domains::graph::Answer> answers;  // by span, which have not been followed
    std::set<std::string> cancelled;                        // likewise: runs
    std::set<std::string> mine;                             // operations of steps that the log has not shown yet
    std::map<std::string, std::uint64_t> unconfirmed;
    std::uint64_t entered = 0, confirmed = 0;
    std::deque<Release> releases;
    std::vector<std::string> takenBack;                      // keys of activations
    std::map<std::string, Activity> activities;              // by span
    std::map<std::string, Usage> usages;                     // of spans that end in this round
    std::map<std::string, Amounts> spent;                    // by run: what its ended spans have spent
    std::map<std::string, Limit> limits;                     // likewise
    std::deque<graph::Work> held;                            // until other spans give back some of their budget
    std::deque<std::pair<std::int64_t, std::string>> ended;  // wall ms, run
  };
  struct Shard {
    kernel::Epoch epoch;
    std::uint64_t batches = 0;              // that were looked at
    std::int64_t seenMs = 0, seenAtMs = 0;  // the time of the graph at the last round, by the steady clock
    std::map<std::string, Hosted> graphs;
  };

  Status follow(PartitionHost& host, Shard& shard, Now now);
  std::set<std::string> come(Hosted& hosted);
  Status goOn(PartitionHost& host, Hosted& hosted, const std::set<std::string>& come, Now now);
  static void lack(Hosted& hosted, graph::Runtime::Lacking message);
  static void followAnswer(Hosted& hosted, const domains::graph::Answer& answer, std::int64_t atMs);
  Status vetDeploy(const PartitionHost& host, const Request& request);
  Status foldAgain(PartitionHost& host, const Shard& shard, Hosted& hosted, Now now);
  void tell(const std::string& partition, Hosted& hosted, Effects& out);
  static Status readBatch(const PartitionHost& host, std::uint64_t number,
                          const std::function<Status(const kernel::EntryView&)>& visit);
  Status onEntry(PartitionHost& host, Hosted& hosted, const kernel::EntryView& entry, Now now);
  Status fold(const PartitionHost& host, Hosted& hosted, const domains::graph::Step& step, std::int64_t atMs);
  bool isBorneOut(const PartitionHost& host, Hosted& hosted, const domains::graph::Deploy& deploy);
  Status onOutside(PartitionHost& host, Hosted& hosted, const domains::graph::Step& step, Now now);
  Status resume(PartitionHost& host, Hosted& hosted, Now now);
  void reset(Hosted& hosted, std::string why);
  void wait(Hosted& hosted, std::string why);
  Status work(PartitionHost& host, Hosted& hosted, Now now);
  Status enter(PartitionHost& host, Hosted& hosted, Now now);
  static bool takesRuns(const PartitionHost& host, const Hosted& hosted);
  Status takeTriggers(const PartitionHost& host, Hosted& hosted, Now now);
  // `ahead`: how many entries are under way before it.
  Request requestOf(const PartitionHost& host, const std::string& graph, const domains::graph::Step& step,
                    std::size_t ahead = 0) const;
  Status forget(PartitionHost& host, Hosted& hosted, Now now);
  Status releaseDue(PartitionHost& host, Hosted& hosted, Now now);

  // --- the work of one span (graph_work.cpp)
  Status start(Hosted& hosted, graph::Work work, std::int64_t atMs, Now now);
  Status startAgent(const Hosted& hosted, Activity& activity);
  static Amounts shareOf(const Hosted& hosted, const graph::Work& work, bool& waits);
  // Of the run: the step that begins it, or sends something of it again, is durable or about to be.
  static void limit(Hosted& hosted, const domains::graph::Step& step, std::int64_t atMs);
  static void forgetRun(Hosted& hosted, const std::string& run);
  // Why the node cannot work under what narrows the run; empty: it can.
  static std::string beyondLimit(const Hosted& hosted, const graph::Work& work);
  Status startHeld(Hosted& hosted, std::int64_t atMs, Now now);
  static void countSpent(Hosted& hosted, const domains::graph::Step& step);
  Status startDomain(const graph::Work& work, Now now);
  Status startEffect(const Hosted& hosted, const graph::Work& work, Now now);
  Status startNested(Activity& activity, Now now);
  void undo(const Hosted& hosted, const graph::Undo& undo, Now now);
  void takeResults(Hosted& hosted, std::int64_t atMs);
  void onAnswer(Hosted& hosted, const Activity& activity, const Answer& answer, std::int64_t atMs);
  Status pollAgents(Hosted& hosted, std::int64_t atMs);
  Status pollAgent(Hosted& hosted, const Activity& activity, std::int64_t atMs);
  static Usage usageOf(const graph::Node& node, const json::object& end);
  void pollNested(Hosted& hosted, std::int64_t atMs);
  void drop(Hosted& hosted, const std::string& span);
  Status takeBack(Hosted& hosted);
  Status sweepActivations(const Hosted& hosted);
  Result<bool> mayHaveActed(const Activity& activity);
  Hosted* hostedOf(std::string_view graph);
  graph::Monitor monitorOf(const std::string& graph) const;
  std::string policyEpoch() const;
  std::int64_t clock(const PartitionHost& host, Now now) const;
  Time timeOf(const PartitionHost& host, Now now) const { return std::max(now.wall, Time{clock(host, now) * 1000}); }

  Replica& replica_;
  const AgentSetup* setup_;
  GraphBodies bodies_;
  GraphMeter meter_;
  std::map<std::string, Shard, std::less<>> shards_;  // by partition
  std::map<std::string, std::string> spanAt_;  // graphs of spans that wait for a domain, an effect or a nested begin
  std::vector<std::pair<std::string, Answer>> domainAnswers_;  // of spans
  std::vector<agents::AgentHost::EffectOutcome> outcomes_;     // of this round
  std::map<std::string, std::string, std::less<>> stopped_;    // graphs that do not go on, and why
  std::optional<std::uint64_t> recordsSeen_;                   // changes, when agents were last looked at
  bool unflushed_ = false;                                     // bodies that entries of this round name
  bool again_ = false;
};

}  // namespace witan::node
