#include "kernel/proposal_message.h"

namespace witan::kernel {

std::string writeProposalMessage(const ProposalMessage& message) { return std::string(WordWriter().message(message)); }

Result<ProposalMessage> readProposalMessage(std::string_view alignedBytes) {
  if (alignedBytes.size() % 8 != 0)
    return invalid(concat("a proposal of ", alignedBytes.size(), " bytes (not whole 8-byte words)"));
  if (alignedBytes.size() > kProposalMax)
    return invalid(concat("a proposal of ", alignedBytes.size(), " bytes, at most ", kProposalMax, " are allowed"));
  ProposalMessage message;
  WITAN_DO(
      withMessage(alignedBytes, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, message, "proposal"); }));
  return message;
}

Result<ActionPtr> actionOf(const DomainModule& module, const ProposalMessage& message) {
  // Data starts on a word of its own, so what it holds is as aligned as the message itself.
  const std::string_view bytes(reinterpret_cast<const char*>(message.action.data()), message.action.size());
  if (bytes.empty() || bytes.size() % 8 != 0)
    return invalid(concat("proposal.action: ", bytes.size(), " bytes (not whole 8-byte words)"));
  ActionPtr action;
  WITAN_DO(withMessage(bytes, [&](capnp::AnyStruct::Reader root) -> Status {
    WITAN_SET(action, module.decodeAction(message.actionType, root));
    return okStatus();
  }));
  return action;
}

}  // namespace witan::kernel
