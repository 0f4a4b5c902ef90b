// Any bytes as a file of evidence. The corpus holds genuine files, of the lies of devices a and c: what holds of their
// neighbours names the key that signed, and of entries its device.
#pragma once

#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/crypto.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "replica/core/entry_evidence.h"

namespace witan::fuzz {

inline void fuzzEvidence(std::string_view bytes) {
  std::unique_ptr<kernel::DomainModule> domain;
  const auto rules = [&](const kernel::LedgerFormat& format) {
    auto made = domains::domainOf(format);
    domain = made.ok() ? *std::move(made) : nullptr;
    return domain.get();
  };
  const auto proven = node::verifyEvidence(bytes, rules);
  if (!proven.ok()) return;
  const bool isRow = proven->kind == "forgedRow";
  const auto liar = SigningKey::fromSeed(std::string(32, isRow ? 'c' : 'a'));
  WITAN_CHECK(proven->signer.publicKey == liar->publicKey(), "evidence names whose key signed");
  WITAN_CHECK(isRow || proven->signer.name == "witan/test/a", "and the device of the log");
}

}  // namespace witan::fuzz
