// Operations on confirmations of agents' use of models and boundaries (replication/receipt.h).
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(ReceiptRow, (std::string, key, "Key of the receipt"), (std::string, agent, "Agent"),
             (std::string, boundary, "Boundary of the policy"),
             (std::string, provider, "Provider of the model; empty: none is asked"),
             (std::string, model, "Model; empty: none is asked"), (std::string, policy, "Name of the policy"),
             (std::uint64_t, version, "Version of the policy"), (std::string, digest, "Digest of the policy"),
             (std::string, by, "Who confirmed"), (std::int64_t, atMs, "When, in milliseconds since 1970"))

WITAN_STRUCT(Receipts, (std::vector<ReceiptRow>, receipts, "Receipts, by key"))

WITAN_STRUCT(ReceiptRequest, (std::string, key, "Key of the receipt, or its first digits", 1),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(ReceiptConfirmRequest, (std::string, agent, "Agent", 1),
             (std::string, boundary, "Boundary of the policy", 1), (std::string, by, "Who confirms", 1),
             (Omittable<std::string>, provider, "Provider of the model that is asked"),
             (Omittable<std::string>, model, "Model that is asked"),
             (Omittable<std::string>, policy, "First digits, at least 8, of the digest of the policy that was read"),
             (Omittable<std::string>, scope, kScopeNote))

Result<Receipts> listReceipts(OperationContext& context, const ScopeRequest& request);
Result<ReceiptRow> showReceipt(OperationContext& context, const ReceiptRequest& request);
Result<ReceiptRow> confirmReceipt(OperationContext& context, const ReceiptConfirmRequest& request);
Result<ReceiptRow> withdrawReceipt(OperationContext& context, const ReceiptRequest& request);

inline constexpr Operation kReceiptList{"GET", "/v1/receipt/list", listReceipts};
inline constexpr Operation kReceiptShow{"GET", "/v1/receipt/show", showReceipt};
inline constexpr Operation kReceiptConfirm{"POST", "/v1/receipt/confirm", confirmReceipt};
inline constexpr Operation kReceiptWithdraw{"POST", "/v1/receipt/withdraw", withdrawReceipt};

}  // namespace witan::node::operations
