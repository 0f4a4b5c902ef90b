// One of a data directory's stores at one moment.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace witan::node {

struct StoreSnapshot {
  std::string store;  // "journal", "agents" or "ledgers"
  std::unique_ptr<store::Snapshot> snapshot;
};

}  // namespace witan::node
