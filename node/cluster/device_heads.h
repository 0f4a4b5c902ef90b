// The signed heads of ledgers (replica/head_exchange.h) on a device of a cluster: the device's key signs them, the
// roster says whose keys others are, and two files stand beside the stores:
//
//   DIR/heads.signed   the last head of each partition that this device signed or cosigned
//   DIR/device.vkey    this device's verifier keys for others to keep: as an owner, and as a cosigner
#pragma once

#include <filesystem>
#include <memory>

#include "node/cluster/roster_store.h"
#include "replica/core/log_head.h"

namespace witan::node {

inline constexpr const char* kDeviceKeysFile = "device.vkey";

class DeviceHeads final : public HeadKeys {
 public:
  // Both outlive it; the key may change.
  DeviceHeads(std::filesystem::path dir, const SigningKey& key, const RosterStore& rosters)
      : dir_(std::move(dir)), key_(key), rosters_(rosters) {}

  const SigningKey& key() const override { return key_; }
  std::vector<PublicKey> keysOf(std::string_view device) const override;
  Takeover mayTakeOver(std::string_view device) const override;
  std::string deviceOf(const PublicKey& key) const override;
  bool sealsRows(std::string_view device) const override;
  std::vector<PublicKey> keysOfPerson(std::string_view person) const override;
  bool mayAnswer(std::string_view person, const PublicKey& key, std::string_view domain) const override;
  bool mayAnswerUnsigned(std::string_view domain, std::string_view counselor) const override;
  Result<std::string> remembered() const override;
  Status remember(std::string_view text) override;

 private:
  const std::filesystem::path dir_;
  const SigningKey& key_;
  const RosterStore& rosters_;
};

// Of a directory that no node has open. It owns what it needs. Null: the directory is of no cluster. Errors: of its
// files.
Result<std::shared_ptr<HeadKeys>> headKeysAtRest(const std::filesystem::path& dir);

// Writes DIR/device.vkey if it says something else.
Status writeDeviceKeys(const std::filesystem::path& dir, std::string_view cluster, std::string_view device,
                       const PublicKey& key);

}  // namespace witan::node
