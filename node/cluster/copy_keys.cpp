#include "node/cluster/copy_keys.h"

#include <map>

#include "node/cluster/scope_keys.h"

namespace witan::node {

namespace {

class DeviceCopyKeys final : public CopyKeys {
 public:
  explicit DeviceCopyKeys(std::filesystem::path dir) : dir_(std::move(dir)) {}

  std::string newest(std::string_view scope) override {
    const agents::SealKeys* keys = of(scope);
    return keys == nullptr ? std::string() : keys->newest();
  }
  std::shared_ptr<const Secret> find(std::string_view scope, std::string_view name) override {
    const agents::SealKeys* keys = of(scope);
    return keys == nullptr || name.empty() ? nullptr : keys->find(name);
  }

 private:
  const agents::SealKeys* of(std::string_view scope) {
    const auto known = keys_.find(scope);
    if (known != keys_.end()) return known->second.get();
    auto keys = sealKeysOf(dir_, std::string(scope));
    if (!keys.ok()) return nullptr;
    return keys_.emplace(scope, *std::move(keys)).first->second.get();
  }

  const std::filesystem::path dir_;
  std::map<std::string, std::shared_ptr<const agents::SealKeys>, std::less<>> keys_;
};

}  // namespace

std::shared_ptr<CopyKeys> copyKeysOf(std::filesystem::path dir) {
  return std::make_shared<DeviceCopyKeys>(std::move(dir));
}

}  // namespace witan::node
