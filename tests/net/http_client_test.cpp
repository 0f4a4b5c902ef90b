// The HTTP client: blocking calls, TLS with an authority, servers that answer badly or not at all.
#include "net/http_client.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "net/http_server.h"
#include "tests/net/proxy.h"
#include "tests/net/stranger.h"

namespace witan::http_client_test {
namespace {

using namespace witan::net;
using net::test::Proxy;
using net::test::Stranger;
using net::test::StrangerSettings;
constexpr std::int64_t kPatience = 20'000;

// A server on a loop of its own, in a thread of its own: for blocking callers.
class ServerThread {
 public:
  explicit ServerThread(HttpHandler handler) : server_(loop_, {}, std::move(handler)) {
    address = *server_.listen("127.0.0.1:0");
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~ServerThread() {
    loop_.stop();
    thread_.join();
  }
  std::string address;

 private:
  Loop loop_;
  HttpServer server_;
  std::thread thread_;
};

TEST(HttpCallTest, AnswersAndErrors) {
  const ServerThread server([](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    reply->answer({request.path == "/" ? 200 : 404, "text/plain", {}, request.method});
  });
  auto answer = httpCall({server.address}, {}, kPatience);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "GET");
  HttpRequest missing;
  missing.method = "HEAD";
  missing.target = "/missing";
  answer = httpCall({server.address}, missing, kPatience);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(answer->headers.at("content-length"), "4");

  answer = httpCall({"127.0.0.1:1"}, {}, kPatience);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_NE(answer.error().message.find("nobody answers at 127.0.0.1:1"), std::string::npos);
  EXPECT_EQ(httpCall({"nonsense"}, {}, kPatience).error().code, ErrorCode::invalidInput);
  EXPECT_EQ(httpCall({"unix:/nobody/here"}, {}, kPatience).error().code, ErrorCode::unavailable);
}

TEST(HttpCallTest, AServerThatDoesNotAnswerInTime) {
  std::vector<std::shared_ptr<HttpReply>> kept;
  const ServerThread server(
      [&](const HttpRequest&, std::shared_ptr<HttpReply> reply) { kept.push_back(std::move(reply)); });
  const auto answer = httpCall({server.address}, {}, 50);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_EQ(answer.error().message, server.address + ": no answer within 50 ms");
}

TEST(HttpStreamCallTest, UntilTheReaderHasEnough) {
  const ServerThread server([](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    if (request.path != "/events") return reply->answer({403, "text/plain", {}, "not for you"});
    const auto stream = reply->stream({});
    for (int i = 0; i < 10; ++i) stream->send("", std::to_string(i));
  });
  HttpRequest request;
  request.target = "/events";
  std::string got;
  auto end = httpStream({server.address}, request, [&](std::string_view chunk) {
    got += chunk;
    return got.find("data: 9\n\n") == std::string::npos;
  });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->status, 200);
  EXPECT_EQ(end->contentType, "text/event-stream");
  EXPECT_EQ(got.substr(0, 18), "data: 0\n\ndata: 1\n\n");

  end = httpStream({server.address}, {}, [](std::string_view) {
    ADD_FAILURE() << "no chunk of a refusal";
    return true;
  });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->status, 403);
  EXPECT_EQ(end->body, "not for you");
}

struct HttpClientTest : ::testing::Test {
  Result<HttpResponse> call(HttpClient& client, HttpRequest request = {}) {
    std::optional<Result<HttpResponse>> answer;
    client.request(std::move(request), [&](Result<HttpResponse> got) { answer = std::move(got); });
    const std::int64_t end = Loop::nowMs() + kPatience;
    while (!answer && Loop::nowMs() < end) loop.runUntil([&] { return answer.has_value(); }, 2);
    return answer ? *answer : Result<HttpResponse>(Error{ErrorCode::ioFailed, "never", ""});
  }
  // What a client makes of a server that says these bytes and closes.
  Result<HttpResponse> answerTo(const std::string& bytes) {
    StrangerSettings settings;
    settings.plain = true;
    settings.say = bytes;
    settings.closes = true;
    Stranger stranger(loop, settings);
    HttpClient client(loop, {stranger.address()});
    return call(client);
  }

  Loop loop;
};

TEST_F(HttpClientTest, AnswersOfAllKinds) {
  EXPECT_EQ(answerTo("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")->body, "ab");
  EXPECT_EQ(answerTo("HTTP/1.1 200 OK\r\n\r\nuntil the end")->body, "until the end");
  EXPECT_EQ(answerTo("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n")->body, "ab");
  EXPECT_EQ(
      answerTo("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")->status,
      204);
  const auto repeated = answerTo("HTTP/1.1 200 OK\r\nX: a\r\nx: b\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(repeated->headers.at("x"), "a, b");
}

TEST_F(HttpClientTest, AnswersThatAreNone) {
  const std::pair<const char*, ErrorCode> cases[] = {
      {"", ErrorCode::unavailable},
      {"HTTP/1.1 200 OK\r\nContent-Le", ErrorCode::unavailable},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", ErrorCode::unavailable},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", ErrorCode::unavailable},
      {"SSH-2.0-OpenSSH\r\n\r\n", ErrorCode::invalidInput},
      {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", ErrorCode::invalidInput},
  };
  for (const auto& [bytes, code] : cases) {
    const auto answer = answerTo(bytes);
    ASSERT_FALSE(answer.ok()) << bytes;
    EXPECT_EQ(answer.error().code, code) << bytes << answer.error().message;
  }
}

TEST_F(HttpClientTest, AKeptConnectionThatTheServerClosedIsNotUsedAgain) {
  HttpServerOptions options;
  options.idleTimeoutMs = 1;
  HttpServer server(loop, options, [](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    reply->answer({200, "text/plain", {}, request.body});
  });
  HttpClient client(loop, {*server.listen("127.0.0.1:0")});
  for (int i = 0; i < 3; ++i) {
    HttpRequest request;
    request.method = "POST";
    request.body = std::to_string(i);
    const auto answer = call(client, request);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, request.body);
    EXPECT_TRUE(loop.runUntil([&] { return server.connections() == 0; }, kPatience));
  }
}

TEST_F(HttpClientTest, ManyAtOnceOverSeveralConnectionsAndABoundedQueue) {
  std::set<std::string> remotes;
  HttpServer server(loop, {}, [&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    remotes.insert(request.remote);
    reply->answer({200, "text/plain", {}, request.path});
  });
  HttpClientOptions options;
  options.connections = 4;
  options.maxQueued = 100;
  HttpClient client(loop, {*server.listen("127.0.0.1:0")}, options);
  int answered = 0, refused = 0;
  for (int i = 0; i < 120; ++i) {
    HttpRequest request;
    request.target = "/" + std::to_string(i);
    client.request(request, [&, target = request.target](Result<HttpResponse> answer) {
      if (answer.ok()) {
        EXPECT_EQ(answer->body, target);
      }
      ++(answer.ok() ? answered : refused);
    });
  }
  EXPECT_TRUE(loop.runUntil([&] { return answered + refused == 120; }, kPatience));
  EXPECT_EQ(refused, 20);
  EXPECT_EQ(remotes.size(), 4u);
}

TEST_F(HttpClientTest, CloseFailsWhateverWaits) {
  std::shared_ptr<HttpReply> kept;
  HttpServer server(loop, {}, [&](const HttpRequest&, std::shared_ptr<HttpReply> reply) { kept = std::move(reply); });
  HttpClient client(loop, {*server.listen("127.0.0.1:0")});
  std::vector<std::string> failures;
  for (int i = 0; i < 3; ++i)
    client.request({},
                   [&](Result<HttpResponse> answer) { failures.push_back(answer.ok() ? "" : answer.error().message); });
  std::optional<Status> end;
  client.stream(
      {}, [](std::string_view) { return true; }, [&](Status status) { end = status; });
  EXPECT_TRUE(loop.runUntil([&] { return kept != nullptr; }, kPatience));
  client.close();
  EXPECT_TRUE(loop.runUntil([&] { return failures.size() == 3 && end.has_value(); }, kPatience));
  for (const std::string& failure : failures) EXPECT_NE(failure.find("closed"), std::string::npos) << failure;
  EXPECT_FALSE(end->ok());
}

TEST_F(HttpClientTest, ATimeoutIsOfOneRequestAndTheNextOneGoesOn) {
  bool answering = false;
  std::vector<std::shared_ptr<HttpReply>> kept;
  HttpServer server(loop, {}, [&](const HttpRequest&, std::shared_ptr<HttpReply> reply) {
    if (answering) return reply->answer({});
    kept.push_back(std::move(reply));
  });
  HttpClientOptions options;
  options.timeoutMs = 30;
  HttpClient client(loop, {*server.listen("127.0.0.1:0")}, options);
  EXPECT_FALSE(call(client).ok());
  answering = true;
  bool ok = false;
  for (int tries = 0; tries < 50 && !ok; ++tries) ok = call(client).ok();  // a busy machine may need more than 30 ms
  EXPECT_TRUE(ok);
}

// ---- TLS

struct HttpTlsTest : HttpClientTest {
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "witan-net-" + std::to_string(::getpid()) + "-" + name;
    std::ofstream(path) << text;
    return path;
  }
  // A server with this certificate that answers 200.
  static StrangerSettings serving(const TlsIdentity& identity) {
    StrangerSettings settings{identity};
    settings.alpn = "";
    settings.say = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    return settings;
  }
};

TEST_F(HttpTlsTest, ACertificateOfTheAuthorityForThisHost) {
  const TlsIdentity identity = net::test::ecIdentity();  // for "localhost", its own authority
  const std::string ca = write("ca.pem", identity.certificatePem);
  const auto callTo = [&](const std::string& host, const std::string& caFile) {
    Stranger stranger(loop, serving(identity));
    HttpClient client(loop, {host + stranger.address().substr(stranger.address().rfind(':')), true, caFile});
    return call(client);
  };
  const auto answer = callTo("localhost", ca);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "ok");
  const auto otherHost = callTo("127.0.0.1", ca);
  ASSERT_FALSE(otherHost.ok());
  EXPECT_EQ(otherHost.error().code, ErrorCode::unauthorised) << otherHost.error().message;
  const auto otherAuthority = callTo("localhost", "");
  ASSERT_FALSE(otherAuthority.ok());
  EXPECT_EQ(otherAuthority.error().code, ErrorCode::unauthorised) << otherAuthority.error().message;
}

TEST_F(HttpTlsTest, FilesThatCannotBeUsedAreNamed) {
  const auto failure = [&](HttpEndpoint endpoint) {
    endpoint.address = "127.0.0.1:1";
    endpoint.tls = true;
    HttpClient client(loop, endpoint);
    return call(client).error().message;
  };
  EXPECT_NE(failure({"", true, "/nobody/ca.pem"}).find("/nobody/ca.pem"), std::string::npos);
  EXPECT_NE(failure({"", true, "", "/nobody/cert.pem", "/nobody/key.pem"}).find("/nobody/cert.pem"), std::string::npos);
  EXPECT_NE(failure({"", true, "", "/nobody/cert.pem"}).find("without its key"), std::string::npos);
}

}  // namespace
}  // namespace witan::http_client_test
