// UntypedModule: what every domain's module does alike, over tables of function pointers, so that it is compiled once.
//
// TypedModule<D> fills the tables (kernel/typed_module.h). `state`, `policy` and `mutator` point to the domain's
// own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/bound_slices.h"
#include "kernel/domain_module.h"
#include "kernel/state_codec.h"

namespace witan::kernel {

// One invariant. An invariant that throws fails closed under its own id, but for an InvariantFault.
struct InvariantOps {
  FieldMask footprint = 0;
  std::uint32_t index = 0;
  Verdict (*full)(std::uint32_t index, const EntityState&, const void* policy) = nullptr;
  // Given that it passed before the candidate: what `full` says, by the touched rows if they tell.
  Verdict (*incremental)(std::uint32_t index, const EntityState&, const JournalBase&, const void* policy) = nullptr;
};

// Thrown by an invariant that could not be evaluated on a candidate: the proposal is rejected by KERNEL_INTEGRITY.
struct InvariantFault {
  std::string message;
};

// One process that a role performs.
struct ProcessOps {
  std::string_view name;
  ActionPtr (*make)(const void* policy, std::uint16_t index) = nullptr;
  std::string (*schema)() = nullptr;  // Cap'n Proto
};

class UntypedModule : public DomainModule, public BoundSlices {
 public:
  const Signature& signature() const override { return signature_; }
  const Hash& digest() const override { return digest_; }
  Result<EntityPtr> create(const json::object& fields, Time at) const override;
  Result<ActionPtr> parseAction(const json::value& value) const override;
  Result<ActionPtr> decodeAction(std::string_view type, capnp::AnyStruct::Reader from) const override;
  void writeAction(std::string& out, const Action& action) const override { action.write(out); }
  std::string encodeAction(const Action& action) const override { return action.encode(); }
  std::string actionSchema() const override;
  void evaluate(EntityState& entity, std::string_view role, const Action& action, Time at,
                Evaluation& out) const override {
    decide(entity, role, action, at, out, false);
  }
  void evaluateFully(EntityState& entity, std::string_view role, const Action& action, Time at,
                     Evaluation& out) const override {
    decide(entity, role, action, at, out, true);
  }
  Status counselorCommit(EntityState& entity, CommitBase base, const Action* pending, const json::object& edit,
                         std::string_view counselor, Time at, Evaluation& out) const override;
  Touch touch(const EntityState& entity, const Action& action, Time at) const override;
  std::vector<Verdict> walk(const EntityState& entity) const override;
  Status applyWrites(EntityState& entity, const json::object& writes) const override;
  void writeState(std::string& out, const EntityState& entity, FieldMask mask) const override;
  void writeSlice(std::string& out, const EntityState& entity, FieldMask mask, std::string_view key) const override;
  bool staysWithin(const EntityState& entity, const Action& action, Time at, std::string_view key) const override;
  Result<EntityPtr> readState(const json::object& state) const override;

 protected:
  UntypedModule(FieldTable fields, std::span<const InvariantOps> invariants, std::span<const ProcessOps> processes)
      : fields_(fields), invariants_(invariants), processes_(processes) {}

  virtual EntityPtr empty() const = 0;
  virtual const void* stateOf(const EntityState& entity) const = 0;
  virtual const void* policyOf() const = 0;
  virtual JournalBase& scratchJournal() const = 0;  // of this thread; empty between calls
  // Calls use(context, mutator) with one mutator over the entity and the journal.
  virtual void withMutator(EntityState& entity, JournalBase& journal, void (*use)(void* context, void* mutator),
                           void* context) const = 0;
  // As create(), without `left`, which no beginning may name then either.
  Result<EntityPtr> begin(const json::object& fields, Time at, FieldMask left) const;
  // Fields of a new entity that were not given. May throw Fault.
  virtual void complete(EntityState&, FieldMask /*given*/, Time) const {}
  // Whether the row at `slot` of the column with this bit belongs to `key`.
  virtual bool belongs(const EntityState&, FieldMask /*column*/, Slot, std::string_view /*key*/) const { return false; }
  virtual FieldMask fieldsOfBeginning() const { return ~FieldMask{0}; }  // that an initial state may name

  Signature signature_;
  Hash digest_{};

 private:
  void* stateOf(EntityState& entity) const { return const_cast<void*>(stateOf(std::as_const(entity))); }
  template <class Use>
  void mutate(EntityState& entity, JournalBase& journal, Use&& use) const {
    withMutator(
        entity, journal, [](void* context, void* mutator) { (*static_cast<Use*>(context))(mutator); }, &use);
  }
  Status setPublicOrField(EntityState& entity, void* mutator, std::string_view name, const json::value& value) const;
  Status edit(EntityState& entity, void* mutator, const json::object& edit, std::string_view counselor, Time at,
              bool& waiversChanged) const;
  FieldMask humanFields() const;
  std::string applyAction(EntityState& entity, JournalBase& journal, const Action& action, Time at) const;
  std::string kernelFault(EntityState& entity, JournalBase& journal, std::string_view role, const Action& action,
                          Time at) const;
  void decide(EntityState& entity, std::string_view role, const Action& action, Time at, Evaluation& out,
              bool everything) const;
  std::string excessOf(const std::string& writes, const JournalBase& journal, const void* state) const;
  Verdict full(const InvariantOps& invariant, const EntityState& entity) const;
  void walkCandidate(const EntityState& entity, const JournalBase& journal, Evaluation& out, bool everything) const;
  std::string actionNames() const;
  Result<ActionPtr> makeAction(std::string_view type) const;

  FieldTable fields_;
  std::span<const InvariantOps> invariants_;
  std::span<const ProcessOps> processes_;
};

// All texts within an action, its type included.
std::vector<std::string> textsIn(const Action& action);
// The verdict of an invariant whose check threw. Requires: within a catch block.
Verdict verdictOfException();

}  // namespace witan::kernel
