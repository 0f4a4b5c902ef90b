#include "base/sealed_box.h"

#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"

namespace witan {

namespace {

using BoxPkey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using BoxNumber = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

constexpr std::string_view kBoxKey = "witan box v1";
constexpr std::size_t kPointBytes = 32;

BoxNumber number(BIGNUM* raw) { return {raw, BN_free}; }

// u = (1 + y) / (1 - y) mod 2^255 - 19 (RFC 7748, section 4.1).
std::optional<PublicKey> toX25519(const PublicKey& key) {
  PublicKey bytes = key;
  bytes.back() &= 0x7f;  // the sign of x
  const std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)> context(BN_CTX_new(), BN_CTX_free);
  const BoxNumber p = number(BN_new()), y = number(BN_lebin2bn(bytes.data(), kPointBytes, nullptr)),
                  over = number(BN_new()), under = number(BN_new());
  WITAN_CHECK(context && p && y && over && under, "OpenSSL has memory");
  const bool reckoned = BN_set_bit(p.get(), 255) == 1 && BN_sub_word(p.get(), 19) == 1 &&
                        BN_cmp(y.get(), p.get()) < 0 &&
                        BN_mod_add(over.get(), BN_value_one(), y.get(), p.get(), context.get()) == 1 &&
                        BN_mod_sub(under.get(), BN_value_one(), y.get(), p.get(), context.get()) == 1 &&
                        BN_mod_inverse(under.get(), under.get(), p.get(), context.get()) != nullptr &&
                        BN_mod_mul(over.get(), over.get(), under.get(), p.get(), context.get()) == 1;
  PublicKey out;
  if (!reckoned || BN_bn2lebinpad(over.get(), out.data(), kPointBytes) != kPointBytes) return std::nullopt;
  return out;
}

BoxPkey privateKey(std::string_view bytes) {
  BoxPkey key(EVP_PKEY_new_raw_private_key_ex(nullptr, "X25519", nullptr, asBytes(bytes).data(), bytes.size()),
              EVP_PKEY_free);
  WITAN_CHECK(key != nullptr, "any 32 bytes are a key of X25519");
  return key;
}

PublicKey publicOf(const BoxPkey& key) {
  PublicKey out;
  std::size_t size = out.size();
  WITAN_CHECK(EVP_PKEY_get_raw_public_key(key.get(), out.data(), &size) == 1, "a key has its public half");
  return out;
}

// The key of the cipher. None: the other's key gives no secret.
std::optional<Secret> agreed(const BoxPkey& own, const PublicKey& other, const PublicKey& box, const PublicKey& to) {
  const BoxPkey peer(EVP_PKEY_new_raw_public_key_ex(nullptr, "X25519", nullptr, other.data(), other.size()),
                     EVP_PKEY_free);
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_from_pkey(nullptr, own.get(), nullptr), EVP_PKEY_CTX_free);
  Secret shared(kPointBytes);
  std::size_t size = shared.size();
  if (!peer || !context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), peer.get()) != 1 ||
      EVP_PKEY_derive(context.get(), shared.bytes().data(), &size) != 1)
    return std::nullopt;
  Hash key = hmacSha256(shared.reveal(), concat(kBoxKey, asView(box), asView(to)));
  std::optional<Secret> out(Secret::copyOf(asView(key)));
  wipe(key);
  return out;
}

// Each box has a key of its own, so that the nonce may be the same.
const std::string kBoxNonce(kCipherNonceBytes, '\0');

}  // namespace

Result<std::string> sealBox(const PublicKey& to, std::string_view about, std::string_view plain, Random& random) {
  const auto point = toX25519(to);
  Secret once(kPointBytes);
  random.fill(once.bytes());
  const BoxPkey own = privateKey(once.reveal());
  const PublicKey box = publicOf(own);
  const auto key = point ? agreed(own, *point, box, *point) : std::nullopt;
  if (!key) return invalid(concat(toHex(to), " is no key to seal for"));
  return concat(asView(box), aesGcmSeal(key->reveal(), kBoxNonce, about, plain));
}

std::optional<Secret> openBox(const SigningKey& key, std::string_view about, std::string_view box) {
  if (box.size() < kBoxOverhead) return std::nullopt;
  PublicKey from;
  std::copy_n(box.begin(), from.size(), from.begin());
  // The private scalar of Ed25519 (RFC 8032, section 5.1.5).
  std::string seed = key.seed();
  Secret expanded(SHA512_DIGEST_LENGTH);
  SHA512(asBytes(seed).data(), seed.size(), expanded.bytes().data());
  wipe(seed);
  const BoxPkey own = privateKey(expanded.reveal().substr(0, kPointBytes));
  const auto agreedKey = agreed(own, from, from, publicOf(own));
  if (!agreedKey) return std::nullopt;
  return aesGcmOpen(agreedKey->reveal(), kBoxNonce, about, box.substr(kPointBytes));
}

}  // namespace witan
