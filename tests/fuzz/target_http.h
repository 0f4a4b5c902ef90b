// Any bytes as an HTTP request, a response, a stream of server-sent events, and an address: refused or read, the same
// however the bytes were cut, and within the limits.
#pragma once

#include <string>

#include "base/check.h"
#include "base/utf8.h"
#include "net/address.h"
#include "net/event_parser.h"
#include "net/http_reader.h"

namespace witan::fuzz {

inline constexpr net::HttpLimits kFuzzLimits{2'000, 5'000};

// Feeds `bytes` in pieces; what was not taken is offered again with the next piece. Gives how many were taken.
template <class Reader>
std::size_t feedHttp(Reader& reader, std::string_view bytes, std::size_t piece) {
  std::string waiting;
  std::size_t taken = 0;
  while (!bytes.empty() && !reader.done() && !reader.fault()) {
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    const std::size_t now = reader.put(waiting);
    WITAN_CHECK(now <= waiting.size(), "no more is taken than was offered");
    waiting.erase(0, now);
    taken += now;
    WITAN_CHECK(reader.fault() || waiting.size() <= 2'000 + piece, "what waits is bounded");
  }
  return taken;
}

inline void fuzzHttpRequest(std::string_view bytes) {
  if (bytes.size() > 1 << 16) return;
  net::HttpRequestReader whole(kFuzzLimits);
  feedHttp(whole, bytes, std::max<std::size_t>(1, bytes.size()));
  net::HttpRequestReader cut(kFuzzLimits);
  feedHttp(cut, bytes, 1);
  // A fault may be found earlier or later, but never instead of a request that the other has.
  WITAN_CHECK(whole.done() == cut.done(), "where it is cut changes nothing");
  if (!whole.done()) return;
  const net::HttpRequest one = whole.take(), two = cut.take();
  WITAN_CHECK(one.method == two.method && one.path == two.path && one.query == two.query && one.body == two.body &&
                  one.headers == two.headers,
              "where it is cut changes nothing");
  WITAN_CHECK(one.body.size() <= kFuzzLimits.maxBodyBytes && isUtf8(one.path), "a request keeps the limits");
  WITAN_CHECK(one.path.find('\0') == std::string::npos, "a path has no zero byte");
  for (const auto& [name, value] : one.headers)
    WITAN_CHECK(value.find_first_of("\r\n") == std::string::npos, "a header has one line");
}

inline void fuzzHttpResponse(std::string_view bytes) {
  if (bytes.size() > 1 << 16) return;
  net::HttpResponseReader whole(kFuzzLimits, false), cut(kFuzzLimits, false);
  feedHttp(whole, bytes, std::max<std::size_t>(1, bytes.size()));
  feedHttp(cut, bytes, 1);
  for (net::HttpResponseReader* reader : {&whole, &cut})
    if (reader->headerDone() && !reader->fault()) reader->putEnd();
  WITAN_CHECK(whole.done() == cut.done(), "where it is cut changes nothing");
  if (!whole.done()) return;
  const net::HttpResponse one = whole.take(), two = cut.take();
  WITAN_CHECK(one.status == two.status && one.body == two.body && one.headers == two.headers,
              "where it is cut changes nothing");
  WITAN_CHECK(one.body.size() <= kFuzzLimits.maxBodyBytes, "a response keeps the limits");
}

inline void fuzzHttpText(std::string_view bytes) {
  std::string events[2];
  for (const std::size_t piece : {std::size_t{1}, std::max<std::size_t>(1, bytes.size())}) {
    net::EventParser parser(1'000);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const auto keep = [&](const net::ServerEvent& event) {
        WITAN_CHECK(event.data.size() <= 1'000, "an event is bounded");
        events[piece == 1].append(event.name + "\n" + event.id + "\n" + event.data + "\n");
        return true;
      };
      if (!parser.feed(bytes.substr(at, piece), keep).ok()) break;
    }
  }
  WITAN_CHECK(events[0] == events[1], "where it is cut changes nothing");
  if (const auto address = net::parseAddress(bytes); address.ok()) {
    const auto again = net::parseAddress(net::toText(*address));
    WITAN_CHECK(again.ok() && net::toText(*again) == net::toText(*address), "an address reads back");
  }
}

}  // namespace witan::fuzz
