// Proposals as bytes, as they come from the network: budget spends, and the months of a clinic. For bench/ only.
//
// The same seed gives the same proposals. Made ahead of time, so that making them is not measured.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "bench/bench_tools.h"
#include "kernel/partition.h"
#include "kernel/proposal_message.h"

namespace witan::bench {

// Many messages in one 8-aligned buffer, in order.
class Messages {
 public:
  void clear() {
    words_.clear();
    ends_.clear();
    times_.clear();
  }
  void add(const kernel::ProposalMessage& message, Time at);
  std::size_t size() const { return ends_.size(); }
  std::string_view bytes(std::size_t i) const;
  Time at(std::size_t i) const { return times_[i]; }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::size_t> ends_;  // in words
  std::vector<Time> times_;
};

// Actions in JSON become proposals under operation ids of their own.
class ActionMaker {
 public:
  ActionMaker(const kernel::DomainModule& module, std::uint64_t seed) : random(seed), module_(module) {}
  void add(Messages& out, const std::string& entity, std::string_view role, std::string_view type,
           const std::string& json, Time at);
  SeededRandom random;

 private:
  const kernel::DomainModule& module_;
};

class Workload {
 public:
  virtual ~Workload() = default;
  // Makes the entities, and one decision on each, so that every genesis is in the log already. `batch` as below.
  virtual void begin(kernel::Partition& partition, std::size_t batch = 256) = 0;
  // Appends `count` proposals on random entities.
  virtual void fill(Messages& out, std::size_t count) = 0;
};

// `entities` budgets whose cap is never met, spent from by both roles.
std::unique_ptr<Workload> budgetWorkload(const kernel::DomainModule& module, std::size_t entities, std::uint64_t seed);

// `patients` patients, each with `orders` orders of the past: rationale, order, result and claim. Proposals continue
// them on random patients: rationale, order, result, claim, abstinence, in turn; every 32nd is unlawful.
std::unique_ptr<Workload> clinicWorkload(const kernel::DomainModule& module, std::size_t patients, std::size_t orders,
                                         std::uint64_t seed);

// Decides messages [from, from + count) and takes a batch every `batch` decisions, 0: never. Returns how many were
// approved.
std::size_t decideAll(kernel::Partition& partition, const Messages& messages, std::size_t from, std::size_t count,
                      std::size_t batch, std::uint64_t& logBytes);

// A round of decisions that was timed.
struct Round {
  std::size_t decisions = 0, approved = 0;
  double seconds = 0;
  std::uint64_t logBytes = 0;
};
// Runs and prints so many rounds, from number 1. Returns the median of their decisions a second.
double medianRate(std::size_t rounds, const std::function<Round(std::size_t number)>& run);

}  // namespace witan::bench
