#include "mcp/resource_uri.h"

#include <charconv>
#include <vector>

namespace witan::mcp {

namespace {

constexpr std::string_view kScheme = "witan://";
constexpr std::size_t kMostBytes = 1024;

// None: a bad escape, or nothing at all.
std::optional<std::string> segmentOf(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (failure != std::errc{} || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain.empty() ? std::nullopt : std::optional(plain);
}

json::object row(const std::string& uri, const char* name, const std::string& about) {
  return {
      {"uriTemplate", uri}, {"name", name}, {"title", about}, {"description", about}, {"mimeType", "application/json"}};
}

}  // namespace

std::optional<ResourceUri> parseResource(std::string_view uri) {
  if (uri.size() > kMostBytes || !uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  std::vector<std::string> segments;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = uri.find('/');
    auto segment = segmentOf(uri.substr(0, end));
    if (!segment) return std::nullopt;
    segments.push_back(std::move(*segment));
    if (end != std::string_view::npos) uri.remove_prefix(end + 1);
  }
  if (segments.size() == 3 && segments[2] == "ledger") return ResourceUri{segments[0], segments[1], ""};
  if (segments.size() == 4 && segments[2] == "slice") return ResourceUri{segments[0], segments[1], segments[3]};
  return std::nullopt;
}

json::array resourceTemplates(const Authority& authority) {
  const bool one = authority.participant();
  const std::string domain = one ? authority.domain : "{domain}", role = one ? authority.role : "{role}";
  const std::string entity = std::string(kScheme) + domain + "/{entity}/";
  json::array rows{row(entity + "slice/" + role, "slice", "The fields of an entity that a role sees")};
  if (authority.key.empty())
    rows.insert(rows.begin(), row(entity + "ledger", "ledger",
                                  one ? "What became of this role's proposals" : "The newest entries of an entity"));
  return rows;
}

}  // namespace witan::mcp
