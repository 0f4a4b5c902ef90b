// Preview: what would become of an action now, by every invariant, and from when on those that fail would pass. Nothing
// is decided and nothing recorded.
//
// Pure: it works on copies of the state. O(days * one full walk).
#pragma once

#include "base/message.h"
#include "kernel/domain_module.h"
#include "kernel/record/entry.h"

namespace witan::kernel {

WITAN_STRUCT(
    PreviewedInvariant, (std::string, id, "Id of the invariant"),
    (InvResult, verdict, "What it returns on the state that the action would make"),
    (std::optional<std::string>, message, "Its message; null: it passes"),
    (std::optional<Time>, passesAt,
     "The first time within 400 days at which it would pass if nothing else happened; null: it passes, or none"))

WITAN_STRUCT(
    Preview, (Outcome, outcome, "What a proposal would get: approved, rejected, escalated or frozen"),
    (std::vector<PreviewedInvariant>, invariants,
     "KERNEL_INTEGRITY and every invariant, in list order; KERNEL_INTEGRITY alone if the action cannot be made"))

Preview previewOf(const DomainModule& module, const EntityState& state, bool frozen, std::string_view role,
                  const Action& action, Time at);

}  // namespace witan::kernel
