// A tool server that speaks the Model Context Protocol, as a program of this node or at an address.
#include <algorithm>
#include <map>
#include <optional>

#include "base/utf8.h"
#include "mcp/client.h"
#include "net/child_process.h"
#include "net/event_parser.h"
#include "net/http_client.h"
#include "node/tools/tool_address.h"
#include "node/tools/tool_port.h"
#include "program/line_reader.h"

namespace witan::node {

namespace {

constexpr std::int64_t kFirstPauseMs = 500, kLastPauseMs = 60'000;
constexpr std::size_t kMostMessageBytes = 1 << 20;

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

// How messages get to the server and back.
class Transport {
 public:
  struct Events {
    std::function<void(std::string_view message)> received;
    std::function<void(std::string_view message, std::string_view why, bool sent)> undelivered;
    std::function<void(std::string why)> ended;
  };
  virtual ~Transport() = default;
  virtual Status open(Events events) = 0;
  virtual void send(const std::string& message, const std::string& version) = 0;
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

  void send(const std::string& message, const std::string&) override {
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

class AddressTransport final : public Transport {
 public:
  explicit AddressTransport(const PortSetup& setup) : setup_(setup) {}

  Status open(Events events) override {
    events_ = std::make_shared<const Events>(std::move(events));
    WITAN_TRY(address, toolAddress(setup_.config.url));
    path_ = address.path;
    client_ = std::make_unique<net::HttpClient>(setup_.loop, address.endpoint, toolClientOptions(setup_.config));
    return okStatus();
  }

  // Each message is a request of its own; so are its answers, as one text or as events.
  void send(const std::string& message, const std::string& version) override {
    net::HttpRequest request{.method = "POST", .target = path_};
    request.body = message;
    request.headers = {{"content-type", "application/json"}, {"accept", "application/json, text/event-stream"}};
    addSecret(request, setup_);
    const auto parsed = parseJson(message, {.bytes = kMostMessageBytes, .depth = 64});
    if (!version.empty()) request.headers["mcp-protocol-version"] = version;
    if (parsed.ok() && parsed->is_object() && mcp::versionIn(parsed->get_object()) == mcp::kModern) {
      const json::object& object = parsed->get_object();
      request.headers["mcp-protocol-version"] = mcp::kModern;  // also of the first question, before one is agreed on
      request.headers["mcp-method"] = mcp::textIn(object, "method");
      const json::object* params = mcp::objectIn(object, "params");
      if (params != nullptr && mcp::textIn(object, "method") == "tools/call")
        request.headers["mcp-name"] = mcp::textIn(*params, "name");
    }
    if (!session_.empty()) request.headers["mcp-session-id"] = session_;
    client_->request(std::move(request), [this, message](Result<net::HttpResponse> answer) { took(message, answer); });
  }

 private:
  void took(const std::string& message, const Result<net::HttpResponse>& answer) {
    const auto heard = events_;
    if (!answer.ok())
      return heard->undelivered(message, answer.error().message, answer.error().hint != net::kNothingSent);
    if (const auto session = answer->headers.find("mcp-session-id"); session != answer->headers.end())
      session_ = session->second;
    const std::weak_ptr<bool> here = alive_;
    if (answer->status / 100 == 2 || answer->body.find("\"id\"") != std::string::npos) {
      if (answer->contentType.starts_with("text/event-stream")) {
        net::EventParser events(kMostMessageBytes);
        (void)events.feed(answer->body, [&](const net::ServerEvent& event) {
          heard->received(event.data);
          return !here.expired();
        });
      } else if (!answer->body.empty()) {
        heard->received(answer->body);
      }
    }
    if (!here.expired()) heard->undelivered(message, concat("no answer to it (HTTP ", answer->status, ")"), true);
  }

  const PortSetup& setup_;
  std::shared_ptr<const Events> events_;
  std::string path_, session_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<net::HttpClient> client_;
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
    for (const std::string& message : client_->cancel(key)) transport_->send(message, client_->version());
  }

  void list(Listed listed) override {
    listeners_.push_back(std::move(listed));
    wake();
  }

 private:
  struct Call {
    ToolRequest request;
    Done done;
    bool sent = false;
  };

  bool reachable() const { return client_ || net::Loop::nowMs() >= notBeforeMs_; }

  void wake() {
    if (!client_) return begin();
    if (client_->ready()) work();
  }

  void begin() {
    client_.emplace();
    transport_ = setup_.config.url.empty() ? std::unique_ptr<Transport>(new ProgramTransport(setup_))
                                           : std::unique_ptr<Transport>(new AddressTransport(setup_));
    const Status opened = transport_->open(
        {.received = [this](std::string_view text) { take(client_->received(text, net::Loop::nowMs())); },
         .undelivered = [this](std::string_view text, std::string_view why,
                               bool sent) { take(client_->undelivered(text, why, sent, net::Loop::nowMs())); },
         .ended = [this](const std::string& why) { down(why); }});
    if (!opened.ok()) return down(opened.error().message);
    take(client_->start(net::Loop::nowMs()));
  }

  void take(mcp::ClientTurn turn) {
    for (const mcp::CallAnswer& answer : turn.answers) finish(answer.key, answerOf(answer));
    if (!turn.failed.empty()) return down(turn.failed);
    const std::uint64_t life = life_;
    for (const std::string& message : turn.out) {
      transport_->send(message, client_->version());
      if (life != life_) return;
    }
    if (turn.ready) becameReady();
    if (life == life_) armTimer();
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
