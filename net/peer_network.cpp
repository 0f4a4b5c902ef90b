#include "net/peer_network.h"

#include "base/quote.h"
#include "net/peer_network_impl.h"
#include "net/tls_context.h"

namespace witan::net {
namespace {

constexpr std::int64_t kLogWindowMs = 10'000;
constexpr std::uint64_t kLogLines = 20;

std::uint64_t seedOr(std::uint64_t seed) { return seed != 0 ? seed : SystemRandom().next(); }

std::string nameOf(const Link& link) {
  const std::string whom =
      link.info().name.empty() ? link.info().address : link.info().name + " at " + link.info().address;
  return (link.info().dialled ? "to " : "from ") + whom;
}

}  // namespace

void RateLimitedLog::say(std::string_view level, const std::string& what) {
  if (log_ && (level == kDialLog || takes())) log_(level, what);
}

bool RateLimitedLog::takes() {
  if (!log_) return false;
  const std::int64_t now = Loop::nowMs();
  if (now - windowStart_ >= kLogWindowMs) {
    if (inWindow_ > kLogLines) log_("warning", std::to_string(inWindow_ - kLogLines) + " more lines were left out");
    windowStart_ = now;
    inWindow_ = 0;
  }
  return ++inWindow_ <= kLogLines;
}

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
