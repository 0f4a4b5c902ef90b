// The HTTP server and client against each other, on loopback TCP and Unix sockets.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "net/http_client.h"
#include "net/http_server.h"
#include "tests/net/device.h"

namespace witan::http_test {
namespace {

using namespace witan::net;
using net::test::kPatience;

struct HttpTest : ::testing::Test {
  void serve(HttpHandler handler, HttpServerOptions options = {}) {
    server = std::make_unique<HttpServer>(loop, options, std::move(handler));
    address = *server->listen("127.0.0.1:0");
  }
  Result<HttpResponse> call(HttpClient& client, HttpRequest request) {
    std::optional<Result<HttpResponse>> answer;
    client.request(std::move(request), [&](Result<HttpResponse> got) { answer = std::move(got); });
    EXPECT_TRUE(loop.runUntil([&] { return answer.has_value(); }, kPatience));
    return answer ? *answer : Result<HttpResponse>(Error{ErrorCode::unavailable, "never", ""});
  }

  Loop loop;
  std::unique_ptr<HttpServer> server;
  std::string address;
};

TEST_F(HttpTest, ARequestArrivesDecodedAndItsAnswerComesBack) {
  HttpRequest seen;
  serve([&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    seen = request;
    HttpResponse response;
    response.status = 201;
    response.headers["x-more"] = "yes";
    response.body = "{\"ok\":true}";
    reply->answer(std::move(response));
  });
  HttpClient client(loop, {address});
  HttpRequest request;
  request.method = "POST";
  request.target = "/v1/a%20b?who=J%C3%BCrgen+K&empty=&flag";
  request.headers["x-who"] = "me";
  request.body = std::string(100'000, 'x');
  const auto answer = call(client, request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "{\"ok\":true}");
  EXPECT_EQ(answer->contentType, "application/json");
  EXPECT_EQ(answer->headers.at("x-more"), "yes");
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/v1/a b");
  EXPECT_EQ(seen.query, (std::map<std::string, std::string>{{"who", "Jürgen K"}, {"empty", ""}, {"flag", ""}}));
  EXPECT_EQ(seen.headers.at("x-who"), "me");
  EXPECT_EQ(seen.headers.at("host"), address);
  EXPECT_EQ(seen.body, request.body);
  EXPECT_TRUE(seen.remote.starts_with("127.0.0.1:")) << seen.remote;
}

TEST_F(HttpTest, OneConnectionServesManyRequests) {
  std::set<std::string> remotes;
  serve([&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    remotes.insert(request.remote);
    reply->answer({200, "text/plain", {}, request.path});
  });
  HttpClient client(loop, {address});
  for (int i = 0; i < 20; ++i) {
    HttpRequest request;
    request.target = "/" + std::to_string(i);
    const auto answer = call(client, request);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->body, request.target);
  }
  EXPECT_EQ(remotes.size(), 1u);
}

TEST_F(HttpTest, EventsStreamUntilTheServerCloses) {
  std::shared_ptr<HttpStream> stream;
  bool gone = false;
  serve([&](const HttpRequest&, std::shared_ptr<HttpReply> reply) {
    stream = reply->stream({});
    stream->onGone([&] { gone = true; });
  });
  HttpClient client(loop, {address});
  std::string got;
  std::optional<Status> end;
  client.stream(
      {},
      [&](std::string_view chunk) {
        got += chunk;
        return true;
      },
      [&](Status status) { end = status; });
  ASSERT_TRUE(loop.runUntil([&] { return stream != nullptr; }, kPatience));
  EXPECT_TRUE(stream->send("entry", "one\ntwo", "7"));
  ASSERT_TRUE(loop.runUntil([&] { return got.size() >= 20; }, kPatience));
  EXPECT_TRUE(stream->send("", "three"));
  stream->close();
  ASSERT_TRUE(loop.runUntil([&] { return end.has_value() && gone; }, kPatience));
  EXPECT_TRUE(end->ok()) << end->error().message;
  EXPECT_EQ(got, "id: 7\nevent: entry\ndata: one\ndata: two\n\ndata: three\n\n");
  EXPECT_FALSE(stream->send("", "four"));
}

TEST_F(HttpTest, AUnixSocketIsForItsOwnerOnly) {
  serve([](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    reply->answer({200, "text/plain", {}, request.remote});
  });
  const std::string path = ::testing::TempDir() + "witan-http-" + std::to_string(::getpid()) + ".sock";
  const auto bound = server->listen("unix:" + path);
  ASSERT_TRUE(bound.ok()) << bound.error().message;
  struct stat found;
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  HttpClient client(loop, {*bound});
  const auto answer = call(client, {});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "unix");

  HttpServer second(loop, {}, [](const HttpRequest&, std::shared_ptr<HttpReply>) {});
  const auto taken = second.listen(*bound);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::conflict);
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace witan::http_test
