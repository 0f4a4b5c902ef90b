// Book: what clients and agents did and were told, kept by the world for the checkers.
//
// Times are simulated. A write counts as durable from the moment in which its device's disk has it; a request as
// accepted likewise. What a device could lose without breaking a promise (its disk was lost, or went back; it stopped
// before a request was accepted) is marked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replica/core/messages.h"
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
  bool plain = false;       // a proposal as agents make them: nothing in it to be refused
  bool inOutbox = false;    // its device did not decide about it at once
  bool outlasts = false;    // a freeze of its entity
  bool accepted = false;    // durably
  bool answerLost = false;  // the answer was there, and died with the device before the client had it
  bool mayBeLost = false;
};

// A device's disk is not what it was: what it wrote since then may be lost.
struct BookedLoss {
  std::uint32_t device = 0;
  Micros at = 0;
};

class Book {
 public:
  using Key = std::pair<std::string, std::pair<int, std::string>>;  // space, kind, key

  void wrote(const Key& key, BookedWrite write) {
    const std::uint32_t device = write.device;
    // A second use of a dot, after its disk went back: its device finds out, and says it again under another.
    const auto first = uses_.try_emplace({key.first, write.dot}, write.at).first;
    write.mayBeLost = first->second != write.at;
    auto [at, fresh] = writes_.try_emplace(key);
    at->second.push_back(std::move(write));
    desk(device).fresh.push_back({&at->second, at->second.size() - 1});
  }
  void asked(BookedRequest request) {
    Desk& at = desk(request.device);
    at.open[{request.request.operationId, fingerprintOf(request.request)}] = requests_.size();
    at.unsaved.push_back(requests_.size());
    requests_.push_back(std::move(request));
  }
  // The attempt that stands unanswered under this id at this device, and asked for the same; null: none does. An
  // owner decides about two plans of one id in one step, so the id alone does not say whose an answer is.
  BookedRequest* open(std::uint32_t device, const std::string& operationId, std::uint64_t asked) {
    const auto& open = desk(device).open;
    const auto at = open.find({operationId, asked});
    return at == open.end() ? nullptr : &requests_[at->second];
  }
  void answered(BookedRequest& request, Micros at, node::Answer answer) {
    request.returned = at;
    request.answer = std::move(answer);
    closed(request);
  }
  void answerLost(BookedRequest& request) {
    request.answerLost = true;
    closed(request);
  }

  // The device fails with answers in its memory: attempts that its outbox, `waiting(id, asked)`, no longer has.
  template <class Waiting>
  void answersLost(std::uint32_t device, Waiting waiting) {
    std::erase_if(desk(device).open, [&](const auto& open) {
      BookedRequest& request = requests_[open.second];
      return request.inOutbox && !waiting(open.first.first, open.first.second) && (request.answerLost = true);
    });
  }

  // A device's disk has everything that it wrote up to now, and of the requests those that `saved`.
  template <class Saved>
  void madeDurable(std::uint32_t device, Saved saved) {
    for (auto& [writes, n] : desk(device).fresh) (*writes)[n].durable = true;
    desk(device).fresh.clear();
    std::erase_if(desk(device).unsaved, [&](std::size_t n) {
      BookedRequest& request = requests_[n];
      request.accepted = request.accepted || saved(request.request);
      return request.accepted || request.returned || request.answerLost;
    });
  }
  // Its memory is gone.
  void forgot(std::uint32_t device) {
    desk(device).fresh.clear();
    desk(device).unsaved.clear();
  }
  // The device stops. Nobody there waits any more for what it did not have durably in its outbox.
  void stopped(std::uint32_t device) {
    forgot(device);
    std::erase_if(desk(device).open, [&](const auto& open) {
      BookedRequest& request = requests_[open.second];
      return (!request.inOutbox || !request.accepted) && (request.mayBeLost = true);
    });
  }
  void diskLost(std::uint32_t device, Micros since, Micros now) {
    for (auto& [key, writes] : writes_)
      for (BookedWrite& write : writes)
        if (write.device == device && write.at >= since) write.mayBeLost = true;
    for (BookedRequest& request : requests_)
      if (request.device == device) request.mayBeLost = true;
    desk(device).open.clear();
    losses_.push_back({device, now});
  }

  const std::map<Key, std::vector<BookedWrite>>& writes() const { return writes_; }
  const std::vector<BookedRequest>& requests() const { return requests_; }
  const std::vector<BookedLoss>& losses() const { return losses_; }

 private:
  struct Desk {
    std::vector<std::pair<std::vector<BookedWrite>*, std::size_t>> fresh;  // not yet known to be durable
    std::vector<std::size_t> unsaved;                                      // the same of requests
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> open;     // by id and fingerprint
  };
  void closed(const BookedRequest& request) {
    desk(request.device).open.erase({request.request.operationId, fingerprintOf(request.request)});
  }
  Desk& desk(std::uint32_t device) {
    if (device >= desks_.size()) desks_.resize(device + 1);
    return desks_[device];
  }

  std::map<Key, std::vector<BookedWrite>> writes_;  // nodes stay where they are
  std::map<std::pair<std::string, replication::Dot>, Micros> uses_;
  std::vector<BookedRequest> requests_;
  std::vector<BookedLoss> losses_;
  std::vector<Desk> desks_;
};

}  // namespace witan::sim
