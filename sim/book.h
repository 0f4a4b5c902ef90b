// Book: what clients and agents did and were told, kept by the world for the checkers.
//
// Times are simulated. A write counts as durable from the moment in which its device's disk has it; a request as
// accepted likewise. What a device could lose without breaking a promise (its disk was lost, or went back) is marked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/replica/messages.h"
#include "replication/version.h"
#include "sim/plan.h"

namespace witan::sim {

// One version that somebody wrote.
struct BookedWrite {
  replication::Dot dot;
  std::uint32_t device = 0;
  Micros at = 0;
  bool durable = false;
  bool mayBeLost = false;  // its device's disk was lost or went back since
  bool tombstone = false;
  std::vector<replication::Dot> seen;  // the versions that its author held
};

// One attempt of a client, as the checkers of sim/check/ want it.
struct BookedRequest {
  std::uint32_t device = 0;
  Micros invoked = 0;
  std::optional<Micros> returned;
  node::Request request;
  node::Answer answer;
  bool plain = false;     // a proposal as agents make them: nothing in it to be refused
  bool accepted = false;  // durably
  bool mayBeLost = false;
};

class Book {
 public:
  using Key = std::pair<std::string, std::pair<int, std::string>>;  // space, kind, key

  void wrote(const Key& key, BookedWrite write) {
    writes_[key].push_back(std::move(write));
    fresh_.push_back({key, writes_[key].size() - 1});
  }
  // A device's disk has everything that it wrote up to now, or its memory is gone.
  void madeDurable(std::uint32_t device) {
    settle(device, [](BookedWrite& write) { write.durable = true; });
    for (BookedRequest& request : requests_)
      if (request.device == device && !request.returned) request.accepted = true;
  }
  void forgot(std::uint32_t device) {
    settle(device, [](BookedWrite&) {});
  }
  void diskLost(std::uint32_t device, Micros since) {
    for (auto& [key, writes] : writes_)
      for (BookedWrite& write : writes)
        if (write.device == device && write.at >= since) write.mayBeLost = true;
    for (BookedRequest& request : requests_)
      if (request.device == device) request.mayBeLost = true;
  }
  const std::map<Key, std::vector<BookedWrite>>& writes() const { return writes_; }

  // The attempt that stands unanswered under this id at this device; null: none does.
  BookedRequest* open(std::uint32_t device, const std::string& operationId) {
    for (auto at = requests_.rbegin(); at != requests_.rend(); ++at)
      if (at->device == device && !at->returned && at->request.operationId == operationId) return &*at;
    return nullptr;
  }
  std::vector<BookedRequest>& requests() { return requests_; }

 private:
  template <class Visit>
  void settle(std::uint32_t device, Visit visit) {
    std::vector<std::pair<Key, std::size_t>> others;
    for (auto& [key, n] : fresh_) {
      BookedWrite& write = writes_[key][n];
      if (write.device == device)
        visit(write);
      else
        others.emplace_back(key, n);
    }
    fresh_ = std::move(others);
  }

  std::map<Key, std::vector<BookedWrite>> writes_;
  std::vector<std::pair<Key, std::size_t>> fresh_;  // not yet known to be durable
  std::vector<BookedRequest> requests_;
};

}  // namespace witan::sim
