// DSSE envelopes: a document, and Ed25519 signatures over PAE(type, payload) (DSSE v1).
//
// Who may call: whoever makes or checks documents of the market (docs/market.md). Pure functions over values. Reading
// says nothing about signatures: isSignedBy does, for a key that the caller trusts. `keyid` is a hint and never looked
// at.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/json_codec.h"

namespace witan::market {

inline constexpr std::size_t kMostSignatures = 16;
// What an envelope's canonical text may hold: that of a text in an action, so that every envelope fits one.
inline constexpr std::size_t kMostEnvelopeBytes = kTextMax;

struct EnvelopeSignature {
  std::string keyid;
  std::string sig;  // base64
  WITAN_MEMBERS(EnvelopeSignature, keyid, sig)
};

struct Envelope {
  std::string payloadType;
  std::string payload;  // base64
  std::vector<EnvelopeSignature> signatures;
  WITAN_MEMBERS(Envelope, payloadType, payload, signatures)
};

struct SignedText {
  Envelope envelope;
  std::string body;  // the payload's bytes
};

// Errors: another form or type, too long, no canonical base64, no JSON. Bounded before anything is decoded.
Result<SignedText> readEnvelope(const json::value& from, std::string_view payloadType);

// Whether this key has signed it. At most kMostSignatures verifications.
bool isSignedBy(const SignedText& text, const PublicKey& key);

// The canonical text of the envelope of `body`, signed by each key.
std::string sealed(std::string_view payloadType, std::string_view body, std::span<const SigningKey> keys);

// The same text with a valid signature of each of these keys, under its own hint, and nothing else that its sender has
// put beside it.
SignedText signedOnlyBy(const SignedText& text, std::span<const PublicKey> keys);

// The same envelope with one signature more.
std::string countersigned(const SignedText& text, const SigningKey& key);

// First 16 hex digits of SHA-256(public key).
std::string keyHint(const PublicKey& key);

// A document of type D, D::payloadType, whose canonical text is the payload.
template <class D>
struct Opened {
  D document;
  SignedText text;
  std::string digest;  // hex, of the payload's bytes
};

// The text of the payload must be the document's own: so floats, other orders of members, white space, unknown and
// missing members are refused at once.
template <class D>
Result<Opened<D>> openEnvelope(const json::value& from);

template <class D>
std::string sealedDocument(const D& document, std::span<const SigningKey> keys) {
  return sealed(D::payloadType, toJson(document), keys);
}

}  // namespace witan::market

#include "base/bytes.h"

namespace witan::market {

template <class D>
Result<Opened<D>> openEnvelope(const json::value& from) {
  WITAN_TRY(text, readEnvelope(from, D::payloadType));
  WITAN_TRY(payload, parseJson(text.body, {.bytes = kMostEnvelopeBytes}));
  Opened<D> opened;
  WITAN_DO(readJson(payload, opened.document, "payload"));
  if (toJson(opened.document) != text.body) return invalid("the payload is not its own canonical JSON (RFC 8785)");
  opened.digest = toHex(sha256(text.body));
  opened.text = std::move(text);
  return opened;
}

}  // namespace witan::market
