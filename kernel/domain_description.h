// DomainDescription: what a domain declares, as one value for people and programs: `witan domain show --json` and the
// control API give it.
//
// A value; describeDomain is a pure function of the module.
#pragma once

#include "base/json_schema.h"
#include "kernel/domain_module.h"

namespace witan::kernel {

struct FieldDescription {
  std::string name, type;
  bool lifecycle = false;
  WITAN_MEMBERS(FieldDescription, name, type, lifecycle)
  static constexpr std::array notes{MemberNote{"name", "Name of the field"}, MemberNote{"type", "Type of its values"},
                                    MemberNote{"lifecycle", "Whether it is a phase in the entity's life"}};
};

struct RoleDescription {
  std::string name;
  std::vector<std::string> footprint, writes;
  WITAN_MEMBERS(RoleDescription, name, footprint, writes)
  static constexpr std::array notes{MemberNote{"name", "Name of the role"},
                                    MemberNote{"footprint", "Fields that the role reads or writes"},
                                    MemberNote{"writes", "Fields that the role writes"}};
};

struct ArgumentDescription {
  std::string name, type;
  bool required_ = false;
  WITAN_MEMBERS(ArgumentDescription, name, type, required_)
  static constexpr std::array notes{MemberNote{"name", "Name of the argument"}, MemberNote{"type", "Type of its value"},
                                    MemberNote{"required", "Whether an action must give it"}};
};

struct ProcessDescription {
  std::string name;
  std::optional<std::string> role;
  std::vector<ArgumentDescription> arguments;
  std::vector<std::string> reads, writes;
  json::object schema;
  WITAN_MEMBERS(ProcessDescription, name, role, arguments, reads, writes, schema)
  static constexpr std::array notes{MemberNote{"name", "Name of the process: the type of its actions"},
                                    MemberNote{"role", "Role that may propose it; null: counselors alone perform it"},
                                    MemberNote{"arguments", "Arguments of an action"},
                                    MemberNote{"reads", "Fields that it reads"},
                                    MemberNote{"writes", "Fields that it writes"},
                                    MemberNote{"schema", "JSON Schema of an action, with its type"}};
};

WITAN_ENUM(InvariantClass, local, crossCutting)

struct InvariantDescription {
  std::string id;
  InvResult onFailure = InvResult::reject;
  std::string rule;
  std::vector<std::string> footprint;
  bool incremental = false;
  InvariantClass class_ = InvariantClass::local;
  std::vector<std::string> localTo;
  WITAN_MEMBERS(InvariantDescription, id, onFailure, rule, footprint, incremental, class_, localTo)
  static constexpr std::array notes{
      MemberNote{"id", "Id of the invariant"},
      MemberNote{"onFailure", "What it returns if it does not pass"},
      MemberNote{"rule", "The rule in one sentence"},
      MemberNote{"footprint", "Fields that it reads"},
      MemberNote{"incremental", "Whether it can check touched rows alone"},
      MemberNote{"class", "local: one role's footprint contains the invariant's; else crossCutting"},
      MemberNote{"localTo", "Roles whose footprint contains the invariant's"}};
};

struct DomainDescription {
  std::string name, title;
  std::vector<FieldDescription> fields;
  std::vector<RoleDescription> roles;
  std::vector<ProcessDescription> processes;
  std::vector<InvariantDescription> invariants;
  std::vector<std::string> counselors;
  json::value policy;
  std::string digest;
  WITAN_MEMBERS(DomainDescription, name, title, fields, roles, processes, invariants, counselors, policy, digest)
  static constexpr std::array notes{MemberNote{"name", "Name of the domain"},
                                    MemberNote{"title", "Title of the domain"},
                                    MemberNote{"fields", "Fields of an entity"},
                                    MemberNote{"roles", "Roles that propose"},
                                    MemberNote{"processes", "Processes: what may be proposed or decided"},
                                    MemberNote{"invariants", "Invariants; the first that does not pass decides"},
                                    MemberNote{"counselors", "Counselors who may decide escalated proposals"},
                                    MemberNote{"policy", "Values of the domain's policy"},
                                    MemberNote{"digest", "Digest of the declaration and the policy"}};
};

DomainDescription describeDomain(const DomainModule& module);

}  // namespace witan::kernel
