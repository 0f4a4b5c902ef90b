// Book: what the clients of a cluster asked, when, and what they were told, for the checkers of sim/check/.
//
// One operation is one act of a client: all its tries under one operation id, until somebody answered for good. Any
// thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sim/check/operation.h"

namespace witan::node::test {

class Book {
 public:
  void add(const std::string& domain, sim::Operation operation) {
    const std::lock_guard lock(mutex_);
    ++told_[operation.returned ? std::string(enumName(operation.answer.decision.outcome)) : "unanswered"];
    operations_[domain].push_back(std::move(operation));
  }
  // An entry of the journal that a node has taken.
  void entered(std::string id) {
    const std::lock_guard lock(mutex_);
    journal_.push_back(std::move(id));
  }
  // What no client should have heard.
  void complain(std::string what) {
    const std::lock_guard lock(mutex_);
    complaints_.push_back(std::move(what));
  }
  std::map<std::string, std::size_t> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  // Once no client is left.
  const std::map<std::string, std::vector<sim::Operation>>& operations() const { return operations_; }
  const std::vector<std::string>& journal() const { return journal_; }
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<sim::Operation>> operations_;  // by domain
  std::map<std::string, std::size_t> told_;                        // by outcome
  std::vector<std::string> journal_, complaints_;
};

}  // namespace witan::node::test
