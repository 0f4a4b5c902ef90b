// Policies and rosters: documents that only the cluster's admin writes, each signed and numbered.
//
// The highest version counts. Two documents of one version are the admin's mistake: it is reported, and until a higher
// version settles it the one with the smaller digest counts, everywhere. What is not signed by the admin's key counts
// for nothing. Pure functions of the set of versions, in any order. A replica should call verify before it takes such a
// version in: it replaces what its author saw.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "replication/records/records.h"

namespace witan::replication {

// What is signed. Requires: a document that checkRecord accepts, but for the signature.
std::string signedBytes(const SignedDocumentBody& document);

// SHA-256 of the signed bytes.
Hash documentDigest(const SignedDocumentBody& document);

// Errors: what checkRecord says of the result.
Result<SignedDocumentBody> sign(SignedDocumentBody document, const SigningKey& admin);

// Error: unauthorised, naming the document.
Status verify(const SignedDocumentBody& document, const PublicKey& admin);

struct SignedVersion {
  Dot dot;
  Hash digest{};
  SignedDocumentBody document;
  friend bool operator==(const SignedVersion&, const SignedVersion&) = default;
};

struct SignedDocumentView {
  std::optional<SignedVersion> current;
  std::vector<SignedVersion> conflicts;   // of the same version with other content, by digest and dot
  std::vector<SignedVersion> superseded;  // of lower versions, or the same document again; by version, digest, dot
  std::vector<Unreadable> unreadable;     // or not signed by the admin
  friend bool operator==(const SignedDocumentView&, const SignedDocumentView&) = default;
};

// Of one kind and name; others are among `unreadable`.
SignedDocumentView documentViewOf(DocumentKind kind, std::string_view name, const PublicKey& admin,
                                  std::span<const Version> versions);

// Whether the admin's next document may carry this version number on top of the view. Error: conflict.
Status mayPublish(const SignedDocumentView& view, const SignedDocumentBody& document);

}  // namespace witan::replication
