// The seals of replicated rows (replication/row_seals.h) by the keys of devices: one signature over the rows that first
// leave a device together (kernel/record/signed_leaves.h).
#pragma once

#include <memory>
#include <string>

#include "replica/core/log_head.h"
#include "replication/row_seals.h"

namespace witan::node {

// Null without keys. `cluster`: its id, which seals say.
std::shared_ptr<replication::RowKeys> rowKeysOf(std::shared_ptr<const HeadKeys> keys, std::string cluster);

}  // namespace witan::node
