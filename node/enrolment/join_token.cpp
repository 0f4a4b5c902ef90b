#include "node/enrolment/join_token.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/json_codec.h"
#include "base/sha256.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"

namespace witan::node {

namespace {

constexpr std::string_view kPrefix = "witan1.";
constexpr std::size_t kMaxTokenBytes = 8192;
constexpr std::size_t kCheckDigits = 4;

std::string checkOf(std::string_view body) { return toHex(sha256(body)).substr(0, kCheckDigits); }

// RFC 4648 section 5, without padding: survives URLs, shells and double clicks.
std::string toBase64Url(std::string_view bytes) {
  std::string text = toBase64(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

Result<std::string> fromBase64Url(std::string text) {
  if (text.find_first_of("+/=") != std::string::npos) return invalid("not base64url");
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text += '=';
  return fromBase64(text);
}

Error noToken(std::string_view why) {
  return invalid("this is no invitation (" + std::string(why) + ")", "copy all of what witan device invite printed");
}

Status checkToken(const JoinToken& token) {
  WITAN_DO(validateId("cluster", token.cluster));
  WITAN_DO(validateId("id", token.id));
  if (token.secret.size() != 32 || !fromHex(token.secret).ok()) return invalid("secret: expected 32 hex digits");
  auto key = publicKeyFromHex(token.key, "key");
  if (!key.ok()) return key.error();
  if (token.addresses.empty() || token.addresses.size() > kMaxDeviceAddresses) return invalid("no address");
  for (const std::string& address : token.addresses) WITAN_DO(checkAddress(address));
  return okStatus();
}

}  // namespace

std::string writeToken(const JoinToken& token) {
  const std::string body = toBase64Url(toJson(token));
  return std::string(kPrefix) + body + "." + checkOf(body);
}

Result<JoinToken> readToken(std::string_view text) {
  if (text.size() > kMaxTokenBytes) return noToken("too long");
  if (!text.starts_with(kPrefix)) return noToken("it does not begin with " + std::string(kPrefix));
  text.remove_prefix(kPrefix.size());
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return noToken("its end is missing");
  const std::string body(text.substr(0, dot));
  if (text.substr(dot + 1) != checkOf(body)) return noToken("its check digits do not fit: mistyped or cut off");
  auto bytes = fromBase64Url(body);
  if (!bytes.ok()) return noToken(bytes.error().message);
  auto value = parseJson(*bytes, {kMaxTokenBytes, 4});
  if (!value.ok()) return noToken(value.error().message);
  JoinToken token;
  if (Status read = readJson(*value, token, "token"); !read.ok()) return noToken(read.error().message);
  if (Status checked = checkToken(token); !checked.ok()) return noToken(checked.error().message);
  return token;
}

}  // namespace witan::node
