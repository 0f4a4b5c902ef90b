#include "base/public_key.h"

#include <openssl/bn.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"

namespace witan {

namespace {

using KeyNumber = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

constexpr std::uint8_t kSignOfX = 0x80;  // in the last byte

// The five y of the eight points whose order divides 8, little-endian.
constexpr PublicKey kSmallOrder[] = {
    {},
    {1},
    {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
     0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
    {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
     0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
    {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}};

PublicKey withoutSign(PublicKey key) {
  key.back() &= static_cast<std::uint8_t>(~kSignOfX);
  return key;
}

// y < 2^255 - 19.
bool isCanonical(const PublicKey& y) {
  return y.back() != 0x7f || y.front() < 0xed ||
         std::any_of(y.begin() + 1, y.end() - 1, [](std::uint8_t byte) { return byte != 0xff; });
}

KeyNumber numberOf(const char* decimal) {
  BIGNUM* raw = nullptr;
  WITAN_CHECK(BN_dec2bn(&raw, decimal) != 0, "OpenSSL has memory");
  return {raw, BN_free};
}

// x^2 = (y^2 - 1) / (d y^2 + 1) has a root exactly if the product of both has one.
bool isPoint(const PublicKey& key) {
  static const KeyNumber p = numberOf("57896044618658097711785492504343953926634992332820282019728792003956564819949");
  static const KeyNumber d = numberOf("37095705934669439343138083508754565189542113879843219016388785533085940283555");
  const std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)> context(BN_CTX_new(), BN_CTX_free);
  const PublicKey y = withoutSign(key);
  const KeyNumber square(BN_lebin2bn(y.data(), y.size(), nullptr), BN_free), under(BN_new(), BN_free);
  WITAN_CHECK(context && square && under, "OpenSSL has memory");
  const bool reckoned = BN_mod_sqr(square.get(), square.get(), p.get(), context.get()) == 1 &&
                        BN_mod_mul(under.get(), square.get(), d.get(), p.get(), context.get()) == 1 &&
                        BN_add_word(under.get(), 1) == 1 && BN_sub_word(square.get(), 1) == 1 &&
                        BN_mod_mul(under.get(), under.get(), square.get(), p.get(), context.get()) == 1;
  WITAN_CHECK(reckoned, "OpenSSL has memory");
  return BN_kronecker(under.get(), p.get(), context.get()) == 1;  // 0: of small order
}

}  // namespace

bool isWeakKey(const PublicKey& key) {
  const PublicKey y = withoutSign(key);
  return !isCanonical(y) || std::ranges::find(kSmallOrder, y) != std::end(kSmallOrder);
}

Status checkPublicKey(std::string_view what, const PublicKey& key) {
  const bool weak = isWeakKey(key);
  if (!weak && isPoint(key)) return okStatus();
  return invalid(concat(what, ": ", toHex(key), " is no Ed25519 key: ",
                        weak ? "anybody could sign under it" : "no private key could sign under it"),
                 "give the public half of a key that a program made");
}

}  // namespace witan
