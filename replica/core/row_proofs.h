// The seals of replicated rows (replication/row_seals.h) by the keys of devices: one signature over the rows that first
// leave a device together (kernel/record/signed_leaves.h). A device that sealed a row in another's name has signed what
// proves it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/log_head.h"
#include "replication/row_seals.h"

namespace witan::node {

// Evidence of the kind forgedRow.
struct RowEvidence {
  std::string kind = "forgedRow";
  std::string key;  // of the device that sealed it, named witan/CLUSTER/DEVICE
  FileBytes seal;   // of that row alone
  FileBytes row;    // what the leaf is the hash of
  WITAN_MEMBERS(RowEvidence, kind, key, seal, row)
};
Result<ProvenOffence> verifyRowEvidence(const json::value& file);

// Null without keys. `cluster`: its id, which seals say. `forged`: is told a file of evidence for each forged row.
std::shared_ptr<replication::RowKeys> rowKeysOf(std::shared_ptr<const HeadKeys> keys, std::string cluster,
                                                std::function<void(std::string file)> forged = {});

}  // namespace witan::node
