// The receipts that the policy monitor asks for (replication/records/record_views.h).
//
// Values and pure functions. A ReceiptBook is for reading from any thread while nobody adds.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "agents/policy/policy.h"
#include "replication/records/record_views.h"

namespace witan::agents {

using replication::PrivacyReceipt;

// What a person confirms, ready to be kept. `model` may be null.
PrivacyReceipt confirm(const Policy& policy, std::string_view agent, const ModelName* model, std::string_view boundary,
                       std::string_view person, std::int64_t atMs);

// Of what a confirmation is asked.
struct ReceiptQuery {
  std::string_view agent, provider, model, boundary, policyName;
  std::uint64_t policyVersion = 0;
  const Hash* policyDigest = nullptr;
};

class ReceiptBook {
 public:
  // Errors: as checkReceipt. The same receipt again changes nothing.
  Status add(const PrivacyReceipt& receipt);
  // O(log n), allocates nothing.
  bool has(const ReceiptQuery& query) const;
  // Whether there is one for another version of this policy: for better words.
  bool hasOfAnotherVersion(const ReceiptQuery& query) const;
  std::size_t size() const { return receipts_.size(); }

 private:
  struct Order {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return keyOf(a) < keyOf(b);
    }
    static auto keyOf(const PrivacyReceipt& r) {
      return std::tuple<std::string_view, std::string_view, std::string_view, std::string_view, std::string_view,
                        std::uint64_t, const Hash&>(r.agentId, r.provider, r.model, r.boundary, r.policyName,
                                                    r.policyVersion, r.policyDigest);
    }
    static auto keyOf(const ReceiptQuery& q) {
      return std::tuple<std::string_view, std::string_view, std::string_view, std::string_view, std::string_view,
                        std::uint64_t, const Hash&>(q.agent, q.provider, q.model, q.boundary, q.policyName,
                                                    q.policyVersion, *q.policyDigest);
    }
  };
  std::set<PrivacyReceipt, Order> receipts_;
};

}  // namespace witan::agents
