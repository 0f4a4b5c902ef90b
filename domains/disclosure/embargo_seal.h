// EmbargoSeal: what a case of the domain disclosure must not tell before its day, the artifact that is committed to and
// its nonce, is kept under a seal: in the journal, in transcripts, in whatever replicates or is traced.
//
//   {"portfolio", "v", "artifact", "nonce", ...}   as people enter it
//   {"portfolio", "v", "sealed", "sealedUnder"}    as it is kept: AES-256-GCM in hexadecimal, bound to portfolio and v,
//                                                  under the scope's key of that name; without a name, the cluster's
//
// The devices that have the scope can open it; whoever has a transcript, a trace or a backup without keys cannot, nor a
// device that was revoked before. Under one key the same case gives the same text, so that entering it again changes
// nothing (and tells whoever sees both that they are the same). Pure but for the keys, which are wiped when the last
// copy goes; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "agents/content_seal.h"

namespace witan::domains::disclosure {

inline constexpr std::string_view kCaseType = "disclosure.case";

class EmbargoSeal final : public agents::ContentSeal {
 public:
  // Null: nothing is sealed, and a case with a secret is refused.
  explicit EmbargoSeal(std::shared_ptr<const agents::SealKeys> keys = {}) : keys_(std::move(keys)) {}

  bool covers(std::string_view type) const override { return type == kCaseType; }
  // Errors: the case has a secret and a seal.
  Result<std::string> sealed(std::string payload) const override;
  // Errors: the secret stands in the clear; it was sealed under a key that is not here, for another case, or changed.
  Result<json::value> opened(const json::value& about) const override;

 private:
  std::shared_ptr<const agents::SealKeys> keys_;
};

}  // namespace witan::domains::disclosure
