// Signature: a domain's declaration as data, for lint, ledgers, CLI and APIs. Built once from the domain's types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "kernel/field.h"
#include "kernel/record/verdict.h"

namespace witan::kernel {

struct FieldInfo {
  std::string name;
  std::string type;  // as shown to people: map<text, date>
  bool isColumn = false;
  bool lifecycle = false;  // a role of the domain's continuant (Remark A.4)
};

struct ProcessInfo {
  std::string name;
  std::string role;  // "" for a process that only a counselor performs
  FieldMask reads = 0;
  FieldMask writes = 0;
  std::vector<std::pair<std::string, std::string>> arguments;  // name, type
  std::size_t required = 0;
  std::string schema = "{}";                              // JSON Schema of an action, with its "type"
  FieldMask footprint() const { return reads | writes; }  // Def. A.5
};

struct RoleInfo {
  std::string name;
  FieldMask footprint = 0;  // union of its processes' footprints (Def. A.6)
  FieldMask writes = 0;
};

struct InvariantInfo {
  std::string id;
  FieldMask footprint = 0;                  // Def. A.9
  InvResult onFailure = InvResult::reject;  // what it returns when it does not pass (declared, for people)
  std::string rule;                         // one sentence
  bool incremental = false;                 // has a check of touched rows
};

struct Signature {
  std::string domain;
  std::string title;
  std::vector<FieldInfo> fields;
  std::vector<ProcessInfo> processes;
  std::vector<RoleInfo> roles;
  std::vector<InvariantInfo> invariants;  // list order; KERNEL_INTEGRITY is not in it
  std::vector<std::string> counselors;    // authorised identities (Def. A.61)

  // Canonical JSON of everything that decides what a ledger's entries mean, the policy included.
  std::string canonical(std::string_view policyJson) const;
  std::vector<std::string> fieldNames(FieldMask mask) const;
};

}  // namespace witan::kernel
