// Operations on confirmations of agents' use of models and boundaries (replication/receipt.h).
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

struct ReceiptListRequest {
  Omittable<std::string> scope;
  WITAN_MEMBERS(ReceiptListRequest, scope)
  static constexpr std::array notes{MemberNote{"scope", "Scope of the database; default: main"}};
};

struct ReceiptRow {
  std::string key;
  std::string agent;
  std::string boundary;
  std::string provider;
  std::string model;
  std::string policy;
  std::uint64_t version = 0;
  std::string digest;
  std::string by;
  std::int64_t atMs = 0;
  WITAN_MEMBERS(ReceiptRow, key, agent, boundary, provider, model, policy, version, digest, by, atMs)
  static constexpr std::array notes{MemberNote{"key", "Key of the receipt"},
                                    MemberNote{"agent", "Agent"},
                                    MemberNote{"boundary", "Boundary of the policy"},
                                    MemberNote{"provider", "Provider of the model; empty: none is asked"},
                                    MemberNote{"model", "Model; empty: none is asked"},
                                    MemberNote{"policy", "Name of the policy"},
                                    MemberNote{"version", "Version of the policy"},
                                    MemberNote{"digest", "Digest of the policy"},
                                    MemberNote{"by", "Who confirmed"},
                                    MemberNote{"atMs", "When, in milliseconds since 1970"}};
};

struct Receipts {
  std::vector<ReceiptRow> receipts;
  WITAN_MEMBERS(Receipts, receipts)
  static constexpr std::array notes{MemberNote{"receipts", "Receipts, by key"}};
};

struct ReceiptRequest {
  std::string key;
  Omittable<std::string> scope;
  WITAN_MEMBERS(ReceiptRequest, key, scope)
  static constexpr std::array notes{MemberNote{"key", "Key of the receipt, or its first digits", 1},
                                    MemberNote{"scope", "Scope of the database; default: main"}};
};

struct ReceiptConfirmRequest {
  std::string agent;
  std::string boundary;
  std::string by;
  Omittable<std::string> provider;
  Omittable<std::string> model;
  Omittable<std::string> policy;
  Omittable<std::string> scope;
  WITAN_MEMBERS(ReceiptConfirmRequest, agent, boundary, by, provider, model, policy, scope)
  static constexpr std::array notes{
      MemberNote{"agent", "Agent", 1},
      MemberNote{"boundary", "Boundary of the policy", 1},
      MemberNote{"by", "Who confirms", 1},
      MemberNote{"provider", "Provider of the model that is asked"},
      MemberNote{"model", "Model that is asked"},
      MemberNote{"policy", "First digits, at least 8, of the digest of the policy that was read"},
      MemberNote{"scope", "Scope of the database; default: main"}};
};

Result<Receipts> listReceipts(OperationContext& context, const ReceiptListRequest& request);
Result<ReceiptRow> showReceipt(OperationContext& context, const ReceiptRequest& request);
Result<ReceiptRow> confirmReceipt(OperationContext& context, const ReceiptConfirmRequest& request);
Result<ReceiptRow> withdrawReceipt(OperationContext& context, const ReceiptRequest& request);

inline constexpr Operation kReceiptList{"GET", "/v1/receipt/list", listReceipts};
inline constexpr Operation kReceiptShow{"GET", "/v1/receipt/show", showReceipt};
inline constexpr Operation kReceiptConfirm{"POST", "/v1/receipt/confirm", confirmReceipt};
inline constexpr Operation kReceiptWithdraw{"POST", "/v1/receipt/withdraw", withdrawReceipt};

}  // namespace witan::node::operations
