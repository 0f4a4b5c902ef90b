// Whether every ledger that a replica keeps is what it claims to be, as one JSON object:
// {"ok","entries","root","ledgers":[{"partition","entries","root","problem"}]}. `root` is one hash over all of them:
// two devices with the same have the same entries. O(entries), with `replay` every decision is made again.
#pragma once

#include "base/json.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

Result<json::value> verifyHosts(const Replica& replica, bool replay);

}  // namespace witan::node
