// Any bytes as the arguments of every action of every domain, in Cap'n Proto. What is read has a JSON form that reads
// back to the same, a canonical encoding that reads back to the same, and a decision that folds.
#pragma once

#include "kernel/proposal_message.h"
#include "tests/fuzz/domains.h"

namespace witan::fuzz {

inline std::string actionJson(const kernel::DomainModule& module, const kernel::Action& action) {
  std::string text;
  module.writeAction(text, action);
  return text;
}

inline void decideAction(const kernel::DomainModule& module, const kernel::Action& action, std::string_view role) {
  kernel::Partition partition(module);
  const Time at = parseTime("2026-03-23T08:00:00Z").value();
  if (partition.init("e", {}, at).outcome != kernel::Outcome::initialised) return;
  partition.propose({"e", role, "op-1", {}, {}, &action, at, true});
  partition.propose({"e", role, "op-2", {}, {}, &action, at, true});
  checkFolds(partition, partition.takeBatch().value);
}

inline void fuzzAction(std::string_view bytes) {
  const auto words = alignedWords(bytes);
  if (!words.ok()) return;
  const std::string_view aligned(reinterpret_cast<const char*>(words->data()), words->size() * 8);
  for (const auto& module : allDomains()) {
    for (const kernel::ProcessInfo& process : module->signature().processes) {
      kernel::ActionPtr action;
      const auto decode = [&](capnp::AnyStruct::Reader root) -> Status {
        WITAN_TRY(decoded, module->decodeAction(process.name, root));
        action = std::move(decoded);
        return okStatus();
      };
      if (!withMessage(aligned, decode).ok()) continue;
      const std::string text = actionJson(*module, *action);
      checkShown(text);
      const auto parsed = module->parseAction(parseJson(text, {.bytes = text.size()}).value());
      WITAN_CHECK(parsed.ok(), text + (parsed.ok() ? "" : parsed.error().message));
      WITAN_CHECK(actionJson(*module, **parsed) == text, text);
      const std::string encoded = module->encodeAction(*action);
      const kernel::ActionPtr before = std::move(action);
      WITAN_CHECK(withMessage(encoded, decode).ok() && actionJson(*module, *action) == text, text);
      decideAction(*module, *before, process.role);
    }
  }
}

// Any bytes as a proposal on its way to the owner of its entity.
inline void fuzzProposal(std::string_view bytes) {
  const auto words = alignedWords(bytes);
  if (!words.ok()) return;
  const auto message = kernel::readProposalMessage({reinterpret_cast<const char*>(words->data()), words->size() * 8});
  if (!message.ok()) return;
  for (const auto& module : allDomains()) {
    const auto action = kernel::actionOf(*module, *message);
    if (!action.ok()) continue;
    checkShown(actionJson(*module, **action));
    decideAction(*module, **action, message->role);
  }
}

}  // namespace witan::fuzz
