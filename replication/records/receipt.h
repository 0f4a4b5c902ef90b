// Privacy receipts: a person has confirmed that one agent may use one model across one boundary, under one version of
// the policy. With the next version it counts for nothing (seed 003, section 9.2). Names and digests only: nothing of
// what crosses, and no secret.
//
// One record a use, known by receiptKey(); another confirmation of the same use replaces the one before, and a
// tombstone takes it back. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"
#include "base/sha256.h"
#include "replication/records/kind.h"
#include "replication/version.h"

namespace witan::replication {

class Space;

// The record's body: replication/records/receipt.capnp.
struct PrivacyReceipt {
  std::string agentId;
  std::string provider;  // empty, with `model`: the operation asks no model
  std::string model;
  std::string boundary;
  std::string policyName;
  std::uint64_t policyVersion = 0;
  Hash policyDigest{};
  std::string confirmedBy;
  std::int64_t confirmedAtMs = 0;

  WITAN_MEMBERS(PrivacyReceipt, agentId, provider, model, boundary, policyName, policyVersion, policyDigest,
                confirmedBy, confirmedAtMs)
  friend bool operator==(const PrivacyReceipt&, const PrivacyReceipt&) = default;
};

// Errors: ids, limits, time; reading: no such body.
Status checkReceipt(const PrivacyReceipt& receipt);
Result<std::string> encodeReceipt(const PrivacyReceipt& receipt);
Result<PrivacyReceipt> readReceipt(std::string_view bytes);

// The key of the record, 64 hex digits: SHA-256 of what is confirmed, without who did and when.
std::string receiptKey(const PrivacyReceipt& receipt);

// What stands under `key`: the confirmation of the smallest dot. None: nobody confirmed it, or of those that nobody
// replaced one takes it back. A body that belongs to another key counts for nothing. The same for any order.
std::optional<PrivacyReceipt> receiptIn(std::string_view key, std::span<const Version> versions);

// All that stand in a space, by key. O(records). Errors: of reading.
Result<std::vector<PrivacyReceipt>> receiptsIn(Space& agents);

}  // namespace witan::replication
