#include "node/market/market_identity.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/seams.h"
#include "kernel/record/signed_note.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/replica_dir.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

using market::Grant;
using market::GrantUse;
using market::Moment;

constexpr std::size_t kMostMarketFile = 1 << 20;
constexpr std::int64_t kGrantedDays = 366, kRenewDays = 30;
// A bundle holds those of two organisations.
constexpr std::size_t kMostOwnGrants = market::kMostGrants / 2;

struct KeyTexts {
  std::string contract, evidence, card, log;  // seeds, hex
  WITAN_MEMBERS(KeyTexts, contract, evidence, card, log)
};

template <class T>
Result<T> readMarketFile(const fs::path& file, const char* hint) {
  T value{};
  WITAN_TRY(text, readSmallFile(file, kMostMarketFile));
  if (!text) return value;
  const auto parsed = parseJson(*text, {.bytes = kMostMarketFile});
  const Status read = parsed.ok() ? readJson(*parsed, value, file.filename().string()) : Status(parsed.error());
  if (!read.ok()) return corrupt(file.string() + ": " + read.error().message, hint);
  return value;
}

Result<KeyTexts> openKeys(const fs::path& dir) {
  const fs::path file = dir / "market.keys";
  WITAN_TRY(texts, readMarketFile<KeyTexts>(file, "restore it from a backup with keys"));
  if (!texts.log.empty()) return texts;
  SystemRandom random;
  for (std::string* seed : {&texts.contract, &texts.evidence, &texts.card, &texts.log})
    *seed = toHex(asBytes(SigningKey::generate(random).seed()));
  WITAN_DO(replaceFile(file, toJson(texts) + "\n", 0600));
  return texts;
}

Result<SigningKey> keyFrom(const std::string& hex) {
  WITAN_TRY(seed, fromHex(hex));
  return SigningKey::fromSeed(seed);
}

// Adds a grant for each key that has none, or one that ends soon. Whether there was one to add.
bool renew(json::array& grants, const MarketIdentity& identity, const SigningKey& root, Moment now) {
  const auto endOf = [&](const SigningKey& key, GrantUse use) {
    Moment end;
    for (const json::value& each : grants) {
      const auto grant = market::openEnvelope<Grant>(each);
      if (grant.ok() && grant->document.use == use && grant->document.key == toHex(key.publicKey()) &&
          grant->document.org == identity.org)
        end = std::max(end, grant->document.notAfter);
    }
    return end;
  };
  bool added = false;
  for (const auto& [key, use] :
       {std::pair(&identity.contract, GrantUse::contract), std::pair(&identity.evidence, GrantUse::evidence),
        std::pair(&identity.card, GrantUse::card)}) {
    if (endOf(*key, use).seconds > now.seconds + kRenewDays * kDaySeconds) continue;
    Grant grant;
    grant.org = identity.org;
    grant.key = toHex(key->publicKey());
    grant.use = use;
    grant.notBefore = {now.seconds - market::kClockSkewSeconds};  // of the partners' clocks
    grant.notAfter = {now.seconds + kGrantedDays * kDaySeconds};
    grants.push_back(parseJson(market::sealedDocument(grant, {&root, 1})).value());
    added = true;
  }
  if (grants.size() > kMostOwnGrants) grants.erase(grants.begin(), grants.end() - kMostOwnGrants);
  return added;
}

}  // namespace

// ---- roots

Result<RootTexts> readMarketRoots(const fs::path& dir) {
  const fs::path file = dir / "market.roots";
  constexpr const char* kHint = "remove it, and trust the roots again";
  WITAN_TRY(roots, readMarketFile<RootTexts>(file, kHint));
  for (const auto& [org, key] : roots)
    if (!hashFromHex(key).ok()) return corrupt(file.string() + ": the root of " + inQuotes(org) + " is no key", kHint);
  return roots;
}

Status writeMarketRoots(const fs::path& dir, const RootTexts& roots) {
  std::error_code failed;
  fs::create_directories(dir, failed);
  return replaceFile(dir / "market.roots", toJson(roots) + "\n", 0600);
}

market::Roots marketRootsOf(const RootTexts& texts) {
  market::Roots roots;
  for (const auto& [org, key] : texts) roots.emplace(org, *hashFromHex(key));
  return roots;
}

// ---- this organisation

std::string MarketIdentity::logKey() const {
  return kernel::verifierKeyText(kernel::makeNoteVerifier(logName, log.publicKey()).value());
}

Result<MarketIdentity> openMarketIdentity(const fs::path& dir, const MarketOrigin& origin, Moment now) {
  if (!hasKey(dir, KeyName::admin))
    return Error{ErrorCode::unauthorised, "[market] org is " + inQuotes(origin.org) + ", and this device holds no root",
                 "a cluster takes part in the market on the device where it was begun"};
  WITAN_TRY(root, readKey(dir, KeyName::admin));
  WITAN_TRY(texts, openKeys(dir));
  const auto key = [&](const std::string& seed) -> Result<SigningKey> {
    auto made = keyFrom(seed);
    if (!made.ok()) return corrupt((dir / "market.keys").string() + " holds no key", "restore it from a backup");
    return made;
  };
  WITAN_TRY(contract, key(texts.contract));
  WITAN_TRY(evidence, key(texts.evidence));
  WITAN_TRY(card, key(texts.card));
  WITAN_TRY(log, key(texts.log));
  MarketIdentity identity{
      origin.org, root.publicKey(), contract, evidence, card, log, {}, {}, "witan-market/" + origin.cluster};
  const fs::path file = dir / "market.grants";
  WITAN_TRY(grants, readMarketFile<std::vector<json::value>>(file, "remove it: the root grants anew"));
  identity.grants = json::array(grants.begin(), grants.end());
  if (renew(identity.grants, identity, root, now))
    WITAN_DO(replaceFile(file, canonicalJson(identity.grants) + "\n", 0644));
  DevicePass pass;
  pass.org = origin.org;
  pass.device = origin.device;
  pass.key = toHex(origin.deviceKey);
  pass.until = {now.seconds + kGrantedDays * kDaySeconds};
  identity.pass = market::sealedDocument(pass, {&root, 1});
  return identity;
}

}  // namespace witan::node
