#include "replica/core/row_proofs.h"

#include <algorithm>

#include "kernel/record/signed_leaves.h"

namespace witan::node {

namespace {

static_assert(replication::kMaxSealLeaves == kernel::kMaxSetLeaves);

class DeviceRowKeys final : public replication::RowKeys {
 public:
  DeviceRowKeys(std::shared_ptr<const HeadKeys> keys, std::string cluster)
      : keys_(std::move(keys)), cluster_(std::move(cluster)) {}

  std::string seal(std::span<const Hash> leaves) override {
    return kernel::packSet(kernel::signSet(cluster_, leaves, keys_->key()));
  }

  std::string keep(std::string_view seal, std::span<const std::uint32_t> leaves) override {
    const auto set = kernel::readSet(seal);
    WITAN_CHECK(set.ok(), "a seal was read before");
    return kernel::packSet(kernel::keepLeaves(*set, leaves));
  }

  Result<std::vector<replication::SealLeaf>> open(std::string_view seal, std::string_view device) override {
    const auto set = kernel::readSet(seal);
    if (!set.ok()) return Error{ErrorCode::unauthorised, set.error().message, ""};
    const std::vector<PublicKey> known = keys_->keysOf(device);
    if (std::ranges::find(known, set->key) == known.end()) {
      const std::string other = keys_->deviceOf(set->key);
      if (!other.empty()) return Error{ErrorCode::unauthorised, other + " sealed it", ""};
      return unavailable(concat("no key of ", device, " that is known here sealed it"));
    }
    std::vector<Hash> leaves;
    if (!signatures_.holds(cluster_, *set, leaves))
      return Error{ErrorCode::unauthorised, concat("the signature is not of ", device), ""};
    std::vector<replication::SealLeaf> out;
    out.reserve(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) out.push_back({set->kept[i], leaves[i]});
    return out;
  }

  bool sealsAll(std::string_view device) const override { return keys_->sealsRows(device); }

 private:
  const std::shared_ptr<const HeadKeys> keys_;
  const std::string cluster_;
  kernel::SignatureMemo signatures_;
};

}  // namespace

std::shared_ptr<replication::RowKeys> rowKeysOf(std::shared_ptr<const HeadKeys> keys, std::string cluster) {
  if (!keys) return nullptr;
  return std::make_shared<DeviceRowKeys>(std::move(keys), std::move(cluster));
}

}  // namespace witan::node
