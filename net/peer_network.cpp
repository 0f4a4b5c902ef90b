#include "net/peer_network.h"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <list>
#include <map>

#include "base/quote.h"
#include "base/seams.h"
#include "net/link.h"
#include "net/pipe_impl.h"
#include "net/sockets.h"
#include "net/tls_context.h"

namespace witan::net {
namespace {

using asio::ip::tcp;

constexpr std::int64_t kLogWindowMs = 10'000;
constexpr std::uint64_t kLogLines = 20;
std::uint64_t seedOr(std::uint64_t seed) { return seed != 0 ? seed : SystemRandom().next(); }

std::string nameOf(const Link& link) {
  const std::string whom =
      link.info().name.empty() ? link.info().address : link.info().name + " at " + link.info().address;
  return (link.info().dialled ? "to " : "from ") + whom;
}

// A device that is off must not use up the lines of a stranger that knocks: its failed dials are not counted.
constexpr std::string_view kDialLog = "dial";

// At most so many lines in a while, then one that counts the rest; kDialLog passes.
class RateLimitedLog {
 public:
  explicit RateLimitedLog(std::function<void(std::string_view, std::string_view)> log) : log_(std::move(log)) {}

  void say(std::string_view level, const std::string& what) {
    if (log_ && (level == kDialLog || takes())) log_(level, what);
  }
  // One more line, which is counted.
  bool takes() {
    if (!log_) return false;
    const std::int64_t now = Loop::nowMs();
    if (now - windowStart_ >= kLogWindowMs) {
      if (inWindow_ > kLogLines) log_("warning", std::to_string(inWindow_ - kLogLines) + " more lines were left out");
      windowStart_ = now;
      inWindow_ = 0;
    }
    return ++inWindow_ <= kLogLines;
  }

 private:
  std::function<void(std::string_view, std::string_view)> log_;
  std::int64_t windowStart_ = 0;
  std::uint64_t inWindow_ = 0;
};

struct Dial {
  DialInfo info;
  Address address;
  std::optional<PublicKey> key;
  std::string purpose;
  LinkId attempt = 0;  // the link that is up or being tried; 0: waiting
  std::unique_ptr<Deadline> retry;
};

}  // namespace

struct PeerNetwork::Impl final : LinkOwner {
  Impl(Loop& loop, const TlsIdentity& identity, PeerNetworkOptions settings, PeerEvents callbacks);
  ~Impl() override;

  // LinkOwner
  Status onHandshake(Link& link) override;
  void onUp(Link& link) override;
  void onFrame(Link& link, std::string_view frame) override;
  bool knowsFrame(const Link& link, std::uint8_t type) override;
  void onRoom(Link& link) override;
  void onEnd(Link& link, const std::string& reason) override;

  std::shared_ptr<Link> newLink();
  Link* find(LinkId id) const;  // nullptr: none, or ended
  std::size_t linksAdmitted() const;
  void closeAll(std::string_view reason);

  // Accepting, and the limits for those who have not proven yet who they are.
  Result<std::string> listen(const std::string& address);
  void acceptNext(tcp::acceptor& acceptor);
  void accepted(tcp::socket socket);
  void makeRoomFor(const std::string& address);
  Result<std::unique_ptr<Pipe>> carry(const CarriedLink& carried, PipeEvents pipeEvents);

  // One attempt at a time per name, and a pause that doubles between them.
  void dial(const std::string& name, Dial dial);
  void tryDial(const std::string& name);
  void dialEnded(const Link& link, const std::string& reason);
  std::int64_t backoffMs(std::uint64_t failures);

  asio::io_context& io;
  std::shared_ptr<const PeerNetworkOptions> options;
  PeerEvents events;
  RateLimitedLog log;
  SeededRandom random;
  std::shared_ptr<asio::ssl::context> context;
  std::map<LinkId, std::shared_ptr<Link>> all;
  std::map<LinkId, std::string> handshakes;  // accepted, not up yet, by age: whom a limit per address is for
  std::map<std::string, Dial> dials;
  std::list<tcp::acceptor> acceptors;
  std::shared_ptr<Impl*> self = std::make_shared<Impl*>(this);  // for handlers that may outlive it
  LinkId lastId = 0;
  bool closed = false;
};

PeerNetwork::Impl::Impl(Loop& loop, const TlsIdentity& identity, PeerNetworkOptions settings, PeerEvents callbacks)
    : io(loop.impl().io),
      options(std::make_shared<const PeerNetworkOptions>(std::move(settings))),
      events(std::move(callbacks)),
      log(events.log),
      random(seedOr(options->seed)),
      context(deviceContext(identity, options->purposes)) {}

PeerNetwork::Impl::~Impl() {
  *self = nullptr;
  for (auto& [id, link] : all) link->abandon();
}

std::shared_ptr<Link> PeerNetwork::Impl::newLink() {
  const LinkId id = ++lastId;
  return all.emplace(id, std::make_shared<Link>(io, *this, options, context, id)).first->second;
}

Link* PeerNetwork::Impl::find(LinkId id) const {
  const auto found = all.find(id);
  return found == all.end() || found->second->state() == Link::State::ended ? nullptr : found->second.get();
}

std::size_t PeerNetwork::Impl::linksAdmitted() const {
  std::size_t count = 0;
  for (const auto& [id, link] : all) count += link->admitted() ? 1 : 0;
  return count;
}

Status PeerNetwork::Impl::onHandshake(Link& link) {
  if (closed) return Error{ErrorCode::unavailable, "shutting down", ""};
  if (linksAdmitted() >= options->maxLinks)
    return Error{ErrorCode::unavailable, "too many links (" + std::to_string(options->maxLinks) + ")", ""};
  return events.admit ? events.admit(link.info()) : okStatus();
}

void PeerNetwork::Impl::onUp(Link& link) {
  handshakes.erase(link.info().id);
  if (const auto dial = dials.find(link.info().name); dial != dials.end() && dial->second.attempt == link.info().id)
    dial->second.info.link = link.info().id;
  if (events.up) events.up(link.info());
}

void PeerNetwork::Impl::onFrame(Link& link, std::string_view frame) {
  if (events.frame) events.frame(link.info().id, frame);
}

bool PeerNetwork::Impl::knowsFrame(const Link& link, std::uint8_t type) {
  return !events.knowsFrame || events.knowsFrame(link.info().purpose, type);
}

void PeerNetwork::Impl::onRoom(Link& link) {
  if (events.room) events.room(link.info().id);
}

void PeerNetwork::Impl::onEnd(Link& link, const std::string& reason) {
  const auto kept = link.shared_from_this();
  const LinkInfo info = link.info();
  handshakes.erase(info.id);
  all.erase(info.id);
  if (!link.wasUp()) log.say(info.dialled ? kDialLog : "warning", "no link " + nameOf(link) + ": " + reason);
  if (info.dialled) dialEnded(link, reason);
  if (link.wentQuiet() && events.quiet) events.quiet(info.id);
  if (link.wasUp() && events.down) events.down(info.id, reason);
}

void PeerNetwork::Impl::closeAll(std::string_view reason) {
  closed = true;
  acceptors.clear();
  dials.clear();
  for (auto& [id, link] : all) link->close(std::string(reason));
}

Result<std::string> PeerNetwork::Impl::listen(const std::string& address) {
  WITAN_TRY(parsed, parseAddress(address));
  if (parsed.host.empty()) return invalid("devices listen on HOST:PORT, not on " + address);
  WITAN_TRY(acceptor, listenTcp(io, parsed, true));
  acceptors.push_back(std::move(acceptor));
  acceptNext(acceptors.back());
  return boundAddress(acceptors.back());
}

void PeerNetwork::Impl::acceptNext(tcp::acceptor& acceptor) {
  acceptor.async_accept([this, &acceptor, weak = std::weak_ptr(self)](const ErrorCodeOf& error, tcp::socket socket) {
    if (weak.expired() || closed || error == asio::error::operation_aborted) return;
    if (!error) {
      accepted(std::move(socket));
      return acceptNext(acceptor);
    }
    log.say("warning", "accepting failed (" + error.message() + ")");
    auto pause = std::make_shared<asio::steady_timer>(io, std::chrono::milliseconds(kAcceptPauseMs));
    pause->async_wait([this, &acceptor, weak, pause](const ErrorCodeOf&) {
      if (!weak.expired() && !closed) acceptNext(acceptor);
    });
  });
}

void PeerNetwork::Impl::accepted(tcp::socket socket) {
  if (closed) return;
  Socket any(std::move(socket));
  closeOnExec(any.native_handle());
  withoutDelay(any);
  makeRoomFor(limitedBy(any));
  const auto link = newLink();
  link->accept(std::move(any));
  handshakes[link->info().id] = link->limitedBy();
}

// Bytes that others carry are a connection like any other, and who carries them has no more of them at a time than an
// address.
Result<std::unique_ptr<Pipe>> PeerNetwork::Impl::carry(const CarriedLink& carried, PipeEvents pipeEvents) {
  if (closed) return Error{ErrorCode::unavailable, "shutting down", ""};
  WITAN_TRY(made, connectedPipe(io, std::move(pipeEvents)));
  const bool accepts = carried.name.empty();
  if (accepts) makeRoomFor("via " + carried.via);
  const auto link = newLink();
  link->carry(std::move(made.links), carried);
  if (accepts) handshakes[link->info().id] = link->limitedBy();
  return std::move(made.pipe);
}

// One more would be too many: the oldest of that address goes, or of the address that has most. So whoever opens
// connections and says nothing stands in his own way, and a good one, done in milliseconds, comes through.
void PeerNetwork::Impl::makeRoomFor(const std::string& address) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [id, from] : handshakes) ++counts[from];
  std::string fullest;
  if (counts[address] >= options->maxHandshakesPerAddress) {
    fullest = address;
  } else if (handshakes.size() >= options->maxHandshakes) {
    for (const auto& [from, count] : counts)
      if (fullest.empty() || count > counts[fullest]) fullest = from;
  }
  if (fullest.empty()) return;
  for (const auto& [id, from] : handshakes) {
    if (from != fullest) continue;
    const LinkId oldest = id;
    handshakes.erase(oldest);
    if (Link* link = find(oldest)) link->end("too many handshakes from " + fullest + " at a time");
    return;
  }
}

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

PeerNetwork::PeerNetwork(Loop& loop, const TlsIdentity& identity, PeerNetworkOptions options, PeerEvents events)
    : impl_(std::make_shared<Impl>(loop, identity, std::move(options), std::move(events))) {}

PeerNetwork::~PeerNetwork() = default;

Result<std::string> PeerNetwork::listen(const std::string& address) { return impl_->listen(address); }

void PeerNetwork::dial(const std::string& name, const std::string& address, std::optional<PublicKey> key,
                       const std::string& purpose) {
  Dial dial;
  dial.info.name = name;
  dial.info.address = address;
  dial.key = key;
  dial.purpose = purpose;
  impl_->dial(name, std::move(dial));
}

void PeerNetwork::undial(const std::string& name) {
  const auto found = impl_->dials.find(name);
  if (found == impl_->dials.end()) return;
  const LinkId attempt = found->second.info.link == 0 ? found->second.attempt : 0;
  impl_->dials.erase(found);
  if (Link* link = impl_->find(attempt)) link->end("not dialled any more");
}

Result<std::unique_ptr<Pipe>> PeerNetwork::carry(const CarriedLink& link, PipeEvents events) {
  return impl_->carry(link, std::move(events));
}

void PeerNetwork::trust(LinkId link) {
  if (Link* found = impl_->find(link)) found->trust();
}

void PeerNetwork::probe(LinkId link) {
  if (Link* found = impl_->find(link)) found->probe();
}

bool PeerNetwork::send(LinkId link, std::string frames) {
  Link* found = impl_->find(link);
  return found != nullptr && found->send(std::move(frames));
}

std::size_t PeerNetwork::queuedBytes(LinkId link) const {
  const Link* found = impl_->find(link);
  return found == nullptr ? 0 : found->queuedBytes();
}

void PeerNetwork::close(LinkId link, std::string_view reason) {
  if (Link* found = impl_->find(link)) found->close(std::string(reason));
}

void PeerNetwork::drop(LinkId link) {
  if (Link* found = impl_->find(link)) found->end("dropped");
}

void PeerNetwork::close(std::string_view reason) { impl_->closeAll(reason); }

void PeerNetwork::setIdentity(const TlsIdentity& identity) {
  impl_->context = deviceContext(identity, impl_->options->purposes);
}

bool PeerNetwork::mayLog() { return impl_->log.takes(); }

std::vector<LinkInfo> PeerNetwork::links() const {
  std::vector<LinkInfo> infos;
  for (const auto& [id, link] : impl_->all)
    if (link->state() == Link::State::up) infos.push_back(link->info());
  return infos;
}

std::vector<DialInfo> PeerNetwork::dials() const {
  std::vector<DialInfo> infos;
  for (const auto& [name, dial] : impl_->dials) infos.push_back(dial.info);
  return infos;
}

std::optional<LinkStats> PeerNetwork::stats(LinkId link) const {
  const Link* found = impl_->find(link);
  return found == nullptr ? std::nullopt : std::optional(found->stats());
}

bool PeerNetwork::quiet(LinkId link) const {
  const Link* found = impl_->find(link);
  return found != nullptr && found->isQuiet();
}

}  // namespace witan::net
