// The settings of TLS: between devices, and of an HTTP client. For the units of net/.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"
#include "net/tls_identity.h"

namespace witan::net {

// TLS 1.3 only, both sides show an Ed25519 certificate, no authority, no compression, no tickets, no early data. Serves
// both ends. As a server it takes the first protocol of the client that is in `purposes`, and refuses a client that
// offers none of them. Requires: an identity from tlsIdentityOf.
std::shared_ptr<boost::asio::ssl::context> deviceContext(const TlsIdentity& identity,
                                                         const std::vector<std::string>& purposes);

// TLS 1.2 or later, the server's certificate must lead to an authority. Errors name the file.
Result<std::shared_ptr<boost::asio::ssl::context>> clientContext(const HttpEndpoint& endpoint);

}  // namespace witan::net
