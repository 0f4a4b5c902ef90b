// Policies and rosters: documents that only the cluster's admin writes, each signed and numbered. A document that the
// admin's key has not signed counts for nothing. Pure functions.
#pragma once

#include <string>

#include "base/crypto.h"
#include "replication/records/records.h"

namespace witan::replication {

// What is signed. Requires: a document that checkRecord accepts, but for the signature.
std::string signedBytes(const SignedDocumentBody& document);

// Errors: what checkRecord says of the result.
Result<SignedDocumentBody> sign(SignedDocumentBody document, const SigningKey& admin);

// Error: unauthorised, naming the document.
Status verify(const SignedDocumentBody& document, const PublicKey& admin);

}  // namespace witan::replication
