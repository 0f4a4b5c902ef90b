#include "net/http_message.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <charconv>

#include "base/quote.h"
#include "base/utf8.h"
#include "net/http_reader.h"

namespace witan::net {
namespace {

constexpr std::size_t kMostKeys = 100;

// RFC 3986 section 2.1; in a query '+' is a space, as forms write it. nullopt: of another form, or no UTF-8 text.
std::optional<std::string> decoded(std::string_view text, bool query) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const std::string_view digits = text.substr(i + 1, 2);
      unsigned char byte = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() < 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
      c = static_cast<char>(byte);
      i += 2;
    } else if (c == '+' && query) {
      c = ' ';
    }
    if (c == '\0') return std::nullopt;
    out.push_back(c);
  }
  return isUtf8(out) ? std::optional(std::move(out)) : std::nullopt;
}

bool isUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void appendHeader(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) out.push_back(static_cast<unsigned char>(c) < 0x20 && c != '\t' ? ' ' : c);
  out.append("\r\n");
}

std::optional<HttpFault> splitQuery(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto key = decoded(pair.substr(0, equals), true);
    const auto value = decoded(pair.substr(std::min(pair.size(), equals + 1)), true);
    if (!key || !value) return HttpFault{400, "the query has a part that is no text: " + inQuotes(pair)};
    if (query.size() >= kMostKeys) return HttpFault{400, "the query has more than 100 keys"};
    if (!query.emplace(*key, *value).second) return HttpFault{400, "the query has " + inQuotes(*key) + " twice"};
  }
  return std::nullopt;
}

}  // namespace

// In Beast's list two names are those of RFC 7231.
std::string_view httpReason(int status) {
  namespace http = boost::beast::http;
  if (status == 413) return "Content Too Large";
  if (status == 422) return "Unprocessable Content";
  const http::status known = http::int_to_status(static_cast<unsigned>(status));
  if (known == http::status::unknown) return "Unknown";
  const auto reason = http::obsolete_reason(known);
  return {reason.data(), reason.size()};
}

std::string percentEncoded(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (isUnreserved(c)) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return out;
}

std::optional<HttpFault> splitTarget(HttpRequest& request) {
  std::string_view target = request.target;
  if (target == "*" && request.method == "OPTIONS") {
    request.path = "*";
    return std::nullopt;
  }
  if (target.starts_with("http://")) {
    target.remove_prefix(7);
    target.remove_prefix(std::min(target.find('/'), target.size()));
  }
  if (!target.starts_with('/')) return HttpFault{400, "a target that is no path: " + inQuotes(request.target)};
  target = target.substr(0, target.find('#'));
  const std::size_t mark = std::min(target.find('?'), target.size());
  auto path = decoded(target.substr(0, mark), false);
  if (!path) return HttpFault{400, "a path that is no text: " + inQuotes(request.target)};
  request.path = std::move(*path);
  return splitQuery(target.substr(std::min(target.size(), mark + 1)), request.query);
}

std::string requestBytes(const HttpRequest& request, std::string_view host) {
  std::string out = request.method + " ";
  for (const char c : request.target) {
    if (static_cast<unsigned char>(c) > 0x20 && c != 0x7f)
      out.push_back(c);
    else
      out += percentEncoded({&c, 1});
  }
  out += " HTTP/1.1\r\n";
  if (request.headers.count("host") == 0) appendHeader(out, "host", host);
  for (const auto& [name, value] : request.headers)
    if (name != "content-length" && name != "transfer-encoding") appendHeader(out, name, value);
  if (!request.body.empty() || (request.method != "GET" && request.method != "HEAD"))
    appendHeader(out, "content-length", std::to_string(request.body.size()));
  return out + "\r\n" + request.body;
}

std::string responseHead(const HttpResponse& response, bool keepAlive, std::optional<std::size_t> contentLength,
                         bool chunked) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(httpReason(response.status)).append("\r\n");
  if (!response.contentType.empty() && response.status != 204 && response.status != 304)
    appendHeader(out, "content-type", response.contentType);
  for (const auto& [name, value] : response.headers)
    if (name != "content-length" && name != "transfer-encoding" && name != "connection" && name != "content-type")
      appendHeader(out, name, value);
  if (contentLength && response.status != 204) appendHeader(out, "content-length", std::to_string(*contentLength));
  if (chunked) appendHeader(out, "transfer-encoding", "chunked");
  appendHeader(out, "connection", keepAlive ? "keep-alive" : "close");
  return out + "\r\n";
}

std::string chunkOf(std::string_view bytes) {
  char size[16];
  std::string out(size, std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr);
  return out.append("\r\n").append(bytes).append("\r\n");
}

}  // namespace witan::net
