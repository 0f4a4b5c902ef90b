// What a seller does for an order on its own cluster: a run of the graph, its transcript, and the entry of the
// statement in its ledger, with a receipt.
//
// The run's external id is the order's, so an order that comes again is the same run. Its transcript is made of the
// records that its agents left: the ledger of graphs says which episodes there were, their own entries what they did.
// Statements are entries of the entity "statements" of the domain `evidence` (evidence.domain.toml): one log, under one
// key, which signs no two heads that contradict each other.
//
// On the node's loop. Replica and store outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "domains/graph/steps.h"
#include "market/seller_desk.h"
#include "node/config/tool_config.h"
#include "node/market/market_identity.h"
#include "replica/core/messages.h"
#include "replica/replica.h"
#include "store/store.h"

namespace witan::node {

class PartitionHost;

// A proposal to this node, as Daemon::ask.
using MarketAsk = std::function<Status(Request, std::int64_t waitMs, std::function<void(Result<Answer>)>)>;

// The rule file of the domain `evidence`, as a data directory must have it. Errors: another one is installed.
Status installEvidenceDomain(const std::filesystem::path& dir);

// What a declared model is called in documents.
market::Model marketModelOf(const ToolConfig& tool);

class MarketRuns {
 public:
  struct Events {
    std::function<void(const std::string& externalId, const market::RunResult&)> ended;
    std::function<void(const std::string& externalId, const json::value& receipt)> recorded;
    std::function<void(const std::string& what)> failed;  // for the log
  };
  MarketRuns(Replica& replica, store::Store& store, std::vector<ToolConfig> tools, MarketAsk ask,
             std::function<std::string()> policyEpoch, Events events)
      : replica_(replica),
        store_(store),
        tools_(std::move(tools)),
        ask_(std::move(ask)),
        policyEpoch_(std::move(policyEpoch)),
        events_(std::move(events)) {}

  ~MarketRuns() { *self_ = nullptr; }
  MarketRuns(const MarketRuns&) = delete;

  // Begins the run, or finds it begun. What is not possible now is asked for again.
  void start(const market::RunRequest& request, market::Moment now);
  // Entries the statement, or finds it entered.
  void record(const market::RecordRequest& request, const MarketIdentity& identity);
  // Runs that have ended since.
  void poll();

  // The version that is deployed here. None: there is no such graph.
  struct Deployed {
    market::Capability capability;
    std::shared_ptr<const graph::Document> document;
  };
  std::optional<Deployed> deployed(const std::string& graph);
  // Why what a run of it did could not be proven; empty: it can be sold.
  static std::string flawOfSold(const graph::Document& document);

 private:
  struct Transcript;
  struct Begun {
    market::RunRequest request;
    std::string run;
  };
  void fail(const market::RunRequest& request, const std::string& why, market::Moment now);
  void onBegun(const Begun& begun, const Answer& answer, market::Moment now);
  market::RunResult resultOf(const market::RunRequest& request, const PartitionHost& host, const std::string& run,
                             bool completed);
  void addEpisode(Transcript& transcript, const graph::Node& node, const domains::graph::Deliver& step);
  const ToolConfig* toolOf(const std::string& operation) const;
  Result<json::value> receiptOf(std::uint64_t seq, const MarketIdentity& identity);
  Status permitHead(std::uint64_t size, const std::string& root);

  Replica& replica_;
  store::Store& store_;
  const std::vector<ToolConfig> tools_;
  MarketAsk ask_;
  std::function<std::string()> policyEpoch_;
  Events events_;
  std::map<std::string, Begun> running_;  // by external id
  std::shared_ptr<MarketRuns*> self_ = std::make_shared<MarketRuns*>(this);
};

}  // namespace witan::node
