// A tool server that speaks the Model Context Protocol, as a program of this node or at an address.
#include <algorithm>
#include <map>
#include <optional>

#include "base/seams.h"
#include "base/utf8.h"
#include "mcp/client.h"
#include "net/child_process.h"
#include "net/event_parser.h"
#include "net/http_client.h"
#include "node/tools/tool_address.h"
#include "node/tools/tool_grant.h"
#include "node/tools/tool_port.h"
#include "program/line_reader.h"

namespace witan::node {

namespace {

constexpr std::int64_t kFirstPauseMs = 500, kLastPauseMs = 60'000;
constexpr std::size_t kMostMessageBytes = 1 << 20;
constexpr unsigned kMostResumed = 100;  // of one stream
constexpr const char* kSessionOver = "the server has ended the session";

ToolAnswer answerOf(const mcp::CallAnswer& from) {
  using From = mcp::CallAnswer::Kind;
  using To = ToolAnswer::Kind;
  switch (from.kind) {
    case From::result: return {To::done, from.content, ""};
    case From::unusable: return {To::unusable, nullptr, from.error};
    case From::toolError:
    case From::refused: return {To::failed, nullptr, from.error};
    case From::notSent: return {To::notDone, nullptr, from.error};
    case From::unanswered: break;
  }
  return {To::uncertain, nullptr, from.error};
}

mcp::Asks asksOf(const ToolConfig& config) {
  if (config.asks == "defaults") return mcp::Asks::defaults;
  return config.asks == "person" ? mcp::Asks::person : mcp::Asks::refuse;
}

// How messages get to the server and back.
class Transport {
 public:
  struct Events {
    std::function<void(std::string_view message)> received;
    std::function<void(std::string_view message, std::string_view why, bool sent)> undelivered;
    std::function<void(std::string why)> ended;
    std::function<std::map<std::string, std::string>(std::string_view message)> headers;  // mcp::Client's
    std::function<std::optional<std::uint64_t>(std::string_view message)> question;
    std::function<bool(std::uint64_t question)> waits;
  };
  virtual ~Transport() = default;
  virtual Status open(Events events) = 0;
  virtual void send(const std::string& message) = 0;
};

class ProgramTransport final : public Transport {
 public:
  explicit ProgramTransport(const PortSetup& setup) : setup_(setup) {}

  Status open(Events events) override {
    events_ = std::make_shared<const Events>(std::move(events));
    net::ChildOptions options{.command = setup_.config.command,
                              .environment = environmentOf(setup_),
                              .network = setup_.config.network,
                              .memoryBytes = static_cast<std::uint64_t>(setup_.config.memoryMb) << 20};
    net::ChildEvents heard{
        .out = [this](std::string_view bytes) { take(bytes); },
        .err = [this](std::string_view bytes) { setup_.say(clip(bytes, 512)); },
        .ended = [this](const std::string& how) { over("the program has ended: " + how); },
    };
    WITAN_TRY(child, net::ChildProcess::start(setup_.loop, std::move(options), std::move(heard)));
    child_ = std::move(child);
    return okStatus();
  }

  void send(const std::string& message) override {
    if (const Status sent = child_->send(message + "\n"); !sent.ok())
      events_->undelivered(message, sent.error().message, false);
  }

 private:
  void over(const std::string& why) {
    const auto events = events_;  // it destroys this
    events->ended(why);
  }

  void take(std::string_view bytes) {
    const auto events = events_;
    const std::weak_ptr<bool> here = alive_;
    while (const auto line = lines_.next(bytes)) {
      if (line->overlong) return over("it sends a message of more than 1 MiB");
      const std::string text(line->text);
      if (!text.empty()) events->received(text);
      if (here.expired()) return;
    }
    if (lines_.passedOver() > kMostMessageBytes) over("it sends a message of more than 1 MiB");
  }

  const PortSetup& setup_;
  std::shared_ptr<const Events> events_;
  LineCutter lines_{kMostMessageBytes};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<net::ChildProcess> child_;
};

// Each message is a request of its own. Its answer is one text, or events; where the stream of events breaks off, it is
// taken up again after the last one (2025-11-25, Resumability), until the caller gives the question up.
class AddressTransport final : public Transport {
 public:
  explicit AddressTransport(const PortSetup& setup) : setup_(setup) {}

  Status open(Events events) override {
    events_ = std::make_shared<const Events>(std::move(events));
    WITAN_TRY(address, toolAddress(setup_.config.url));
    path_ = address.path;
    net::HttpClientOptions options = toolClientOptions(setup_.config);
    options.streamIdleMs = options.timeoutMs;
    client_ = std::make_unique<net::HttpClient>(setup_.loop, address.endpoint, options);
    if (usesOAuth(setup_.config)) WITAN_SET(grant_, readGrant(setup_.config, setup_.secret));
    return okStatus();
  }

  void send(const std::string& message) override {
    post(std::make_shared<Exchange>(message, events_->question(message)));
    if (setup_.config.asks != "refuse" && message == mcp::notification("notifications/initialized")) listen();
  }

 private:
  struct Exchange {
    Exchange(std::string text, std::optional<std::uint64_t> its) : message(std::move(text)), question(its) {}
    std::string message, body;
    std::optional<std::uint64_t> question;
    net::EventParser events{kMostMessageBytes};
    unsigned resumed = 0;
    bool renewed = false;
  };

  void post(const std::shared_ptr<Exchange>& exchange) {
    net::HttpRequest request = requestOf("POST", *exchange);
    request.headers["content-type"] = "application/json";
    request.body = exchange->message;
    run(std::move(request), exchange);
  }

  // What a server of the old era says beside its answers: there it may ask. Again, while the session lasts and the
  // server has such a stream.
  void listen() {
    const auto stream = std::make_shared<Exchange>("", std::nullopt);
    const auto there = std::make_shared<bool>(false);
    net::HttpRequest request = requestOf("GET", *stream);
    request.headers["accept"] = "text/event-stream";
    const std::weak_ptr<bool> here = alive_;
    client_->stream(
        std::move(request),
        [this, here, stream, there](const net::HttpResponse& head, std::string_view piece) {
          if (here.expired() || !head.contentType.starts_with("text/event-stream")) return false;
          *there = true;
          return tell(*stream, piece);
        },
        [this, here, stream, there](const Result<net::HttpResponse>&) {
          if (here.expired() || !*there) return;
          setup_.loop.after(std::clamp<std::int64_t>(stream->events.retryMs().value_or(1'000), 100, kLastPauseMs),
                            [this, here] {
                              if (!here.expired()) listen();
                            });
        });
  }

  // False: the session is over, or it is no stream of events.
  bool tell(Exchange& exchange, std::string_view piece) {
    const auto heard = events_;
    const std::weak_ptr<bool> here = alive_;
    const Status fed = exchange.events.feed(piece, [&](const net::ServerEvent& event) {
      if (!event.data.empty()) heard->received(event.data);
      return !here.expired();
    });
    return fed.ok() && !here.expired();
  }

  net::HttpRequest requestOf(const char* method, const Exchange& exchange) {
    net::HttpRequest request{.method = method, .target = path_};
    request.headers = events_->headers(exchange.message);
    request.headers["accept"] = "application/json, text/event-stream";
    if (!session_.empty()) request.headers["mcp-session-id"] = session_;
    addSecret(request, setup_);
    if (!grant_.accessToken.empty()) request.headers["authorization"] = "Bearer " + grant_.accessToken;
    return request;
  }

  bool wantsLogin(const net::HttpResponse& answer) const {
    const auto challenge = answer.headers.find("www-authenticate");
    const bool scope =
        challenge != answer.headers.end() && challenge->second.find("insufficient_scope") != std::string::npos;
    return usesOAuth(setup_.config) && (answer.status == 401 || (answer.status == 403 && scope));
  }

  // A token that is good no more is renewed where no person is needed. Else the server's challenge is kept for the next
  // login, and nothing was done.
  void refused(const std::shared_ptr<Exchange>& exchange, const net::HttpResponse& answer) {
    if (answer.status == 401 && mcp::canRenew(grant_) && !std::exchange(exchange->renewed, true))
      return renew([this, exchange] { post(exchange); });
    const auto challenge = answer.headers.find("www-authenticate");
    grant_.challenge = challenge == answer.headers.end() ? "" : challenge->second;
    if (answer.status == 401) grant_.accessToken.clear();
    if (const Status kept = writeGrant(setup_.config, grant_, setup_.secret); !kept.ok())
      setup_.say(kept.error().message);
    const std::string why =
        concat("the server wants a login (HTTP ", answer.status, "): witan tool login ", setup_.config.name);
    const auto heard = events_;
    const std::weak_ptr<bool> here = alive_;
    heard->undelivered(exchange->message, why, false);
    if (!here.expired()) heard->ended(why);
  }

  // Once for all exchanges that wait for it: a refresh token may be good for one use.
  void renew(std::function<void()> then) {
    renewing_.push_back(std::move(then));
    if (renewing_.size() > 1) return;
    const auto place = toolAddress(grant_.tokenEndpoint);
    if (!place.ok()) return over(place.error().message);
    tokens_ = std::make_unique<net::HttpClient>(setup_.loop, place->endpoint, toolClientOptions(setup_.config));
    tokens_->request(httpRequestOf(mcp::renewal(grant_), place->path),
                     [this, here = std::weak_ptr<bool>(alive_)](const Result<net::HttpResponse>& answer) {
                       if (!here.expired()) tokenCame(answer);
                     });
  }

  void tokenCame(const Result<net::HttpResponse>& answer) {
    if (!answer.ok()) return over("no token: " + answer.error().message);
    auto next = mcp::renewed(grant_, {answer->status, answer->body}, SystemClock().now().micros / 1'000);
    if (!next.ok()) grant_.refreshToken.clear();  // only a login helps; the next 401 says so
    if (next.ok()) grant_ = *std::move(next);
    if (const Status kept = writeGrant(setup_.config, grant_, setup_.secret); !kept.ok())
      return over(kept.error().message);
    const std::weak_ptr<bool> here = alive_;
    for (const auto& then : std::exchange(renewing_, {}))
      if (!here.expired()) then();
  }

  void over(const std::string& why) {
    const auto heard = events_;  // it destroys this
    heard->ended(why);
  }

  void run(net::HttpRequest request, const std::shared_ptr<Exchange>& exchange) {
    const std::weak_ptr<bool> here = alive_;
    client_->stream(
        std::move(request),
        [this, here, exchange](const net::HttpResponse& head, std::string_view piece) {
          return !here.expired() && heard(*exchange, head, piece);
        },
        [this, here, exchange](const Result<net::HttpResponse>& answer) {
          if (!here.expired()) ended(exchange, answer);
        });
  }

  bool waits(const Exchange& exchange) const { return exchange.question && events_->waits(*exchange.question); }

  // False: enough of it.
  bool heard(Exchange& exchange, const net::HttpResponse& head, std::string_view piece) {
    keepSession(head);
    if (!waits(exchange)) return false;
    if (!head.contentType.starts_with("text/event-stream")) {
      exchange.body += piece;
      return exchange.body.size() <= kMostMessageBytes;
    }
    return tell(exchange, piece);
  }

  void keepSession(const net::HttpResponse& head) {
    if (const auto session = head.headers.find("mcp-session-id"); session != head.headers.end())
      session_ = session->second;
  }

  void ended(const std::shared_ptr<Exchange>& exchange, const Result<net::HttpResponse>& answer) {
    const auto heard = events_;
    const std::string& message = exchange->message;
    if (answer.ok()) keepSession(*answer);
    if (waits(*exchange) && !exchange->events.lastId().empty() && exchange->resumed < kMostResumed)
      return resumeLater(exchange);
    if (!answer.ok())
      return heard->undelivered(message, answer.error().message, answer.error().hint != net::kNothingSent);
    if (wantsLogin(*answer)) return refused(exchange, *answer);
    if (answer->status == 404 && !session_.empty()) {  // the server has forgotten the session, and done nothing
      const std::weak_ptr<bool> here = alive_;
      heard->undelivered(message, kSessionOver, false);
      return here.expired() ? void() : heard->ended(kSessionOver);
    }
    const std::string& text = answer->status / 100 == 2 ? exchange->body : answer->body;
    const std::weak_ptr<bool> here = alive_;
    if (!text.empty() && (answer->status / 100 == 2 || text.find("\"id\"") != std::string::npos)) heard->received(text);
    if (!here.expired()) heard->undelivered(message, concat("no answer to it (HTTP ", answer->status, ")"), true);
  }

  void resumeLater(const std::shared_ptr<Exchange>& exchange) {
    ++exchange->resumed;
    const std::int64_t pause = std::clamp<std::int64_t>(exchange->events.retryMs().value_or(1'000), 0, kLastPauseMs);
    setup_.loop.after(pause, [this, exchange, here = std::weak_ptr<bool>(alive_)] {
      if (here.expired() || !waits(*exchange)) return;
      net::HttpRequest request = requestOf("GET", *exchange);
      request.headers["accept"] = "text/event-stream";
      request.headers["last-event-id"] = exchange->events.lastId();
      run(std::move(request), exchange);
    });
  }

  const PortSetup& setup_;
  std::shared_ptr<const Events> events_;
  std::string path_, session_;
  mcp::OAuthGrant grant_;  // empty: nobody has logged in, or it is not used
  std::vector<std::function<void()>> renewing_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<net::HttpClient> client_, tokens_;
};

class McpPort final : public ToolPort {
 public:
  explicit McpPort(PortSetup setup) : setup_(std::move(setup)) {}
  ~McpPort() override { setup_.loop.cancel(timer_); }

  void call(std::uint64_t key, ToolRequest request, Done done) override {
    if (!reachable()) return done({ToolAnswer::Kind::notDone, nullptr, "the server is down: " + why_});
    calls_.emplace(key, Call{std::move(request), std::move(done)});
    // Before the broker gives it up, who cannot know that nothing was sent.
    setup_.loop.after(setup_.config.timeoutMs * 9 / 10, [this, key, here = std::weak_ptr<bool>(alive_)] {
      if (here.expired()) return;
      const auto at = calls_.find(key);
      if (at != calls_.end() && !at->second.sent)
        finish(key, {ToolAnswer::Kind::notDone, nullptr, "the server does not get ready"});
    });
    wake();
  }

  void cancel(std::uint64_t key) override {
    const auto at = calls_.find(key);
    if (at == calls_.end()) return;
    const bool sent = at->second.sent;
    calls_.erase(at);
    if (!client_ || !sent) return;
    for (const std::string& message : client_->cancel(key)) transport_->send(message);
    std::erase_if(asked_, [&](const auto& one) { return !client_->asks(one.second); });
    std::erase_if(forms_, [&](const auto& one) { return !asked_.contains(one.first); });
  }

  const std::map<std::uint64_t, ToolForm>& forms() const override { return forms_; }

  void answerForm(std::uint64_t number, mcp::FormAction action, json::object content) override {
    const std::uint64_t asked = asked_.extract(number).mapped();
    forms_.erase(number);
    take(client_->answerForm(asked, action, std::move(content)));
  }

  void list(Listed listed) override {
    listeners_.push_back(std::move(listed));
    wake();
  }

 private:
  struct Call {
    ToolRequest request;
    Done done;
    std::int64_t sinceMs = net::Loop::nowMs();
    bool sent = false;
  };

  bool reachable() const { return client_ || net::Loop::nowMs() >= notBeforeMs_; }

  void wake() {
    if (!client_) return begin();
    if (client_->ready()) work();
  }

  void begin() {
    client_.emplace(mcp::ClientOptions{.asks = asksOf(setup_.config)});
    transport_ = setup_.config.url.empty() ? std::unique_ptr<Transport>(new ProgramTransport(setup_))
                                           : std::unique_ptr<Transport>(new AddressTransport(setup_));
    const Status opened = transport_->open(
        {.received = [this](std::string_view text) { take(client_->received(text, net::Loop::nowMs())); },
         .undelivered = [this](std::string_view text, std::string_view why,
                               bool sent) { take(client_->undelivered(text, why, sent, net::Loop::nowMs())); },
         .ended = [this](const std::string& why) { down(why); },
         .headers = [this](std::string_view text) { return client_->headers(text); },
         .question = [this](std::string_view text) { return client_->question(text); },
         .waits = [this](std::uint64_t question) { return client_->waits(question); }});
    if (!opened.ok()) return down(opened.error().message);
    take(client_->start(net::Loop::nowMs()));
  }

  void take(mcp::ClientTurn turn) {
    for (const mcp::CallAnswer& answer : turn.answers) finish(answer.key, answerOf(answer));
    if (!turn.failed.empty()) return down(turn.failed);
    for (mcp::AskedForm& asked : turn.forms) askPerson(std::move(asked));
    const std::uint64_t life = life_;
    for (const std::string& message : turn.out) {
      transport_->send(message);
      if (life != life_) return;
    }
    if (turn.ready) becameReady();
    if (life == life_) armTimer();
  }

  // Until shortly before the broker gives the call up, so that the server still hears that nobody answers. Of a call
  // that is not named: the oldest.
  void askPerson(mcp::AskedForm asked) {
    const std::uint64_t number = nextForm_++;
    const auto call = calls_.find(asked.key);
    setup_.say("it asks a person: " + asked.form.words);
    asked_.emplace(number, asked.number);
    std::int64_t sinceMs = call == calls_.end() ? net::Loop::nowMs() : call->second.sinceMs;
    for (const auto& [key, one] : calls_)
      if (call == calls_.end()) sinceMs = std::min(sinceMs, one.sinceMs);
    const std::int64_t leftMs =
        std::max<std::int64_t>(0, sinceMs + setup_.config.timeoutMs * 8 / 10 - net::Loop::nowMs());
    const Time now = SystemClock().now();
    forms_.emplace(number, ToolForm{std::move(asked.form), call == calls_.end() ? "" : call->second.request.operation,
                                    now, Time{now.micros + leftMs * 1'000}});
    setup_.loop.after(leftMs, [this, number, here = std::weak_ptr<bool>(alive_)] {
      if (!here.expired() && forms_.contains(number)) answerForm(number, mcp::FormAction::cancel, {});
    });
  }

  // A definition that an agent's author has seen is what is called, and no other, until this node starts again.
  void becameReady() {
    for (const auto& [name, tool] : client_->tools()) pins_.emplace(name, tool.definition);
    pauseMs_ = 0;
    work();
  }

  void work() {
    const std::uint64_t life = life_;
    if (!listeners_.empty()) tellListeners();
    std::vector<std::uint64_t> waiting;
    for (const auto& [key, call] : calls_)
      if (!call.sent) waiting.push_back(key);
    for (const std::uint64_t key : waiting) {
      const auto at = calls_.find(key);
      if (life != life_ || at == calls_.end()) return;
      Call& call = at->second;
      const auto tool = client_->tools().find(call.request.operation);
      const auto pin = pins_.find(call.request.operation);
      if (tool != client_->tools().end() && pin != pins_.end() && pin->second != tool->second.definition) {
        finish(key, {ToolAnswer::Kind::failed, nullptr, "the server has changed this tool since the node knows it"});
        continue;
      }
      call.sent = true;
      take(client_->call(key, call.request.operation, argumentsOf(setup_.config, call.request),
                         call.request.operationId));
    }
  }

  void tellListeners() {
    ToolListing listing{client_->server(), client_->version(), {}};
    for (const auto& [name, tool] : client_->tools())
      listing.tools.push_back({name, tool.description, tool.problem, tool.readOnly, tool.idempotent});
    for (const Listed& listed : std::exchange(listeners_, {})) listed(listing);
  }

  void finish(std::uint64_t key, ToolAnswer answer) {
    const auto at = calls_.find(key);
    if (at == calls_.end()) return;
    const Done done = std::move(at->second.done);
    calls_.erase(at);
    done(std::move(answer));
  }

  void armTimer() {
    setup_.loop.cancel(timer_);
    const auto next = client_->nextMs();
    if (!next) return;
    timer_ = setup_.loop.after(std::max<std::int64_t>(1, *next - net::Loop::nowMs()), [this] {
      if (client_) take(client_->tick(net::Loop::nowMs()));
    });
  }

  // The session is over. The next call after a pause begins another.
  void down(const std::string& why) {
    ++life_;
    why_ = why;
    setup_.say("its session is over: " + why);
    setup_.loop.cancel(timer_);
    client_.reset();
    transport_.reset();
    forms_.clear();
    asked_.clear();
    pauseMs_ = std::clamp(pauseMs_ * 2, kFirstPauseMs, kLastPauseMs);
    notBeforeMs_ = net::Loop::nowMs() + pauseMs_;
    for (auto& [key, call] : std::exchange(calls_, {}))
      call.done({call.sent ? ToolAnswer::Kind::uncertain : ToolAnswer::Kind::notDone, nullptr, why});
    for (const Listed& listed : std::exchange(listeners_, {})) listed(unavailable(why));
  }

  const PortSetup setup_;
  std::optional<mcp::Client> client_;
  std::unique_ptr<Transport> transport_;
  std::map<std::uint64_t, Call> calls_;
  std::vector<Listed> listeners_;
  std::map<std::uint64_t, ToolForm> forms_;
  std::map<std::uint64_t, std::uint64_t> asked_;  // their numbers in this session
  // Of another life of the node nobody may answer a form under the number of one of this life.
  std::uint64_t nextForm_ = 1 + SystemRandom().below(std::uint64_t{1} << 48);
  std::map<std::string, Hash, std::less<>> pins_;
  net::Loop::TimerId timer_ = 0;
  std::uint64_t life_ = 0;
  std::int64_t pauseMs_ = 0, notBeforeMs_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::string why_;
};

}  // namespace

std::unique_ptr<ToolPort> mcpPort(PortSetup setup) { return std::make_unique<McpPort>(std::move(setup)); }

}  // namespace witan::node
