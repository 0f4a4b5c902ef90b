#include "net/tls_context.h"

#include <openssl/ssl.h>

#include <algorithm>

#include "base/quote.h"

namespace witan::net {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

constexpr long kMaxCertificates = 8 * 1024;  // bytes of what a peer shows; ours has about 400

// Instead of X.509's rules: the key is all that counts, and that its owner is there the handshake proves.
int verifyDevice(X509_STORE_CTX* store, void*) {
  const X509* certificate = X509_STORE_CTX_get0_cert(store);
  const EVP_PKEY* key = certificate ? X509_get0_pubkey(const_cast<X509*>(certificate)) : nullptr;
  if (key != nullptr && EVP_PKEY_get_id(key) == EVP_PKEY_ED25519) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM);
  return 0;
}

// The first name in the client's list that is served. RFC 7301 section 3.2: none is a fatal alert.
int chooseProtocol(SSL*, const unsigned char** out, unsigned char* outSize, const unsigned char* in, unsigned inSize,
                   void* served) {
  const auto& purposes = *static_cast<const std::vector<std::string>*>(served);
  for (unsigned at = 0; at < inSize && at + 1 + in[at] <= inSize; at += 1u + in[at]) {
    const std::string_view name(reinterpret_cast<const char*>(in + at + 1), in[at]);
    if (std::find(purposes.begin(), purposes.end(), name) == purposes.end()) continue;
    *out = in + at + 1;
    *outSize = in[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

// The context goes together with the list that its callback reads.
struct DeviceContext {
  ssl::context context{ssl::context::tlsv13};
  std::vector<std::string> purposes;
};

Error unusable(const std::string& what, const std::string& file, const error_code& error) {
  return invalid(what + " " + inQuotes(file, 256) + " cannot be used (" + error.message() + ")",
                 "give a readable file in PEM form");
}

}  // namespace

std::shared_ptr<ssl::context> deviceContext(const TlsIdentity& identity, const std::vector<std::string>& purposes) {
  auto made = std::make_shared<DeviceContext>();
  made->purposes = purposes;
  SSL_CTX* raw = made->context.native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(raw, TLS1_3_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(raw, kMaxCertificates);
  bool fits = SSL_CTX_set_num_tickets(raw, 0) == 1 && SSL_CTX_set_max_early_data(raw, 0) == 1;
  fits =
      fits && SSL_CTX_set1_sigalgs_list(raw, "ed25519") == 1 && SSL_CTX_set1_client_sigalgs_list(raw, "ed25519") == 1;
  fits = fits && SSL_CTX_set1_groups_list(raw, "X25519:P-256") == 1;
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(raw, verifyDevice, nullptr);
  SSL_CTX_set_alpn_select_cb(raw, chooseProtocol, &made->purposes);
  WITAN_CHECK(fits, "OpenSSL knows TLS 1.3 with Ed25519");
  error_code error;
  made->context.use_certificate(boost::asio::buffer(identity.certificatePem), ssl::context::pem, error);
  if (!error) made->context.use_private_key(boost::asio::buffer(identity.privateKeyPem), ssl::context::pem, error);
  WITAN_CHECK(!error && SSL_CTX_check_private_key(raw) == 1, "an identity is a certificate and its key");
  return {made, &made->context};
}

Result<std::shared_ptr<ssl::context>> clientContext(const HttpEndpoint& endpoint) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX* raw = context->native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  error_code error;
  if (endpoint.caFile.empty())
    context->set_default_verify_paths(error);
  else
    context->load_verify_file(endpoint.caFile, error);
  if (error) return unusable("the authorities' file", endpoint.caFile, error);
  if (endpoint.certFile.empty() != endpoint.keyFile.empty())
    return invalid("a client certificate without its key, or a key without its certificate", "give both files or none");
  if (endpoint.certFile.empty()) return context;
  context->use_certificate_chain_file(endpoint.certFile, error);
  if (error) return unusable("the certificate", endpoint.certFile, error);
  context->use_private_key_file(endpoint.keyFile, ssl::context::pem, error);
  if (error) return unusable("the key", endpoint.keyFile, error);
  return context;
}

}  // namespace witan::net
