// DeviceGate: the gate of a device's agents. Without a policy it is a LocalGate (agents/episode/gate.h). With one the
// policy monitor judges every call, also of the tools that stay on the device, and blocks calls that the policy does
// not grant.
//
// The built-in tools are known to policies by these boundaries and operations; what crosses is a call's arguments:
//
//   journal      read, list, put, remove     what people and agents read and write (journal.read, ...)
//   ledger       read, ...                   decided state, as a role sees it (agents/tools/ledger_tool.h)
//   meta-agent   propose, begin              who decides about entities
//
// Their data goes nowhere that the episode's own locale would have to allow, so of a boundary's locales only those of
// the grant are asked. Receipts are looked up among the records each time: a confirmation counts as soon as it is here.
//
// No I/O but reading records; not thread-safe. The space that it reads outlives its use.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agents/episode/gate.h"
#include "agents/policy/monitor.h"
#include "replication/space.h"

namespace witan::agents {

// The policy monitor as a gate. A tool names the boundary and operation by which the policy knows it; its arguments
// are what crosses. The arguments of the constructor outlive the gate and do not change: a new policy is a new gate.
// Any thread.
class PolicyGate final : public episode::Gate {
 public:
  PolicyGate(const Monitor& monitor, const ReceiptBook& receipts, const SecretNames& secrets)
      : monitor_(monitor), receipts_(receipts), secrets_(secrets) {}

  episode::GateVerdict judge(const episode::GateRequest& request) const override;
  // "{name} {version} {digest}"; "none" without a policy.
  std::string epoch() const override;

 private:
  const Monitor& monitor_;
  const ReceiptBook& receipts_;
  const SecretNames& secrets_;
};

// The boundary and operation by which a policy knows a tool.
struct PolicyPlace {
  std::string boundary, operation;
};

class DeviceGate final : public episode::Gate {
 public:
  DeviceGate() = default;
  explicit DeviceGate(Monitor monitor) : monitor_(std::move(monitor)) {}

  // This policy from now on, for whatever is judged from now on. What was judged before stands in its transcript, and
  // what a person was asked under another policy is asked for in vain: an approval names the digest of what was shown,
  // which the policy is a part of.
  void use(Monitor monitor) { monitor_ = std::move(monitor); }
  // Where receipts are. Without it there are none.
  void readFrom(replication::Space& records) { records_ = &records; }
  // Makes a ledger tool known to policies. A policy denies those that are not.
  void addLedgerTool(std::string_view name, std::string_view operation) { ledgerTools_.emplace(name, operation); }
  // A boundary that a graph crosses: the grant is of the graph's id, category "graph", tool "graph". Denied without a
  // policy.
  PolicyVerdict crossing(std::string_view graph, std::string_view boundary, std::string_view operation,
                         const json::value& payload) const;
  // The secrets that tools of this device may need, by name.
  void know(SecretNames secrets) { secrets_ = std::move(secrets); }
  // Empty of a tool that is not built in.
  PolicyPlace placeOf(std::string_view tool) const;

  episode::GateVerdict judge(const episode::GateRequest& request) const override;
  episode::AnswerVerdict judgeAnswer(const episode::GateRequest& request, const json::value& answer) const override;
  std::string barred(std::string_view agent, std::string_view category, std::string_view reason) const override {
    return monitor_ ? monitor_->barred(agent, category, reason) : std::string();
  }
  // "local", or name, version and digest of the policy.
  std::string epoch() const override;
  // Null: there is none.
  const Policy* policy() const { return monitor_ ? monitor_->policy() : nullptr; }

 private:
  episode::GateVerdict judgeWhole(const episode::GateRequest& request) const;
  ReceiptBook receiptsFor(const episode::GateRequest& request, const episode::ToolInfo& tool) const;

  std::optional<Monitor> monitor_;
  replication::Space* records_ = nullptr;
  SecretNames secrets_;
  std::map<std::string, std::string, std::less<>> ledgerTools_;  // operations by name
};

}  // namespace witan::agents
