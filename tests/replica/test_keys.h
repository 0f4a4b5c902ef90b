// TestKeys: keys of the devices "a", "b", ... of a TestCluster, and what a device remembers of what it signed, as a
// disk that no crash takes anything from.
#pragma once

#include <memory>
#include <string>

#include "replica/core/log_head.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test {

inline SigningKey keyOfDevice(std::string_view device) {
  return *SigningKey::fromSeed(std::string(32, device.empty() ? '?' : device.front()));
}

class TestKeys final : public HeadKeys {
 public:
  explicit TestKeys(std::string_view device) : key_(keyOfDevice(device)) {}
  const SigningKey& key() const override { return key_; }
  std::vector<PublicKey> keysOf(std::string_view device) const override {
    return device.size() == 1 ? std::vector{keyOfDevice(device).publicKey()} : std::vector<PublicKey>{};
  }
  Result<std::string> remembered() const override { return memory; }
  Status remember(std::string_view text) override {
    if (!fails) memory = text;
    return fails ? Status(ioFailed("the disk is full")) : okStatus();
  }

  std::string memory;
  bool fails = false;

 private:
  SigningKey key_;
};

inline std::string nameOfDevice(std::size_t n) { return std::string(1, static_cast<char>('a' + n)); }

}  // namespace witan::node::test
