// Damage in the table files (.sst) of a RocksDB folder that no process has open.
//
// Opening a store reads of each table only its ends; a damaged block is noticed when somebody reads it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace witan::store {

// One damage makes RocksDB 7 stop the process instead of saying so: it reads a table's properties before it verifies
// them. Errors: corrupt, naming the file. What is wrong otherwise is left to RocksDB. O(tables), a few reads each.
Status checkTableEnds(const std::filesystem::path& dir);

// A sentence for each table that is not what was written, with its path and the cause. O(bytes of the tables).
std::vector<std::string> findTableDamage(const std::filesystem::path& dir);

}  // namespace witan::store
