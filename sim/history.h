// History: what clients and agents did and were told, kept by the cluster for the checkers.
//
// Times are simulated. A write counts as durable from the moment in which its device's disk has it; a request as
// accepted likewise. What a device could lose without breaking a promise (its disk was lost, or went back; it stopped
// before a request was accepted) is marked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/identity.h"
#include "replica/core/messages.h"
#include "replication/vector_clock.h"
#include "sim/check/episode_rules.h"
#include "sim/check/operation.h"
#include "sim/plan.h"

namespace witan::sim {

// One version that somebody wrote.
struct WriteRecord {
  replication::Dot dot;
  std::uint32_t device = 0;
  Micros at = 0;
  bool durable = false;
  bool mayBeLost = false;  // its device's disk was lost or went back since
  bool tombstone = false;
  std::vector<replication::Dot> seen;  // the versions that its author held
};

// One attempt of a client, as the checkers of sim/check/ want it.
struct RequestRecord {
  std::uint32_t device = 0;
  Micros invoked = 0;
  std::optional<Micros> returned;
  node::Request request;
  node::Answer answer;
  bool plain = false;       // a proposal as agents make them: nothing in it to be refused
  bool kept = false;        // its device was to keep it at once
  bool inOutbox = false;    // its device did not decide about it at once
  bool outlasts = false;    // a freeze of its entity
  bool accepted = false;    // durably
  bool answerLost = false;  // the answer was there, and died with the device before the client had it
  bool mayBeLost = false;
  std::optional<Micros> given = {};  // when its owner last gave this answer; none: not over the network
};

// A device's disk is not what it was: what it wrote since then may be lost.
struct DiskLoss {
  std::uint32_t device = 0;
  Micros at = 0;
};

// Something said to an agent, and the run that it wakes.
struct TurnRecord {
  RunKey run;
  std::string text;
  std::uint32_t device = 0;
  bool durable = false;
  bool kept = false;  // said to the agent that remembers: `text` is its mark
};

// What the device that lies (sim/run/liar.h) told whom.
struct LieRecord {
  Lie kind = Lie::claim;
  std::uint32_t victim = 0;
  Micros at = 0;
  std::string operationId = {};  // of a request or answer
  std::string answer = {};       // message of an answer that who keeps ledgers must not believe
  // Of a batch: whose log, how long it would be with it, and the digest of that.
  std::string partition = {};
  kernel::Epoch epoch = {};
  std::uint64_t batches = 0;
  Hash chain{};
};

class History {
 public:
  std::vector<LieRecord> lies;
  std::set<std::pair<std::string, kernel::Epoch>> liarOwned;  // partitions that it owned, and in which epochs

  using Key = std::pair<std::string, std::pair<int, std::string>>;  // space, kind, key

  // A second use of a dot, after its disk and its record of counters went back: others take it for what they know.
  bool usedBefore(const std::string& space, const replication::Dot& dot) const {
    const auto used = used_.find({space, dot.host});
    return used != used_.end() && dot.counter <= used->second;
  }
  void wrote(const Key& key, WriteRecord write) {
    const std::uint32_t device = write.device;
    write.mayBeLost = usedBefore(key.first, write.dot);
    auto [at, fresh] = writes_.try_emplace(key);
    at->second.push_back(std::move(write));
    of(device).fresh.push_back({&at->second, at->second.size() - 1});
  }
  void asked(RequestRecord request) {
    DeviceRecords& at = of(request.device);
    at.open[{request.request.operationId, fingerprintOf(request.request)}] = requests_.size();
    at.unsaved.push_back(requests_.size());
    requests_.push_back(std::move(request));
  }
  // The attempt that stands unanswered under this id at this device, and asked for the same; null: none does. An
  // owner decides about two plans of one id in one step, so the id alone does not say whose an answer is.
  RequestRecord* open(std::uint32_t device, const std::string& operationId, std::uint64_t asked) {
    const auto& open = of(device).open;
    const auto at = open.find({operationId, asked});
    return at == open.end() ? nullptr : &requests_[at->second];
  }
  // Frames leave for the device: when each answer in them that tells of an entry for the first time was given. It may
  // come late, after one that tells of the repetition.
  void gave(std::uint32_t device, std::string_view frames, Micros at);
  void answered(RequestRecord& request, Micros at, node::Answer answer) {
    request.returned = at;
    if (const auto given = given_.find(givenKey(request.device, answer)); given != given_.end())
      request.given = given->second;
    request.answer = std::move(answer);
    closed(request);
  }
  void answerLost(RequestRecord& request) {
    request.answerLost = true;
    closed(request);
  }

  // The device fails with answers in its memory: attempts that its outbox, `waiting(id, asked)`, no longer has.
  template <class Waiting>
  void answersLost(std::uint32_t device, Waiting waiting) {
    std::erase_if(of(device).open, [&](const auto& open) {
      RequestRecord& request = requests_[open.second];
      return request.inOutbox && !waiting(open.first.first, open.first.second) && (request.answerLost = true);
    });
  }

  // A device's disk has everything that it wrote up to now, and of the requests those that were
  // to be kept at once, and those that it says are `saved`.
  template <class Saved>
  void madeDurable(std::uint32_t device, Saved saved) {
    for (auto& [writes, n] : of(device).fresh) (*writes)[n].durable = true;
    of(device).fresh.clear();
    std::erase_if(of(device).unsaved, [&](std::size_t n) {
      RequestRecord& request = requests_[n];
      request.accepted = request.accepted || request.kept || saved(request.request);
      return request.accepted || request.returned || request.answerLost;
    });
  }
  // Its memory is gone.
  void forgot(std::uint32_t device) {
    of(device).fresh.clear();
    of(device).unsaved.clear();
  }
  // How far the counters of a device that stops have come, by space and writer.
  using Counters = std::map<std::pair<std::string, std::string>, std::uint64_t>;
  void counted(std::uint32_t device, Counters counters) { of(device).counters = std::move(counters); }
  // The device stops. Nobody there waits any more for what it did not have durably in its outbox.
  void stopped(std::uint32_t device) {
    forgot(device);
    std::erase_if(of(device).open, [&](const auto& open) {
      RequestRecord& request = requests_[open.second];
      return (!request.inOutbox || !request.accepted) && (request.mayBeLost = true);
    });
  }
  void diskLost(std::uint32_t device, Micros since, Micros now) {
    for (auto& [key, writes] : writes_)
      for (WriteRecord& write : writes)
        if (write.device == device && write.at >= since) write.mayBeLost = true;
    for (RequestRecord& request : requests_)
      if (request.device == device) request.mayBeLost = true;
    of(device).open.clear();
    for (const auto& [writer, counter] : of(device).counters) used_[writer] = std::max(used_[writer], counter);
    losses_.push_back({device, now});
  }

  const std::map<Key, std::vector<WriteRecord>>& writes() const { return writes_; }
  const std::vector<RequestRecord>& requests() const { return requests_; }
  const std::vector<DiskLoss>& losses() const { return losses_; }

  // Of agents and the tools that they call.
  struct AgentRecords {
    std::map<Key, RunKey> requests;  // entries that wake an agent, and the runs
    std::set<RunKey> unasked;        // runs of which there must be none
    std::vector<TurnRecord> turns;
    std::map<std::string, std::uint64_t> toolCalls;  // by operation, or run and span
    // What people answered to the questions of agents, by operation: to which, and when. Answers that count.
    struct Approved {
      Hash digest{};
      Micros at = 0;
    };
    std::map<OperationId, std::vector<Approved>> approved;
    SaidByPeople said;
    Micros unconfirmedAt = -1;  // the last moment at which a device with agents knew of no confirmation of mails
  };
  AgentRecords agents;

 private:
  struct DeviceRecords {
    std::vector<std::pair<std::vector<WriteRecord>*, std::size_t>> fresh;  // not yet known to be durable
    std::vector<std::size_t> unsaved;                                      // the same of requests
    Counters counters;                                                     // at its last stop
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> open;     // by id and fingerprint
  };
  void closed(const RequestRecord& request) {
    of(request.device).open.erase({request.request.operationId, fingerprintOf(request.request)});
  }
  // To whom, about which request, and what.
  using GivenKey =
      std::tuple<std::uint32_t, std::string, std::uint64_t, kernel::Outcome, std::uint64_t, std::uint64_t, std::string>;
  static GivenKey givenKey(std::uint32_t device, const node::Answer& answer) {
    return {device,     answer.operationId, answer.asked,     answer.outcome,
            answer.seq, answer.epochNumber, answer.epochOwner};
  }
  DeviceRecords& of(std::uint32_t device) {
    if (device >= devices_.size()) devices_.resize(device + 1);
    return devices_[device];
  }

  std::map<Key, std::vector<WriteRecord>> writes_;  // nodes stay where they are
  Counters used_;                                   // of devices whose disk was lost or went back
  std::vector<RequestRecord> requests_;
  std::vector<DiskLoss> losses_;
  std::vector<DeviceRecords> devices_;
  std::map<GivenKey, Micros> given_;  // the last time
};

// ---- the requests in the words of the checkers (sim/check/operation.h), one partition at a time. Pure functions; the
// results own what they hold.

// The attempts that `isOfPartition` takes. An answer that its owner had given before an attempt was made is a late one,
// or a repeated frame: for that attempt it counts as the repetition that it is.
std::vector<Operation> operationsOf(std::span<const RequestRecord> requests, const kernel::DomainModule& module,
                                    const std::function<bool(const node::Request&)>& isOfPartition);

// Whether the disk of the owner that answered is gone, or went back, since it was asked.
bool diskLostSince(std::span<const DiskLoss> losses, const Operation& operation);

// What seizures gave up, by the log that is left in the end: entries of an epoch beyond the place where a seizure ended
// it, and whole epochs that a seizure passed over; and epochs of which nothing is left but what was told of them,
// because their owner's disk is gone.
std::vector<LostRange> lossesOf(std::span<const Operation> operations, const PartitionLog& log,
                                std::span<const DiskLoss> losses);

}  // namespace witan::sim
