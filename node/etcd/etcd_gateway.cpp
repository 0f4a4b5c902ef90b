#include "node/etcd/etcd_gateway.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/quote.h"
#include "net/address.h"

namespace witan::node {

namespace {

constexpr std::size_t kConnections = 32;
constexpr std::size_t kMaxQueued = 65'536;
constexpr std::size_t kMaxLine = 16 * 1024 * 1024;
constexpr std::int64_t kConnectMs = 1'000;
constexpr std::int64_t kPauseMs = 50, kMostPauseMs = 1'000;

net::HttpRequest post(EtcdCallText text) {
  net::HttpRequest request{.method = "POST", .target = std::move(text.path)};
  request.headers["content-type"] = "application/json";
  request.body = std::move(text.body);
  return request;
}

net::HttpClientOptions clientOptions(std::int64_t answerMs, std::size_t connections) {
  net::HttpClientOptions options{.maxBodyBytes = kMaxEtcdReplyBytes,
                                 .maxQueued = kMaxQueued,
                                 .connections = connections,
                                 .connectTimeoutMs = std::min(answerMs, kConnectMs),
                                 .timeoutMs = answerMs};
  options.streamIdleMs = 0;  // a quiet watch is no sign; that leases are not answered is one
  return options;
}

}  // namespace

Result<std::vector<net::HttpEndpoint>> etcdEndpoints(const DaemonConfig& config) {
  std::vector<net::HttpEndpoint> endpoints;
  for (std::size_t i = 0; i < config.etcd.size(); ++i) {
    const std::string& url = config.etcd[i];
    const auto wrong = [&](const std::string& why, std::string hint) {
      return config.located("[ledger] etcd", invalid("[ledger] etcd: " + inQuotes(url) + why, std::move(hint)), i);
    };
    net::HttpEndpoint endpoint;
    std::string_view rest = url;
    endpoint.tls = rest.starts_with("https://");
    if (!endpoint.tls && !rest.starts_with("http://"))
      return wrong(" begins with neither http:// nor https://", "http://127.0.0.1:2379");
    rest.remove_prefix(endpoint.tls ? 8 : 7);
    if (rest.ends_with("/")) rest.remove_suffix(1);
    auto address = net::parseAddress(rest);
    if (!address.ok() || address->host.empty())
      return wrong(": " + (address.ok() ? "a Unix socket is not spoken to" : address.error().message),
                   "http://127.0.0.1:2379");
    endpoint.address = net::toText(*address);
    if (endpoint.tls) {
      endpoint.caFile = config.etcdCa;
      endpoint.certFile = config.etcdCert;
      endpoint.keyFile = config.etcdKey;
    }
    endpoints.push_back(std::move(endpoint));
  }
  if (endpoints.empty()) return invalid("[ledger] etcd names no endpoint", "etcd = [\"http://127.0.0.1:2379\"]");
  return endpoints;
}

// What is said and heard between connected() and disconnected(). Callbacks hold on to it weakly: those of a session
// that is over find nothing.
struct EtcdGateway::Session {
  Session(net::Loop& loop, const net::HttpEndpoint& endpoint, std::int64_t answerMs)
      : txns(loop, endpoint, clientOptions(answerMs, kConnections)),
        leases(loop, endpoint, clientOptions(answerMs, 1)),
        watches(loop, endpoint, clientOptions(answerMs, 1)) {}

  net::HttpClient txns, leases, watches;
  bool up = false;
  std::int64_t heardMs = 0;  // an answer to a request
  std::uint64_t watchId = 0;
  EtcdLines lines{kMaxLine};
};

EtcdGateway::EtcdGateway(net::Loop& loop, Log& log, EtcdGatewayOptions options, Events events)
    : loop_(loop), log_(log), options_(std::move(options)), events_(std::move(events)) {
  WITAN_CHECK(!options_.endpoints.empty(), "an endpoint");
}

EtcdGateway::~EtcdGateway() {
  if (again_ != 0) loop_.cancel(again_);
}

// --- sessions

void EtcdGateway::start() { open(); }

void EtcdGateway::open() {
  again_ = 0;
  const net::HttpEndpoint& endpoint = options_.endpoints[endpoint_];
  state_.endpoint = (endpoint.tls ? "https://" : "http://") + endpoint.address;
  session_ = std::make_shared<Session>(loop_, endpoint, options_.answerMs);
  session_->txns.request(post(etcdProbeText()),
                         [this, weak = std::weak_ptr(session_)](const Result<net::HttpResponse>& answer) {
                           if (const auto session = weak.lock(); session && session == session_) onProbe(answer);
                         });
}

void EtcdGateway::onProbe(const Result<net::HttpResponse>& answer) {
  if (!answer.ok()) return fail(answer.error());
  const auto reply = readEtcdProbe(answer->status, answer->body);
  if (!reply.ok()) return fail(reply.error());
  if (isAnother(*reply)) return;
  session_->up = true;
  session_->heardMs = net::Loop::nowMs();
  inRow_ = 0;
  state_.connected = true;
  if (!state_.problem.empty() || state_.connections == 0)
    log_.info("etcd", "connected", {{"endpoint", state_.endpoint}});
  state_.problem.clear();
  ++state_.connections;
  events_.connected();
}

// Revisions of another cluster, or of one that was made anew, mean nothing here: a fence made of them would not hold.
// (A majority never forgets a revision; and a probe is answered by a majority.)
bool EtcdGateway::isAnother(const EtcdReply& reply) {
  if (state_.cluster == 0) state_.cluster = reply.cluster;
  if (reply.cluster == state_.cluster && reply.answer.revision >= revision_) {
    revision_ = reply.answer.revision;
    return false;
  }
  const std::string what =
      reply.cluster == state_.cluster
          ? concat(" has lost its data: its revision went back to ", reply.answer.revision, " from ", revision_)
          : std::string(" is another etcd cluster than the one before");
  fail({ErrorCode::conflict, state_.endpoint + what,
        "check [ledger] etcd; if etcd was replaced on purpose, restart all nodes"});
  return true;
}

void EtcdGateway::fail(const Error& why) {
  const bool wasUp = session_->up;
  loop_.post([over = std::exchange(session_, nullptr)] {});  // it may be calling us just now
  state_.connected = false;
  ++state_.failures;
  ++inRow_;
  trouble(why);
  endpoint_ = (endpoint_ + 1) % options_.endpoints.size();
  // Once around without a pause, then ever slower.
  const std::uint64_t rounds = inRow_ / options_.endpoints.size();
  const std::int64_t pause =
      rounds == 0 ? 1 : std::min(kMostPauseMs, kPauseMs << std::min<std::uint64_t>(rounds - 1, 5));
  again_ = loop_.after(pause, [this] { open(); });
  if (wasUp) events_.disconnected();
}

// Told once, until it is over or another one.
void EtcdGateway::trouble(const Error& why) {
  if (state_.problem == why.message) return;
  const bool fresh = state_.problem.empty();
  state_.problem = why.message;
  if (fresh || why.code != ErrorCode::unavailable)
    log_.warn("etcd", why.message, {{"endpoint", state_.endpoint}, {"hint", why.hint}});
}

// --- requests

void EtcdGateway::send(std::vector<EtcdRequest> requests) {
  if (released_ || !session_ || !session_->up) return;  // the engine asks again when connected
  for (const EtcdRequest& request : requests) {
    ++state_.requests;
    if (request.call == EtcdCall::watch)
      watch(request);
    else
      call(request);
  }
}

void EtcdGateway::call(const EtcdRequest& request) {
  net::HttpRequest text = post(etcdCallText(request));
  state_.bytesOut += text.body.size();
  net::HttpClient& client = request.call == EtcdCall::txn ? session_->txns : session_->leases;
  client.request(std::move(text), [this, weak = std::weak_ptr(session_), expected = EtcdExpected(request),
                                   sent = net::Loop::nowMs()](const Result<net::HttpResponse>& answer) {
    if (const auto session = weak.lock(); session && session == session_) onAnswer(expected, sent, answer);
  });
}

void EtcdGateway::onAnswer(const EtcdExpected& expected, std::int64_t sentMs, const Result<net::HttpResponse>& answer) {
  if (!answer.ok()) {
    ++state_.unanswered;
    const bool late = net::Loop::nowMs() - sentMs >= options_.answerMs;
    if (late && session_->heardMs > sentMs) return;  // slow, and alive
    return fail(answer.error());
  }
  state_.bytesIn += answer->body.size();
  const auto reply = readEtcdReply(expected, answer->status, answer->body);
  if (!reply.ok()) return onRefusal(expected, reply.error());
  // Answers overtake each other, so theirs are no sign.
  revision_ = std::max(revision_, reply->answer.revision);
  session_->heardMs = net::Loop::nowMs();
  onReply(*reply);
}

void EtcdGateway::onReply(const EtcdReply& reply) {
  ++state_.answers;
  if (reply.answer.lease != 0) lease_ = reply.answer.lease;
  if (reply.answer.error == EtcdError::tooLarge) {
    ++state_.tooLarge;
    trouble({ErrorCode::invalidInput, "a batch is larger than etcd takes", "raise its --max-request-bytes"});
  } else if (!state_.problem.empty()) {
    state_.problem.clear();
  }
  events_.received(reply.answer);
}

// Etcd said no. If it lacks a leader another member may have one; whatever else it is will not be better there.
void EtcdGateway::onRefusal(const EtcdExpected& expected, const Error& why) {
  ++state_.refused;
  const auto session = session_;
  trouble(why);
  EtcdAnswer answer{.id = expected.id, .error = EtcdError::unavailable};
  events_.received(answer);
  if (session == session_ && session->heardMs + options_.answerMs < net::Loop::nowMs()) fail(why);
}

// --- the watch

void EtcdGateway::watch(const EtcdRequest& request) {
  session_->watchId = request.id;
  session_->lines = EtcdLines(kMaxLine);
  const auto mine = [this, weak = std::weak_ptr(session_), id = request.id] {
    const auto session = weak.lock();
    return session && session == session_ && session->watchId == id;
  };
  session_->watches.stream(
      post(etcdCallText(request)),
      [this, mine, id = request.id](std::string_view bytes) { return mine() && onWatch(id, bytes); },
      [this, mine](const Status& ended) {
        if (!mine()) return;
        fail(ended.ok() ? unavailable(state_.endpoint + " ended the watch") : ended.error());
      });
}

// False: enough of this stream.
bool EtcdGateway::onWatch(std::uint64_t id, std::string_view bytes) {
  state_.bytesIn += bytes.size();
  const auto session = session_;
  session->lines.put(bytes);
  while (true) {
    const auto line = session->lines.next();
    if (line.ok() && line->empty()) return true;
    const auto reply = line.ok() ? readEtcdWatch(id, *line) : Result<EtcdReply>(line.error());
    if (!reply.ok()) return fail(reply.error()), false;
    const bool over = reply->answer.error != EtcdError::none;
    if (over) session->watchId = 0;
    state_.events += reply->answer.changes.size();
    if (over || !reply->answer.changes.empty()) events_.received(reply->answer);
    if (over || session != session_ || session->watchId != id) return false;
  }
}

// --- the end

void EtcdGateway::release() {
  if (std::exchange(released_, true)) return;
  if (again_ != 0) loop_.cancel(again_);
  again_ = 0;
  if (!session_ || !session_->up) return;
  session_->watchId = 0;
  if (lease_ != 0) session_->leases.request(post(etcdRevokeText(lease_)), [](const Result<net::HttpResponse>&) {});
}

}  // namespace witan::node
