#include "node/tools/tool_address.h"

#include <algorithm>

#include "base/quote.h"
#include "net/address.h"

namespace witan::node {

Result<ToolAddress> toolAddress(const std::string& url) {
  ToolAddress out;
  std::string_view rest = url;
  out.endpoint.tls = rest.starts_with("https://");
  rest.remove_prefix(std::min<std::size_t>(rest.size(), out.endpoint.tls ? 8 : 7));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string host(rest.substr(0, slash));
  out.path = rest.substr(slash);
  while (out.path.ends_with('/')) out.path.pop_back();
  if (out.path.empty()) out.path = "/";
  if (host.empty() || host.ends_with(']') || host.find(':') == host.npos) host += out.endpoint.tls ? ":443" : ":80";
  auto address = net::parseAddress(host);
  if (!address.ok() || address->host.empty()) return invalid("the url " + inQuotes(url) + " has no host and port");
  out.endpoint.address = net::toText(*address);
  return out;
}

net::HttpClientOptions toolClientOptions(const ToolConfig& config) {
  net::HttpClientOptions options;
  options.maxBodyBytes = 1 << 20;
  options.connections = static_cast<std::size_t>(config.atOnce);
  options.timeoutMs = config.timeoutMs;
  options.connectTimeoutMs = std::min<std::int64_t>(config.timeoutMs, 5'000);
  options.marksUnsent = true;
  return options;
}

void addSecret(net::HttpRequest& request, const PortSetup& setup) {
  const std::string& as = setup.config.secretAs;
  if (setup.secret == nullptr || as == "oauth") return;  // that one is for the issuer of tokens
  if (as == "bearer") {
    request.headers["authorization"] = concat("Bearer ", setup.secret->reveal());
  } else {
    std::string name = as.substr(as.find(':') + 1);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = setup.secret->reveal();
  }
}

}  // namespace witan::node
