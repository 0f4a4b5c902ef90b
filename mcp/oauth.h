// OAuth of an MCP client (2026-07-28, Authorization): from a server's 401 or 403 to a token, and to the next one.
//
//   logIn(...)         discovery (RFC 9728, RFC 8414, OpenID), registration, a person's consent or the client's own
//                      credentials, the token (OAuth 2.1 with PKCE; resource indicators of RFC 8707; iss of RFC 9207)
//   renewal, renewed   the request for the next token, where no person is needed, and what its answer gives
//
// Servers are not believed: what they publish has to name itself, the resource and the issuer, letter by letter. Only
// https is asked; http of this machine too where the server itself is there. A secret goes to the issuer that a person
// named, whatever the server says. No I/O of its own: `web` and `person` are the caller's, who may block in them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/json_codec.h"
#include "base/result.h"
#include "base/seams.h"

namespace witan::mcp {

// What is kept of a login. It is a secret.
struct OAuthGrant {
  std::string issuer, resource, tokenEndpoint;
  std::string clientId, clientSecret, method;  // method: none, client_secret_basic, client_secret_post
  std::string scope;                           // that were asked for so far
  std::string accessToken, refreshToken;
  std::int64_t expiresMs = 0;  // wall time; 0: unknown
  bool machine = false;        // the client acts for itself: its credentials are enough for the next token
  std::string challenge;       // WWW-Authenticate of the last refusal
  WITAN_MEMBERS(OAuthGrant, issuer, resource, tokenEndpoint, clientId, clientSecret, method, scope, accessToken,
                refreshToken, expiresMs, machine, challenge)
};

struct OAuthSetup {
  std::string server;                  // the MCP server's url
  std::string clientId, clientSecret;  // of a client that was registered before; empty: none
  std::string issuer;                  // the only one that may learn clientSecret; empty: any, where there is no secret
  std::string clientMetadata;          // https url of this client's metadata document; empty: none
  std::string redirect;                // where a person comes back to
  bool machine = false;
};

struct WebRequest {
  std::string method, url;
  std::map<std::string, std::string> headers;
  std::string body;
};
struct WebAnswer {
  int status = 0;
  std::string body;
};
using Web = std::function<Result<WebAnswer>(const WebRequest&)>;
// Shows a person the url; returns the query of the redirect, decoded.
using Person = std::function<Result<std::map<std::string, std::string>>(const std::string& url)>;

// `before`: the last grant, with the challenge; of another issuer nothing of it is used. Errors: what is wrong, in
// words for people.
Result<OAuthGrant> logIn(const OAuthSetup& setup, const OAuthGrant& before, const Web& web, const Person& person,
                         Random& random, std::int64_t wallMs);

bool canRenew(const OAuthGrant& grant);
// Requires: canRenew().
WebRequest renewal(const OAuthGrant& grant);
Result<OAuthGrant> renewed(const OAuthGrant& grant, const WebAnswer& answer, std::int64_t wallMs);

// A parameter of a Bearer challenge: "scope", "resource_metadata", "error"; empty: it has none.
std::string challengeParameter(std::string_view challenge, std::string_view name);

}  // namespace witan::mcp
