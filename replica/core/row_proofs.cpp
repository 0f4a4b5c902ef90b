#include "replica/core/row_proofs.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "kernel/record/signed_leaves.h"
#include "kernel/record/signed_note.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

static_assert(replication::kMaxSealLeaves == kernel::kMaxSetLeaves);

class DeviceRowKeys final : public replication::RowKeys {
 public:
  DeviceRowKeys(std::shared_ptr<const HeadKeys> keys, std::string cluster, std::function<void(std::string file)> forged)
      : keys_(std::move(keys)), cluster_(std::move(cluster)), forged_(std::move(forged)) {}

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

  void forged(std::string_view seal, std::string_view text) override {
    const auto set = kernel::readSet(seal);
    if (!forged_ || !set.ok()) return;
    Hash root{};
    const std::vector<Hash> leaves = kernel::leavesOf(*set, root);
    const auto at = std::ranges::find(leaves, sha256(text));
    const std::string device = keys_->deviceOf(set->key);
    const auto verifier = kernel::makeNoteVerifier(keyNameOf(cluster_, device), set->key);
    if (at == leaves.end() || device.empty() || !verifier.ok()) return;
    const std::uint32_t leaf = set->kept[static_cast<std::size_t>(at - leaves.begin())];
    forged_(toJson(RowEvidence{.key = kernel::verifierKeyText(*verifier),
                               .seal = toBase64(kernel::packSet(kernel::keepLeaves(*set, {&leaf, 1}))),
                               .row = toBase64(text)}));
  }

 private:
  const std::shared_ptr<const HeadKeys> keys_;
  const std::string cluster_;
  const std::function<void(std::string file)> forged_;
  kernel::SignatureMemo signatures_;
};

}  // namespace

std::shared_ptr<replication::RowKeys> rowKeysOf(std::shared_ptr<const HeadKeys> keys, std::string cluster,
                                                std::function<void(std::string file)> forged) {
  if (!keys) return nullptr;
  return std::make_shared<DeviceRowKeys>(std::move(keys), std::move(cluster), std::move(forged));
}

Result<ProvenOffence> verifyRowEvidence(const json::value& file) {
  RowEvidence evidence;
  WITAN_DO(readJson(file, evidence, "evidence"));
  WITAN_TRY(key, kernel::parseVerifierKey(evidence.key));
  if (key.type != kernel::NoteKeyType::signature) return invalid("evidence: the key is that of a witness");
  WITAN_TRY(seal, fromBase64(evidence.seal));
  WITAN_TRY(row, fromBase64(evidence.row));
  WITAN_TRY(set, kernel::readSet(seal));
  WITAN_TRY(names, replication::readLeafNames(row));
  const std::string cluster(names.cluster), device = deviceOfKeyName(cluster, key.name);
  kernel::SignatureMemo memo;
  std::vector<Hash> leaves;
  WITAN_DO(replication::validateWriter("writer", names.writer));
  const bool holds = set.key == key.publicKey && memo.holds(cluster, set, leaves) &&
                     std::ranges::find(leaves, sha256(row)) != leaves.end();
  if (!holds) return invalid("evidence: the seal does not hold");
  if (device.empty() || device == replication::deviceOf(names.writer))
    return invalid("evidence: the row is in the name of who sealed it");
  return ProvenOffence{key, std::string(names.space),
                       concat(key.name, " sealed the row ", inQuotes(names.key), " of ", names.space,
                              " in the name of ", replication::deviceOf(names.writer)),
                       "forgedRow"};
}

}  // namespace witan::node
