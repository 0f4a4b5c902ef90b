// DomainDescription: what a domain declares, as one value for people and programs: `witan domain show --json` and the
// control API give it.
//
// A value; describeDomain is a pure function of the module.
#pragma once

#include "base/message.h"
#include "kernel/domain_module.h"

namespace witan::kernel {

WITAN_STRUCT(FieldDescription, (std::string, name, "Name of the field"), (std::string, type, "Type of its values"),
             (bool, lifecycle, "Whether it is a phase in the entity's life"))

WITAN_STRUCT(RoleDescription, (std::string, name, "Name of the role"),
             (std::vector<std::string>, footprint, "Fields that the role reads or writes"),
             (std::vector<std::string>, writes, "Fields that the role writes"))

WITAN_STRUCT(ArgumentDescription, (std::string, name, "Name of the argument"), (std::string, type, "Type of its value"),
             (bool, required_, "Whether an action must give it"))

WITAN_STRUCT(ProcessDescription, (std::string, name, "Name of the process: the type of its actions"),
             (std::optional<std::string>, role, "Role that may propose it; null: counselors alone perform it"),
             (std::vector<ArgumentDescription>, arguments, "Arguments of an action"),
             (std::vector<std::string>, reads, "Fields that it reads"),
             (std::vector<std::string>, writes, "Fields that it writes"),
             (json::object, schema, "JSON Schema of an action, with its type"))

WITAN_ENUM(InvariantClass, local, crossCutting)
WITAN_ENUM(FailureOutcome, reject, escalate, mixed)

WITAN_STRUCT(InvariantDescription, (std::string, id, "Id of the invariant"),
             (FailureOutcome, onFailure, "What it returns if it does not pass; mixed: either, as the case may be"),
             (std::string, rule, "The rule in one sentence"),
             (std::vector<std::string>, footprint, "Fields that it reads"),
             (bool, incremental, "Whether it can check touched rows alone"),
             (InvariantClass, class_, "local: one role's footprint contains the invariant's; else crossCutting"),
             (std::vector<std::string>, localTo, "Roles whose footprint contains the invariant's"))

WITAN_STRUCT(DomainDescription, (std::string, name, "Name of the domain"), (std::string, title, "Title of the domain"),
             (std::vector<FieldDescription>, fields, "Fields of an entity"),
             (std::vector<RoleDescription>, roles, "Roles that propose"),
             (std::vector<ProcessDescription>, processes, "Processes: what may be proposed or decided"),
             (std::vector<InvariantDescription>, invariants, "Invariants; the first that does not pass decides"),
             (std::vector<std::string>, counselors, "Counselors who may decide escalated proposals"),
             (json::value, policy, "Values of the domain's policy"),
             (std::string, digest, "Digest of the declaration and the policy"))

DomainDescription describeDomain(const DomainModule& module);

}  // namespace witan::kernel
