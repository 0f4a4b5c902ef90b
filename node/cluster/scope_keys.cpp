#include "node/cluster/scope_keys.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/mutant.h"
#include "base/sealed_box.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/data_dir/replica_dir.h"

namespace witan::node {

namespace {

constexpr std::size_t kShortKeyDigits = 16;
constexpr unsigned kDrawnBits = 32;                               // of a generation
constexpr std::uint64_t kMaxGeneration = std::uint64_t{1} << 53;  // as JSON carries it everywhere
const std::string kLinkNonce(kCipherNonceBytes, '\0');  // each key opens one other, and nothing else by itself

std::string keyName(const Roster& roster, std::string_view scope, std::uint64_t generation) {
  return concat("witan scope key v1\n", roster.cluster, '\n', scope, '\n', generation);
}

Secret keyOf(const Roster& roster, std::string_view scope, std::uint64_t generation, const SigningKey& admin) {
  std::string seed = admin.seed();
  Hash key = hmacSha256(seed, keyName(roster, scope, generation));
  wipe(seed);
  Secret out = Secret::copyOf(asView(key));
  wipe(key);
  return out;
}

bool mayHaveKey(const RosterDevice& device, std::string_view scope) { return device.active() && device.mayHave(scope); }

std::set<std::string> scopesOf(const Roster& roster) {
  std::set<std::string> scopes{std::string(kOtherScopes)};
  for (const RosterDevice& device : roster.devices)
    if (device.active()) scopes.insert(device.scopes.begin(), device.scopes.end());
  for (const ScopeKey& key : roster.scopeKeys.value_or(std::vector<ScopeKey>())) scopes.insert(key.scope);
  return scopes;
}

std::string shortKey(const RosterDevice& device) { return device.keys.back().substr(0, kShortKeyDigits); }

bool lostSomebody(const Roster& roster, const ScopeKey& key) {
  return std::ranges::any_of(key.copies, [&](const ScopeKeyCopy& copy) {
    const RosterDevice* device = roster.find(copy.device);
    return device == nullptr || !mayHaveKey(*device, key.scope) || shortKey(*device) != copy.key;
  });
}

// The generations of `before`.
std::vector<std::uint64_t> numbersOf(const ScopeKey& key) {
  if (key.numbers) return *key.numbers;
  std::vector<std::uint64_t> numbers(key.before.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = key.generation - numbers.size() + i;
  return numbers;
}

// Opened by the key `now`.
std::string linkTo(const Roster& roster, std::string_view scope, std::uint64_t last, const Secret& before,
                   const Secret& now) {
  return toBase64(aesGcmSeal(now.reveal(), kLinkNonce, keyName(roster, scope, last), before.reveal()));
}

void begin(const Roster& roster, ScopeKey& key, const SigningKey& admin, Random& random, const OpenScope& opened) {
  const std::uint64_t last = key.generation;
  std::vector<std::uint64_t> numbers = numbersOf(key);
  const bool first = last == 0 && roster.version <= 1;
  key.generation = first ? 1 : last + 1 + random.below(std::uint64_t{1} << kDrawnBits);
  key.copies.clear();
  if (last == 0) return;
  Secret before = keyOf(roster, key.scope, last, admin);
  if (opened) {
    const ScopeGenerations known = opened(key.scope);
    const auto at = known.find(last);
    if (at == known.end()) return key.before.clear(), key.numbers.reset();  // what is older cannot be read here
    before = Secret::copyOf(at->second->reveal());
  }
  key.before.push_back(linkTo(roster, key.scope, last, before, keyOf(roster, key.scope, key.generation, admin)));
  numbers.push_back(last);
  if (key.before.size() > kMaxGenerations) key.before.erase(key.before.begin()), numbers.erase(numbers.begin());
  key.numbers = std::move(numbers);
}

// One chain of the generations of both. Links that stand in either stay; the rest are of this admin's key.
ScopeKey chainOfBoth(const Roster& roster, const ScopeKey& one, const ScopeKey& other, const SigningKey& admin) {
  std::vector<std::uint64_t> first = numbersOf(one), second = numbersOf(other), all;
  first.push_back(one.generation), second.push_back(other.generation);
  std::ranges::set_union(first, second, std::back_inserter(all));
  ScopeKey key{.scope = one.scope, .generation = all.back()};
  const auto link = [&](std::uint64_t last, std::uint64_t next) {
    for (const auto& [numbers, of] : {std::pair(&first, &one), std::pair(&second, &other)})
      for (std::size_t i = 0; i + 1 < numbers->size(); ++i)
        if ((*numbers)[i] == last && (*numbers)[i + 1] == next) return of->before[i];
    return linkTo(roster, key.scope, last, keyOf(roster, key.scope, last, admin),
                  keyOf(roster, key.scope, next, admin));
  };
  const std::size_t from = all.size() - std::min(all.size(), kMaxGenerations);
  for (std::size_t i = from; i + 1 < all.size(); ++i) key.before.push_back(link(all[i], all[i + 1]));
  all.pop_back();
  key.numbers = std::vector(all.begin() + static_cast<std::ptrdiff_t>(from), all.end());
  return key;
}

Status giveCopies(const Roster& roster, ScopeKey& key, const SigningKey& admin, Random& random) {
  const Secret secret = keyOf(roster, key.scope, key.generation, admin);
  for (const RosterDevice& device : roster.devices) {
    if (!mayHaveKey(device, key.scope) ||
        std::ranges::find(key.copies, device.device, &ScopeKeyCopy::device) != key.copies.end())
      continue;
    WITAN_TRY(to, publicKeyFromHex(device.keys.back(), "key"));
    WITAN_TRY(box, sealBox(to, keyName(roster, key.scope, key.generation), secret.reveal(), random));
    key.copies.push_back({device.device, shortKey(device), toBase64(box)});
  }
  std::ranges::sort(key.copies, {}, &ScopeKeyCopy::device);
  return okStatus();
}

}  // namespace

Status renewScopeKeys(Roster& roster, const SigningKey& admin, Random& random, const OpenScope& before) {
  std::vector<ScopeKey> keys;
  for (const std::string& scope : scopesOf(roster)) {
    ScopeKey key{.scope = scope};
    for (const ScopeKey& known : roster.scopeKeys.value_or(std::vector<ScopeKey>()))
      if (known.scope == scope) key = known;
    if (key.generation == 0 || before || (lostSomebody(roster, key) && !mutated("keepScopeKey")))
      begin(roster, key, admin, random, before);
    WITAN_DO(giveCopies(roster, key, admin, random));
    keys.push_back(std::move(key));
  }
  roster.scopeKeys = std::move(keys);
  return okStatus();
}

void uniteScopeKeys(Roster& roster, const Roster& other, const SigningKey& admin, Random& random) {
  std::vector<ScopeKey> keys = roster.scopeKeys.value_or(std::vector<ScopeKey>());
  for (const ScopeKey& theirs : other.scopeKeys.value_or(std::vector<ScopeKey>())) {
    const auto mine = std::ranges::lower_bound(keys, theirs.scope, {}, &ScopeKey::scope);
    if (mine == keys.end() || mine->scope != theirs.scope)
      keys.insert(mine, theirs);
    else
      *mine = chainOfBoth(roster, *mine, theirs, admin);
  }
  for (ScopeKey& key : keys) begin(roster, key, admin, random, {});
  roster.scopeKeys = std::move(keys);
}

ScopeGenerations openScopeKeys(const Roster& roster, std::string_view scope, std::string_view device,
                               const SigningKey& key) {
  ScopeGenerations out;
  if (!roster.scopeKeys) return out;
  const auto at =
      std::ranges::find(*roster.scopeKeys, scope, [](const ScopeKey& k) { return std::string_view(k.scope); });
  if (at == roster.scopeKeys->end()) return out;
  for (const ScopeKeyCopy& copy : at->copies) {
    if (copy.device != device) continue;
    const auto box = fromBase64(copy.box);
    auto secret = box.ok() ? openBox(key, keyName(roster, scope, at->generation), *box) : std::nullopt;
    if (secret) out[at->generation] = std::make_shared<const Secret>(*std::move(secret));
  }
  if (out.empty()) return out;
  std::uint64_t generation = at->generation;
  const std::vector<std::uint64_t> numbers = numbersOf(*at);
  for (std::size_t i = numbers.size(); i-- > 0;) {
    const auto sealed = fromBase64(at->before[i]);
    auto secret =
        sealed.ok() ? aesGcmOpen(out.at(generation)->reveal(), kLinkNonce, keyName(roster, scope, numbers[i]), *sealed)
                    : std::nullopt;
    if (!secret) break;
    generation = numbers[i];
    out[generation] = std::make_shared<const Secret>(*std::move(secret));
  }
  return out;
}

namespace {

namespace fs = std::filesystem;

// Read again when a file that they come from changed.
class ScopeSealKeys final : public agents::SealKeys {
 public:
  ScopeSealKeys(fs::path dir, std::string scope, std::shared_ptr<const agents::SealKeys> shared)
      : dir_(std::move(dir)), scope_(std::move(scope)), shared_(std::move(shared)) {}

  std::string newest() const override {
    const std::lock_guard lock(mutex_);
    refresh();
    // A name under which nothing is found, where the scope has a key that is not for this device.
    return ring_.empty() ? std::string() : concat(ring_, "/", newest_);
  }
  std::shared_ptr<const Secret> find(std::string_view name) const override {
    if (name.empty()) return shared_->find(name);
    const std::lock_guard lock(mutex_);
    refresh();
    const auto at = keys_.find(name);
    return at == keys_.end() ? nullptr : at->second;
  }

 private:
  using Stamp = std::pair<fs::file_time_type, std::uintmax_t>;

  std::array<Stamp, 2> stamps() const {
    std::array<Stamp, 2> out{};
    std::error_code ec;
    const fs::path files[] = {dir_ / "roster", dir_ / "device.key"};
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {fs::last_write_time(files[i], ec), fs::file_size(files[i], ec)};
    return out;
  }
  void refresh() const {
    const auto now = stamps();
    if (now == read_) return;
    read_ = now;
    ring_.clear(), keys_.clear(), newest_ = 0;
    const Status status = read();
    if (!status.ok() && nodeIsThere()) ring_ = "?";
  }
  bool nodeIsThere() const {
    std::error_code ec;
    return fs::exists(dir_ / "cluster.json", ec);
  }
  Status read() const {
    if (!nodeIsThere()) return okStatus();
    WITAN_TRY(cluster, readClusterFile(dir_));
    WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
    WITAN_TRY(rosters, RosterStore::open(dir_, admin));
    WITAN_TRY(identity, readReplicaIdentity(dir_));
    const Roster& roster = rosters.current();
    if (!roster.scopeKeys) return okStatus();
    for (const std::string& ring : {std::string(kOtherScopes), scope_}) {
      if (std::ranges::find(*roster.scopeKeys, ring, &ScopeKey::scope) == roster.scopeKeys->end()) continue;
      ring_ = ring, newest_ = 0;  // of the scope itself, if it has any
      for (const KeyName name : {KeyName::device, KeyName::nextDevice, KeyName::previousDevice}) {
        if (!hasKey(dir_, name)) continue;
        WITAN_TRY(key, readKey(dir_, name));
        for (const auto& [generation, secret] : openScopeKeys(roster, ring, identity.device, key)) {
          // Those of all other scopes open no other scope.
          Hash derived = hmacSha256(secret->reveal(), concat("witan scope\n", scope_));
          keys_[concat(ring, "/", generation)] = std::make_shared<const Secret>(Secret::copyOf(asView(derived)));
          wipe(derived);
          newest_ = std::max(newest_, generation);
        }
      }
    }
    return okStatus();
  }

  const fs::path dir_;
  const std::string scope_;
  const std::shared_ptr<const agents::SealKeys> shared_;
  mutable std::mutex mutex_;
  mutable std::array<Stamp, 2> read_{};
  mutable std::string ring_;
  mutable std::uint64_t newest_ = 0;
  mutable std::map<std::string, std::shared_ptr<const Secret>, std::less<>> keys_;
};

}  // namespace

Result<std::shared_ptr<const agents::SealKeys>> sealKeysOf(const fs::path& dir, std::string scope) {
  WITAN_TRY(secret, readClusterSecret(dir));
  auto shared = agents::sharedKey(secret);
  wipe(secret);
  return std::shared_ptr<const agents::SealKeys>(
      std::make_shared<const ScopeSealKeys>(dir, std::move(scope), std::move(shared)));
}

Status checkKeepsScopeKeys(const Roster& before, const Roster& after) {
  const std::vector<ScopeKey> keys = after.scopeKeys.value_or(std::vector<ScopeKey>());
  const auto refusal = [](std::string what) { return Error{ErrorCode::unauthorised, std::move(what), ""}; };
  for (const ScopeKey& was : before.scopeKeys.value_or(std::vector<ScopeKey>())) {
    const auto is = std::ranges::find(keys, was.scope, &ScopeKey::scope);
    if (is == keys.end() || is->generation < was.generation)
      return refusal("a roster that takes back the key of the scope " + was.scope);
    for (const ScopeKeyCopy& copy : was.copies) {
      const RosterDevice* device = after.find(copy.device);
      if (device != nullptr && mayHaveKey(*device, was.scope) &&
          std::ranges::find(is->copies, copy.device, &ScopeKeyCopy::device) == is->copies.end())
        return refusal(concat("a roster that takes the key of the scope ", was.scope, " from ", copy.device));
    }
  }
  return okStatus();
}

Status checkScopeKeys(const std::vector<ScopeKey>& keys) {
  if (keys.size() > kMaxScopeKeys)
    return invalid(concat(keys.size(), " scopes have keys, more than ", kMaxScopeKeys), "name fewer scopes");
  const std::string* before = nullptr;
  for (const ScopeKey& key : keys) {
    if (key.scope != kOtherScopes) WITAN_DO(validateId("scopeKeys.scope", key.scope));
    if (before != nullptr && !(*before < key.scope)) return invalid("scopeKeys: not in order of their scopes");
    before = &key.scope;
    if (key.before.size() > kMaxGenerations || key.before.size() >= key.generation || key.generation > kMaxGeneration)
      return invalid(concat("scopeKeys: ", key.before.size(), " links of ", key.generation, " generations"));
    if (key.numbers && (key.numbers->size() != key.before.size() || !std::ranges::is_sorted(*key.numbers) ||
                        (!key.numbers->empty() && key.numbers->back() >= key.generation)))
      return invalid("scopeKeys: generations that are not those of the links");
    if (key.copies.size() > kMaxRosterDevices) return invalid("scopeKeys: more copies than devices");
  }
  return okStatus();
}

}  // namespace witan::node
