// SecureStore: the secrets of one device (API keys, tokens) in one encrypted file. They are in no journal, agent store,
// log, trace or replicated record; what others know of a secret is its name (secretRefId).
//
// Sans-I/O: bytes of a file in, bytes of a file out; the caller keeps them (cli/commands/secret_command.cpp). Values
// are wiped when they go; names are encrypted in the file, and not secret in memory. Belongs to one thread at a time.
//
// The file, version 1, numbers little-endian:
//   "witan-secrets\n"  version 2   kind of key 1 (0 key file, 1 passphrase)   scrypt log2N 1, r 1, p 1   salt 16
//   nonce 12   length of the ciphertext 4      = the fields; fresh salt and nonce for each file that is written
//   HMAC-SHA256 of the fields 32               tells a wrong key from a damaged file
//   SHA-256 of all above 16                    tells a damaged header without any key
//   AES-256-GCM of the entries, tag 16         everything above is associated data
// Two keys, for HMAC and cipher, are derived from the key file's 32 bytes, or from scrypt of the passphrase, with the
// salt. The entries are padded to whole KiB.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/seams.h"
#include "base/secret.h"

namespace witan::agents {

inline constexpr std::size_t kMaxSecrets = 1'024;
inline constexpr std::size_t kMaxSecretBytes = 64 * 1024;
inline constexpr std::size_t kMaxSecureStoreBytes = 4 << 20;
inline constexpr std::size_t kMaxPassphraseBytes = 1'024;

WITAN_ENUM(StoreKeyKind, keyFile, passphrase)

struct StoreKey {
  StoreKeyKind kind = StoreKeyKind::keyFile;
  Secret secret;
};

// 32 bytes, or 64 hex digits with or without a line end. Takes and wipes `content`. Errors: invalid, quoting nothing.
Result<StoreKey> keyFromFile(std::string& content);
// Errors: empty, or longer than kMaxPassphraseBytes.
Result<StoreKey> keyFromPassphrase(Secret passphrase);

// Which key a file is for, before anybody is asked. Errors: corrupt: not such a file, damaged, of a newer version;
// scrypt costs outside of what is accepted (2^14 to 2^18, r 8, p 1 to 4: at most 256 MiB).
Result<StoreKeyKind> storeKeyKind(std::string_view file);

class SecureStore {
 public:
  // Errors: as storeKeyKind; invalid: the other kind of key; unauthorised: a wrong passphrase or key; corrupt: the
  // contents were changed or cut. None shows any byte of the file's contents.
  static Result<SecureStore> open(std::string_view file, const StoreKey& key);

  // A file with fresh salt and nonce. `cost` counts for a passphrase.
  std::string seal(const StoreKey& key, Random& random, ScryptCost cost = {}) const;

  // Errors: the name (an id); an empty or too long value; too many.
  Status set(std::string_view name, Secret value);
  bool remove(std::string_view name);
  const Secret* find(std::string_view name) const;  // null: none; until the next change
  std::set<std::string, std::less<>> names() const;
  std::size_t size() const { return secrets_.size(); }

 private:
  Secret entries() const;
  Status readEntries(std::string_view entries);

  std::map<std::string, Secret, std::less<>> secrets_;
};

}  // namespace witan::agents
