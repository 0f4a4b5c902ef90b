// An HTTP request and an HTTP response as plain values, for both sides (RFC 9110).
//
// Values; no Beast is seen through this header.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace witan::net {

using HttpHeaders = std::map<std::string, std::string>;  // names in lower case; repeated ones joined with ", "

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";                  // as sent: path and query
  std::string path;                          // percent-decoded; the server fills it in, a client leaves it empty
  std::map<std::string, std::string> query;  // decoded; the server refuses a key that comes twice
  HttpHeaders headers;
  std::string body;
  std::string remote;  // the client's address, or "unix"; the server fills it in
};

struct HttpResponse {
  int status = 200;
  std::string contentType = "application/json";
  HttpHeaders headers;
  std::string body;
};

// "Not Found" for 404; "Unknown" for what RFC 9110 has not.
std::string_view httpReason(int status);

// For building targets: everything but the unreserved characters (RFC 3986 section 2.3) becomes %XX.
std::string percentEncoded(std::string_view text);

}  // namespace witan::net
