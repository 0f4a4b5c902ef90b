// The keys by which a node seals and opens encrypted copies: those of its scopes (node/cluster/scope_keys.h). The
// secret that all devices share seals none, since devices that keep copies have it too.
//
// Main thread only. Reads the data directory's roster and keys when it is asked.
#pragma once

#include <filesystem>
#include <memory>

#include "replica/sealed_copies.h"

namespace witan::node {

std::shared_ptr<CopyKeys> copyKeysOf(std::filesystem::path dir);

}  // namespace witan::node
