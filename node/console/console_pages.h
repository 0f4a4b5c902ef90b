// The web console's files (console/dist), as they were compiled in: what answers GET /console/... . They hold no data
// and no secret, so they need no token; what they show comes from the control API with one.
//
// For the control API. Pure functions over constants; any thread.
#pragma once

#include <span>
#include <string_view>

#include "net/http_message.h"

namespace witan::node {

struct ConsoleFile {
  std::string_view path;  // below /console/: "index.html", "assets/index-B1x2.js"
  std::string_view etag;  // of these bytes, with its quotes
  std::string_view gzip;  // the file, compressed
};

std::span<const ConsoleFile> consoleFiles();

inline bool isConsolePath(std::string_view path) { return path == "/console" || path.starts_with("/console/"); }

// 200; 304 if the client has it; 308 from /console; 404; 405 for other methods than GET and HEAD.
net::HttpResponse consoleAnswer(const net::HttpRequest& request);

}  // namespace witan::node
