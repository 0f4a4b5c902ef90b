// Gate: Pi as an episode sees it (seed 004, section 3): asked before every call, and its verdict binds.
//
// What the episode can judge from its own context (capabilities, locale, budget) it has judged before; the gate adds
// the policy. Its verdicts are recorded in the transcript with the policy's epoch, and a replay takes them from there.
// Implementations: PolicyGate (agents/episode/policy_gate.h); ClosedGate, when there is no policy.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agents/episode/tool.h"
#include "base/reflect.h"
#include "base/sha256.h"

namespace witan::agents::episode {

WITAN_ENUM(GateKind, deny, allow, redact, requireHuman)

// Views hold for the call.
struct GateRequest {
  std::string_view agent, category;
  std::string_view span;  // of an action its operation id in hex
  const ToolInfo* tool = nullptr;
  const json::object* arguments = nullptr;
  std::span<const std::string> scope;
  std::span<const std::string> locale;  // of the episode
  const Hash* approved = nullptr;       // digest of what a person has approved
};

struct GateVerdict {
  GateKind kind = GateKind::deny;
  std::string token = "not_judged";       // of a denial
  std::string why;                        // in words, without values of the arguments
  std::optional<json::object> arguments;  // of redact, and of requireHuman: what may cross instead
  std::optional<Hash> digest;             // of requireHuman: what the person's approval is bound to
  friend bool operator==(const GateVerdict&, const GateVerdict&) = default;
};

class Gate {
 public:
  virtual ~Gate() = default;
  // Total; the same for the same request as long as the epoch, and what people have confirmed, are the same.
  virtual GateVerdict judge(const GateRequest& request) const = 0;
  // Names the policy in force: its version, digest, or what else tells two policies apart.
  virtual std::string epoch() const = 0;
};

class ClosedGate final : public Gate {
 public:
  GateVerdict judge(const GateRequest&) const override {
    return {GateKind::deny, "out_of_scope", "no policy is in force", std::nullopt, std::nullopt};
  }
  std::string epoch() const override { return "none"; }
};

}  // namespace witan::agents::episode
