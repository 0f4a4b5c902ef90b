// The ledgers of a running node, or of a node's directory: what `witan ledger tail|verify` do without --store.
#pragma once

#include "node/live.h"

namespace witan::node {

struct LiveLedger {
  std::string dir, entity, domain;
  std::size_t count = 20;
  bool follow = false, replay = false, json = false;
};

int liveTail(const LiveLedger& arguments);
// `ok <entries> <root>`, the root being one hash over all ledgers: equal on two devices whose ledgers are equal.
int liveVerify(const LiveLedger& arguments);
// The verdict (node/verify_hosts.h) on a directory that no node has open. Errors: as NodeDir::open.
Result<json::value> verifyLedgersAtRest(const std::filesystem::path& dir, bool replay);

}  // namespace witan::node
