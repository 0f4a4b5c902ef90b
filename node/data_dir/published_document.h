// What the cluster's admin has published to this device (`witan publish`, node/daemon/published_files.h): signed
// documents in DIR/published, each under the name of its file. Here stands who a file is from, and that a file that
// came by itself never keeps a node from starting.
//
// Values and functions over a data directory; any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/crypto.h"
#include "base/result.h"
#include "store/store.h"

namespace witan::node {

struct PublishedFile {
  std::string name;  // "clerk.agent.toml"
  std::uint64_t version = 0;
  std::optional<std::string> text;  // none: it was withdrawn
  bool former = false;              // the key that signed it has been replaced since
};

// The text, or null where the file is withdrawn, as the content of a signed document.
std::string publishedContent(const std::optional<std::string>& text);
// `admins`: the keys that have signed for the cluster, the present one first. Errors: none of them signed it; it is of
// another name.
Result<PublishedFile> readPublished(std::string_view document, const std::string& name,
                                    std::span<const PublicKey> admins);

std::filesystem::path publishedPath(const std::filesystem::path& dir, const std::string& name);
// As this device has it; what was taken in stays in force when the admin's key is replaced. None: none is there that
// counts.
Result<std::optional<PublishedFile>> keptPublished(const std::filesystem::path& dir, const std::string& name,
                                                   std::span<const PublicKey> admins);

// Whether anything was decided under the rules of a domain: then its file stays.
Result<bool> holdsEntries(const store::Store& ledgers, std::string_view domain);
// Whether the last word of the admin is that the file goes.
bool isWithdrawn(const std::filesystem::path& dir, const std::string& name);

// Of a file that a start cannot take, because of `why`. Where the admin has published it as it is, the words of an
// incident: the start goes on without it. Errors: `why`, of any other file.
Result<std::string> leaveOut(const std::filesystem::path& dir, const std::filesystem::path& file, const Error& why);
inline constexpr const char* kLeftOut = "leftOut";  // the kind of such an incident

}  // namespace witan::node
