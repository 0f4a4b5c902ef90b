// PolicyGate: the policy monitor (agents/policy/monitor.h) as the gate of episodes. A tool says by which boundary and
// operation the policy knows it; what crosses is its arguments.
//
// The monitor, the receipts and the names of secrets outlive it, and none of them changes under it: a new policy is a
// new gate. Any thread.
#pragma once

#include "agents/episode/gate.h"
#include "agents/policy/monitor.h"

namespace witan::agents::episode {

class PolicyGate final : public Gate {
 public:
  PolicyGate(const Monitor& monitor, const ReceiptBook& receipts, const SecretNames& secrets)
      : monitor_(monitor), receipts_(receipts), secrets_(secrets) {}

  GateVerdict judge(const GateRequest& request) const override;
  // "{name} {version} {digest}"; "none" without a policy.
  std::string epoch() const override;

 private:
  const Monitor& monitor_;
  const ReceiptBook& receipts_;
  const SecretNames& secrets_;
};

}  // namespace witan::agents::episode
