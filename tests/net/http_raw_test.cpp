// The HTTP server against clients that are slow, wrong, greedy or hostile.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "base/json.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "tests/net/raw_http.h"

namespace witan::http_raw_test {
namespace {

using namespace witan::net;
using namespace witan::net::test;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

struct HttpRawTest : ::testing::Test {
  void SetUp() override { serve({}); }
  void serve(HttpServerOptions options) {
    server = std::make_unique<HttpServer>(
        loop, options, [this](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
          ++requests;
          if (handler) return handler(request, std::move(reply));
          reply->answer({200, "text/plain", {}, request.method + " " + request.path + " " + request.body});
        });
    address = *server->listen("127.0.0.1:0");
  }

  Loop loop;
  HttpHandler handler;
  std::unique_ptr<HttpServer> server;
  std::string address;
  int requests = 0;
};

TEST_F(HttpRawTest, BadRequestsAreAnsweredWithTheirCause) {
  struct Case {
    std::string bytes;
    int status;
    std::string why;
  };
  const std::string host = "Host: x\r\n";
  const Case cases[] = {
      {"nonsense\r\n\r\n", 400, "no HTTP/1.1"},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", 400, ""},
      {"GET / HTTP/1.1\r\n\r\n", 400, "without Host"},
      {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400, "host comes twice"},
      {"GET relative HTTP/1.1\r\n" + host + "\r\n", 400, "no path"},
      {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400, "no text"},
      {"GET /%00 HTTP/1.1\r\n" + host + "\r\n", 400, "no text"},
      {"GET /%ff HTTP/1.1\r\n" + host + "\r\n", 400, "no text"},
      {"GET /?a=1&a=2 HTTP/1.1\r\n" + host + "\r\n", 400, "twice"},
      {"GET / HTTP/1.1\r\n" + host + "bad header\r\n\r\n", 400, "no HTTP/1.1"},
      {"GET / HTTP/1.1\r\n" + host + "Folded: a\r\n b\r\n: c\r\n\r\n", 400, ""},
      {"CONNECT x:1 HTTP/1.1\r\n" + host + "\r\n", 501, "CONNECT"},
      // Request smuggling, RFC 9112 section 11.2.
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1, 1\r\n\r\na", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 0x1\r\n\r\n", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501, "transfer coding"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "transfer coding"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
       ""},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1\r\naXY\r\n", 400, ""},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 5000000\r\n\r\n", 413, "body of more than 4194304"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n400001\r\n", 413, "body of more"},
      {"GET / HTTP/1.1\r\n" + host + "X: " + std::string(20'000, 'x') + "\r\n\r\n", 431, "header of more than 16384"},
      {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n", 431, "header of more"},
      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(20'000, 'x'), 431, ""},
  };
  for (const Case& one : cases) {
    RawHttp client(loop, address);
    client.say(one.bytes);
    const std::string heard = client.hearAll();
    SCOPED_TRACE(one.bytes.substr(0, 200) + "\n" + heard);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 " + std::to_string(one.status) + " ")) << one.status;
    EXPECT_NE(heard.find(one.why), std::string::npos) << one.why;
    EXPECT_NE(heard.find("connection: close"), std::string::npos);
    const std::size_t body = heard.find("\r\n\r\n");
    ASSERT_NE(body, std::string::npos);
    EXPECT_TRUE(parseJson(std::string_view(heard).substr(body + 4)).ok());
  }
  EXPECT_EQ(requests, 0) << "the handler sees none of them";
}

TEST_F(HttpRawTest, PipelinedRequestsAreAnsweredInOrder) {
  RawHttp client(loop, address);
  std::string all;
  for (int i = 0; i < 50; ++i)
    all += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc\r\n";
  client.say(all);
  const std::string heard = client.hear("POST /49 abc");
  std::size_t before = 0;
  for (int i = 0; i < 50; ++i) {
    const std::size_t at = heard.find("POST /" + std::to_string(i) + " abc");
    ASSERT_NE(at, std::string::npos) << i;
    EXPECT_GT(at, before);
    before = at;
  }
}

TEST_F(HttpRawTest, APipelinedRequestWaitsForTheAnswerBeforeIt) {
  std::vector<std::shared_ptr<HttpReply>> replies;
  handler = [&](const HttpRequest&, std::shared_ptr<HttpReply> reply) { replies.push_back(std::move(reply)); };
  RawHttp client(loop, address);
  client.say("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(loop.runUntil([&] { return replies.size() == 1; }, kPatience));
  replies[0]->answer({200, "text/plain", {}, "first"});
  replies[0]->answer({200, "text/plain", {}, "ignored"});
  ASSERT_TRUE(loop.runUntil([&] { return replies.size() == 2; }, kPatience));
  EXPECT_EQ(count(client.hear("first"), "ignored"), 0u);
  replies.pop_back();  // dropped without an answer
  EXPECT_NE(client.hear("without an answer").find("HTTP/1.1 500 Internal Server Error"), std::string::npos);
}

TEST_F(HttpRawTest, ChunkedBodiesAreJoinedAndTrailersChangeNothing) {
  HttpHeaders seen;
  handler = [&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    seen = request.headers;
    reply->answer({200, "text/plain", {}, "[" + request.body + "]"});
  };
  RawHttp client(loop, address);
  client.say(
      "POST / HTTP/1.1\r\nHost: x\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX: "
      "2\r\nhost: y\r\n\r\n");
  client.hear("[abcde]");
  EXPECT_EQ(seen.at("x"), "1");
  EXPECT_EQ(seen.at("host"), "x");
}

TEST_F(HttpRawTest, HeadHasTheLengthAndNoBody) {
  RawHttp client(loop, address);
  client.say("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string heard = client.hearAll();
  EXPECT_NE(heard.find("content-length: 8\r\nconnection: keep-alive\r\n\r\nHTTP/1.1 200 OK"), std::string::npos)
      << heard;
  EXPECT_EQ(count(heard, "HEAD /a"), 0u);
  EXPECT_TRUE(heard.ends_with("GET /b ")) << heard;
}

TEST_F(HttpRawTest, Http10GetsItsAnswerAndTheEnd) {
  RawHttp client(loop, address);
  client.say("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_NE(client.hearAll().find("connection: close\r\n\r\nGET /old "), std::string::npos);
}

TEST_F(HttpRawTest, ABodyIsAskedForWithContinueAndOnlyIfItFits) {
  RawHttp client(loop, address);
  client.say("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.hear("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say("abc");
  client.hear("POST / abc");
  RawHttp greedy(loop, address);
  greedy.say("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n");
  EXPECT_TRUE(greedy.hearAll().starts_with("HTTP/1.1 413 Content Too Large\r\n"));
}

// The client has sent no byte of the body, and is not asked for one.
TEST_F(HttpRawTest, ABodyMayBeRefusedByItsHead) {
  serve({.refuseBody = [](const HttpRequest& head) -> std::optional<HttpResponse> {
    if (head.headers.contains("x-key")) return std::nullopt;
    return HttpResponse{401, "text/plain", {}, "no " + head.path};
  }});
  for (const std::string more :
       {"Content-Length: 9\r\n", "Expect: 100-continue\r\nContent-Length: 9\r\n", "Transfer-Encoding: chunked\r\n"}) {
    RawHttp client(loop, address);
    client.say("POST /a HTTP/1.1\r\nHost: x\r\n" + more + "\r\n");
    EXPECT_TRUE(client.hearAll().starts_with("HTTP/1.1 401 Unauthorized\r\n")) << client.heard();
    EXPECT_TRUE(client.heard().ends_with("no /a")) << client.heard();
  }
  EXPECT_EQ(requests, 0);
  RawHttp known(loop, address);
  known.say("POST /a HTTP/1.1\r\nHost: x\r\nX-Key: 1\r\nContent-Length: 3\r\n\r\n");
  known.say("abc");
  known.hear("POST /a abc");
  EXPECT_EQ(requests, 1);
}

TEST_F(HttpRawTest, AHeaderValueCannotBreakTheAnswerApart) {
  handler = [&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    reply->answer({200, "text/plain", {{"x-echo", request.query.at("v")}}, "ok"});
  };
  RawHttp client(loop, address);
  client.say("GET /?v=a%0d%0aSet-Cookie:%20b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(client.hear("\r\n\r\nok").find("x-echo: a  Set-Cookie: b\r\n"), std::string::npos);
}

// ---- slow ones

TEST_F(HttpRawTest, AHeaderThatDoesNotEndInTime) {
  HttpServerOptions options;
  options.headerTimeoutMs = 40;
  serve(options);
  RawHttp client(loop, address);
  client.say("GET / HTTP/1.1\r\nHost");
  EXPECT_TRUE(client.hearAll().starts_with("HTTP/1.1 408 Request Timeout\r\n")) << client.heard();
  RawHttp silent(loop, address);
  EXPECT_EQ(silent.hearAll(), "") << "who never said anything is told nothing";
}

TEST_F(HttpRawTest, AByteNowAndThenDoesNotKeepAHeaderAlive) {
  HttpServerOptions options;
  options.headerTimeoutMs = 60;
  serve(options);
  RawHttp client(loop, address);
  client.say("GET / HTTP/1.1\r\n");
  const std::int64_t before = Loop::nowMs();
  while (!client.ended() && Loop::nowMs() - before < 5'000) {
    client.say("x");
    loop.runUntil([] { return false; }, 5);
  }
  EXPECT_TRUE(client.heard().starts_with("HTTP/1.1 408 ")) << client.heard();
}

TEST_F(HttpRawTest, ABodyThatDoesNotEndInTime) {
  HttpServerOptions options;
  options.bodyTimeoutMs = 40;
  serve(options);
  RawHttp client(loop, address);
  client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_TRUE(client.hearAll().starts_with("HTTP/1.1 408 ")) << client.heard();
}

TEST_F(HttpRawTest, AnIdleConnectionIsClosedWithoutAWord) {
  HttpServerOptions options;
  options.idleTimeoutMs = 30;
  serve(options);
  RawHttp client(loop, address);
  client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(count(client.hearAll(), "HTTP/1.1"), 1u);
}

TEST_F(HttpRawTest, OneMoreConnectionTakesThePlaceOfAnIdleOneOrIsTurnedAway) {
  HttpServerOptions options;
  options.maxConnections = 3;
  serve(options);
  RawHttp idle(loop, address);
  idle.say("GET /idle HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.hear("GET /idle");
  std::vector<std::unique_ptr<RawHttp>> halfOpen;
  for (int i = 0; i < 2; ++i) {
    halfOpen.push_back(std::make_unique<RawHttp>(loop, address));
    halfOpen.back()->say("GET /half");
  }
  RawHttp third(loop, address);
  third.say("GET /third HTTP/1.1\r\nHost: x\r\n\r\n");
  third.hear("GET /third");
  EXPECT_TRUE(idle.ended()) << "the idle one made room";
  std::vector<std::unique_ptr<RawHttp>> more;
  third.say("GET /half");
  loop.runUntil([] { return false; }, 5);
  RawHttp fourth(loop, address);
  EXPECT_TRUE(fourth.hearAll().starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << fourth.heard();
}

// 300 connections that never finish a header must not shut the operator out.
TEST_F(HttpRawTest, HalfOpenConnectionsMakeRoomForRequests) {
  HttpServerOptions options;
  options.maxConnections = 3;
  serve(options);
  std::vector<std::unique_ptr<RawHttp>> halfOpen;
  for (int i = 0; i < 12; ++i) {
    halfOpen.push_back(std::make_unique<RawHttp>(loop, address));
    if (i % 2 == 0) halfOpen.back()->say("GET /half");
  }
  std::string heard;                               // turned away until they have been silent for a while
  const std::int64_t end = Loop::nowMs() + 5'000;  // half of what a slow header is given
  while (!heard.starts_with("HTTP/1.1 200") && Loop::nowMs() < end) {
    RawHttp client(loop, address);
    client.say("GET /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    heard = client.hearAll();
  }
  EXPECT_NE(heard.find("GET /whole"), std::string::npos);
}

// Members 14: others may fill the server, and still not keep the operator out.
TEST_F(HttpRawTest, PlacesOfUnixSocketsAreKeptForThem) {
  HttpServerOptions options;
  options.maxConnections = 4, options.keptForUnix = 1;
  serve(options);
  const std::string path =
      "unix:" + std::filesystem::temp_directory_path().string() + "/w" + std::to_string(::getpid()) + ".sock";
  ASSERT_TRUE(server->listen(path).ok());
  std::vector<std::shared_ptr<HttpReply>> held;
  handler = [&](const HttpRequest& request, std::shared_ptr<HttpReply> reply) {
    if (request.remote == "unix") return reply->answer({200, "text/plain", {}, "here"});
    held.push_back(std::move(reply));
  };
  std::vector<std::unique_ptr<RawHttp>> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(std::make_unique<RawHttp>(loop, address));
    others.back()->say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  loop.runUntil([&] { return held.size() == 3; }, 5'000);
  RawHttp fourth(loop, address);
  EXPECT_TRUE(fourth.hearAll().starts_with("HTTP/1.1 503 ")) << fourth.heard();
  HttpClient client(loop, {.address = path});
  std::optional<int> status;
  client.request({.target = "/"},
                 [&](const Result<HttpResponse>& answer) { status = answer.ok() ? answer->status : -1; });
  loop.runUntil([&] { return status.has_value(); }, 10'000);
  EXPECT_EQ(status, 200);
  handler = {};
}

// ---- streams

struct HttpStreamTest : HttpRawTest {
  std::shared_ptr<HttpStream> open(RawHttp& client, HttpResponse head = {}) {
    std::shared_ptr<HttpStream> stream;
    handler = [&stream, head](const HttpRequest&, std::shared_ptr<HttpReply> reply) { stream = reply->stream(head); };
    client.say("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    client.hear("\r\n\r\n");
    return stream;
  }
};

TEST_F(HttpStreamTest, EventsAreChunksAndTheEndIsMarked) {
  RawHttp client(loop, address);
  const auto stream = open(client);
  EXPECT_NE(client.heard().find("content-type: text/event-stream\r\ncache-control: no-store\r\n"), std::string::npos);
  EXPECT_NE(client.heard().find("transfer-encoding: chunked\r\n"), std::string::npos);
  EXPECT_TRUE(stream->send("e", "x\r\ny\rz\n"));
  client.hear("event: e\ndata: x\ndata: y\ndata: z\ndata: \n\n");
  stream->close();
  EXPECT_TRUE(client.hearAll().ends_with("\r\n0\r\n\r\n"));
  EXPECT_FALSE(stream->open());
}

TEST_F(HttpStreamTest, AnEventsNameCannotSmuggleAnother) {
  RawHttp client(loop, address);
  const auto stream = open(client);
  EXPECT_TRUE(stream->send("a\ndata: false", "true", "1\n2"));
  EXPECT_NE(client.hear("data: true").find("id: 1\nevent: a\ndata: true\n\n"), std::string::npos);
}

TEST_F(HttpStreamTest, ASilentStreamIsKeptAliveWithComments) {
  HttpServerOptions options;
  options.streamHeartbeatMs = 5;
  serve(options);
  RawHttp client(loop, address);
  const auto stream = open(client);
  client.hear(": still here\n\n\r\ne\r\n: still here\n\n");
}

TEST_F(HttpStreamTest, AReaderThatDoesNotReadIsDropped) {
  HttpServerOptions options;
  options.maxStreamBytes = 64 * 1024;
  serve(options);
  RawHttp client(loop, address);
  const auto stream = open(client);
  bool gone = false;
  stream->onGone([&] { gone = true; });
  std::size_t sent = 0;
  const std::string data(1000, 'x');
  while (stream->send("", data) && sent < 64u << 20) {
    sent += data.size();
    loop.runUntil([] { return false; }, 0);
  }
  EXPECT_FALSE(stream->open());
  EXPECT_TRUE(loop.runUntil([&] { return gone; }, kPatience));
  EXPECT_TRUE(loop.runUntil([&] { return server->connections() == 0; }, kPatience));
}

TEST_F(HttpStreamTest, AClientThatGoesIsNoticedWithoutSending) {
  auto client = std::make_unique<RawHttp>(loop, address);
  const auto stream = open(*client);
  bool gone = false;
  stream->onGone([&] { gone = true; });
  client.reset();
  EXPECT_TRUE(loop.runUntil([&] { return gone; }, kPatience));
  EXPECT_FALSE(stream->send("", "x"));
  bool again = false;
  stream->onGone([&] { again = true; });
  EXPECT_TRUE(loop.runUntil([&] { return again; }, kPatience));
}

TEST_F(HttpStreamTest, OtherTypesGoThroughAsTheyAre) {
  RawHttp client(loop, address);
  HttpResponse head;
  head.contentType = "application/x-ndjson";
  const auto stream = open(client, head);
  EXPECT_TRUE(stream->write("{}\n"));
  EXPECT_TRUE(stream->write(""));
  EXPECT_TRUE(stream->write("[]\n"));
  client.hear("6\r\n{}\n[]\n\r\n");
}

TEST_F(HttpStreamTest, CloseOfTheServerEndsStreamsAndIdleOnesAndStillAnswers) {
  RawHttp client(loop, address), idle(loop, address), busy(loop, address);
  idle.say("GET /idle HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.hear("GET /idle");
  const auto stream = open(client);
  std::shared_ptr<HttpReply> late;
  handler = [&](const HttpRequest&, std::shared_ptr<HttpReply> reply) { late = std::move(reply); };
  busy.say("GET /busy HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(loop.runUntil([&] { return late != nullptr; }, kPatience));
  server->close();
  EXPECT_TRUE(client.hearAll().ends_with("0\r\n\r\n"));
  idle.hearAll();
  late->answer({200, "text/plain", {}, "late"});
  EXPECT_TRUE(busy.hearAll().ends_with("connection: close\r\n\r\nlate"));
}

TEST_F(HttpStreamTest, RepliesAndStreamsMayOutliveTheServer) {
  auto client = std::make_unique<RawHttp>(loop, address);
  const auto stream = open(*client);
  RawHttp other(loop, address);
  std::shared_ptr<HttpReply> reply;
  handler = [&](const HttpRequest&, std::shared_ptr<HttpReply> given) { reply = std::move(given); };
  other.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(loop.runUntil([&] { return reply != nullptr; }, kPatience));
  server.reset();
  EXPECT_FALSE(stream->send("", "x"));
  reply->answer({});
  EXPECT_EQ(other.hearAll(), "");
}

}  // namespace
}  // namespace witan::http_raw_test
