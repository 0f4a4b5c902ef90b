// RuleDomain: a domain as a rule file declares it, read and compiled. Immutable; the modules made of it share it.
//
// docs/RULES.md has the form of the file. Text from outside: at most kFileMax bytes, and each part of it bounded; an
// error names the file, the line, the column and the type that was expected.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel/untyped_module.h"
#include "rules/program/compiler.h"
#include "rules/state/state.h"

namespace witan::rules {

inline constexpr std::size_t kFileMax = 1 << 20;

struct RuleArgument {
  std::string name;
  TypePtr type;
  Stored byDefault;  // absent: it must be given
};

struct RuleProcess {
  std::string name;
  std::vector<RuleArgument> arguments;
  Program body;
  std::map<std::int64_t, Program> earlier;  // of UpgradeRules: what it was under each version before
  kernel::FieldMask footprint = 0;
  bool proposable = true;  // false: a counselor performs it
};

// A part of an invariant: about the whole state, or about each row of a table.
struct RulePart {
  Program check;
  std::optional<std::uint32_t> each;
  // Which rows' verdicts may change when a row of `table` does: the row, then the other.
  struct Others {
    std::uint32_t table = 0;
    std::optional<Program> guard;  // about the other alone: whether it is worth a look
    Program affects;
  };
  std::vector<Others> others;
};

struct RuleInvariant {
  std::string id;
  std::vector<RulePart> parts;  // the first that does not pass decides
  kernel::FieldMask footprint = 0;
};

struct RuleDomain {
  Layout layout;
  std::vector<RuleProcess> processes;  // in the order of the signature
  std::vector<RuleInvariant> invariants;
  std::vector<std::optional<Program>> defaults;  // by field: of a scalar that `init` does not name
  std::vector<Stored> initial;                   // by field
  std::vector<std::optional<Program>> belongs;   // by table: to which keys a row belongs, a list of texts
  kernel::Signature signature;
  json::object policy;
  std::int64_t version = 1;
  std::map<std::string, std::int64_t, std::less<>>
      since;                                // fields, processes and invariants: with which version they came
  std::optional<std::size_t> versionField;  // `rulesVersion`, of a file with a version above 1
  std::string text, scenarios;
  std::vector<std::string> literals;  // the texts of its expressions, for samples
  std::vector<std::int64_t> numbers;
};

// `name`: of the file, for messages. `policy`: members that replace those of the file.
Result<std::shared_ptr<const RuleDomain>> readRuleDomain(std::string text, const std::string& name,
                                                         const json::object& policy);

}  // namespace witan::rules
