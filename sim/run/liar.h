// Liar: the device that lies (Options::cluster.liar). Its program is the honest one. Beside what that says it sends
// frames of its own, signed with its own key where that may help, and when it owns a partition, entries, heads and
// answers that its log does not give. What it told is in the history (History::lies); the checker "lies" judges what
// came of it. Who asks for its base (replica/base_transfer.h) gets a false one.
//
// Each event of the plan tells one lie, and while the run settles it goes on until it is retired.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "sim/cluster/cluster.h"

namespace witan::sim {

class Liar final : public ClusterObserver {
 public:
  explicit Liar(Cluster& cluster) : c_(cluster) {}
  // Lie `n`, modulo the kinds. One of an owner that owns nothing has an operator hand it a partition instead.
  void begin(const Event& event, std::uint64_t number);
  // A few more, in the settling phase.
  void goOn(std::uint64_t round);

  // The operator of an owner hands over.
  void onEvent(Seat& at, const Event& event) override;
  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override;

 private:
  bool tell(Lie lie, std::uint64_t seed);
  void sayBase(Seat& self, std::uint32_t to, const node::AskBase& asked);

  Cluster& c_;
  std::optional<std::uint64_t> answers_;  // the next request that reaches it gets a false answer, drawn of this
  std::deque<std::string> heard_;         // frames of the adjudication protocol that reached it, the oldest first
};

}  // namespace witan::sim
