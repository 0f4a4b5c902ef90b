// The token of an invitation: what a new device needs to find its cluster and to know that it has found it. A person
// carries it (a chat, a QR code). Whoever holds it may join until it expires or is used up, so it is a secret.
//
//   witan1.{base64url of canonical JSON}.{4 hex digits of its SHA-256, against typing errors}
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"

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

}  // namespace witan::node
