// A copy of what a reader sees, in another store: backups. Reads a snapshot while others write to its store.
//
// Any thread.
#pragma once

#include <cstdint>
#include <functional>

#include "store/store.h"

namespace witan::store {

// Puts every row into `to` and makes it durable; `to` is empty before. Returns the number of rows. O(bytes), memory for
// a few MiB. Errors: of either store; unavailable when `goOn` (asked every few MiB; none: always) says no.
Result<std::uint64_t> copyAll(const Reader& from, Store& to, const std::function<bool()>& goOn = {});

}  // namespace witan::store
