// NaiveServices: the control experiment of Corollary 1 (seed 000, A.2.3). One service a role, and no meta-agent.
//
// Each service looks at its slice of the shared state, applies its proposal to it, checks the invariants that are local
// to its role (Def. A.10) and writes. Services that act together all look before any writes. What it shows is why there
// is a kernel: where a domain has write skew, this architecture reaches states that break invariants. For lint tools
// and tests; never adjudicates anything real. The module outlives it; one strand.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"

namespace witan::kernel {

class NaiveServices {
 public:
  struct Act {
    std::string_view role;
    const Action* action = nullptr;
    Time at;
  };
  // What the person writes whom a service asks when its own checks escalate: sees the slice, answers with an edit.
  using Person = std::function<json::object(const EntityState& slice, const Act&)>;

  NaiveServices(const DomainModule& module, EntityPtr state) : module_(module), state_(std::move(state)) {}

  // For each act "" if its service committed it, else who held it back: an invariant's id, or KERNEL_INTEGRITY for a
  // proposal that cannot be applied. O(acts * state).
  std::vector<std::string> commitTogether(const std::vector<Act>& acts, const Person& person = {});

  // What somebody who sees everything commits, whatever it breaks. Errors: as DomainModule::counselorCommit.
  Status commitByHand(const Act& act, const json::object& edit);

  // Ids of the invariants that do not pass, in list order.
  std::vector<std::string> violated() const;
  const EntityState& state() const { return *state_; }

 private:
  std::string tryOnSlice(const Act& act, const json::object& edit, std::string& writes, bool& escalates) const;
  EntityPtr sliceOf(const RoleInfo& role) const;

  const DomainModule& module_;
  EntityPtr state_;
};

}  // namespace witan::kernel
