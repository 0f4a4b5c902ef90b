// Questions: what devices have asked about partitions and is not answered yet. Of each device and partition the latest
// counts, and a device gets one answer a round, so that one which asks again and again gets no more than others.
//
// T has the member `partition`. A part of its owner; not thread-safe.
#pragma once

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "replica/core/replica_state.h"

namespace witan::node {

template <class T>
class Questions {
 public:
  bool empty() const { return asked_.empty(); }
  void take(const std::string& device, T asked) {
    std::string partition = asked.partition;
    asked_[device].insert_or_assign(std::move(partition), std::move(asked));
  }
  // Answers one of each device that is connected, by answer(Peer&, const T&). Those of the others are forgotten.
  template <class Answer>
  void answerEach(ReplicaState& state, Answer answer) {
    for (auto at = asked_.begin(); at != asked_.end();) {
      Peer* const peer = state.member(at->first);
      if (peer != nullptr) answer(*peer, at->second.extract(at->second.begin()).mapped());
      at = peer == nullptr || at->second.empty() ? asked_.erase(at) : std::next(at);
    }
  }

 private:
  std::map<std::string, std::map<std::string, T, std::less<>>, std::less<>> asked_;  // by device and partition
};

}  // namespace witan::node
