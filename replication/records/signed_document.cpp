#include "replication/records/signed_document.h"

#include "base/capnp_codec.h"
#include "base/quote.h"

namespace witan::replication {

namespace {

std::string nameOf(const SignedDocumentBody& document) {
  return std::string(enumName(document.kind)) + " " + inQuotes(document.name) + " version " +
         std::to_string(document.version);
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

}  // namespace witan::replication
