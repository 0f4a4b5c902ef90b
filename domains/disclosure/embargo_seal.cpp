#include "domains/disclosure/embargo_seal.h"

#include <array>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/quote.h"

namespace witan::domains::disclosure {

namespace {

constexpr std::array<const char*, 2> kSecret{"artifact", "nonce"};

std::string textAt(const json::object& object, const char* member) {
  const json::value* value = object.if_contains(member);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool hasSecret(const json::object& about) { return about.contains(kSecret[0]) || about.contains(kSecret[1]); }

// What a seal is bound to.
std::string nameOf(const json::object& about) {
  return canonicalJson(json::array{"witan embargo v1", textAt(about, "portfolio"), textAt(about, "v")});
}

Error wrong(const json::object& about, std::string_view what, std::string hint) {
  return Error{ErrorCode::invalidInput, "case " + inQuotes(textAt(about, "v")) + ": " + std::string(what),
               std::move(hint)};
}

constexpr const char* kUnder = "sealedUnder";
constexpr std::string_view kSealing = "witan embargo v1 seal", kDrawing = "witan embargo v1 nonce";

Secret derived(const Secret& from, std::string_view what) {
  Hash key = hmacSha256(from.reveal(), what);
  Secret made = Secret::copyOf(asView(key));
  wipe(key);
  return made;
}

}  // namespace

Result<std::string> EmbargoSeal::sealed(std::string payload) const {
  auto parsed = parseJson(payload, {.bytes = payload.size()});
  if (!parsed.ok()) return parsed.error();
  if (!parsed->is_object() || !hasSecret(parsed->get_object())) return payload;
  json::object& about = parsed->get_object();
  if (about.contains("sealed")) return wrong(about, "it has an artifact and a sealed one", "enter one of them");
  const std::string under = keys_ ? keys_->newest() : std::string();
  const auto key = keys_ ? keys_->find(under) : nullptr;
  if (!key) return wrong(about, "there is no key to seal its artifact with", "");
  json::object secret;
  for (const char* member : kSecret) {
    if (const json::value* value = about.if_contains(member)) secret[member] = *value;
    about.erase(member);
  }
  const std::string plain = canonicalJson(secret), name = nameOf(about);
  // Follows from what is sealed, so that one nonce never serves two texts.
  const Hash drawn = hmacSha256(derived(*key, kDrawing).reveal(), name + plain);
  const std::string nonce(asView(drawn).substr(0, kCipherNonceBytes));
  const std::string cipher = nonce + aesGcmSeal(derived(*key, kSealing).reveal(), nonce, name, plain);
  about["sealed"] = toHex(asBytes(cipher));
  if (!under.empty()) about[kUnder] = under;
  return canonicalJson(about);
}

Result<json::value> EmbargoSeal::opened(const json::value& given) const {
  if (!given.is_object()) return given;
  json::object about = given.get_object();
  if (hasSecret(about))
    return wrong(about, "its artifact stands in the clear", "enter it again: what is entered now is sealed");
  const json::value* kept = about.if_contains("sealed");
  if (kept == nullptr) return given;
  const auto bytes = fromHex(kept->is_string() ? std::string_view(kept->get_string()) : "?");
  const auto key = keys_ ? keys_->find(textAt(about, kUnder)) : nullptr;
  const bool whole = bytes.ok() && bytes->size() > kCipherNonceBytes + kCipherTagBytes && key;
  const auto plain =
      whole ? aesGcmOpen(derived(*key, kSealing).reveal(), std::string_view(*bytes).substr(0, kCipherNonceBytes),
                         nameOf(about), std::string_view(*bytes).substr(kCipherNonceBytes))
            : std::nullopt;
  if (!plain)
    return wrong(about, "its sealed artifact does not open here",
                 "it was sealed in another cluster, for another case or for members that this device is none of, or "
                 "changed; enter it again");
  WITAN_TRY(secret, parseJson(plain->reveal(), {.bytes = plain->size()}));
  about.erase("sealed"), about.erase(kUnder);
  for (const char* member : kSecret)
    if (const json::value* value = secret.as_object().if_contains(member)) about[member] = *value;
  return json::value(std::move(about));
}

}  // namespace witan::domains::disclosure
