#include "node/cluster/device_heads.h"

#include <algorithm>

#include "base/bytes.h"
#include "kernel/record/signed_note.h"
#include "node/cluster/device_key.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kSignedHeadsMax = 4 * 1024 * 1024;
constexpr std::size_t kDeviceKeysMax = 4096;

// Of a roster, which was checked when it came.
std::vector<PublicKey> keysFromHex(const std::vector<std::string>& texts) {
  std::vector<PublicKey> keys;
  for (const std::string& hex : texts)
    if (auto key = hashFromHex(hex); key.ok()) keys.push_back(*key);
  return keys;
}

class HeadsAtRest final : public HeadKeys {
 public:
  HeadsAtRest(fs::path dir, SigningKey key, RosterStore rosters)
      : key_(std::move(key)), rosters_(std::move(rosters)), heads_(std::move(dir), key_, rosters_) {}
  const SigningKey& key() const override { return key_; }
  std::vector<PublicKey> keysOf(std::string_view device) const override { return heads_.keysOf(device); }
  Takeover mayTakeOver(std::string_view device) const override { return heads_.mayTakeOver(device); }
  std::string deviceOf(const PublicKey& key) const override { return heads_.deviceOf(key); }
  bool sealsRows(std::string_view device) const override { return heads_.sealsRows(device); }
  std::vector<PublicKey> keysOfPerson(std::string_view person) const override { return heads_.keysOfPerson(person); }
  Result<std::string> remembered() const override { return heads_.remembered(); }
  Status remember(std::string_view text) override { return heads_.remember(text); }

 private:
  const SigningKey key_;
  const RosterStore rosters_;
  DeviceHeads heads_;
};

}  // namespace

std::vector<PublicKey> DeviceHeads::keysOf(std::string_view device) const {
  const RosterDevice* known = rosters_.current().find(device);
  return known == nullptr ? std::vector<PublicKey>() : keysFromHex(known->keys);
}

Takeover DeviceHeads::mayTakeOver(std::string_view device) const {
  const RosterDevice* known = rosters_.current().find(device);
  if (known == nullptr || !known->takesOver()) return Takeover::no;
  return known->active() ? Takeover::yes : Takeover::formerly;
}

std::string DeviceHeads::deviceOf(const PublicKey& key) const {
  const RosterDevice* known = rosters_.current().byKey(key);
  return known == nullptr ? std::string() : known->device;
}

bool DeviceHeads::sealsRows(std::string_view device) const {
  const RosterDevice* known = rosters_.current().find(device);
  return known == nullptr || known->sealsRows.value_or(false);  // each older device is known
}

std::vector<PublicKey> DeviceHeads::keysOfPerson(std::string_view person) const {
  const RosterPerson* known = rosters_.current().person(person);
  return known == nullptr ? std::vector<PublicKey>() : keysFromHex(known->keys);
}

bool DeviceHeads::mayAnswer(std::string_view person, const PublicKey& key, std::string_view domain) const {
  const RosterPerson* known = rosters_.current().person(person);
  return known != nullptr && known->mayAnswer(domain) && known->keys.back() == toHex(key);
}

// From the moment on at which the roster names a person for them, the domain's answers are signed.
bool DeviceHeads::mayAnswerUnsigned(std::string_view domain, std::string_view counselor) const {
  const Roster& roster = rosters_.current();
  if (roster.person(counselor) != nullptr) return false;
  return !roster.persons ||
         std::ranges::none_of(*roster.persons, [&](const RosterPerson& person) { return person.mayAnswer(domain); });
}

Result<std::string> DeviceHeads::remembered() const {
  const fs::path file = dir_ / kSignedHeadsFile;
  WITAN_TRY(text, readSmallFile(file, kSignedHeadsMax));
  if (!text) return std::string();
  const auto read = HeadMemory::parse(rosters_.current().cluster, *text);
  if (!read.ok() || text->empty())
    return corrupt(concat(file.string(), " is damaged: ", read.ok() ? "it is empty" : read.error().message),
                   kSignedHeadsRemedy);
  return *text;
}

Status DeviceHeads::remember(std::string_view text) { return replaceFile(dir_ / kSignedHeadsFile, text, 0644); }

Result<std::shared_ptr<HeadKeys>> headKeysAtRest(const fs::path& dir) {
  std::error_code ec;
  if (!fs::exists(dir / "cluster.json", ec)) return std::shared_ptr<HeadKeys>();
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(key, readKey(dir, KeyName::device));
  WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
  WITAN_TRY(rosters, RosterStore::open(dir, admin));
  return std::shared_ptr<HeadKeys>(std::make_shared<HeadsAtRest>(dir, std::move(key), std::move(rosters)));
}

Status writeDeviceKeys(const fs::path& dir, std::string_view cluster, std::string_view device, const PublicKey& key) {
  std::string text;
  for (const auto type : {kernel::NoteKeyType::signature, kernel::NoteKeyType::cosignature}) {
    WITAN_TRY(verifier, kernel::makeNoteVerifier(keyNameOf(cluster, device), key, type));
    text += kernel::verifierKeyText(verifier) + "\n";
  }
  WITAN_TRY(known, readSmallFile(dir / kDeviceKeysFile, kDeviceKeysMax));
  return known == text ? okStatus() : replaceFile(dir / kDeviceKeysFile, text, 0644);
}

}  // namespace witan::node
