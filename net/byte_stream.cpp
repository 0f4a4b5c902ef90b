#include "net/byte_stream.h"
#include "net/loop_impl.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <map>

#include "base/bytes.h"
#include "base/public_key.h"

namespace witan::net {
namespace {

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<IoResult> read(std::span<char> into) override {
    const auto [error, bytes] = co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), kAwait);
    co_return IoResult{error, bytes};
  }
  asio::awaitable<IoResult> write(std::string_view from) override {
    const auto [error, bytes] = co_await socket_.async_write_some(asio::buffer(from.data(), from.size()), kAwait);
    co_return IoResult{error, bytes};
  }
  Socket& socket() override { return socket_; }

 private:
  Socket socket_;
};

class SslStream final : public TlsStream {
 public:
  SslStream(Socket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  asio::awaitable<ErrorCodeOf> handshake(bool asServer) override {
    const auto side = asServer ? asio::ssl::stream_base::server : asio::ssl::stream_base::client;
    const auto [error] = co_await stream_.async_handshake(side, kAwait);
    co_return error;
  }
  // What came with the same segment is handed on together: of records of a few hundred bytes, each by itself would
  // cost its reader a turn of the loop, and an owner of a partition a round with a sync of its disk.
  asio::awaitable<IoResult> read(std::span<char> into) override {
    if (late_) co_return IoResult{std::exchange(late_, {}), 0};
    const auto [error, bytes] = co_await stream_.async_read_some(asio::buffer(into.data(), into.size()), kAwait);
    if (error) co_return IoResult{error, bytes};
    co_return IoResult{error, bytes + readWaiting(into.subspan(bytes))};
  }
  asio::awaitable<IoResult> write(std::string_view from) override {
    const auto [error, bytes] = co_await stream_.async_write_some(asio::buffer(from.data(), from.size()), kAwait);
    co_return IoResult{error, bytes};
  }
  Socket& socket() override { return stream_.next_layer(); }

  void offerProtocol(std::string_view alpn) override {
    WITAN_CHECK(!alpn.empty() && alpn.size() < 256, "a protocol's name has 1 to 255 bytes");
    std::string wire(1, static_cast<char>(alpn.size()));
    wire += alpn;
    WITAN_CHECK(SSL_set_alpn_protos(ssl(), asBytes(wire).data(), static_cast<unsigned>(wire.size())) == 0,
                "a protocol can be offered");
  }
  bool expectHost(const std::string& host) override {
    ErrorCodeOf error;
    asio::ip::make_address(host, error);
    if (!error) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl()), host.c_str()) == 1;
    SSL_set_tlsext_host_name(ssl(), host.c_str());
    return SSL_set1_host(ssl(), host.c_str()) == 1;
  }
  std::string protocol() const override {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl(), &name, &size);
    return std::string(reinterpret_cast<const char*>(name), size);
  }
  Result<PublicKey> peerKey() const override {
    const X509* certificate = SSL_get0_peer_certificate(ssl());
    const EVP_PKEY* pkey = certificate ? X509_get0_pubkey(certificate) : nullptr;
    PublicKey key;
    std::size_t size = key.size();
    if (pkey == nullptr || EVP_PKEY_get_id(pkey) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_public_key(pkey, key.data(), &size) != 1 || size != key.size())
      return invalid("the peer showed no certificate with an Ed25519 key");
    WITAN_DO(checkPublicKey("the peer's certificate", key));
    return key;
  }

 private:
  // What is there already, without waiting. A failure is for the next read: what came before it still counts.
  std::size_t readWaiting(std::span<char> into) {
    std::size_t filled = 0;
    while (filled < into.size() && (SSL_pending(ssl()) > 0 || recordWaits())) {
      std::size_t bytes = 0;
      ERR_clear_error();
      const int result = SSL_read_ex(ssl(), into.data() + filled, into.size() - filled, &bytes);
      if (result == 1) {
        filled += bytes;
        continue;
      }
      late_ = failureOf(SSL_get_error(ssl(), result));
      break;
    }
    return filled;
  }

  // Whether the engine holds a whole record that is not decrypted yet (RFC 8446 section 5.1: type, version, length).
  bool recordWaits() const {
    constexpr std::size_t kHeader = 5;
    char* at = nullptr;
    BIO* engine = SSL_get_rbio(ssl());
    if (BIO_nread0(engine, &at) < static_cast<int>(kHeader)) return false;  // or it wraps around: the loop's next turn
    const std::size_t length = static_cast<std::uint8_t>(at[3]) << 8 | static_cast<std::uint8_t>(at[4]);
    return BIO_ctrl_pending(engine) >= kHeader + length;
  }

  // As asio's engine says it; none: more must come.
  static ErrorCodeOf failureOf(int kind) {
    switch (kind) {
      case SSL_ERROR_ZERO_RETURN: return asio::error::eof;
      case SSL_ERROR_SSL: return {static_cast<int>(ERR_get_error()), asio::error::get_ssl_category()};
      case SSL_ERROR_SYSCALL: return asio::ssl::error::unspecified_system_error;
      default: return {};
    }
  }

  SSL* ssl() const { return const_cast<SslStream*>(this)->stream_.native_handle(); }

  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<Socket> stream_;
  ErrorCodeOf late_;
};

// The failures that people meet, by OpenSSL's reason; TLS alerts are the other end's view (RFC 8446 section 6.2).
const std::map<int, const char*>& knownReasons() {
  static const std::map<int, const char*> kReasons{
      {SSL_R_UNSUPPORTED_PROTOCOL, "the other end speaks no TLS 1.3"},
      {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "the other end speaks no TLS of our version (alert protocol_version)"},
      {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "the other end showed no certificate with an Ed25519 key"},
      {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, "the other end wants a certificate (alert certificate_required)"},
      {SSL_R_NO_APPLICATION_PROTOCOL, "the other end offered no purpose (ALPN) that is served here"},
      {SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL,
       "the other end does not serve this purpose (alert no_application_protocol)"},
      {SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, "the other end accepts no Ed25519 signatures"},
      {SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, "the other end accepts no Ed25519 signatures"},
      {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, "the other end found nothing in common with us (alert handshake_failure)"},
      {SSL_R_CERTIFICATE_VERIFY_FAILED, "the other end's certificate is not trusted"},
      {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "the other end refuses our certificate (alert bad_certificate)"},
      {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
       "the other end refuses our certificate (alert unsupported_certificate)"},
      {SSL_R_TLSV1_ALERT_UNKNOWN_CA, "the other end refuses our certificate (alert unknown_ca)"},
      {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, "the other end refuses our certificate (alert certificate_unknown)"},
      {SSL_R_HTTP_REQUEST, "the other end sent HTTP, not TLS"},
      {SSL_R_WRONG_VERSION_NUMBER, "the other end speaks no TLS"},
      {SSL_R_BAD_RECORD_TYPE, "the other end speaks no TLS"},
      {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, "bytes were changed on the way"},
  };
  return kReasons;
}

}  // namespace

asio::awaitable<ErrorCodeOf> ByteStream::writeAll(std::string_view from) {
  while (!from.empty()) {
    const IoResult result = co_await write(from);
    if (result.error) co_return result.error;
    from.remove_prefix(result.bytes);
  }
  co_return ErrorCodeOf();
}

asio::awaitable<void> ByteStream::linger() {
  ErrorCodeOf error;
  socket().shutdown(Socket::shutdown_send, error);
  char rest[4096];
  while (!error) {
    const auto [failed, bytes] = co_await socket().async_read_some(asio::buffer(rest), kAwait);
    error = failed;
  }
}

void ByteStream::close() {
  ErrorCodeOf ignored;
  socket().close(ignored);
}

std::unique_ptr<ByteStream> plainStream(Socket socket) { return std::make_unique<PlainStream>(std::move(socket)); }

std::unique_ptr<TlsStream> tlsStream(Socket socket, std::shared_ptr<asio::ssl::context> context) {
  return std::make_unique<SslStream>(std::move(socket), std::move(context));
}

std::string wordsOf(const ErrorCodeOf& error, bool shaken) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated)
    return "the other end closed the connection";
  if (error.category() == asio::error::get_ssl_category()) {
    int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
    if (shaken && (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_BAD_RECORD_TYPE))
      reason = SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC;
    const auto known = knownReasons().find(reason);
    if (known != knownReasons().end()) return known->second;
  }
  return error.message();
}

}  // namespace witan::net
