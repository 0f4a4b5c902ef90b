#include "kernel/market/envelope.h"

namespace witan::market {

namespace {

std::string preAuthenticated(std::string_view type, std::string_view body) {
  return concat("DSSEv1 ", type.size(), " ", type, " ", body.size(), " ", body);
}

void sign(SignedText& text, const SigningKey& key) {
  const std::string message = preAuthenticated(text.envelope.payloadType, text.body);
  text.envelope.signatures.push_back({keyHint(key.publicKey()), toBase64(asView(key.sign(message)))});
}

}  // namespace

Result<SignedText> readEnvelope(const json::value& from, std::string_view payloadType) {
  SignedText text;
  WITAN_DO(readJson(from, text.envelope, "envelope"));
  const Envelope& envelope = text.envelope;
  if (envelope.payloadType != payloadType) return invalid(concat("envelope.payloadType: must be ", payloadType));
  if (envelope.signatures.empty() || envelope.signatures.size() > kMostSignatures)
    return invalid(concat("envelope.signatures: 1 to ", kMostSignatures));
  if (toJson(envelope).size() > kMostEnvelopeBytes)
    return invalid(concat("envelope: longer than ", kMostEnvelopeBytes, " bytes"));
  auto body = fromBase64(envelope.payload);
  if (!body.ok()) return invalid("envelope.payload: " + body.error().message);
  text.body = std::move(*body);
  return text;
}

namespace {

// The first one that is valid, or null.
const EnvelopeSignature* signatureOf(const SignedText& text, const PublicKey& key) {
  const std::string message = preAuthenticated(text.envelope.payloadType, text.body);
  for (const EnvelopeSignature& each : text.envelope.signatures) {
    const auto signature = fromBase64(each.sig);
    if (signature.ok() && verifySignature(asView(key), message, *signature)) return &each;
  }
  return nullptr;
}

}  // namespace

bool isSignedBy(const SignedText& text, const PublicKey& key) { return signatureOf(text, key) != nullptr; }

SignedText signedOnlyBy(const SignedText& text, std::span<const PublicKey> keys) {
  SignedText only{{text.envelope.payloadType, text.envelope.payload, {}}, text.body};
  for (const PublicKey& key : keys)
    if (const EnvelopeSignature* found = signatureOf(text, key))
      only.envelope.signatures.push_back({keyHint(key), found->sig});
  return only;
}

std::string sealed(std::string_view payloadType, std::string_view body, std::span<const SigningKey> keys) {
  SignedText text{{std::string(payloadType), toBase64(body), {}}, std::string(body)};
  for (const SigningKey& key : keys) sign(text, key);
  return toJson(text.envelope);
}

std::string countersigned(const SignedText& text, const SigningKey& key) {
  SignedText more = text;
  sign(more, key);
  return toJson(more.envelope);
}

std::string keyHint(const PublicKey& key) { return toHex(sha256(asView(key))).substr(0, 16); }

}  // namespace witan::market
