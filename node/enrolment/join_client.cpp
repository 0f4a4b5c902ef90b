#include "node/enrolment/join_client.h"

#include <algorithm>

#include "base/utf8.h"
#include "net/peer_network.h"
#include "node/cluster/device_key.h"

namespace witan::node {

namespace {

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
      attempt.slow("no answer from " + where + " yet" + hearing.troublesInBrackets() + "; trying for " +
                   std::to_string((attempt.timeoutMs - patience) / 1000) + " s more");
    (void)loop.runUntil(heard, attempt.timeoutMs - patience);
  }
  if (hearing.answer) return *hearing.answer;
  return Error{ErrorCode::unavailable, "nobody answered at " + where + hearing.troublesInBrackets(),
               "is the other node up, and can this host reach it?"};
}

}  // namespace witan::node
