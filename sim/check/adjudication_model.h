// AdjudicationModel: what a partition may answer, read from the design and from seed 000, not from
// kernel/partition.cpp, so that the two don't share mistakes. Domains are asked through kernel::DomainModule, always
// with the full walk.
//
// The rules, in their order (A.1.12, A.3, findings F6 and F17):
//   an operation id that is none, or one of the kernel's own, is refused;
//   a known id answers `duplicate` with what was recorded, or is refused if it named another act; unless it was turned
//   away for its plan and comes again under the plan that its run is bound to (F3);
//   an unknown entity is refused, and whoever is no counselor;
//   an entity with a pending proposal answers `frozen`, and only a counselor's decision or its expiry moves it;
//   a decision is of exactly what was shown (entry and digest), else it is refused as stale;
//   a run is bound to the plan of the first entry that names it, and rejected under any other (F3);
//   everything else is the domain's verdict on the candidate, and one entry.
//
// States are values that share what did not change. Not thread-safe. The module outlives the model and its states.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/check/operation.h"

namespace witan::sim {

struct EntityModel {
  std::shared_ptr<const kernel::EntityState> state;
  Time began;
  std::string beginning;  // the state that it began with, as text
  struct Pending {
    std::uint64_t seq = 0;  // 0: not known
    Hash leaf{};            // zeros: not known
    Time at;
    std::shared_ptr<const kernel::Action> action;
  };
  std::optional<Pending> pending;
  Hash digest{};  // of everything above
};

class ModelState {
 public:
  std::uint64_t lastSeq() const { return lastSeq_; }
  // Two states that answer alike for ever have equal digests.
  const std::array<std::uint64_t, 2>& digest() const { return digest_; }

 private:
  friend class AdjudicationModel;
  // What an operation id was answered with; only of ids that more than one operation has.
  struct Record {
    const Operation* act = nullptr;
    kernel::Decision decision;
  };
  struct Bound {
    std::string_view plan;
    std::uint64_t seq = 0;  // 0: not known
  };
  using Runs = std::map<std::string_view, Bound>;
  using Records = std::map<std::string_view, Record>;

  std::map<std::string_view, std::shared_ptr<const EntityModel>> entities_;
  std::shared_ptr<const Records> records_;
  std::shared_ptr<const Runs> runs_;
  std::uint64_t lastSeq_ = 0;
  std::array<std::uint64_t, 2> digest_{};
};

// One answer that an operation may get, and the state it leaves; null: the same state.
struct Effect {
  kernel::Decision answer;
  std::shared_ptr<const ModelState> next;
};

class AdjudicationModel {
 public:
  // `pendingTtlMicros`: as kernel::PartitionOptions. Answers are remembered for operation ids in `repeated` only: those
  // that more than one operation of the history has. Borrowed.
  AdjudicationModel(const kernel::DomainModule& module, std::int64_t pendingTtlMicros,
                    const std::set<std::string_view>& repeated)
      : module_(module), pendingTtlMicros_(pendingTtlMicros), repeated_(repeated) {}

  std::shared_ptr<const ModelState> start() const { return std::make_shared<ModelState>(); }
  // More than one only where something that nobody told matters; none: it would leave an entry, and it has none. A
  // decision without a stamp counts as one whose time is not before its entity's clock.
  // The operation must outlive the states that come of it.
  std::vector<Effect> effects(const ModelState& state, const Operation& operation) const;

 private:
  using State = std::shared_ptr<const ModelState>;
  std::string stateText(const kernel::EntityState&) const;
  std::vector<Effect> init(const ModelState&, const Operation&) const;
  std::vector<Effect> propose(const ModelState&, const Operation&) const;
  std::vector<Effect> decide(const ModelState&, const Operation&) const;
  std::vector<Effect> expire(const ModelState&, const Operation&) const;
  std::optional<Effect> recorded(const ModelState&, const Operation&) const;
  bool isOpenAgain(const ModelState&, const Operation&) const;
  void bind(ModelState&, const Operation&) const;
  Effect refuse(const ModelState&, const Operation&, kernel::Outcome outcome, std::string why) const;
  Effect withEntry(const ModelState&, const Operation&, EntityModel, kernel::Decision) const;
  Effect commit(const ModelState&, const Operation&, const EntityModel&) const;
  void put(ModelState&, std::string_view entity, EntityModel) const;
  void record(ModelState&, const Operation&, const kernel::Decision&) const;

  const kernel::DomainModule& module_;
  std::int64_t pendingTtlMicros_;
  const std::set<std::string_view>& repeated_;
};

// "" if the answer is the one expected; else what differs. What the expectation leaves open (numbers) is not compared.
std::string difference(const kernel::Decision& expected, const kernel::Decision& told);

// "rejected GOLD_POSITIVE (entry 4)"
std::string toString(const kernel::Decision& decision);

}  // namespace witan::sim
