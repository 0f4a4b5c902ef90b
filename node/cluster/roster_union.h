// One roster in place of two of one key that parted: the disk of the device that signs rosters went back to an older
// copy, and it went on. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/cluster/roster_store.h"

namespace witan::node {

struct RosterUnion {
  Roster roster;                   // follows both; its version and its scopes' keys are those of one of them
  const Roster* other = nullptr;   // of the two
  std::vector<std::string> taken;  // who lost what, or has another name now, in words
};

// Who was revoked in either is revoked, who is a member of one alone is one, and the later key of a member counts. A
// role or scope of both counts; where admins act together, one that no act took. Of a name that two devices have the
// newcomer gets another one.
RosterUnion uniteRosters(const Roster& one, const RosterLink& link, const RosterStore::Parted& parted);

// The name, or one like it that no other active device of the roster looks like.
std::string freeNameIn(const Roster& roster, const std::string& wanted, const std::string& device);

}  // namespace witan::node
