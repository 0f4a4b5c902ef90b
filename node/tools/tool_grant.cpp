#include "node/tools/tool_grant.h"

#include <filesystem>

#include "program/durable_file.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostGrantBytes = 256 * 1024;

}  // namespace

Result<mcp::OAuthGrant> readGrant(const ToolConfig& tool, const Secret* secret) {
  mcp::OAuthGrant grant;
  WITAN_TRY(text, readSmallFile(tool.file, kMostGrantBytes));
  if (!text) return grant;
  WITAN_TRY(value, parseJson(*text, {.bytes = kMostGrantBytes, .depth = 4}));
  WITAN_DO(readJson(value, grant, tool.file));
  if (secret != nullptr) grant.clientSecret = secret->reveal();
  return grant;
}

Status writeGrant(const ToolConfig& tool, mcp::OAuthGrant grant, const Secret* secret) {
  if (secret != nullptr) grant.clientSecret.clear();
  const std::filesystem::path file = tool.file;
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  if (failed) return ioFailed("cannot make " + file.parent_path().string() + " (" + failed.message() + ")");
  return replaceFile(file, toJson(grant) + "\n", 0600);
}

net::HttpRequest httpRequestOf(const mcp::WebRequest& request, const std::string& path) {
  return {.method = request.method,
          .target = path,
          .headers = {request.headers.begin(), request.headers.end()},
          .body = request.body};
}

}  // namespace witan::node
