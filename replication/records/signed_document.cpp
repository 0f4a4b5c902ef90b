#include "replication/records/signed_document.h"

#include <algorithm>
#include <tuple>

#include "base/capnp_codec.h"
#include "base/quote.h"

namespace witan::replication {

namespace {

std::string nameOf(const SignedDocumentBody& document) {
  return concat(enumName(document.kind), " ", inQuotes(document.name), " version ", document.version);
}

Result<SignedDocumentBody> read(DocumentKind kind, std::string_view name, const PublicKey& admin,
                                const Version& version) {
  if (version.tombstone) return invalid("a signed document cannot be deleted");
  WITAN_TRY(document, decodeRecord<SignedDocumentBody>(version.body));
  if (document.kind != kind || document.name != name) return invalid("it is the " + nameOf(document));
  WITAN_DO(verify(document, admin));
  return document;
}

// The one that counts first.
bool countsBefore(const SignedVersion& a, const SignedVersion& b) {
  if (a.document.version != b.document.version) return a.document.version > b.document.version;
  return std::tie(a.digest, a.dot) < std::tie(b.digest, b.dot);
}

}  // namespace

std::string signedBytes(const SignedDocumentBody& document) {
  SignedDocumentBody bare = document;
  bare.signature.clear();
  WordWriter writer;
  std::string bytes = "witan signed document v1\n";
  bytes += writer.message(bare);
  return bytes;
}

Hash documentDigest(const SignedDocumentBody& document) { return sha256(signedBytes(document)); }

Result<SignedDocumentBody> sign(SignedDocumentBody document, const SigningKey& admin) {
  const Signature signature = admin.sign(signedBytes(document));
  document.signature.assign(signature.begin(), signature.end());
  WITAN_DO(checkRecord(document));
  return document;
}

Status verify(const SignedDocumentBody& document, const PublicKey& admin) {
  if (verifySignature(std::span<const std::uint8_t>(admin), signedBytes(document),
                      std::span<const std::uint8_t>(document.signature)))
    return okStatus();
  return Error{ErrorCode::unauthorised, nameOf(document) + " is not signed by the cluster's admin key",
               "only the admin's device can publish it"};
}

SignedDocumentView documentViewOf(DocumentKind kind, std::string_view name, const PublicKey& admin,
                                  std::span<const Version> versions) {
  SignedDocumentView view;
  std::vector<SignedVersion> all;
  for (const Version* v : versionsByDot(versions)) {
    auto document = read(kind, name, admin, *v);
    if (document.ok())
      all.push_back({v->dot, documentDigest(*document), *std::move(document)});
    else
      view.unreadable.push_back({v->dot, document.error().message});
  }
  std::ranges::sort(all, countsBefore);
  for (SignedVersion& v : all) {
    if (!view.current)
      view.current = std::move(v);
    else if (v.document.version == view.current->document.version && v.digest != view.current->digest)
      view.conflicts.push_back(std::move(v));
    else
      view.superseded.push_back(std::move(v));
  }
  return view;
}

Status mayPublish(const SignedDocumentView& view, const SignedDocumentBody& document) {
  if (!view.current || document.version > view.current->document.version) return okStatus();
  return conflict(concat(nameOf(document), " is not newer than version ", view.current->document.version),
                  concat("use version ", view.current->document.version + 1));
}

}  // namespace witan::replication
