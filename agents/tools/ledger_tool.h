// LedgerTool: a look at the ledgers that the device keeps. A policy knows it as an operation of the boundary "ledger"
// (agents/host/device_gate.h); an agent's capability names the roles whose slices it may see (argument "role").
//
//   slice.read  {"domain", "entity", "role", "key"}    the cells of `key` in the columns that the role sees
//
// A domain brings others (domains/extension.h). Stateless and immutable: one object serves all devices and threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agents/content_seal.h"
#include "base/time.h"
#include "kernel/domain_module.h"

namespace witan::agents {

struct LedgerEntity {
  std::string domain, entity;
};
struct LedgerState {
  const kernel::DomainModule* module = nullptr;
  const kernel::EntityState* state = nullptr;
};
// The state of an entity on this device. Errors: notFound, the device does not keep it.
using FindState = std::function<Result<LedgerState>(const LedgerEntity&)>;

class LedgerTool {
 public:
  virtual ~LedgerTool() = default;
  virtual std::string_view name() const = 0;       // "slice.read"
  virtual std::string_view operation() const = 0;  // "read"
  // The entity that a call looks at. None: the arguments are malformed, and look() reports how.
  virtual std::optional<LedgerEntity> subject(const json::object& arguments) const = 0;
  // `seals` opens sealed content for the domain's rules only.
  virtual Result<json::value> look(const FindState& find, const json::object& arguments, const ContentSeals& seals,
                                   Now now) const = 0;
};

const LedgerTool& sliceRead();

}  // namespace witan::agents
