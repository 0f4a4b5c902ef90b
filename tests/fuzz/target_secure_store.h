// Any bytes as a file of secrets: as they are, with the header's check made right, and with its HMAC made right for the
// key below, so that fuzzing gets past both. What opens can be sealed and opened again.
#pragma once

#include "agents/policy/secure_store.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/crypto.h"
#include "base/sha256.h"

namespace witan::fuzz {

inline agents::StoreKey fuzzedStoreKey() {
  std::string content(32, 'k');
  return agents::keyFromFile(content).value();
}

inline void openSecureStore(std::string_view file, const agents::StoreKey& key) {
  const auto kind = agents::storeKeyKind(file);
  const auto store = agents::SecureStore::open(file, key);
  if (!store.ok()) {
    WITAN_CHECK(store.error().message.size() < 200, "an error that quotes nothing");
    return;
  }
  WITAN_CHECK(kind.ok() && *kind == agents::StoreKeyKind::keyFile, "a file that opens says for which key it is");
  SeededRandom random(1);
  const auto again = agents::SecureStore::open(store->seal(key, random), key);
  WITAN_CHECK(again.ok() && again->names() == store->names(), "it opens again");
}

inline void fuzzSecureStore(std::string_view bytes) {
  const agents::StoreKey key = fuzzedStoreKey();
  openSecureStore(bytes, key);
  constexpr std::size_t kFields = 52, kSaltAt = 20, kMac = 32, kCheck = 16;
  if (bytes.size() < kFields + kMac + kCheck) return;
  std::string forged(bytes);
  const auto check = [&] {
    const Hash hash = sha256(std::string_view(forged).substr(0, kFields + kMac));
    forged.replace(kFields + kMac, kCheck, asView(hash).substr(0, kCheck));
  };
  check();
  openSecureStore(forged, key);
  const Hash macKey = hmacSha256(key.secret.reveal(), "witan secrets v1 header\n" + forged.substr(kSaltAt, 16));
  const Hash mac = hmacSha256(asView(macKey), std::string_view(forged).substr(0, kFields));
  forged.replace(kFields, kMac, asView(mac));
  check();
  openSecureStore(forged, key);
}

}  // namespace witan::fuzz
