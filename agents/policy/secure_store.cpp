#include "agents/policy/secure_store.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/identity.h"

namespace witan::agents {

namespace {

constexpr std::string_view kMagic = "witan-secrets\n";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kMacBytes = 32;
constexpr std::size_t kCheckBytes = 16;
constexpr std::size_t kFieldBytes = kMagic.size() + 2 + 1 + 3 + kSaltBytes + kCipherNonceBytes + 4;
constexpr std::size_t kHeaderBytes = kFieldBytes + kMacBytes + kCheckBytes;
constexpr std::size_t kPad = 1'024;
// Costs that a file may ask of whoever opens it.
constexpr std::uint8_t kLeastLog2N = 14, kMostLog2N = 18, kR = 8, kMostP = 4;

struct Header {
  StoreKeyKind kind = StoreKeyKind::keyFile;
  ScryptCost cost;
  std::string salt, nonce;
  std::uint32_t length = 0;
};

template <class Bytes>
void append(Bytes& out, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

// Takes pieces from the front; too little is noticed once, at the end.
class Taker {
 public:
  explicit Taker(std::string_view from) : rest_(from) {}
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      short_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view piece = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return piece;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t out = 0;
    const std::string_view piece = take(bytes);
    for (std::size_t i = piece.size(); i-- > 0;) out = out << 8 | static_cast<std::uint8_t>(piece[i]);
    return out;
  }
  bool tooShort() const { return short_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool short_ = false;
};

std::string fieldsOf(const Header& h) {
  std::string out(kMagic);
  append(out, kVersion, 2);
  append(out, static_cast<std::uint64_t>(h.kind), 1);
  append(out, h.cost.log2N, 1);
  append(out, h.cost.r, 1);
  append(out, h.cost.p, 1);
  out += h.salt + h.nonce;
  append(out, h.length, 4);
  return out;
}

std::string checkOf(std::string_view fieldsAndMac) {
  return std::string(asView(sha256(fieldsAndMac)).substr(0, kCheckBytes));
}

Error damaged(const std::string& what) {
  return corrupt("the file of secrets " + what, "take a copy of it from a backup");
}

bool acceptable(const Header& h) {
  if (h.kind == StoreKeyKind::keyFile) return h.cost == ScryptCost{0, 0, 0};
  return h.cost.log2N >= kLeastLog2N && h.cost.log2N <= kMostLog2N && h.cost.r == kR && h.cost.p >= 1 &&
         h.cost.p <= kMostP;
}

Result<Header> readHeader(std::string_view file) {
  if (file.size() > kMaxSecureStoreBytes) return damaged("has more than 4 MiB");
  if (!file.starts_with(kMagic.substr(0, std::min(file.size(), kMagic.size()))) || file.empty())
    return corrupt("this is no file of secrets");
  if (file.size() < kHeaderBytes) return damaged("is cut within its header");
  Taker taker(file.substr(kMagic.size()));
  const std::uint64_t version = taker.number(2);
  Header h;
  const std::uint64_t kind = taker.number(1);
  h.cost.log2N = static_cast<std::uint8_t>(taker.number(1));
  h.cost.r = static_cast<std::uint8_t>(taker.number(1));
  h.cost.p = static_cast<std::uint8_t>(taker.number(1));
  h.salt = taker.take(kSaltBytes);
  h.nonce = taker.take(kCipherNonceBytes);
  h.length = static_cast<std::uint32_t>(taker.number(4));
  if (checkOf(file.substr(0, kFieldBytes + kMacBytes)) != file.substr(kFieldBytes + kMacBytes, kCheckBytes))
    return damaged("has a damaged header");
  if (version != kVersion)
    return corrupt(concat("the file of secrets has version ", version, ", this program reads ", kVersion));
  if (kind >= enumNames<StoreKeyKind>().size()) return damaged("is for a kind of key that does not exist");
  h.kind = static_cast<StoreKeyKind>(kind);
  if (!acceptable(h)) return damaged("asks for scrypt costs that are not accepted");
  if (file.size() - kHeaderBytes < h.length) return damaged("is cut: its end is missing");
  if (file.size() - kHeaderBytes > h.length) return damaged("has something behind its end");
  return h;
}

struct Keys {
  Secret mac, cipher;
};

Secret derive(const Secret& master, std::string_view purpose, std::string_view salt) {
  Hash hash = hmacSha256(master.reveal(), concat("witan secrets v1 ", purpose, "\n", salt));
  Secret key = Secret::copyOf(asView(hash));
  wipe(hash);
  return key;
}

Keys keysOf(const StoreKey& key, const Header& h) {
  if (key.kind == StoreKeyKind::keyFile)
    return {derive(key.secret, "header", h.salt), derive(key.secret, "body", h.salt)};
  const Secret master = scryptKey(key.secret, h.salt, h.cost);
  return {derive(master, "header", h.salt), derive(master, "body", h.salt)};
}

void put(Secret& into, std::size_t& at, std::string_view bytes) {
  std::ranges::copy(bytes, into.bytes().begin() + static_cast<std::ptrdiff_t>(at));
  at += bytes.size();
}

void put(Secret& into, std::size_t& at, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) into.bytes()[at++] = static_cast<std::uint8_t>(number >> (8 * i));
}

}  // namespace

Result<StoreKey> keyFromFile(std::string& content) {
  Secret given = Secret::take(content);
  std::string_view text = given.reveal();
  if (text.size() == kCipherKeyBytes) return StoreKey{StoreKeyKind::keyFile, std::move(given)};
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  auto key = text.size() == 2 * kCipherKeyBytes ? fromHex(text) : Result<std::string>(invalid(""));
  if (!key.ok())
    return invalid("a key file has 32 bytes, or 64 lower-case hex digits", "head -c 32 /dev/urandom > FILE makes one");
  return StoreKey{StoreKeyKind::keyFile, Secret::take(*key)};
}

Result<StoreKey> keyFromPassphrase(Secret passphrase) {
  if (passphrase.empty()) return invalid("an empty passphrase");
  if (passphrase.size() > kMaxPassphraseBytes)
    return invalid(concat("a passphrase of more than ", kMaxPassphraseBytes, " bytes"));
  return StoreKey{StoreKeyKind::passphrase, std::move(passphrase)};
}

Result<StoreKeyKind> storeKeyKind(std::string_view file) {
  WITAN_TRY(header, readHeader(file));
  return header.kind;
}

Result<SecureStore> SecureStore::open(std::string_view file, const StoreKey& key) {
  WITAN_TRY(header, readHeader(file));
  if (header.kind != key.kind)
    return invalid(concat("the file of secrets is for a ", header.kind == StoreKeyKind::keyFile
                                                               ? "key file, not for a passphrase"
                                                               : "passphrase, not for a key file"));
  const Keys keys = keysOf(key, header);
  const Secret mac = Secret::copyOf(asView(hmacSha256(keys.mac.reveal(), file.substr(0, kFieldBytes))));
  if (!mac.sameAs(file.substr(kFieldBytes, kMacBytes)))
    return Error{ErrorCode::unauthorised,
                 header.kind == StoreKeyKind::keyFile ? "this is not the key of the file of secrets"
                                                      : "this is not the passphrase of the file of secrets",
                 ""};
  const auto plain =
      aesGcmOpen(keys.cipher.reveal(), header.nonce, file.substr(0, kHeaderBytes), file.substr(kHeaderBytes));
  if (!plain) return damaged("has damaged contents");
  SecureStore store;
  WITAN_DO(store.readEntries(plain->reveal()));
  return store;
}

std::string SecureStore::seal(const StoreKey& key, Random& random, ScryptCost cost) const {
  Header header;
  header.kind = key.kind;
  header.cost = key.kind == StoreKeyKind::keyFile ? ScryptCost{0, 0, 0} : cost;
  WITAN_CHECK(acceptable(header), "a file that could be opened");
  std::array<std::uint8_t, kSaltBytes + kCipherNonceBytes> drawn;
  random.fill(drawn);
  header.salt = asView(drawn).substr(0, kSaltBytes);
  header.nonce = asView(drawn).substr(kSaltBytes);
  const Secret plain = entries();
  header.length = static_cast<std::uint32_t>(plain.size() + kCipherTagBytes);
  const Keys keys = keysOf(key, header);
  std::string out = fieldsOf(header);
  out += asView(hmacSha256(keys.mac.reveal(), out));
  out += checkOf(out);
  return out + aesGcmSeal(keys.cipher.reveal(), header.nonce, out, plain.reveal());
}

// count 4, then of each: length of the name 2, name, length of the value 4, value; then zeros.
Secret SecureStore::entries() const {
  std::size_t size = 4;
  for (const auto& [name, value] : secrets_) size += 6 + name.size() + value.size();
  Secret out((size + kPad - 1) / kPad * kPad);
  std::size_t at = 0;
  put(out, at, secrets_.size(), 4);
  for (const auto& [name, value] : secrets_) {
    put(out, at, name.size(), 2);
    put(out, at, name);
    put(out, at, value.size(), 4);
    put(out, at, value.reveal());
  }
  return out;
}

// Whoever has the key wrote this; still nothing is taken that set() would not take.
Status SecureStore::readEntries(std::string_view entries) {
  Taker taker(entries);
  const std::uint64_t count = taker.number(4);
  for (std::uint64_t i = 0; i < count && !taker.tooShort(); ++i) {
    const std::string_view name = taker.take(taker.number(2));
    const std::string_view value = taker.take(taker.number(4));
    if (taker.tooShort() || !set(name, Secret::copyOf(value)).ok()) return damaged("has entries that can't be read");
  }
  const std::string_view rest = taker.rest();
  if (taker.tooShort() || secrets_.size() != count || std::ranges::any_of(rest, [](char c) { return c != 0; }))
    return damaged("has entries that can't be read");
  return okStatus();
}

Status SecureStore::set(std::string_view name, Secret value) {
  WITAN_DO(validateId("the secret's name", name));
  if (value.empty()) return invalid("an empty secret", "give its value on standard input");
  if (value.size() > kMaxSecretBytes) return invalid(concat("a secret of more than ", kMaxSecretBytes, " bytes"));
  const auto at = secrets_.find(name);
  if (at == secrets_.end() && secrets_.size() == kMaxSecrets)
    return conflict(concat("there are ", kMaxSecrets, " secrets already"), "remove one: witan secret rm NAME");
  std::size_t total = name.size() + value.size();
  for (const auto& [other, held] : secrets_) total += other == name ? 0 : 6 + other.size() + held.size();
  if (total + 2 * kPad > kMaxSecureStoreBytes) return invalid("more than 4 MiB of secrets");
  secrets_.insert_or_assign(std::string(name), std::move(value));
  return okStatus();
}

bool SecureStore::remove(std::string_view name) {
  const auto at = secrets_.find(name);
  if (at == secrets_.end()) return false;
  secrets_.erase(at);
  return true;
}

const Secret* SecureStore::find(std::string_view name) const {
  const auto at = secrets_.find(name);
  return at == secrets_.end() ? nullptr : &at->second;
}

std::set<std::string, std::less<>> SecureStore::names() const {
  std::set<std::string, std::less<>> out;
  for (const auto& [name, value] : secrets_) out.insert(name);
  return out;
}

}  // namespace witan::agents
