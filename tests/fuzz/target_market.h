// Any bytes as an evidence bundle, as a contract for an escrow and as evidence for one: a verdict that names a check.
#pragma once

#include "base/check.h"
#include "kernel/market/equivocation.h"
#include "kernel/market/evidence.h"

namespace witan::fuzz {

inline void fuzzMarket(std::string_view text) {
  const market::Verification found = market::verifyBundleText(text, {{"clinic", {}}, {"lab", {}}});
  WITAN_CHECK(!found.ok() && !found.message.empty(), "no root of zeros has granted a key");
  const market::ContractReading contract = market::readContract(text, {"clinic", "", "lab", ""});
  WITAN_CHECK(contract.flaw.empty() == contract.contract.has_value(), "a contract or a flaw");
  market::CallFacts facts;
  facts.evidenceKey = toHex(sha256("nobody"));
  const market::EvidenceReading evidence = market::readEvidence(text, facts);
  WITAN_CHECK(!evidence.flaw.empty() && evidence.digest.size() == 64, "a key of nobody has signed nothing");
  (void)market::findEquivocation(text, text, {});
  const auto parsed = parseJson(text, market::kBundleLimits);
  if (parsed.ok() && parsed->is_array()) (void)market::transcriptProblem(parsed->get_array(), {}, {});
}

}  // namespace witan::fuzz
