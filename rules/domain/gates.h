// Gates: what of a domain must not be reached without its evidence (disclosed, paid, signed), and how to tell.
//
// A rule says which states are lawful; a gate says which way into one is not, so it sees two states: `before`, from
// which a single role acts alone, and `after`. They are declared as [gates.NAME] of a rule file or of
// domains/NAME/gates.toml (docs/RULES.md, section 7), as expressions of CEL. Immutable; any thread may ask.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/domain_module.h"
#include "rules/program/program.h"

namespace witan::rules {

struct Gate {
  std::string name;
  std::string rule;           // one sentence
  std::string each;           // the column whose keys are `key`; empty: there is none
  Program reached, evidence;  // bool
};

struct Breach {
  const Gate* gate = nullptr;
  std::string key;
};

class Gates {
 public:
  // `name`: of the text, for messages. An absent section is no gate.
  static Result<std::unique_ptr<const Gates>> read(std::string_view toml, const std::string& name,
                                                   const kernel::Signature& signature, std::string_view policyJson);

  const std::vector<Gate>& all() const { return gates_; }

  // What a role did alone between two states of an entity.
  struct Passage {
    const json::object& before;  // as writeState gives them, with every column (withColumns)
    const json::object& after;
    Time began, now;
    std::string_view role;
  };
  // The gates that were passed without evidence. Errors: an expression that fails, with its place.
  Result<std::vector<Breach>> breaches(const Passage& passage) const;

 private:
  std::vector<Gate> gates_;
};

// A state as JSON in which no column is absent.
json::object withColumns(const kernel::DomainModule& module, const kernel::EntityState& state);

}  // namespace witan::rules
