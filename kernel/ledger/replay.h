// Replay: makes recorded decisions again, with every invariant evaluated, and compares.
//
// One object per verification; the module outlives it. Entries must come in order.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernel/domain_module.h"
#include "kernel/record/entry.h"
#include "kernel/run_bindings.h"

namespace witan::kernel {

class Replay {
 public:
  explicit Replay(const DomainModule& module) : module_(module) {}

  // Errors say how the recorded decision differs from the one made now.
  Status check(const EntryView&);

 private:
  struct Instance {
    EntityPtr state;
    ActionPtr pending;
  };
  Result<Instance*> instanceOf(const EntryView&);
  Status checkProposal(Instance&, const EntryView&);
  Status checkCommit(Instance&, const EntryView&);
  Status compareVerdicts(const EntryView&) const;
  Status compareFindings(const EntryView&) const;

  const DomainModule& module_;
  std::map<std::string, Instance, std::less<>> instances_;
  RunBindings bindings_;
  Evaluation evaluation_;
};

}  // namespace witan::kernel
