// A backup back in a data directory. Every byte is checked against the manifest before anything is touched; what stands
// in the way is refused, or with `force` set aside in DIR/replaced-{time}, never deleted.
//
// The restored device is another writer of the replicated data and another owner in the ledgers, so it uses no dot and
// no epoch twice: what it did after the backup lives on at the others. The partitions that it decided for wait for an
// operator to seize them where the longest log is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "node/backup/backup.h"

namespace witan::node {

struct RestoreOrder {
  std::filesystem::path from, dir;
  bool force = false;
  bool seize = false;  // here and now, for a device whose copy is the longest one left
  Now now;
};

struct Restored {
  BackupManifest manifest;
  std::string aside;                   // folder of what was there; empty: nothing was
  std::vector<std::string> missing;    // keys that neither the backup nor the directory has
  std::string writer;                  // empty: keys are missing, the first start takes a new one
  std::vector<std::string> ownerless;  // partitions that wait to be seized
  std::size_t seized = 0;
};

// Errors: as verifyBackup; conflict if the directory is in use, or taken and not `force`; keys of another device.
Result<Restored> restoreBackup(const RestoreOrder& order);

}  // namespace witan::node
