// The policy monitor: may this agent do this, now, with this payload? (seed 003 section 0.7 and Flow D; Pi of seed 004)
//
//   allow(req) = scopeOk and providerOk and privacyConfirmed and secretAvailable and ntkProjected
//
// in this order; the first that fails decides, with its error token. Whatever the policy does not say is blocked: an
// unknown agent, boundary, operation or field, and everything if there is no policy. Total and pure: the same policy,
// request, receipts and secret names give the same verdict, always.
//
// A Monitor is immutable and compiled once per version of the policy; any thread may ask it. Views in a request must
// live as long as the call.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/policy/policy.h"
#include "agents/policy/policy_scope.h"
#include "agents/policy/projection.h"
#include "agents/policy/receipts.h"
#include "base/json_validator.h"

namespace witan::agents {

WITAN_ENUM(VerdictKind, deny, allow, redact, requireHuman)

// The error tokens of 003, in the order of Flow D, and those of answers.
WITAN_ENUM(PolicyToken, none, out_of_scope, disallowed_provider_model, privacy_confirmation_required,
           secret_unavailable, overshared_payload_blocked, answer_blocked, postcondition_failed)

// One operation that is about to happen.
struct PolicyRequest {
  std::string_view agent;
  std::string_view category;  // of the data that it works on
  std::string_view tool;
  std::span<const std::string> scopes;  // what it touches
  const PolicyScope* held = nullptr;    // of the episode; null: none
  std::string_view boundary;
  std::string_view operation;
  const ModelName* model = nullptr;      // of an inference
  std::string_view secret;               // secretRefId; empty: none
  const json::value* payload = nullptr;  // what would cross, as parseJson gives it; null: nothing
  std::string_view operationId;          // of the action: an approval is for one use
  const Hash* approved = nullptr;        // digest of what a counselor approved
};

// The names of what the device's secure store holds; never the secrets themselves.
using SecretNames = std::set<std::string, std::less<>>;

struct PolicyVerdict {
  VerdictKind kind = VerdictKind::deny;
  PolicyToken token = PolicyToken::out_of_scope;
  std::string witness = "not judged";  // why, in words, without any value of the payload; empty if allowed

  // What may cross instead of the payload: with redact, and with requireHuman if something is left out or masked.
  std::optional<json::value> projected;

  // With requireHuman: what the counselor's approval is bound to (requestDigest).
  std::optional<Hash> digest;

  bool mayRun() const { return kind == VerdictKind::allow || kind == VerdictKind::redact; }
};

// The compiled form of OperationRule::ensure. Errors: not a JSON Schema that this build can check.
Result<JsonValidator> postCondition(std::string_view text);

class Monitor {
 public:
  Monitor() = default;  // no policy: denies everything

  // Errors: as checkPolicy.
  static Result<Monitor> compile(Policy policy);

  // With a typical payload about 1 us (bench/policy_bench.cpp). O(payload + lists of the request * log of the
  // policy's).
  PolicyVerdict check(const PolicyRequest& request, const ReceiptBook& receipts, const SecretNames& secrets) const;

  // Of what came back from an operation that was let pass: what of it may be seen, and whether that is as the policy
  // wants it. Never requireHuman. O(answer).
  PolicyVerdict checkAnswer(std::string_view boundary, std::string_view operation, const json::value& answer) const;
  // Why this reason may not wake the agent, in words; empty: it may.
  std::string barred(std::string_view agent, std::string_view category, std::string_view reason) const;

  const Policy* policy() const { return policy_.get(); }
  const Hash& digest() const { return digest_; }
  // The allowlist of (boundary, operation); null if unknown.
  const Allowlist* allowlist(std::string_view boundary, std::string_view operation) const;
  const OperationRule* rule(std::string_view boundary, std::string_view operation) const;

  // SHA-256 of all that a counselor is asked to approve: who, what, where, with which model and secret, and what would
  // cross, under this policy. A changed request has another one. O(payload).
  Hash requestDigest(const PolicyRequest& request, const json::value* payload) const;

 private:
  using Names = std::vector<std::string_view>;  // sorted
  struct GrantEntry {
    Names tools, boundaries, scopes, locales;
    std::vector<ModelName> models;  // sorted
    const Grant* grant = nullptr;
  };
  struct OperationEntry {
    const OperationRule* rule = nullptr;
    Allowlist allowed;
    std::optional<Allowlist> answer;
    std::optional<JsonValidator> ensure;
  };
  struct BoundaryEntry {
    const Boundary* boundary = nullptr;
    std::map<std::string_view, OperationEntry> operations;
  };
  struct Found {
    const GrantEntry* grant = nullptr;
    const BoundaryEntry* boundary = nullptr;
    const OperationEntry* operation = nullptr;
  };

  // Each gives the words of its refusal; empty: it holds.
  std::string outOfScope(const PolicyRequest& request, Found& found) const;
  std::string beyondHeld(const PolicyRequest& request, const Found& found) const;
  std::string disallowedModel(const PolicyRequest& request, const Found& found) const;
  std::string unconfirmed(const PolicyRequest& request, const Found& found, const ReceiptBook& receipts) const;
  std::string secretMissing(const PolicyRequest& request, const Found& found, const SecretNames& secrets) const;
  PolicyVerdict projected(const PolicyRequest& request, const Found& found) const;
  void askHuman(const PolicyRequest& request, PolicyVerdict& verdict) const;
  std::string place(const PolicyRequest& request) const;

  std::shared_ptr<const Policy> policy_;  // the views below point into it
  Hash digest_{};
  std::map<std::pair<std::string_view, std::string_view>, GrantEntry> grants_;
  std::map<std::string_view, BoundaryEntry> boundaries_;
};

}  // namespace witan::agents
