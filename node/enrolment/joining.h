// How a device joins a cluster: the token of an invitation, and the request that it allows.
//
// With the token a new device finds its cluster and knows that it has found it. A person carries it (a chat, a QR
// code). Its holder may join until it expires or is used up, so it is a secret.
//
//   witan1.{base64url of canonical JSON}.{4 hex digits of its SHA-256, against typing errors}
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/reflect.h"
#include "base/result.h"
#include "node/cluster/messages.h"

namespace witan::node {

struct JoinToken {
  std::string cluster;
  std::vector<std::string> addresses;  // of the inviting device
  std::string key;                     // its current public key, hex: whom to expect there
  std::string id;                      // of the invitation
  std::string secret;                  // 32 hex digits
  WITAN_MEMBERS(JoinToken, cluster, addresses, key, id, secret)
  friend bool operator==(const JoinToken&, const JoinToken&) = default;
};

std::string writeToken(const JoinToken& token);
// Errors: not a token, mistyped, of a later version, members out of their limits.
Result<JoinToken> readToken(std::string_view text);

// ---- the new device's side of enrolment: dials, asks, reads the answer. Blocking, with a loop of its own.

struct JoinAttempt {
  std::vector<std::string> addresses;              // tried at once; the first that answers counts
  std::function<Status(const PublicKey&)> expect;  // who must be there
  JoinRequest request;
  std::int64_t timeoutMs = 15'000;
  std::function<void(const std::string& words)> slow;  // called once if nobody has answered for a while; may be empty
};

// Errors: unavailable, with what each address said; unauthorised if somebody else is there.
Result<JoinAnswer> askToJoin(const SigningKey& key, const JoinAttempt& attempt);

}  // namespace witan::node
