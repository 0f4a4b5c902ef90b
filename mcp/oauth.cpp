#include "mcp/oauth.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "mcp/message.h"

namespace witan::mcp {

namespace {

constexpr JsonLimits kDocument{.bytes = 256 * 1024, .depth = 16};
constexpr std::size_t kMostToken = 16 * 1024, kMostScope = 4 * 1024;

struct Url {
  std::string origin, path;  // "https://HOST:PORT", "/mcp"
};

// Errors: no https, and not this machine; a query or a fragment.
Result<Url> urlOf(std::string_view text) {
  const std::size_t scheme = text.find("://");
  const std::size_t begin = scheme == text.npos ? text.size() : scheme + 3;
  const std::size_t slash = std::min(text.find('/', begin), text.size());
  Url url{std::string(text.substr(0, slash)), std::string(text.substr(slash))};
  const std::string_view host = text.substr(begin, slash - begin);
  const std::string_view name = host.substr(0, host.starts_with('[') ? host.find(']') + 1 : host.find(':'));
  const bool here = name == "localhost" || name == "127.0.0.1" || name == "[::1]";
  if (name.empty() || (!text.starts_with("https://") && !(text.starts_with("http://") && here)))
    return invalid("the url " + inQuotes(text) + " is neither https nor of this machine");
  if (text.find_first_of("?#@ \t\r\n") != text.npos)
    return invalid("the url " + inQuotes(text) + " has a part that may not be");
  return url;
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~").find(c) != std::string_view::npos)
      out += c;
    else
      out += concat("%", "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]);
  }
  return out;
}

using Form = std::map<std::string, std::string>;

std::string formText(const Form& form) {
  std::string text;
  for (const auto& [name, value] : form)
    if (!value.empty()) text += concat(text.empty() ? "" : "&", name, "=", encoded(value));
  return text;
}

std::string urlSafe(std::string_view bytes) {
  std::string text = toBase64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.resize(text.find_last_not_of('=') + 1);
  return text;
}

std::string secretText(Random& random) {
  Hash bytes{};
  random.fill(bytes);
  return urlSafe({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string challengeOf(const std::string& verifier) {
  const Hash digest = sha256(verifier);
  return urlSafe({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool listed(const json::object& document, std::string_view member, std::string_view word) {
  const json::value* list = document.if_contains(member);
  if (list == nullptr || !list->is_array()) return false;
  return std::ranges::find(list->get_array(), json::value(word)) != list->get_array().end();
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += concat(text.empty() ? "" : " ", word);
  return text;
}

void addWords(std::set<std::string>& into, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) into.emplace(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

// The first of the documents that is there.
Result<json::object> firstOf(const std::vector<std::string>& urls, const Web& web, const char* what) {
  std::string tried;
  for (const std::string& url : urls) {
    WITAN_TRY(good, urlOf(url));
    (void)good;
    WITAN_TRY(answer, web({"GET", url, {{"accept", "application/json"}}, ""}));
    tried += concat(tried.empty() ? "" : ", ", url, " (HTTP ", answer.status, ")");
    if (answer.status != 200) continue;
    auto document = parseJson(answer.body, kDocument);
    if (!document.ok() || !document->is_object()) return invalid(concat(what, " of ", url, " is no JSON object"));
    return document->get_object();
  }
  return notFound(concat("there is no ", what, ": ", tried));
}

struct Resource {
  std::string name, issuer;
  std::set<std::string> scopes;
};

// RFC 9728: where the challenge says, else beside the path, else at the root.
Result<Resource> resourceOf(const OAuthSetup& setup, std::string_view challenge, const Web& web) {
  constexpr std::string_view kPlace = "/.well-known/oauth-protected-resource";
  WITAN_TRY(server, urlOf(setup.server));
  std::vector<std::string> places{challengeParameter(challenge, "resource_metadata")};
  if (places.front().empty()) places = {concat(server.origin, kPlace, server.path), concat(server.origin, kPlace)};
  WITAN_TRY(document, firstOf(places, web, "description of the protected resource"));
  Resource out;
  out.name = textIn(document, "resource");
  std::string_view prefix = out.name;
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  const std::string_view rest = std::string_view(setup.server).substr(std::min(prefix.size(), setup.server.size()));
  const bool ours = setup.server.starts_with(prefix) && prefix.size() >= server.origin.size() &&
                    (rest.empty() || rest.starts_with('/'));
  if (!ours)
    return invalid(concat("the server describes another resource: ", inQuotes(out.name), " is not ", setup.server));
  const json::value* servers = document.if_contains("authorization_servers");
  if (servers == nullptr || !servers->is_array() || servers->get_array().empty() ||
      !servers->get_array().front().is_string())
    return invalid("the server names nobody who gives tokens for it");
  out.issuer = servers->get_array().front().get_string();
  if (const json::value* scopes = document.if_contains("scopes_supported"); scopes != nullptr && scopes->is_array())
    for (const json::value& scope : scopes->get_array())
      if (scope.is_string()) out.scopes.emplace(scope.get_string());
  return out;
}

// RFC 8414, then OpenID Connect; with the path of the issuer where each has it.
Result<json::object> issuerOf(const std::string& issuer, const Web& web) {
  constexpr std::string_view kOAuth = "/.well-known/oauth-authorization-server",
                             kOpenId = "/.well-known/openid-configuration";
  WITAN_TRY(url, urlOf(issuer));
  const std::string path = url.path == "/" ? "" : url.path;
  std::vector<std::string> places{concat(url.origin, kOAuth, path), concat(url.origin, kOpenId, path)};
  if (!path.empty()) places.push_back(concat(url.origin, path, kOpenId));
  WITAN_TRY(document, firstOf(places, web, "description of the authorization server"));
  if (textIn(document, "issuer") != issuer)
    return invalid(concat("the authorization server calls itself ", inQuotes(textIn(document, "issuer")), " and not ",
                          inQuotes(issuer)));
  WITAN_TRY(token, urlOf(textIn(document, "token_endpoint")));
  (void)token;
  return std::move(document);
}

std::string methodFor(const json::object& issuer, const OAuthGrant& client, std::string_view registered) {
  constexpr std::string_view kMember = "token_endpoint_auth_methods_supported";
  if (!registered.empty()) return std::string(registered);
  if (client.clientSecret.empty()) return "none";
  if (!issuer.contains(kMember)) return "client_secret_basic";
  for (const char* method : {"client_secret_basic", "client_secret_post"})
    if (listed(issuer, kMember, method)) return method;
  return "none";
}

// Registered before; by its metadata; by an earlier login at this issuer; by registering (RFC 7591).
Status takeClient(OAuthGrant& grant, const OAuthSetup& setup, const OAuthGrant& before, const json::object& issuer,
                  const Web& web) {
  const json::value* documents = issuer.if_contains("client_id_metadata_document_supported");
  std::string registered;
  if (!setup.clientId.empty()) {
    grant.clientId = setup.clientId, grant.clientSecret = setup.clientSecret;
  } else if (!setup.clientMetadata.empty() && documents != nullptr && documents->is_bool() && documents->get_bool()) {
    grant.clientId = setup.clientMetadata;
  } else if (before.issuer == grant.issuer && !before.clientId.empty()) {
    grant.clientId = before.clientId, grant.clientSecret = before.clientSecret, registered = before.method;
  } else {
    const std::string endpoint(textIn(issuer, "registration_endpoint"));
    if (endpoint.empty())
      return invalid("the authorization server registers no clients", "--client-id, of one that it knows");
    WITAN_TRY(url, urlOf(endpoint));
    (void)url;
    const bool nameless = listed(issuer, "token_endpoint_auth_methods_supported", "none");
    const json::object asked{{"application_type", "native"},
                             {"client_name", "Witan"},
                             {"grant_types", json::array{"authorization_code", "refresh_token"}},
                             {"redirect_uris", json::array{setup.redirect}},
                             {"response_types", json::array{"code"}},
                             {"token_endpoint_auth_method", nameless ? "none" : "client_secret_basic"}};
    WITAN_TRY(answer, web({"POST", endpoint, {{"content-type", "application/json"}}, canonicalJson(asked)}));
    const auto document = parseJson(answer.body, kDocument);
    if (answer.status / 100 != 2 || !document.ok() || !document->is_object())
      return invalid(concat("the authorization server does not register this client (HTTP ", answer.status, ")"),
                     "--client-id, of one that it knows");
    grant.clientId = textIn(document->get_object(), "client_id");
    grant.clientSecret = textIn(document->get_object(), "client_secret");
    registered = textIn(document->get_object(), "token_endpoint_auth_method");
  }
  if (grant.clientId.empty() || grant.clientId.size() > kMostToken) return invalid("this client has no id there");
  grant.method = methodFor(issuer, grant, registered);
  return okStatus();
}

WebRequest tokenRequest(const OAuthGrant& grant, Form form) {
  WebRequest request{"POST", grant.tokenEndpoint, {{"accept", "application/json"}}, ""};
  request.headers["content-type"] = "application/x-www-form-urlencoded";
  if (grant.method == "client_secret_basic") {
    const std::string both = concat(encoded(grant.clientId), ":", encoded(grant.clientSecret));
    request.headers["authorization"] = "Basic " + toBase64(both);
  } else {
    form["client_id"] = grant.clientId;
    if (grant.method == "client_secret_post") form["client_secret"] = grant.clientSecret;
  }
  form["resource"] = grant.resource;
  request.body = formText(form);
  return request;
}

// The code of a redirect that is ours and the issuer's.
Result<std::string> codeIn(const std::map<std::string, std::string>& query, const std::string& state,
                           const json::object& issuer) {
  const auto given = [&](const char* name) {
    const auto at = query.find(name);
    return at == query.end() ? std::string() : at->second;
  };
  if (given("state") != state) return invalid("the redirect is not of this login: its state is another");
  const json::value* promised = issuer.if_contains("authorization_response_iss_parameter_supported");
  const bool must = promised != nullptr && promised->is_bool() && promised->get_bool();
  if ((must || query.contains("iss")) && given("iss") != textIn(issuer, "issuer"))
    return invalid("the redirect comes from another issuer: " + inQuotes(given("iss")));
  if (const std::string error = given("error"); !error.empty())
    return invalid(concat("the login was refused: ", error, " ", given("error_description")));
  if (given("code").empty()) return invalid("the redirect has no code");
  return given("code");
}

}  // namespace

std::string challengeParameter(std::string_view challenge, std::string_view name) {
  for (std::size_t at = challenge.find(name); at != challenge.npos; at = challenge.find(name, at + 1)) {
    const bool begins = at > 0 && (challenge[at - 1] == ' ' || challenge[at - 1] == ',');
    std::string_view rest = challenge.substr(at + name.size());
    if (!begins || !rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    if (!rest.starts_with('"')) return std::string(rest.substr(0, rest.find_first_of(", ")));
    rest.remove_prefix(1);
    return std::string(rest.substr(0, rest.find('"')));
  }
  return {};
}

bool canRenew(const OAuthGrant& grant) {
  return !grant.tokenEndpoint.empty() && (grant.machine || !grant.refreshToken.empty());
}

WebRequest renewal(const OAuthGrant& grant) {
  if (grant.refreshToken.empty())
    return tokenRequest(grant, {{"grant_type", "client_credentials"}, {"scope", grant.scope}});
  return tokenRequest(grant, {{"grant_type", "refresh_token"}, {"refresh_token", grant.refreshToken}});
}

Result<OAuthGrant> renewed(const OAuthGrant& grant, const WebAnswer& answer, std::int64_t wallMs) {
  const auto document = parseJson(answer.body, kDocument);
  const json::object* token = document.ok() ? document->if_object() : nullptr;
  if (answer.status / 100 != 2 || token == nullptr) {
    const std::string_view why = token != nullptr ? textIn(*token, "error") : std::string_view();
    return invalid(concat("no token was given (HTTP ", answer.status, why.empty() ? "" : ", ", why, ")"),
                   "log in again");
  }
  OAuthGrant next = grant;
  next.accessToken = textIn(*token, "access_token");
  std::string type(textIn(*token, "token_type"));
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool plain = std::ranges::all_of(next.accessToken, [](char c) { return c > ' ' && c <= '~'; });
  if (next.accessToken.empty() || next.accessToken.size() > kMostToken || !plain || type != "bearer")
    return invalid("the token is none that can be borne");
  if (const std::string_view refresh = textIn(*token, "refresh_token"); !refresh.empty()) next.refreshToken = refresh;
  const json::value* seconds = token->if_contains("expires_in");
  const bool known = seconds != nullptr && seconds->is_int64() && seconds->get_int64() > 0;
  next.expiresMs = known ? wallMs + std::min<std::int64_t>(seconds->get_int64(), 366 * 86'400) * 1'000 : 0;
  next.challenge.clear();
  return next;
}

Result<OAuthGrant> logIn(const OAuthSetup& setup, const OAuthGrant& before, const Web& anyWeb, const Person& person,
                         Random& random, std::int64_t wallMs) {
  // A server elsewhere sends nobody to what listens on this machine.
  const auto permitted = [&](const std::string& url) -> Status {
    if (!url.starts_with("http://") || setup.server.starts_with("http://")) return okStatus();
    return invalid(concat("the server sends its client to this machine: ", inQuotes(url)));
  };
  const Web web = [&](const WebRequest& request) -> Result<WebAnswer> {
    WITAN_DO(permitted(request.url));
    return anyWeb(request);
  };
  WITAN_TRY(resource, resourceOf(setup, before.challenge, web));
  if (!setup.issuer.empty() && setup.issuer != resource.issuer)
    return invalid(concat("the server names another issuer: ", inQuotes(resource.issuer)));
  if (!setup.clientSecret.empty() && setup.issuer.empty())
    return invalid("the client's secret is for one authorization server only",
                   concat("--issuer ", resource.issuer, ", if the client is registered there"));
  WITAN_TRY(issuer, issuerOf(resource.issuer, web));
  OAuthGrant grant;
  grant.issuer = resource.issuer, grant.resource = resource.name, grant.machine = setup.machine;
  grant.tokenEndpoint = textIn(issuer, "token_endpoint");
  WITAN_DO(takeClient(grant, setup, before, issuer, web));

  std::set<std::string> scopes;
  addWords(scopes, challengeParameter(before.challenge, "scope"));
  if (scopes.empty()) scopes = resource.scopes;
  if (before.issuer == grant.issuer) addWords(scopes, before.scope);
  if (!setup.machine && listed(issuer, "scopes_supported", "offline_access")) scopes.emplace("offline_access");
  grant.scope = joined(scopes);
  if (grant.scope.size() > kMostScope) return invalid("it wants more scopes than can be asked for");
  const auto told = [&](const WebRequest& request) -> Result<OAuthGrant> {
    WITAN_TRY(answer, web(request));
    return renewed(grant, answer, wallMs);
  };
  if (setup.machine) return told(renewal(grant));

  if (!listed(issuer, "code_challenge_methods_supported", "S256"))
    return invalid("the authorization server does not say that it takes PKCE with S256");
  WITAN_TRY(page, urlOf(textIn(issuer, "authorization_endpoint")));
  WITAN_DO(permitted(page.origin));
  const std::string verifier = secretText(random), state = secretText(random);
  WITAN_TRY(query, person(concat(page.origin, page.path, "?",
                                 formText({{"client_id", grant.clientId},
                                           {"code_challenge", challengeOf(verifier)},
                                           {"code_challenge_method", "S256"},
                                           {"redirect_uri", setup.redirect},
                                           {"resource", grant.resource},
                                           {"response_type", "code"},
                                           {"scope", grant.scope},
                                           {"state", state}}))));
  WITAN_TRY(code, codeIn(query, state, issuer));
  return told(tokenRequest(grant, {{"grant_type", "authorization_code"},
                                   {"code", code},
                                   {"code_verifier", verifier},
                                   {"redirect_uri", setup.redirect}}));
}

}  // namespace witan::mcp
