// DecisionCheck: makes recorded decisions again, with every invariant evaluated, and compares.
//
// Replay makes the decisions of a whole ledger again with it. A follower checks each entry of an owner with it before
// the entry counts, so an owner cannot record a decision that the rules do not give. The check cannot tell who proposed
// or whether a counselor took part: entries carry no signatures. It keeps scratch memory; the module outlives it. Not
// thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"
#include "kernel/record/entry.h"
#include "kernel/run_bindings.h"

namespace witan::kernel {

// What an escalation entry says of itself in `decision` (docs/ledger-format.md): what it freezes, and until when it
// waits. Empty: the whole entity, for ever.
struct Wait {
  std::vector<std::string> freezes;  // keys of instances; none: the whole entity
  std::optional<Time> until;
};
std::string waitText(const Wait& wait);
Result<Wait> readWait(std::string_view text);

class DecisionCheck {
 public:
  explicit DecisionCheck(const DomainModule& module) : module_(module) {}

  // The first state of an entity, from its recorded beginning ({"at", "state"}). Errors: unreadable; the state violates
  // an invariant.
  Result<EntityPtr> begin(std::string_view genesis) const;

  // Makes the decision of `entry` again. `state` is the entity before it, and after it once the check passed; after an
  // error it is neither. `pending` is the proposal that waits for a counselor, null if none does. `bindings` are those
  // of all entries before. Returns the proposal that an escalation leaves waiting, else null. Errors: corrupt, how the
  // recorded decision differs.
  Result<ActionPtr> check(EntityState& state, const Action* pending, const RunBindings& bindings,
                          const EntryView& entry);

 private:
  Result<ActionPtr> checkProposal(EntityState& state, const Action* pending, const RunBindings& bindings,
                                  const EntryView& entry);
  Status checkCommit(EntityState& state, const Action* pending, const EntryView& entry);
  Status compareVerdicts(const EntryView& entry) const;
  Status compareFindings(const EntryView& entry) const;

  const DomainModule& module_;
  Evaluation evaluation_;
};

// Replay: the decisions of a whole ledger from its beginning, one object per verification. Entries come in order. The
// module outlives it.
class Replay {
 public:
  explicit Replay(const DomainModule& module) : check_(module) {}

  // Errors say how the recorded decision differs from the one made now.
  Status check(const EntryView& entry);

 private:
  struct Instance {
    EntityPtr state;
    ActionPtr pending;
  };
  Result<Instance*> instanceOf(const EntryView& entry);

  DecisionCheck check_;
  std::map<std::string, Instance, std::less<>> instances_;
  RunBindings bindings_;
};

}  // namespace witan::kernel
