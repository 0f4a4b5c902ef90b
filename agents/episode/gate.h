// Gate: Pi as an episode sees it (seed 004, section 3): asked before every call, and its verdict binds.
//
// The episode has judged its own context before (capabilities, locale, budget); the gate adds the policy. Its verdicts
// are recorded in the transcript with the policy's epoch, and a replay takes them from there. Implementations:
// ClosedGate and LocalGate, here; PolicyGate and DeviceGate (agents/host/device_gate.h).
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

// What an answer may tell an agent.
struct AnswerVerdict {
  bool passes = true;
  std::string token = {};                   // of one that does not pass
  std::string why = {};                     // in words, without values of the answer
  std::optional<json::value> instead = {};  // what it may see of it; none: all
};

class Gate {
 public:
  virtual ~Gate() = default;
  // Total; the same for the same request as long as the epoch, and what people have confirmed, are the same.
  virtual GateVerdict judge(const GateRequest& request) const = 0;
  // The answer to a call that it has let pass: an observation, or the result of an action, which has happened. Total;
  // its verdict is recorded with the answer.
  virtual AnswerVerdict judgeAnswer(const GateRequest&, const json::value&) const { return {}; }
  // Why an agent may not be woken for this reason ("subscription", "timer", ...), in words; empty: it may.
  virtual std::string barred(std::string_view /*agent*/, std::string_view /*category*/,
                             std::string_view /*reason*/) const {
    return {};
  }
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

// The policy of a device that was given none: agents may use what stays on the device (the journal, the meta-agent),
// each within its own capabilities. Nothing crosses a boundary; no model is asked; no secret is given out.
class LocalGate final : public Gate {
 public:
  GateVerdict judge(const GateRequest& request) const override {
    const ToolInfo& tool = *request.tool;
    if (tool.boundary.empty() && tool.provider.empty() && tool.secret.empty())
      return {GateKind::allow, "", "", std::nullopt, std::nullopt};
    return {GateKind::deny, "out_of_scope", "without a policy nothing leaves the device", std::nullopt, std::nullopt};
  }
  std::string epoch() const override { return "local"; }
};

}  // namespace witan::agents::episode
