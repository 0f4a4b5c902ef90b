// Addresses of tools: what a url says, and how requests carry the secret of a tool. Any thread.
#pragma once

#include "net/http_client.h"
#include "node/tools/tool_port.h"

namespace witan::node {

struct ToolAddress {
  net::HttpEndpoint endpoint;
  std::string path;  // without a slash at its end, but "/" alone
};

Result<ToolAddress> toolAddress(const std::string& url);
net::HttpClientOptions toolClientOptions(const ToolConfig& config);
// The only place where a secret leaves for a server.
void addSecret(net::HttpRequest& request, const PortSetup& setup);

}  // namespace witan::node
