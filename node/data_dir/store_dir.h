// StoreDir: a ledger on disk. `DIR/db` is the store, `DIR/ledger.key` the secret that signs its checkpoints (0600),
// `DIR/ledger.vkey` the public half as transparency tools take it, `DIR/ledger.signed` the last checkpoint that the key
// signed. It stands outside of the store, so that the key signs no log that lacks what it signed before. One process at
// a time.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/pruned_log.h"
#include "kernel/record/signed_note.h"
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

// Errors: as kernel::Ledger::open; corrupt also if the key is not the one that the ledger began with, or the log does
// not extend `ledger.signed`.
Result<StoreDir> openStoreDir(const StoreDirOptions&);

// Signs the committed entries, stores the checkpoint and remembers it in `ledger.signed`. Nothing without a key.
Status signHead(StoreDir& opened, Time now);

// Signs the head, verifies and replays the ledger, and prunes what the retention does not keep; the ledger is closed
// then. Errors: notFound, there is no key; corrupt, it does not verify, and nothing was pruned.
Result<kernel::PruneReport> pruneStore(StoreDir& opened, const kernel::Retention& keep, Time now);

// Each line of each file is a verifier key. Errors: unreadable.
Result<std::vector<kernel::NoteVerifier>> readVerifierKeys(const std::vector<std::string>& files);
// A signed checkpoint in a file. Errors: unreadable; keys of fewer than `require` names signed it.
Result<kernel::SignedHead> readSignedHead(const std::filesystem::path& file, std::span<const kernel::NoteVerifier> keys,
                                          std::size_t require = 1);
// Of `DIR/ledger.signed`; none if there is no such file.
Result<std::optional<kernel::SignedHead>> lastSignedHead(const std::filesystem::path& dir,
                                                         const kernel::NoteVerifier& key);

// The store alone, for reading a ledger that may be damaged. Errors: there is none.
Result<std::unique_ptr<store::Store>> openStoreOnly(const std::filesystem::path& dir);
Result<std::string> readVerifierKey(const std::filesystem::path& dir);

}  // namespace witan::node
