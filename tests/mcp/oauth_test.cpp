// The client's OAuth against servers that say what they like: each lie ends the login before a secret leaves.
#include "mcp/oauth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace witan::mcp {
namespace oauth_test {

constexpr const char* kServer = "https://tools.example/mcp";
constexpr const char* kIssuer = "https://login.example/tenant";

// What there is at each url, and what was asked.
struct Internet {
  std::map<std::string, std::string> documents{
      {"https://tools.example/.well-known/oauth-protected-resource/mcp",
       R"({"resource":"https://tools.example/mcp","authorization_servers":["https://login.example/tenant"],"scopes_supported":["read"]})"},
      {"https://login.example/.well-known/oauth-authorization-server/tenant",
       R"({"issuer":"https://login.example/tenant",
        "authorization_endpoint":"https://login.example/page","token_endpoint":"https://login.example/token",
        "registration_endpoint":"https://login.example/register","code_challenge_methods_supported":["S256"],
        "authorization_response_iss_parameter_supported":true,"scopes_supported":["read","offline_access"]})"},
      {"https://login.example/register", R"({"client_id":"c-1","client_secret":"hidden"})"},
      {"https://login.example/token",
       R"({"access_token":"t-1","refresh_token":"r-1","token_type":"Bearer","expires_in":60})"}};
  std::vector<WebRequest> asked;
  std::string page;
  std::map<std::string, std::string> answer{{"code", "x"}, {"iss", kIssuer}};
  bool copiesState = true;

  void replace(const std::string& url, const std::string& from, const std::string& to) {
    std::string& text = documents.at(url);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    text.replace(at, from.size(), to);
  }
  std::size_t times(const std::string& url) const {
    return static_cast<std::size_t>(std::ranges::count(asked, url, &WebRequest::url));
  }
  Result<OAuthGrant> logIn(OAuthSetup setup = {.server = kServer, .redirect = "http://127.0.0.1:1/callback"},
                           const OAuthGrant& before = {}) {
    SeededRandom random(7);
    const Web web = [this](const WebRequest& request) -> Result<WebAnswer> {
      asked.push_back(request);
      const auto at = documents.find(request.url);
      return at == documents.end() ? WebAnswer{404, ""} : WebAnswer{200, at->second};
    };
    const Person person = [this](const std::string& url) -> Result<std::map<std::string, std::string>> {
      page = url;
      auto query = answer;
      const std::size_t state = url.find("&state=") + 7;
      if (copiesState) query["state"] = url.substr(state, url.find('&', state) - state);
      return query;
    };
    return mcp::logIn(setup, before, web, person, random, 1'000);
  }
};

constexpr const char* kResource = "https://tools.example/.well-known/oauth-protected-resource/mcp";
constexpr const char* kDescription = "https://login.example/.well-known/oauth-authorization-server/tenant";
constexpr const char* kToken = "https://login.example/token";

TEST(OAuth, APersonLogsIn) {
  Internet net;
  const auto grant = net.logIn();
  ASSERT_TRUE(grant.ok()) << grant.error().message;
  EXPECT_EQ(grant->accessToken, "t-1");
  EXPECT_EQ(grant->expiresMs, 61'000);
  EXPECT_EQ(grant->scope, "offline_access read");
  EXPECT_TRUE(net.page.starts_with("https://login.example/page?client_id=c-1&code_challenge=")) << net.page;
  EXPECT_NE(net.page.find("resource=https%3A%2F%2Ftools.example%2Fmcp"), net.page.npos);
  EXPECT_EQ(net.page.find("hidden"), net.page.npos);
  ASSERT_TRUE(canRenew(*grant));
  const WebRequest next = renewal(*grant);
  EXPECT_NE(next.body.find("grant_type=refresh_token&refresh_token=r-1&resource="), next.body.npos) << next.body;
  EXPECT_TRUE(next.headers.at("authorization").starts_with("Basic "));
}

// No token is asked for.
void refuses(Internet& net, const std::string& why) {
  const auto grant = net.logIn();
  ASSERT_FALSE(grant.ok()) << why;
  EXPECT_NE(grant.error().message.find(why), std::string::npos) << grant.error().message;
  EXPECT_EQ(net.times(kToken), 0u) << why;
}

TEST(OAuth, LiesEndTheLogin) {
  struct Lie {
    const char *url, *from, *to, *why;
  };
  for (const Lie& lie :
       {Lie{kResource, "tools.example/mcp", "tools.example.evil/mcp", "another resource"},
        Lie{kResource, "https://tools.example/mcp", "https://tools.example/mc", "another resource"},
        Lie{kResource, "https://tools.example/mcp", "https://", "another resource"},
        Lie{kResource, "https://login.example/tenant", "http://login.example/tenant", "neither https"},
        Lie{kDescription, "example/tenant\"", "example/tenant/\"", "calls itself"},
        Lie{kDescription, "https://login.example/token", "http://login.example/token", "neither https"},
        Lie{kDescription, "https://login.example/page", "https://login.example/page?a", "may not be"},
        Lie{kDescription, "S256", "plain", "PKCE"}}) {
    Internet net;
    net.replace(lie.url, lie.from, lie.to);
    refuses(net, lie.why);
  }
}

TEST(OAuth, ARedirectOfSomebodyElseIsNone) {
  for (const auto& [name, value, why] :
       {std::tuple{"iss", "https://login.example/tenant/", "another issuer"}, std::tuple{"iss", "", "another issuer"},
        std::tuple{"error", "access_denied", "was refused"}, std::tuple{"code", "", "no code"}}) {
    Internet net;
    net.answer[name] = value;
    refuses(net, why);
  }
  Internet net;
  net.copiesState = false;
  net.answer["state"] = "guessed";
  refuses(net, "its state is another");
}

TEST(OAuth, NothingOfOneIssuerGoesToAnother) {
  Internet net;
  OAuthGrant before;
  before.issuer = "https://old.example", before.clientId = "old-client", before.clientSecret = "old-secret";
  before.scope = "old-scope", before.refreshToken = "old-token";
  const auto grant = net.logIn({.server = kServer, .redirect = "http://127.0.0.1:1/callback"}, before);
  ASSERT_TRUE(grant.ok()) << grant.error().message;
  for (const WebRequest& request : net.asked) EXPECT_EQ((request.body + request.url).find("old"), std::string::npos);
  EXPECT_EQ(net.page.find("old"), net.page.npos);
  EXPECT_EQ(grant->clientId, "c-1");
}

TEST(OAuth, TheClientsSecretGoesToTheIssuerThatAPersonNamed) {
  const OAuthSetup setup{
      .server = kServer, .clientId = "mine", .clientSecret = "hidden", .redirect = "http://127.0.0.1:1/callback"};
  for (const bool machine : {false, true})
    for (const auto& [issuer, why] :
         {std::pair{"", "one authorization server only"}, std::pair{"https://login.example", "another issuer"}}) {
      Internet net;
      OAuthSetup asked = setup;
      asked.machine = machine, asked.issuer = issuer;
      const auto grant = net.logIn(asked);
      ASSERT_FALSE(grant.ok());
      EXPECT_NE(grant.error().message.find(why), std::string::npos) << grant.error().message;
      EXPECT_EQ(net.times(kToken), 0u) << why;
    }
  Internet net;
  OAuthSetup named = setup;
  named.issuer = kIssuer;
  EXPECT_TRUE(net.logIn(named).ok());
}

TEST(OAuth, AServerElsewhereSendsNobodyToThisMachine) {
  for (const auto& [url, from, to] :
       {std::tuple{kResource, "https://login.example/tenant", "http://127.0.0.1:7/tenant"},
        std::tuple{kDescription, "https://login.example/token", "http://localhost:7/token"},
        std::tuple{kDescription, "https://login.example/page", "http://127.0.0.1:7/page"},
        std::tuple{kDescription, "https://login.example/register", "http://[::1]:7/register"}}) {
    Internet net;
    net.replace(url, from, to);
    refuses(net, "to this machine");
  }
  Internet net;
  OAuthGrant before;
  before.challenge = R"(Bearer resource_metadata="http://127.0.0.1:7/anything")";
  EXPECT_FALSE(net.logIn({.server = kServer, .redirect = "http://127.0.0.1:1/callback"}, before).ok());
  EXPECT_TRUE(std::ranges::none_of(net.asked, [](const WebRequest& r) { return r.url.starts_with("http://"); }));
}

TEST(OAuth, AChallengeSaysWhereAndWhat) {
  const std::string text =
      R"(Bearer error="insufficient_scope", scope="a b", resource_metadata="https://x/y", realm=z)";
  EXPECT_EQ(challengeParameter(text, "scope"), "a b");
  EXPECT_EQ(challengeParameter(text, "resource_metadata"), "https://x/y");
  EXPECT_EQ(challengeParameter(text, "realm"), "z");
  EXPECT_EQ(challengeParameter(text, "metadata"), "");
  EXPECT_EQ(challengeParameter("Bearer scope=\"open", "scope"), "open");
  Internet net;
  OAuthGrant before;
  before.issuer = kIssuer, before.scope = "read", before.challenge = R"(Bearer scope="write")";
  const auto grant = net.logIn({.server = kServer, .redirect = "http://127.0.0.1:1/callback"}, before);
  ASSERT_TRUE(grant.ok()) << grant.error().message;
  EXPECT_EQ(grant->scope, "offline_access read write");
}

TEST(OAuth, ATokenThatCannotBeBorneIsNone) {
  for (const char* answer :
       {R"({"access_token":"a b","token_type":"Bearer"})", R"({"access_token":"","token_type":"Bearer"})",
        R"({"access_token":"a","token_type":"mac"})", "[]", "",
        "{\"access_token\":\"a\\r\\nx: y\",\"token_type\":\"Bearer\"}"}) {
    const auto next = renewed({}, {200, answer}, 0);
    EXPECT_FALSE(next.ok()) << answer;
  }
  EXPECT_FALSE(renewed({}, {400, R"({"error":"invalid_grant"})"}, 0).ok());
}

}  // namespace oauth_test
}  // namespace witan::mcp
