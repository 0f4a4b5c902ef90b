// ProposalMessage: a proposal as it travels to the owner of its entity (kernel/proposal.capnp documents every member).
//
// Pure functions, any thread. A message that was read borrows its bytes, which must be 8-aligned and outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/capnp_codec.h"
#include "kernel/domain_module.h"

namespace witan::kernel {

// Longest proposal, in bytes.
inline constexpr std::size_t kProposalMax = 1 << 20;

struct ProposalMessage {
  std::string_view entity;
  std::string_view role;
  std::string_view operationId;
  std::string_view device;
  std::string_view agent;
  std::string_view actionType;
  std::span<const std::uint8_t> action;
  WITAN_MEMBERS(ProposalMessage, entity, role, operationId, device, agent, actionType, action)
};

// The canonical bytes. Requires: `message.action` is what DomainModule::encodeAction gave.
std::string writeProposalMessage(const ProposalMessage& message);

// Reads from 8-aligned bytes; the message borrows them. Errors name the member.
Result<ProposalMessage> readProposalMessage(std::string_view alignedBytes);

// The action that the message carries. Errors: an action the domain does not know, arguments it cannot read.
Result<ActionPtr> actionOf(const DomainModule& module, const ProposalMessage& message);

}  // namespace witan::kernel
