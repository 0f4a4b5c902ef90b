// The end of a RocksDB folder's manifest, the log of which files the store is made of.
//
// RocksDB takes a record that is longer than its file for one that a crash tore, and goes on without it and what stands
// behind it. A torn record has less than its payload, and nothing behind it; any other is one whose length a disk has
// damaged. Going on would drop the newest tables of the store, and delete their files.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace witan::store {

// Errors: corrupt, naming the file and the byte. A folder without a manifest is RocksDB's to judge. O(32 KiB), where a
// record is damaged its square.
Status checkManifestEnd(const std::filesystem::path& dir);

}  // namespace witan::store
