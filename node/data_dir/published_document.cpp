#include "node/data_dir/published_document.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quote.h"
#include "kernel/ledger/ledger_versions.h"
#include "program/durable_file.h"
#include "replication/records/signed_document.h"

namespace witan::node {

namespace fs = std::filesystem;

using replication::DocumentKind;
using replication::SignedDocumentBody;

namespace {

constexpr const char* kText = "text";

Result<PublishedFile> contentOf(const SignedDocumentBody& document, const std::string& name) {
  WITAN_TRY(content, parseJson(document.content, kOwnJson));
  const json::value* text = content.is_object() ? content.get_object().if_contains(kText) : nullptr;
  if (document.kind != DocumentKind::policy || document.name != name || text == nullptr ||
      !(text->is_string() || text->is_null()))
    return invalid("the signed document is not of " + inQuotes(name));
  PublishedFile file{name, document.version, std::nullopt};
  if (text->is_string()) file.text = std::string(text->get_string());
  return file;
}

// Whoever signed it: it only permits a start to go on without the file.
std::optional<PublishedFile> besideFile(const fs::path& dir, const std::string& name) {
  const auto bytes = readSmallFile(publishedPath(dir, name), replication::kMaxRecordBytes);
  if (!bytes.ok() || !*bytes) return std::nullopt;
  const auto document = replication::decodeRecord<SignedDocumentBody>(**bytes);
  const auto file = document.ok() ? contentOf(*document, name) : Result<PublishedFile>(document.error());
  return file.ok() ? std::optional(*file) : std::nullopt;
}

}  // namespace

std::string publishedContent(const std::optional<std::string>& text) {
  return canonicalJson(json::object{{kText, text ? json::value(*text) : json::value(nullptr)}});
}

Result<PublishedFile> readPublished(std::string_view bytes, const std::string& name,
                                    std::span<const PublicKey> admins) {
  WITAN_TRY(document, replication::decodeRecord<SignedDocumentBody>(bytes));
  const auto by =
      std::ranges::find_if(admins, [&](const PublicKey& admin) { return replication::verify(document, admin).ok(); });
  if (by == admins.end()) return replication::verify(document, admins.front()).error();
  WITAN_TRY(file, contentOf(document, name));
  file.former = by != admins.begin();
  return file;
}

fs::path publishedPath(const fs::path& dir, const std::string& name) { return dir / "published" / name; }

Result<std::optional<PublishedFile>> keptPublished(const fs::path& dir, const std::string& name,
                                                   std::span<const PublicKey> admins) {
  WITAN_TRY(bytes, readSmallFile(publishedPath(dir, name), replication::kMaxRecordBytes));
  if (!bytes) return std::optional<PublishedFile>();
  auto file = readPublished(*bytes, name, admins);
  return file.ok() ? std::optional(*std::move(file)) : std::nullopt;
}

bool isWithdrawn(const fs::path& dir, const std::string& name) {
  const auto file = besideFile(dir, name);
  return file && !file->text;
}

Result<bool> holdsEntries(const store::Store& ledgers, std::string_view domain) {
  bool found = false;
  const std::string prefix = concat("p/", domain, "/");
  WITAN_DO(ledgers.scan(prefix, "", [&](std::string_view key, std::string_view value) {
    const std::size_t slash = key.find('/', prefix.size());
    found = slash != std::string_view::npos && key.substr(slash + 1).starts_with('l') && kernel::holdsDecision(value);
    return !found;
  }));
  return found;
}

Result<std::string> leaveOut(const fs::path& dir, const fs::path& file, const Error& why) {
  const auto published = besideFile(dir, file.filename().string());
  WITAN_TRY(text, readSmallFile(file, replication::kMaxRecordBytes));
  if (!text || !published || published->text != text) return why;
  return concat(file.string(), ", version ", published->version, " of the cluster's admin, is left out: ", why.message);
}

}  // namespace witan::node
