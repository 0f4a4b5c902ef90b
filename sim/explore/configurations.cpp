#include "sim/explore/configurations.h"

#include "base/quote.h"
#include "sim/explore/cluster_model.h"
#include "sim/explore/merge_model.h"

namespace witan::sim {

namespace {

template <auto model, MergeBounds bounds>
std::unique_ptr<ExploreModel> mergeModel() {
  return model(bounds);
}

template <ClusterBounds bounds>
std::unique_ptr<ExploreModel> clusterModel() {
  return std::make_unique<ClusterModel>(bounds);
}

constexpr std::string_view kMergeChecks =
    "devices that received the same show the same; nothing is lost, nothing comes back";
constexpr std::string_view kSyncChecks =
    "the promise of the vector; equal vectors, equal contents; at the end of every story all devices hold the same, "
    "and every durable write, or one that saw it";
constexpr std::string_view kLedgerChecks =
    "no epoch has two histories or two who decide in it; at the end of every story one owner, equal logs that keep the "
    "rules, and every answer in the log, or set aside and reported";

constexpr ExploreConfiguration kConfigurations[] = {
    {"literal-merge",
     "seed 003's merge as it stands there: 3 devices, at most 3 writes of one agent's state, of 2 kinds, at most 2 by "
     "one device; every write reaches every device in any order, any number of times",
     "devices that received the same show the same (theorem 1; docs/FINDINGS.md, F1)", true,
     mergeModel<literalMergeModel, MergeBounds{.devices = 3, .writesEach = 2, .writes = 3, .changes = 2}>},
    {"witan-merge",
     "the same world with our space: 3 devices, at most 4 writes of 2 kinds, at most 2 by one device; every write "
     "reaches every device in any order, any number of times",
     kMergeChecks, false,
     mergeModel<witanMergeModel, MergeBounds{.devices = 3, .writesEach = 2, .writes = 4, .changes = 2}>},
    {"witan-merge-removals",
     "our space: 3 devices, at most 3 writes of 2 kinds or removals, at most 2 by one device; every write reaches "
     "every device in any order, any number of times",
     kMergeChecks, false,
     mergeModel<witanMergeModel, MergeBounds{.devices = 3, .writesEach = 2, .writes = 3, .changes = 3}>},
    {"sync",
     "2 devices, at most 3 writes of one record, at most 2 by one device; at most 2 connections, one of which may die "
     "at any message, and each end notices when it does",
     kSyncChecks, false, clusterModel<ClusterBounds{.writesEach = 2, .writes = 3, .connections = 2, .cuts = 1}>},
    {"sync-crash",
     "2 devices, at most one write of one record each; at most 2 connections, one of which may die; one device may "
     "lose power, between any two messages or before any single write to a disk",
     kSyncChecks, false,
     clusterModel<ClusterBounds{
         .writesEach = 1, .writes = 2, .connections = 2, .cuts = 1, .crashes = 1, .midWrite = true}>},
    {"relay",
     "3 devices of which the outer two never meet, one write of one record by any; one connection of each two "
     "neighbours",
     kSyncChecks, false,
     clusterModel<ClusterBounds{.devices = 3, .writesEach = 1, .writes = 1, .connections = 1, .chain = true}>},
    {"handover",
     "2 devices with one partition, one proposal; one handover; one message of adjudication may be lost, one repeated, "
     "one may overtake others, and one timer may fire early",
     kLedgerChecks, false,
     clusterModel<ClusterBounds{
         .ledgers = true, .proposals = 1, .moves = 1, .losses = 1, .repetitions = 1, .overtakings = 1, .ticks = 1}>},
    {"seizure",
     "2 devices with one partition, at most 2 proposals by any; one seizure; 2 connections, one of which may die at "
     "any message, so that the old owner goes on for a while",
     kLedgerChecks, false,
     clusterModel<ClusterBounds{.ledgers = true, .proposals = 2, .seizures = 1, .connections = 2, .cuts = 1}>},
    {"seizure-crash",
     "2 devices with one partition, one proposal; one handover and one seizure; 2 connections, one of which may die; "
     "one device may lose power, between any two messages or before any single write to a disk",
     kLedgerChecks, false,
     clusterModel<ClusterBounds{.ledgers = true,
                                .proposals = 1,
                                .moves = 1,
                                .seizures = 1,
                                .connections = 2,
                                .cuts = 1,
                                .crashes = 1,
                                .midWrite = true}>},
    {"two-seizures",
     "3 devices with one partition, one proposal; two seizures by any; every two devices connected once, and one "
     "connection may die at any message",
     kLedgerChecks, false,
     clusterModel<ClusterBounds{.devices = 3, .ledgers = true, .proposals = 1, .seizures = 2, .cuts = 1}>},
};

}  // namespace

std::span<const ExploreConfiguration> exploreConfigurations() { return kConfigurations; }

Result<const ExploreConfiguration*> exploreConfiguration(std::string_view name) {
  std::string names;
  for (const ExploreConfiguration& configuration : kConfigurations) {
    if (configuration.name == name) return &configuration;
    names += concat(names.empty() ? "" : ", ", configuration.name);
  }
  return invalid("there is no configuration " + inQuotes(name), "one of: " + names);
}

}  // namespace witan::sim
