// Under which name this device owns epochs: a row of the ledgers' store, drawn when the store is made
// (replica/replica.cpp). For restores.
#pragma once

#include <string_view>

#include "store/store.h"

namespace witan::node {

inline constexpr std::string_view kOwnerRow = "i";

// Of a store that went back in time (a backup): whoever opens it next is another owner, so it cannot go on with its
// epochs differently from what others have of them. Durable. Errors: of the store.
Status forgetOwnerName(store::Store& ledgers);

}  // namespace witan::node
