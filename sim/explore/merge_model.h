// MergeModel: devices that write states of one agent, and get each other's snapshots in any order and as often as they
// come. Once with seed 003's merge, once with our space: what a device holds is the only difference.
//
// Checked in every state: devices that received the same snapshots show the same (theorem 1 of seed 003); and where the
// rule says what must be held, that exactly this is held. No in-memory state is left out: what a device holds is all of
// it (ours is loaded from its rows for every step).
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "replication/records/agent_state.h"
#include "sim/explore.h"
#include "sim/explore/interner.h"

namespace witan::sim {

// What an agent may do to its state.
enum class MergeChange : std::uint8_t { fails, wakesUp, isRemoved };

// One write: what everybody gets to see of it.
struct MergeWrite {
  replication::Dot dot;
  replication::VectorClock context;  // what its author had seen, and the dot
  MergeChange change = MergeChange::fails;
  replication::AgentState state;  // meaningless for a removal
};

// What a device keeps, as text; equal texts behave alike.
class MergeRule {
 public:
  virtual ~MergeRule() = default;
  virtual std::string nothing() const = 0;
  virtual std::string write(std::size_t device, const std::string& held, MergeChange change,
                            MergeWrite& made) const = 0;
  virtual std::string receive(const std::string& held, const MergeWrite& write) const = 0;
  // For people; equal if and only if the device shows its agents the same.
  virtual std::string shown(const std::string& held) const = 0;
  // What is wrong with it after all of these writes were received, in any order; "" if nothing.
  virtual std::string problem(const std::string& held, const std::vector<const MergeWrite*>& received) const = 0;
};

std::unique_ptr<MergeRule> literalMerge();  // seed 003, section 4
std::unique_ptr<MergeRule> witanMerge();    // replication/space.h and replication/records/agent_view.h

struct MergeBounds {
  std::size_t devices = 2;
  std::size_t writesEach = 2;
  std::size_t writes = 4;   // of all together
  std::size_t changes = 2;  // the first so many of MergeChange
};

class MergeModel final : public ExploreModel {
 public:
  MergeModel(std::unique_ptr<MergeRule> rule, MergeBounds bounds) : rule_(std::move(rule)), bounds_(bounds) {}

  Explored start() override;
  void steps(const Explored& from, const Visit& visit) override;
  std::string nameOf(const Explored& from, std::size_t n) override;
  std::string problem(const Explored& state) override;
  std::string describe(const Explored& state) override;

 private:
  // A state: what each device holds; which of the writes it has received, as bits; the writes, in their order.
  struct Step {
    std::size_t device = 0;
    std::uint32_t write = 0;  // number of the write in the state, or of the change
    bool receives = false;
  };
  void walk(const Explored& from, const std::function<void(const Step&)>& visit) const;
  Explored after(const Explored& from, const Step& step);
  std::size_t writesOf(const Explored& state, std::size_t device) const;
  std::pair<std::uint32_t, std::uint32_t> wrote(std::size_t device, std::uint32_t held, std::uint32_t change);
  std::uint32_t received(std::uint32_t held, std::uint32_t write);
  const std::string& shown(std::uint32_t held);

  std::unique_ptr<MergeRule> rule_;
  const MergeBounds bounds_;
  Interner held_, names_;
  std::vector<MergeWrite> writes_;  // by the number of their text
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> wrote_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> received_;
  std::map<std::uint32_t, std::string> shown_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::string> problems_;
};

}  // namespace witan::sim
