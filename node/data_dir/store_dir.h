// StoreDir: a ledger on disk. `DIR/db` is the store, `DIR/ledger.key` the secret that signs its checkpoints (0600),
// `DIR/ledger.vkey` the public half as transparency tools take it. One process at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "kernel/ledger/ledger.h"
#include "store/store.h"

namespace witan::node {

struct StoreDirOptions {
  std::filesystem::path dir;
  bool create = false;
  std::optional<std::string> domain;    // required to create; else must agree if given
  std::optional<json::object> policy;   // else the ledger's own, or the domain's defaults
  std::vector<std::string> counselors;  // else the ledger's own, or the domain's
  kernel::PartitionOptions partition;
};

// Destroyed in reverse order of its members: the ledger goes before what it borrows.
struct StoreDir {
  std::filesystem::path dir;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<kernel::DomainModule> module;
  std::unique_ptr<kernel::Ledger> ledger;
  std::optional<SigningKey> key;  // none: the key file is gone, checkpoints can't be signed
  std::string verifierKey;
};

Result<StoreDir> openStoreDir(const StoreDirOptions&);

// The store alone, for reading a ledger that may be damaged. Errors: there is none.
Result<std::unique_ptr<store::Store>> openStoreOnly(const std::filesystem::path& dir);
Result<std::string> readVerifierKey(const std::filesystem::path& dir);

}  // namespace witan::node
