// The ledgers of a running node, or of a data directory that no node has open (a node's, or one that `witan agent run`
// made): what `witan ledger tail|show|verify` do without --store.
#pragma once

#include "cli/client/live.h"

namespace witan::node {

struct LiveLedger {
  std::string dir, entity, domain, partition;
  std::size_t count = 20;
  std::uint64_t seq = 0;
  bool follow = false, replay = false, json = false;
};

int liveTail(const LiveLedger& arguments);
// One decision, by its number; of which ledger, if several have one with it.
int liveShow(const LiveLedger& arguments);
// `ok <entries> <root>`, the root being one hash over all ledgers: equal on two devices whose ledgers are equal.
int liveVerify(const LiveLedger& arguments);
// The verdict (node/ledgers/ledger_rows.h) on a directory that no node has open. Errors: as NodeDir::open.
Result<json::value> verifyLedgersAtRest(const std::filesystem::path& dir, bool replay);

}  // namespace witan::node
