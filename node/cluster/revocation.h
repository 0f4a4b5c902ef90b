// Revocation: the admin's word that one device is no member any more. It stands alone, so that who is no member hears
// of that and of nothing else in the roster: neither who came later, nor where they listen.
//
// The roster carries the signature of each one; members hand it to the device that it names. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "node/cluster/roster.h"

namespace witan::node {

struct Revocation {
  std::string device;
  std::uint64_t version = 0;  // of the roster that has it first
  std::string reason;
  std::string signature;                    // hex, by the key that signs rosters
  Omittable<std::vector<AdminAct>> acts{};  // up to those that named this key and revoked the device; absent: neither
  WITAN_MEMBERS(Revocation, device, version, reason, signature, acts)
};

// Signs what is not signed yet of the roster's revoked devices, or all of them `anew`, by another key than before.
void signRevocations(Roster& roster, const SigningKey& signer, bool anew);

// For the device itself. Empty: it is a member, or it was revoked by a version that signed no such word.
std::string revocationOf(const Roster& roster, std::string_view device);

// `known`, `state`: what this device knows of the cluster. Errors: no such word; not the admin's; without an act where
// several admins act together.
Result<Revocation> readRevocation(std::string_view text, const Roster& known, const PublicKey& admin,
                                  const AdminState& state);

}  // namespace witan::node
