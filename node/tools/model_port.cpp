// A model at an address. What a call may cost is charged before it (the tool's `tokens`), what it did cost after it.
#include <charconv>
#include <map>

#include "base/utf8.h"
#include "net/http_client.h"
#include "node/tools/model_wire.h"
#include "node/tools/tool_address.h"
#include "node/tools/tool_port.h"

namespace witan::node {

namespace {

constexpr int kMostTries = 4;
constexpr std::int64_t kFirstWaitMs = 500, kMostWaitMs = 20'000;

class ModelPort final : public ToolPort {
 public:
  explicit ModelPort(PortSetup setup) : setup_(std::move(setup)), format_(modelFormat(setup_.config.format)) {
    auto address = toolAddress(setup_.config.url);
    if (!address.ok()) {
      problem_ = address.error().message;
      return;
    }
    path_ = concat(address->path == "/" ? "" : address->path, modelPath(format_));
    client_ = std::make_unique<net::HttpClient>(setup_.loop, address->endpoint, toolClientOptions(setup_.config));
  }
  ~ModelPort() override {
    for (const auto& [key, call] : calls_) setup_.loop.cancel(call.timer);
  }

  void call(std::uint64_t key, ToolRequest request, Done done) override {
    if (!client_) return done({ToolAnswer::Kind::failed, nullptr, problem_});
    Call call{std::move(done), canonicalJson(modelRequest(format_, setup_.config.model, request.arguments))};
    calls_.emplace(key, std::move(call));
    send(key);
  }

  void cancel(std::uint64_t key) override {
    const auto call = calls_.extract(key);
    if (!call.empty()) setup_.loop.cancel(call.mapped().timer);
  }

 private:
  struct Call {
    Done done;
    std::string body;
    int tries = 0;
    net::Loop::TimerId timer = 0;
  };

  void send(std::uint64_t key) {
    Call& call = calls_.at(key);
    ++call.tries;
    net::HttpRequest request{.method = "POST", .target = path_};
    request.headers = {{"content-type", "application/json"}};
    if (format_ == ModelFormat::anthropic) request.headers["anthropic-version"] = "2023-06-01";
    addSecret(request, setup_);
    request.body = call.body;
    client_->request(std::move(request), [this, key](Result<net::HttpResponse> answer) { took(key, answer); });
  }

  void took(std::uint64_t key, const Result<net::HttpResponse>& answer) {
    if (!calls_.contains(key)) return;
    if (answer.ok() && answer->status / 100 == 2) {
      auto reply = modelReply(format_, answer->contentType, answer->body);
      if (!reply.ok()) return finish(key, {ToolAnswer::Kind::failed, nullptr, reply.error().message});
      return finish(key, {ToolAnswer::Kind::done, std::move(reply->answer), "", reply->tokens});
    }
    Call& call = calls_.at(key);
    if (mayPass(answer) && call.tries < kMostTries) {
      call.timer = setup_.loop.after(waitMs(answer, call.tries), [this, key] { send(key); });
      return;
    }
    if (!answer.ok()) return finish(key, {ToolAnswer::Kind::failed, nullptr, answer.error().message});
    const std::string_view words = isUtf8(answer->body) ? clip(answer->body, 400) : std::string_view();
    finish(key, {ToolAnswer::Kind::failed, nullptr, concat("HTTP ", answer->status, ": ", words)});
  }

  static bool mayPass(const Result<net::HttpResponse>& answer) {
    if (!answer.ok()) return answer.error().code == ErrorCode::unavailable;
    const int status = answer->status;
    return status == 408 || status == 409 || status == 429 || status / 100 == 5;
  }

  // As the server says, within reason; else longer each time.
  static std::int64_t waitMs(const Result<net::HttpResponse>& answer, int tries) {
    const std::int64_t own = kFirstWaitMs << (tries - 1);
    if (!answer.ok()) return own;
    const auto said = answer->headers.find("retry-after");
    std::int64_t seconds = 0;
    if (said != answer->headers.end())
      std::from_chars(said->second.data(), said->second.data() + said->second.size(), seconds);
    return std::min(std::max(own, std::min<std::int64_t>(std::max<std::int64_t>(seconds, 0), 3'600) * 1'000),
                    kMostWaitMs);
  }

  void finish(std::uint64_t key, ToolAnswer answer) {
    const auto call = calls_.extract(key);
    call.mapped().done(std::move(answer));
  }

  const PortSetup setup_;
  const ModelFormat format_;
  std::string path_, problem_;
  std::map<std::uint64_t, Call> calls_;
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace

std::unique_ptr<ToolPort> modelPort(PortSetup setup) { return std::make_unique<ModelPort>(std::move(setup)); }

}  // namespace witan::node
