#include "node/console/console_pages.h"

#include <zlib.h>

#include <algorithm>
#include <string>

namespace witan::node {

namespace {

net::HttpResponse refusal(int status, std::string words) {
  net::HttpResponse answer;
  answer.status = status;
  answer.contentType = "text/plain; charset=utf-8";
  answer.body = std::move(words) + "\n";
  return answer;
}

constexpr std::size_t kMaxFileBytes = 8 << 20;

constexpr const char* kPolicy =
    "default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const char* typeOf(std::string_view path) {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

// For clients that take no gzip. Our own bytes; the limit holds all the same.
std::string inflated(std::string_view gzip) {
  std::string out;
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  int state = Z_OK;
  while (state == Z_OK && out.size() < kMaxFileBytes) {
    const std::size_t before = out.size();
    out.resize(before + 64 * 1024);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = 64 * 1024;
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return out;
}

std::string_view headerOf(const net::HttpRequest& request, const char* name) {
  const auto at = request.headers.find(name);
  return at == request.headers.end() ? std::string_view() : std::string_view(at->second);
}

// Whether a list of entity tags names this one; weak ones count (RFC 9110 section 13.1.2).
bool namesTag(std::string_view list, std::string_view etag) { return list == "*" || list.find(etag) != list.npos; }

}  // namespace

net::HttpResponse consoleAnswer(const net::HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD")
    return refusal(405, "only GET and HEAD are for the console's files");
  if (request.path == "/console") {
    net::HttpResponse moved;
    moved.status = 308;
    moved.headers["location"] = "console/";  // relative: right below a proxy's prefix too
    return moved;
  }
  std::string_view path = std::string_view(request.path).substr(sizeof("/console/") - 1);
  if (path.empty()) path = "index.html";
  const auto files = consoleFiles();
  const auto file = std::find_if(files.begin(), files.end(), [&](const ConsoleFile& one) { return one.path == path; });
  if (file == files.end()) return refusal(404, "the console has no such file; it begins at /console/");
  net::HttpResponse answer;
  answer.contentType = typeOf(path);
  // Names below assets/ are of their contents.
  answer.headers = {{"etag", std::string(file->etag)},
                    {"cache-control", path.starts_with("assets/") ? "public, max-age=31536000, immutable" : "no-cache"},
                    {"vary", "accept-encoding"},
                    {"content-security-policy", kPolicy},
                    {"x-content-type-options", "nosniff"},
                    {"referrer-policy", "no-referrer"},
                    {"cross-origin-opener-policy", "same-origin"},
                    {"cross-origin-resource-policy", "same-origin"}};
  if (namesTag(headerOf(request, "if-none-match"), file->etag)) {
    answer.status = 304;
    return answer;
  }
  if (headerOf(request, "accept-encoding").find("gzip") != std::string_view::npos) {
    answer.headers["content-encoding"] = "gzip";
    answer.body = file->gzip;
  } else {
    answer.body = inflated(file->gzip);
  }
  return answer;
}

}  // namespace witan::node
