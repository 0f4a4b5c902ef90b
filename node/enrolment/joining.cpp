#include "node/enrolment/joining.h"

#include <algorithm>

#include "base/base64url.h"
#include "base/identity.h"
#include "base/json_codec.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "net/peer_network.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"

namespace witan::node {

namespace {

constexpr std::string_view kPrefix = "witan1.";
constexpr std::size_t kMaxTokenBytes = 8192;
constexpr std::size_t kCheckDigits = 4;

std::string checkOf(std::string_view body) { return toHex(sha256(body)).substr(0, kCheckDigits); }

Error noToken(std::string_view why) {
  return invalid(concat("this is no invitation (", why, ")"), "copy all of what witan device invite printed");
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

struct Hearing {
  std::optional<Result<JoinAnswer>> answer;
  std::string troubles;
  std::string troublesInBrackets() const { return troubles.empty() ? "" : " (" + troubles + ")"; }
};

constexpr std::int64_t kSlowMs = 2'000;

std::string listed(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

}  // namespace

std::string writeToken(const JoinToken& token) {
  const std::string body = toBase64Url(toJson(token));
  return concat(kPrefix, body, ".", checkOf(body));
}

Result<JoinToken> readToken(std::string_view text) {
  if (text.size() > kMaxTokenBytes) return noToken("too long");
  if (!text.starts_with(kPrefix)) return noToken(concat("it does not begin with ", kPrefix));
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

Result<JoinAnswer> askToJoin(const SigningKey& key, const JoinAttempt& attempt) {
  WITAN_TRY(identity, net::tlsIdentityOf(key, deviceIdOf(key.publicKey())));
  net::Loop loop;
  Hearing hearing;
  net::PeerNetwork* network = nullptr;
  net::PeerEvents events;
  events.admit = [&](const net::LinkInfo& info) {
    const Status expected = attempt.expect(info.key);
    if (!expected.ok() && !hearing.answer) hearing.answer = expected.error();
    return expected;
  };
  events.up = [&](const net::LinkInfo& info) {
    network->trust(info.id);
    (void)network->send(info.id, clusterFrame(attempt.request));
  };
  events.frame = [&](net::LinkId, std::string_view frame) {
    JoinAnswer answer;
    const Status read = readClusterFrame(frame, answer);
    if (hearing.answer && hearing.answer->ok()) return;
    hearing.answer = read.ok() ? Result<JoinAnswer>(std::move(answer)) : Result<JoinAnswer>(read.error());
  };
  events.down = [&](net::LinkId, std::string_view reason) { hearing.troubles = std::string(reason); };
  events.log = [&](std::string_view, std::string_view what) { hearing.troubles = std::string(clip(what, 512)); };
  net::PeerNetwork links(loop, identity, {}, std::move(events));
  network = &links;
  for (const std::string& address : attempt.addresses)
    links.dial(address, address, std::nullopt, std::string(net::kJoinPurpose));
  const std::string where = listed(attempt.addresses);
  const auto heard = [&] { return hearing.answer.has_value(); };
  const std::int64_t patience = std::min(kSlowMs, attempt.timeoutMs);
  if (!loop.runUntil(heard, patience)) {
    if (attempt.slow)
      attempt.slow(concat("no answer from ", where, " yet", hearing.troublesInBrackets(), "; trying for ",
                          (attempt.timeoutMs - patience) / 1000, " s more"));
    (void)loop.runUntil(heard, attempt.timeoutMs - patience);
  }
  if (hearing.answer) return *hearing.answer;
  return unavailable("nobody answered at " + where + hearing.troublesInBrackets(),
                     "is the other node up, and can this host reach it?");
}

}  // namespace witan::node
