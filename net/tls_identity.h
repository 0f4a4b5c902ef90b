// A device's key as a self-signed X.509 certificate, since TLS wants one. Pure functions, any thread.
//
// Nothing in the certificate is believed but the key: the transport authenticates the raw 32 bytes of the Ed25519
// public key (RFC 8410), the handshake proves that the peer holds its secret, and whoever uses the link decides whether
// it wants that key. So there is no authority, and no date: it is valid from 1970 to the end of time as RFC
// 5280 4.1.2.5 writes it, and a clock that is far off shuts nobody out. The same key and name give the same
// certificate, byte for byte.
#pragma once

#include <string>
#include <string_view>

#include "base/crypto.h"
#include "base/result.h"

namespace witan::net {

struct TlsIdentity {
  std::string certificatePem;
  std::string privateKeyPem;  // secret
};

// Errors: a name that is empty, longer than 64 bytes (RFC 5280's ub-common-name) or not UTF-8. About 0.2 ms.
Result<TlsIdentity> tlsIdentityOf(const SigningKey& key, std::string_view commonName);

}  // namespace witan::net
