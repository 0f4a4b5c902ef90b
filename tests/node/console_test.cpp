// The web console as a node serves it: files and their headers, who gets in, and what a proof says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/bytes.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/merkle.h"
#include "net/http_client.h"
#include "node/api/console_sessions.h"
#include "node/api/inbox_claims.h"
#include "node/console/console_pages.h"
#include "tests/node/node_process.h"
#include "tests/paths.h"

namespace witan::node::console_test {
namespace {

using test::Node;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

net::HttpResponse ask(const std::string& path, net::HttpHeaders headers = {}, const std::string& method = "GET") {
  net::HttpRequest request;
  request.method = method;
  request.path = path;
  request.headers = std::move(headers);
  return consoleAnswer(request);
}

TEST(ConsolePages, AreServedWithPolicyTagAndCompression) {
  const net::HttpResponse page = ask("/console/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.contentType, HasSubstr("text/html"));
  EXPECT_THAT(page.body, HasSubstr("<title>Witan console</title>"));
  EXPECT_THAT(page.body, Not(HasSubstr("<script>")));
  const std::string& policy = page.headers.at("content-security-policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'self'"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_EQ(page.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(page.headers.at("cache-control"), "no-cache");

  const net::HttpResponse packed = ask("/console/", {{"accept-encoding", "br, gzip"}});
  EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
  EXPECT_LT(packed.body.size(), page.body.size());

  const std::string tag = page.headers.at("etag");
  for (const std::string& list : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
    const net::HttpResponse known = ask("/console/index.html", {{"if-none-match", list}});
    EXPECT_EQ(known.status, 304) << list;
    EXPECT_TRUE(known.body.empty());
    EXPECT_EQ(known.headers.at("etag"), tag);
  }
  EXPECT_EQ(ask("/console/", {{"if-none-match", "\"other\""}}).status, 200);
  EXPECT_EQ(ask("/console").headers.at("location"), "console/");
}

TEST(ConsolePages, AreThoseOfTheTableAndNoOthers) {
  std::size_t first = 0;
  for (const ConsoleFile& file : consoleFiles()) {
    const net::HttpResponse answer = ask("/console/" + std::string(file.path));
    EXPECT_EQ(answer.status, 200) << file.path;
    const bool hashed = file.path.starts_with("assets/");
    EXPECT_EQ(answer.headers.at("cache-control").find("immutable") != std::string::npos, hashed) << file.path;
    EXPECT_NE(answer.contentType, "application/octet-stream") << file.path;
    if (!hashed || file.path.starts_with("assets/index-")) first += file.gzip.size();
  }
  EXPECT_GT(consoleFiles().size(), 3u);
  EXPECT_LE(first, 150'000u);
  for (const char* path :
       {"/console/../control.tokens", "/console/./index.html", "/console//index.html", "/console/assets",
        "/console/assets/", "/console/index.html/", "/console/%2e%2e/control.tokens"})
    EXPECT_EQ(ask(path).status, 404) << path;
  EXPECT_EQ(ask("/console/", {}, "POST").status, 405);
}

TEST(ConsoleSessions, CodesCountOnceAndForTwoMinutes) {
  SeededRandom random(1);
  ConsoleSessions sessions;
  const Time now{1'000'000};
  const auto code = sessions.makeCode(ControlRole::counselor, now, random).secret;
  EXPECT_FALSE(sessions.open("", now, random).ok());
  EXPECT_FALSE(sessions.open(code + "0", now, random).ok());
  const auto made = sessions.open(code, now, random);
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(sessions.open(code, now, random).ok());
  const std::string bearer = "Bearer " + made->secret;
  ASSERT_TRUE(sessions.find(bearer, now));
  EXPECT_EQ(sessions.find(bearer, now)->role, ControlRole::counselor);
  EXPECT_FALSE(sessions.find(made->secret, now));
  EXPECT_FALSE(sessions.find("Bearer " + code, now));
  EXPECT_FALSE(sessions.find(bearer, Time{now.micros + kConsoleSessionMicros}));
  const auto late = sessions.makeCode(ControlRole::admin, now, random).secret;
  EXPECT_FALSE(sessions.open(late, Time{now.micros + kConsoleCodeMicros}, random).ok());
  EXPECT_FALSE(sessions.open(late, now, random).ok()) << "a try uses a code up";
  EXPECT_TRUE(sessions.end(bearer));
  EXPECT_FALSE(sessions.end(bearer));
  EXPECT_FALSE(sessions.find(bearer, now));
}

TEST(ConsoleSessions, HaveLimitsAndTheOldestGivesWay) {
  SeededRandom random(2);
  ConsoleSessions sessions;
  std::vector<std::string> codes, tokens;
  for (std::size_t i = 0; i <= kMaxConsoleCodes; ++i)
    codes.push_back(sessions.makeCode(ControlRole::observer, Time{}, random).secret);
  EXPECT_FALSE(sessions.open(codes.front(), Time{}, random).ok());
  for (std::size_t i = 0; i <= kMaxConsoleSessions; ++i) {
    const auto code = sessions.makeCode(ControlRole::observer, Time{}, random).secret;
    tokens.push_back(sessions.open(code, Time{}, random)->secret);
  }
  EXPECT_EQ(sessions.open(), kMaxConsoleSessions);
  EXPECT_FALSE(sessions.find("Bearer " + tokens.front(), Time{}));
  EXPECT_TRUE(sessions.find("Bearer " + tokens.back(), Time{}));
}

TEST(InboxClaims, EndByThemselvesAndAreTakenOverOnlyInWords) {
  InboxClaims claims;
  const Time now{1'000'000}, later{now.micros + 60'000'000};
  const InboxClaim ann{"ann", "1", {}}, bob{"bob", "2", {}}, annElsewhere{"ann", "3", {}};
  ASSERT_TRUE(claims.claim("a", ann, 60, false, now).ok());
  EXPECT_EQ(claims.find("a", now)->by, "ann");
  EXPECT_EQ(claims.claim("a", bob, 60, false, now).error().code, ErrorCode::conflict);
  EXPECT_EQ(claims.claim("a", annElsewhere, 60, false, now).error().code, ErrorCode::conflict);
  EXPECT_TRUE(claims.claim("a", ann, 90, false, now).ok()) << "renewed";
  EXPECT_TRUE(claims.find("a", later));
  EXPECT_FALSE(claims.find("a", Time{now.micros + 90'000'000}));
  EXPECT_TRUE(claims.claim("a", bob, 60, true, now).ok());
  claims.release("a", ann);
  claims.release("a", {"bob", "1", {}});
  EXPECT_EQ(claims.find("a", now)->by, "bob");
  claims.release("a", bob);
  EXPECT_FALSE(claims.find("a", now));
  ASSERT_TRUE(claims.claim("first", ann, 1, false, now).ok());
  for (std::size_t i = 0; i < kMaxInboxClaims; ++i)
    ASSERT_TRUE(claims.claim(std::to_string(i), ann, kMaxClaimSeconds * 2, false, now).ok());
  EXPECT_FALSE(claims.find("first", now)) << "the one that would end first makes room";
  EXPECT_FALSE(claims.find("0", Time{now.micros + 120'000'000})) << "two minutes at most";
}

net::HttpResponse callAt(const std::string& address, const net::HttpRequest& request) {
  auto answer = net::httpCall({address}, request, 10'000);
  EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
  return answer.ok() ? *answer : net::HttpResponse{};
}

TEST(Console, OneLinkOpensOneSessionOfItsRole) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const json::value made = node.runJson({"console", "--role", "observer"});
  ASSERT_TRUE(made.as_object().contains("link")) << canonicalJson(made);
  const std::string link(made.at("link").as_string());
  const std::string address = link.substr(7, link.find("/console/") - 7);
  const std::string code = link.substr(link.find("#code=") + 6);
  const auto post = [&](const std::string& path, const std::string& body, const std::string& token) {
    net::HttpRequest request;
    request.method = "POST";
    request.target = path;
    request.body = body;
    if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
    return callAt(address, request);
  };
  const auto get = [&](const std::string& target, const std::string& token) {
    net::HttpRequest request;
    request.target = target;
    if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
    return callAt(address, request);
  };
  const std::string exchange = "{\"code\":\"" + code + "\"}";
  const net::HttpResponse session = post("/v1/console/session", exchange, "");
  ASSERT_EQ(session.status, 200) << session.body;
  EXPECT_EQ(post("/v1/console/session", exchange, "").status, 403);
  const std::string token(parseJson(session.body)->at("token").as_string());
  EXPECT_EQ(get("/v1/status", "").status, 401);
  EXPECT_EQ(get("/v1/status", token).status, 200);
  EXPECT_THAT(get("/v1/console/session", token).body, HasSubstr("\"role\":\"observer\""));
  EXPECT_EQ(post("/v1/peers/cut", "{\"device\":\"b\"}", token).status, 403);
  EXPECT_EQ(post("/v1/console/code", "{}", token).status, 403);
  EXPECT_EQ(get("/console/../control.tokens", "").status, 404);
  EXPECT_EQ(get("/console/%2e%2e/control.tokens", "").status, 404);
  net::HttpRequest elsewhere;
  elsewhere.target = "/console/";
  elsewhere.headers["host"] = "evil.example";
  EXPECT_EQ(callAt(address, elsewhere).status, 421);
  EXPECT_EQ(post("/v1/console/end", "{}", token).status, 200);
  EXPECT_EQ(get("/v1/status", token).status, 401);
  EXPECT_THAT(node.log(), Not(HasSubstr(code)));
  EXPECT_THAT(node.log(), Not(HasSubstr(token)));
}

// A node with its console's port, and what a role may ask there.
class ConsoleOfANode : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(node_.init(1).exitCode, 0);
    ASSERT_TRUE(node_.up()) << node_.log();
  }
  std::string sessionOf(const char* role) {
    const json::value made = node_.runJson({"console", "--role", role});
    const std::string link(made.at("link").as_string());
    address_ = link.substr(7, link.find("/console/") - 7);
    const json::object code{{"code", link.substr(link.find("#code=") + 6)}};
    return std::string(parseJson(ask("/v1/console/session", code, "").body)->at("token").as_string());
  }
  net::HttpResponse ask(const std::string& path, const json::object& body, const std::string& token) const {
    net::HttpRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.target = path;
    if (!body.empty()) request.body = canonicalJson(body);
    if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
    return callAt(address_, request);
  }

  const Scratch scratch_;
  Node node_{scratch_, "a", "\n"};
  std::string address_;
};

TEST_F(ConsoleOfANode, TwoPeopleSeeEachOthersClaim) {
  ASSERT_EQ(node_.run({"begin", "moderation", "L"}).exitCode, 0);
  const auto propose = [&](const char* role, const char* action) {
    ASSERT_EQ(node_.run({"propose", "moderation", "L", role, action}).exitCode, 0);
  };
  propose("SignalTriage",
          R"({"type":"ApplyLabel","entityType":"Post","entity":"p1","label":"scam_link","reason":"rule v2"})");
  propose("UserNotice",
          R"({"type":"DraftNotice","n":"N1","action":"A1","facts":"a post","clause":"4.2","redress":"appeal"})");
  propose("Enforcement",
          R"({"type":"TakeAction","a":"A1","kind":"BAN","policy":"csam","item":"p1","evidence":["L1"]})");
  const std::string counselor = sessionOf("counselor"), observer = sessionOf("observer");
  const auto items = [&](const std::string& token) {
    return parseJson(ask("/v1/inbox", {}, token).body)->at("items").as_array();
  };
  ASSERT_EQ(items(counselor).size(), 1u);
  const std::string id(items(counselor)[0].at("id").as_string());
  EXPECT_FALSE(items(counselor)[0].as_object().contains("claim"));
  const auto claim = [&](json::object body, const std::string& token) {
    body.emplace("item", id);
    body.emplace("by", "human.lead");
    body.emplace("window", "1");
    return ask("/v1/inbox/claim", body, token).status;
  };
  EXPECT_EQ(claim({}, observer), 403);
  EXPECT_EQ(claim({{"by", "ann"}}, counselor), 400) << "she may not answer it";
  EXPECT_EQ(claim({{"item", "proposal:moderation/0/99"}}, counselor), 404);
  EXPECT_EQ(claim({{"by", std::string(500, 'x')}}, counselor), 400);
  EXPECT_FALSE(items(observer)[0].as_object().contains("claim"));
  EXPECT_EQ(claim({}, counselor), 200);
  EXPECT_EQ(items(observer)[0].at("claim").at("by"), "human.lead");
  EXPECT_EQ(claim({{"window", "2"}}, counselor), 409) << "another window of the same person";
  EXPECT_EQ(claim({{"window", "2"}, {"takeOver", true}}, counselor), 200);
  EXPECT_EQ(claim({{"seconds", 0}}, counselor), 200);
  EXPECT_TRUE(items(observer)[0].as_object().contains("claim")) << "the other window has it";
  EXPECT_EQ(claim({{"window", "2"}, {"seconds", 0}}, counselor), 200);
  EXPECT_FALSE(items(observer)[0].as_object().contains("claim"));
}

TEST_F(ConsoleOfANode, TriesRuleFilesAndScenarios) {
  const std::string token = sessionOf("operator");
  const auto tried = [&](const json::object& body) { return *parseJson(ask("/v1/domains/try", body, token).body); };
  const json::value compiled = tried({{"domain", "udt"}, {"histories", 2}});
  EXPECT_EQ(compiled.at("holds"), true) << canonicalJson(compiled);
  EXPECT_GT(compiled.at("lines").as_array().size(), 5u);
  EXPECT_EQ(compiled.at("properties").as_array().size(), 5u);
  std::string text = test::contentOf(std::string(tests::kSourceDir) + "/docs/examples/budget.domain.toml");
  const json::value good = tried({{"text", text}});
  EXPECT_EQ(good.at("problem"), "");
  EXPECT_EQ(good.at("description").at("name"), "budget");
  const json::value differs = tried(
      {{"text", text}, {"scenarios", R"({"at":"2026-01-01T00:00:00Z","entity":"B","init":{},"expect":"approved"})"}});
  EXPECT_EQ(differs.at("holds"), false);
  EXPECT_THAT(std::string(differs.at("lines").at(0).at("difference").as_string()), HasSubstr("expected approved"));
  text.replace(text.find("int = 0"), 7, "nit = 0");
  const json::value bad = tried({{"text", text}});
  EXPECT_EQ(bad.at("holds"), false);
  EXPECT_THAT(std::string(bad.at("problem").as_string()), HasSubstr("line "));
  EXPECT_EQ(ask("/v1/domains/try", {{"text", text}, {"domain", "udt"}}, token).status, 400);
  EXPECT_EQ(ask("/v1/domains/try", {{"text", std::string(300'000, 'x')}}, token).status, 400);
  EXPECT_EQ(ask("/v1/domains/try", {{"domain", "udt"}}, sessionOf("observer")).status, 403);
}

// Other users of the machine can read the arguments of a process.
TEST(Console, TheBrowserGetsAFileOfItsOwnerAndNoCode) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const std::string opener = scratch / "xdg-open", paths = scratch / "." + ":" + std::getenv("PATH");
  scratch.write("xdg-open", "#!/bin/sh\nprintf %s \"$1\" >\"$0.tmp\" && mv \"$0.tmp\" \"$0.got\"\n");
  std::filesystem::permissions(opener, std::filesystem::perms::owner_all);
  const test::Finished made = test::runWitan({"console", "--dir", node.dir()}, {}, [&] {
    ::setenv("PATH", paths.c_str(), 1);
    ::setenv("DISPLAY", ":99", 1);
  });
  ASSERT_EQ(made.exitCode, 0) << made.err;
  const std::string link = made.out.substr(0, made.out.find('\n'));
  const std::string got = scratch / "./xdg-open.got";
  ASSERT_TRUE(test::until([&] { return std::filesystem::exists(got); }));
  const std::string file = test::contentOf(got);
  EXPECT_EQ(file, node.dir() + "/console-link.html");
  EXPECT_THAT(test::contentOf(file), HasSubstr("url=" + link + "\""));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
}

TEST(Console, AProofLeadsToAStatementOfTheDevicesKey) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(node.run({"propose", "budget", "team", "A", R"({"type":"SpendA","n":3})"}).exitCode, 0);
  const json::value proof = node.get("/v1/ledger/proof?partition=budget/0&seq=3&since=2");
  ASSERT_TRUE(proof.is_object());
  const auto hash = [](const json::value& text) { return hashFromHex(text.as_string()).value(); };
  const auto verifier = kernel::parseVerifierKey(std::string(proof.at("verifier").as_string()));
  ASSERT_TRUE(verifier.ok());
  const json::value roster = node.get("/v1/devices");
  const json::value& device = roster.at("devices").at(0);
  EXPECT_EQ(toHex(verifier->publicKey), device.at("keys").at(0).as_string());
  EXPECT_EQ(verifier->name, "witan-copy/" + std::string(roster.at("cluster").as_string()) + "/" +
                                std::string(device.at("device").as_string()) + "/budget/0");
  const std::vector<kernel::NoteVerifier> known{*verifier};
  // No signature of TLS 1.3 is over such a text: those begin with 64 spaces and have a zero byte (RFC 8446, 4.4.3).
  const std::string text(proof.at("statement").as_string());
  EXPECT_TRUE(text.starts_with("witan-copy/"));
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }));
  const auto opened = kernel::openCheckpoint(std::string(proof.at("statement").as_string()), verifier->name, known);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened->checkpoint.size, 5u);
  EXPECT_EQ(opened->checkpoint.root, hash(proof.at("root")));
  const auto bytes = fromBase64(std::string(proof.at("bytes").as_string()));
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(kernel::leafHash(*bytes), hash(proof.at("leafHash")));
  std::vector<Hash> path;
  for (const json::value& one : proof.at("path").as_array()) path.push_back(hash(one));
  EXPECT_TRUE(kernel::verifyInclusion(hash(proof.at("leafHash")), 2, 5, path, opened->checkpoint.root));
  EXPECT_TRUE(node.get("/v1/ledger/proof?partition=budget/0&seq=6").is_null());
  EXPECT_TRUE(node.get("/v1/ledger/proof?partition=budget/0&seq=0").is_null());
  EXPECT_TRUE(node.get("/v1/ledger/proof?partition=budget/7&seq=1").is_null());
}

}  // namespace
}  // namespace witan::node::console_test
