// JoinClient: the new device's side of enrolment: dials, asks, hears the answer. Blocking, with a loop of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "node/cluster/messages.h"

namespace witan::node {

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
