// Dials: one attempt at a time per name, and a pause that doubles between them.
#include <algorithm>

#include "net/peer_network_impl.h"

namespace witan::net {

void PeerNetwork::Impl::dial(const std::string& name, Dial dial) {
  if (closed) return;
  const auto old = dials.find(name);
  if (old != dials.end()) {
    dial.attempt = old->second.attempt;
    dial.info.link = old->second.info.link;
  }
  auto address = parseAddress(dial.info.address);
  if (address.ok() && (address->host.empty() || address->port == 0))
    address = invalid("a device is dialled at HOST:PORT, not " + dial.info.address);
  if (!address.ok()) {
    dial.info.lastError = address.error().message;
    dial.info.failures = 1;  // it will never be otherwise
    log.say(kDialLog, "no link to " + name + ": " + dial.info.lastError);
  } else {
    dial.address = *address;
  }
  const LinkId abandoned = dial.info.link == 0 ? dial.attempt : 0;
  if (dial.info.link == 0) dial.attempt = 0;
  dials.insert_or_assign(name, std::move(dial));
  if (Link* link = find(abandoned)) link->end("dialled anew");
  tryDial(name);
}

void PeerNetwork::Impl::tryDial(const std::string& name) {
  const auto found = dials.find(name);
  if (found == dials.end() || found->second.attempt != 0 || found->second.address.host.empty()) return;
  Dial& dial = found->second;
  const auto link = newLink();
  dial.attempt = link->info().id;
  link->dial(dial.address, name, dial.purpose, dial.key);
}

// A link that went down soon after it was up counts as a failure: the other end may turn us away only then. So does one
// that carried nothing at its end: the next may do no better.
void PeerNetwork::Impl::dialEnded(const Link& link, const std::string& reason) {
  const auto found = dials.find(link.info().name);
  if (found == dials.end() || found->second.attempt != link.info().id) return;
  Dial& dial = found->second;
  const bool lasted =
      link.wasUp() && !link.wentQuiet() && Loop::nowMs() - link.stats().upSinceMs >= options->heartbeatMs;
  dial.attempt = dial.info.link = 0;
  dial.info.lastError = reason;
  dial.info.failures = lasted ? 1 : dial.info.failures + 1;
  const std::int64_t pause = backoffMs(dial.info.failures);
  dial.retry = std::make_unique<Deadline>(io, [this, name = link.info().name] { tryDial(name); });
  dial.retry->within(pause);
  if (!link.wasUp() && events.missed) events.missed(link.info().name);
}

// first, 2 first, 4 first, ... at most `most`; of it between half and all, so that devices do not call in step.
std::int64_t PeerNetwork::Impl::backoffMs(std::uint64_t failures) {
  std::int64_t pause = std::max<std::int64_t>(1, options->backoffFirstMs);
  for (std::uint64_t i = 1; i < failures && pause < options->backoffMostMs; ++i) pause *= 2;
  pause = std::min(pause, std::max<std::int64_t>(1, options->backoffMostMs));
  return pause - static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(pause / 2 + 1)));
}

}  // namespace witan::net
