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
constexpr std::int64_t kOwnPassSeconds = kDaySeconds, kLicensedPassSeconds = 7 * kDaySeconds;
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

constexpr const char* kEnrolHint =
    "here: witan market enrol ORG >request.json; where the cluster was begun: witan market grant request.json "
    ">word.json; here: witan market enrol ORG --with word.json";

using UsedKey = std::pair<market::Hex, GrantUse>;
std::vector<UsedKey> usedKeys(const MarketEnrolment& keys) {
  return {{keys.contract, GrantUse::contract}, {keys.evidence, GrantUse::evidence}, {keys.card, GrantUse::card}};
}

// Adds a grant for each key that has none, or one that ends soon. Whether there was one to add.
bool renew(json::array& grants, const MarketEnrolment& keys, const SigningKey& root, Moment now) {
  const auto endOf = [&](const market::Hex& key, GrantUse use) {
    Moment end;
    for (const json::value& each : grants) {
      const auto grant = market::openEnvelope<Grant>(each);
      if (grant.ok() && grant->document.use == use && grant->document.key == key && grant->document.org == keys.org)
        end = std::max(end, grant->document.notAfter);
    }
    return end;
  };
  bool added = false;
  for (const auto& [key, use] : usedKeys(keys)) {
    if (endOf(key, use).seconds > now.seconds + kRenewDays * kDaySeconds) continue;
    Grant grant;
    grant.org = keys.org;
    grant.key = key;
    grant.use = use;
    grant.notBefore = {now.seconds - market::kClockSkewSeconds};  // of the partners' clocks
    grant.notAfter = {now.seconds + kGrantedDays * kDaySeconds};
    grants.push_back(parseJson(market::sealedDocument(grant, {&root, 1})).value());
    added = true;
  }
  if (grants.size() > kMostOwnGrants) grants.erase(grants.begin(), grants.end() - kMostOwnGrants);
  return added;
}

std::string passFor(const MarketEnrolment& keys, const SigningKey& root, Moment now, std::int64_t seconds) {
  DevicePass pass;
  pass.org = keys.org;
  pass.device = keys.device;
  pass.key = keys.key;
  pass.until = {now.seconds + seconds};
  return market::sealedDocument(pass, {&root, 1});
}

// Empty, or why the root's word is not for these keys.
std::string flawOf(const MarketLicence& licence, const MarketEnrolment& keys, const PublicKey& root, Moment now) {
  const auto pass = market::openEnvelope<DevicePass>(licence.pass);
  if (!pass.ok()) return pass.error().message;
  if (!market::isSignedBy(pass->text, root)) return "it is of another root than this cluster's";
  if (pass->document.org != keys.org) return concat("it is for ", inQuotes(pass->document.org));
  if (pass->document.key != keys.key || pass->document.device != keys.device) return "it is for another device or key";
  if (pass->document.until <= now) return "its time is over";
  const json::array grants(licence.grants.begin(), licence.grants.end());
  for (const auto& [key, use] : usedKeys(keys))
    if (!market::isGranted(grants, {{keys.org, root}}, keys.org, key, use, now))
      return concat("it grants no key for ", enumName(use));
  return {};
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

namespace {

// Without pass and grants.
Result<MarketIdentity> withKeys(const fs::path& dir, const MarketOrigin& origin) {
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
  return MarketIdentity{
      origin.org, origin.root, contract, evidence, card, log, {}, {}, "witan-market/" + origin.cluster};
}

MarketEnrolment publicKeysOf(const MarketIdentity& identity, const MarketOrigin& origin) {
  const auto hex = [](const SigningKey& key) { return market::Hex(toHex(key.publicKey())); };
  MarketEnrolment keys;
  keys.org = origin.org;
  keys.device = origin.device;
  keys.key = toHex(origin.deviceKey);
  keys.contract = hex(identity.contract), keys.evidence = hex(identity.evidence), keys.card = hex(identity.card);
  return keys;
}

}  // namespace

namespace {

Moment endOf(const json::value& pass) {
  const auto opened = market::openEnvelope<DevicePass>(pass);
  return opened.ok() ? opened->document.until : Moment{};
}

// For which organisation the root has spoken; empty: for none yet.
Result<std::string> orgOf(const fs::path& dir) {
  return readMarketFile<std::string>(dir / "market.org", "remove it: witan market grant asks again");
}

Status keepOrg(const fs::path& dir, const std::string& org) {
  WITAN_TRY(before, orgOf(dir));
  return before == org ? okStatus() : replaceFile(dir / "market.org", toJson(org) + "\n", 0600);
}

}  // namespace

Result<MarketIdentity> openMarketIdentity(const fs::path& dir, const MarketOrigin& origin, Moment now) {
  const bool holdsRoot = hasKey(dir, KeyName::admin), licensed = fs::exists(dir / "market.pass");
  if (!holdsRoot && !licensed)
    return Error{ErrorCode::unauthorised,
                 "[market] org is " + inQuotes(origin.org) + ", and this device holds no root, nor its word",
                 kEnrolHint};
  WITAN_TRY(identity, withKeys(dir, origin));
  const MarketEnrolment keys = publicKeysOf(identity, origin);
  const fs::path file = dir / "market.grants";
  WITAN_TRY(grants, readMarketFile<std::vector<json::value>>(file, "remove it: the root grants anew"));
  identity.grants = json::array(grants.begin(), grants.end());
  if (!holdsRoot) {
    WITAN_TRY(pass, readMarketFile<json::value>(dir / "market.pass", kEnrolHint));
    if (const std::string flaw = flawOf({{}, pass, grants}, keys, origin.root, now); !flaw.empty())
      return Error{ErrorCode::unauthorised, "the root's word for this device does not hold: " + flaw, kEnrolHint};
    identity.pass = canonicalJson(pass);
    return identity;
  }
  WITAN_TRY(root, readKey(dir, KeyName::admin));
  identity.root = root.publicKey();
  if (renew(identity.grants, keys, root, now)) WITAN_DO(replaceFile(file, canonicalJson(identity.grants) + "\n", 0644));
  identity.pass = passFor(keys, root, now, kOwnPassSeconds);
  WITAN_DO(keepOrg(dir, origin.org));
  return identity;
}

Result<std::string> renewedPass(const fs::path& dir, const MarketOrigin& origin, const std::string& pass, Moment now) {
  const Moment end = endOf(market::valueOf(pass));
  if (hasKey(dir, KeyName::admin)) {
    if (end.seconds > now.seconds + kOwnPassSeconds / 2) return pass;
  } else {
    WITAN_TRY(word, readMarketFile<json::value>(dir / "market.pass", kEnrolHint));
    if (endOf(word) <= end && now < end) return pass;
  }
  WITAN_TRY(identity, openMarketIdentity(dir, origin, now));
  return identity.pass;
}

// ---- a device that does not hold the root

Result<std::string> enrolInMarket(const fs::path& dir, const MarketOrigin& origin, const SigningKey& deviceKey) {
  WITAN_TRY(identity, withKeys(dir, origin));
  return market::sealedDocument(publicKeysOf(identity, origin), {&deviceKey, 1});
}

Result<MarketLicence> grantInMarket(const fs::path& dir, const json::value& asked, const Roster& roster, Moment now) {
  if (!hasKey(dir, KeyName::admin))
    return Error{ErrorCode::unauthorised, "this device holds no root", "run it where the cluster was begun"};
  WITAN_TRY(root, readKey(dir, KeyName::admin));
  WITAN_TRY(request, market::openEnvelope<MarketEnrolment>(asked));
  const MarketEnrolment& keys = request.document;
  const RosterDevice* device = roster.member(keys.device);
  if (device == nullptr || device->keys.back() != keys.key)
    return conflict(concat("device ", inQuotes(keys.device), " is not in the roster with this key"),
                    "see: witan device list");
  if (!market::isSignedBy(request.text, market::keyOf(keys.key)))
    return Error{ErrorCode::unauthorised, "the request is not signed by its device", kEnrolHint};
  WITAN_TRY(org, orgOf(dir));
  if (!org.empty() && org != keys.org)
    return conflict(concat("the request is for ", inQuotes(keys.org), ", and this root speaks for ", inQuotes(org)),
                    concat("there: witan market enrol ", org));
  WITAN_DO(keepOrg(dir, keys.org));
  WITAN_TRY(known, grantedIn(dir));
  std::erase_if(known, [&](const MarketEnrolment& each) { return each.key == keys.key; });
  known.push_back(keys);  // one of another key of this device stays until it is told to be revoked
  WITAN_DO(keepGranted(dir, known));
  json::array grants;
  renew(grants, keys, root, now);
  return MarketLicence{{}, parseJson(licensedPass(keys, root, now)).value(), {grants.begin(), grants.end()}};
}

Result<std::vector<MarketEnrolment>> grantedIn(const fs::path& dir) {
  return readMarketFile<std::vector<MarketEnrolment>>(dir / "market.granted", "remove it, and grant again");
}

Status keepGranted(const fs::path& dir, const std::vector<MarketEnrolment>& granted) {
  return replaceFile(dir / "market.granted", toJson(granted) + "\n", 0600);
}

std::string licensedPass(const MarketEnrolment& device, const SigningKey& root, Moment now) {
  return passFor(device, root, now, kLicensedPassSeconds);
}

bool isDue(const json::value& pass, Moment now) {
  return endOf(pass).seconds <= now.seconds + kLicensedPassSeconds * 2 / 3;
}

Status takePass(const fs::path& dir, const MarketOrigin& origin, const json::value& pass, Moment now) {
  WITAN_TRY(before, readMarketFile<json::value>(dir / "market.pass", kEnrolHint));
  if (endOf(pass) <= endOf(before)) return okStatus();
  WITAN_TRY(grants, readMarketFile<std::vector<json::value>>(dir / "market.grants", kEnrolHint));
  return takeLicence(dir, origin, {{}, pass, grants}, now);
}

Status takeLicence(const fs::path& dir, const MarketOrigin& origin, const MarketLicence& licence, Moment now) {
  WITAN_TRY(identity, withKeys(dir, origin));
  if (const std::string flaw = flawOf(licence, publicKeysOf(identity, origin), origin.root, now); !flaw.empty())
    return Error{ErrorCode::unauthorised, "this word of the root does not hold here: " + flaw, kEnrolHint};
  const json::array grants(licence.grants.begin(), licence.grants.end());
  WITAN_DO(replaceFile(dir / "market.grants", canonicalJson(grants) + "\n", 0644));
  return replaceFile(dir / "market.pass", canonicalJson(licence.pass) + "\n", 0644);
}

}  // namespace witan::node
