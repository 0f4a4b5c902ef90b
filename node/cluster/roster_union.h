// One roster in place of two of one key that parted: the disk of the device that signs rosters went back to an older
// copy, and it went on. Pure, any thread.
//
// Each member has one of the two, so the union follows both (node/cluster/roster_follows.h): what cannot stand as it
// was stays, revoked or under a longer name. It is the same from either side, and united again with either it stays as
// it is.
//
// Who was revoked in either is revoked, who is a member of one alone is one, and the later key of a member counts. A
// role or scope of both counts; where admins act together, one that no act took. Where the first act is in one alone,
// what the other did without an act is named for the admins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/cluster/roster_store.h"

namespace witan::node {

struct RosterUnion {
  // A device's key that it may have by the admins alone.
  struct NewKey {
    std::string device, key;
  };
  Roster roster;                    // its version and its scopes' keys are those of one of them
  const Roster* other = nullptr;    // of the two
  std::vector<std::string> toSign;  // what the admins alone may do: commands
  std::vector<NewKey> keys;         // for these commands
  std::vector<std::string> taken;   // who lost what, or has another name now, in words
};

RosterUnion uniteRosters(const Roster& one, const RosterLink& link, const RosterStore::Parted& parted);

// The name, or one like it that no other active device of the roster looks like.
std::string freeNameIn(const Roster& roster, const std::string& wanted, const std::string& device);

}  // namespace witan::node
