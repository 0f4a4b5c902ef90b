// The keys of a node, as files of its data directory, and the names that follow from them.
//
//   DIR/device.key   0600  this device's Ed25519 seed, hex: who it is on the network
//   DIR/admin.key    0600  only where the cluster was begun: signs the roster (node/cluster/roster.h)
//   DIR/witness.key  0600  of `witan witness`, which stands in a directory of its own
//   DIR/cluster.json       which cluster, whose admin key, how many partitions: the same on all its devices
//
// Names are hashes of keys, so nobody can take another's: a device is called by its first key for ever, even after it
// has changed it; a cluster by its admin's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/reflect.h"
#include "base/result.h"

namespace witan::node {

inline constexpr std::uint32_t kMaxClusterPartitions = 256;  // of each domain

// The first 128 bits of SHA-256 over the key, in hex.
inline constexpr std::size_t kDeviceIdDigits = 32;
std::string deviceIdOf(const PublicKey& key);
std::string clusterIdOf(const PublicKey& adminKey);

// Sixteen groups of the key's SHA-256, as people compare them: "3f9a 02bc ...".
std::string fingerprintOf(const PublicKey& key);

Result<PublicKey> publicKeyFromHex(std::string_view hex, std::string_view what);
Result<PublicKey> publicKeyFromBytes(std::span<const std::uint8_t> bytes, std::string_view what);

struct ClusterFile {
  std::string adminKey;  // hex
  std::uint64_t partitions = 8;
  std::string name;  // of this device, as people call it
  WITAN_MEMBERS(ClusterFile, adminKey, partitions, name)
};

// nextDevice: a key that the roster does not have yet (DIR/device.key.next). previousDevice: the one before, for as
// long as the roster on disk names that one (DIR/device.key.previous).
// nextAdmin: a key that other admins were asked to let sign rosters (DIR/admin.key.next).
enum class KeyName { device, admin, nextDevice, previousDevice, witness, nextAdmin };

// A new key, durably. Errors: conflict if there is one.
Result<SigningKey> createKey(const std::filesystem::path& dir, KeyName name);
// Errors: notFound; corrupt; unauthorised if others may read the file.
Result<SigningKey> readKey(const std::filesystem::path& dir, KeyName name);
bool hasKey(const std::filesystem::path& dir, KeyName name);
// The next key takes the place of the present one, durably, and that becomes the previous one: where the roster that
// names the new key could not be written, it shows whose key this is. Takes no room where there are hard links.
// Errors: readKey's; ioFailed, and nothing has changed.
Status promoteNextKey(const std::filesystem::path& dir);
void forgetPreviousKey(const std::filesystem::path& dir);
// The next key of the admin takes the place of the present one, which goes.
Status promoteNextAdmin(const std::filesystem::path& dir);
// What the next key signs, to show that its owner has it.
std::string rotationText(std::string_view device, const PublicKey& next);

Status writeClusterFile(const std::filesystem::path& dir, const ClusterFile& cluster);
// Errors: notFound if the directory is not that of a node on a network; corrupt.
Result<ClusterFile> readClusterFile(const std::filesystem::path& dir);

// A fingerprint as fingerprintOf() writes it (node/cluster/device_key.h); spaces, colons and capitals do not matter.
// Errors name the place.
Result<std::string> parseFingerprint(std::string_view text);

}  // namespace witan::node
