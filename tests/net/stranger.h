// TLS as others would speak it with us: OpenSSL directly, blocking, in a thread of its own, with whatever certificate,
// version and protocol a test wants to be wrong.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "net/loop.h"
#include "net/tls_identity.h"

namespace witan::net::test {

struct StrangerSettings {
  TlsIdentity identity;  // empty: no certificate
  int version = TLS1_3_VERSION;
  std::string alpn = "witan/1";      // empty: none
  std::string say;                   // after the handshake
  std::vector<std::string> records;  // then, each a TLS record of its own, all in one segment
  std::size_t heldBack = 0;          // of these the last bytes: not before sendRest()
  bool spoilt = false;               // the last of them has a wrong bit
  bool plain = false;                // says it without TLS
  bool reads = true;                 // else it sits there until stop()
  bool closes = false;               // after what it says, instead of waiting for the other end (without TLS)
};

// An identity with a key that is not Ed25519.
inline TlsIdentity ecIdentity() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  TlsIdentity identity;
  for (std::string* out : {&identity.certificatePem, &identity.privateKeyPem}) {
    BIO* bio = BIO_new(BIO_s_mem());
    if (out == &identity.certificatePem)
      PEM_write_bio_X509(bio, certificate);
    else
      PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    out->assign(data, static_cast<std::size_t>(size));
    BIO_free(bio);
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  return identity;
}

class Stranger {
 public:
  // As a client, to "127.0.0.1:PORT".
  Stranger(Loop& loop, const std::string& address, StrangerSettings settings)
      : loop_(loop), settings_(std::move(settings)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to = loopback(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) std::abort();
    thread_ = std::thread([this] { talk(false); });
  }
  // As a server, for one connection.
  Stranger(Loop& loop, StrangerSettings settings) : loop_(loop), settings_(std::move(settings)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here = loopback(0);
    socklen_t size = sizeof here;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&here), size) != 0 || ::listen(listener_, 1) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) != 0)
      std::abort();
    address_ = "127.0.0.1:" + std::to_string(ntohs(here.sin_port));
    thread_ = std::thread([this] {
      socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      talk(true);
    });
  }
  ~Stranger() {
    stop();
    thread_.join();
    ::close(socket_);
    if (listener_ >= 0) ::close(listener_);
  }

  void stop() {
    if (listener_ >= 0) ::shutdown(listener_, SHUT_RDWR);
    ::shutdown(socket_, SHUT_RDWR);
  }
  bool over() const { return over_; }
  bool said() const { return said_; }
  // Requires: said().
  void sendRest() { (void)!::send(socket_, rest_.data(), rest_.size(), MSG_NOSIGNAL); }
  const std::string& address() const { return address_; }
  const std::vector<std::string>& records() const { return settings_.records; }

  // After over():
  bool shaken = false, compressed = false, resumable = false;
  std::uint32_t earlyData = 0;  // bytes that it would be allowed
  std::string error, received;

 private:
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  static std::string reason() {
    const unsigned long code = ERR_get_error();
    const char* words = ERR_reason_error_string(code);
    return words == nullptr ? "" : words;
  }

  void talk(bool asServer) {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that are gone
    if (settings_.plain)
      talkPlain();
    else
      talkTls(asServer);
    ::shutdown(socket_, SHUT_RDWR);
    over_ = true;
    loop_.post([] {});  // a test that waits looks again
  }

  void talkPlain() {
    char bytes[4096];
    if (settings_.closes) {  // a question first
      (void)!::recv(socket_, bytes, sizeof bytes, 0);
      (void)!::send(socket_, settings_.say.data(), settings_.say.size(), MSG_NOSIGNAL);
      return;
    }
    (void)!::send(socket_, settings_.say.data(), settings_.say.size(), MSG_NOSIGNAL);
    for (ssize_t got; (got = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;)
      received.append(bytes, static_cast<std::size_t>(got));
  }

  void talkTls(bool asServer) {
    SSL_CTX* context = SSL_CTX_new(TLS_method());
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, settings_.version);
    SSL_CTX_set_max_proto_version(context, settings_.version);
    if (!settings_.identity.certificatePem.empty()) useIdentity(context);
    SSL* ssl = SSL_new(context);
    const std::string wire = std::string(1, static_cast<char>(settings_.alpn.size())) + settings_.alpn;
    if (!settings_.alpn.empty())
      SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(wire.data()), static_cast<unsigned>(wire.size()));
    SSL_set_fd(ssl, socket_);
    shaken = (asServer ? SSL_accept(ssl) : SSL_connect(ssl)) == 1;
    if (shaken && !settings_.say.empty()) SSL_write(ssl, settings_.say.data(), static_cast<int>(settings_.say.size()));
    if (shaken && !settings_.records.empty()) sayRecords(ssl);
    char bytes[4096];
    if (shaken && settings_.reads)
      for (int got; (got = SSL_read(ssl, bytes, sizeof bytes)) > 0;)
        received.append(bytes, static_cast<std::size_t>(got));
    error = reason();
    if (const SSL_SESSION* session = SSL_get0_session(ssl); shaken && session != nullptr) {
      compressed = SSL_get_current_compression(ssl) != nullptr;
      resumable = SSL_SESSION_is_resumable(session) == 1;
      earlyData = SSL_SESSION_get_max_early_data(session);
    }
    if (shaken && !settings_.reads) waitForEnd();
    SSL_free(ssl);
    SSL_CTX_free(context);
  }

  void sayRecords(SSL* ssl) {
    BIO* kept = BIO_new(BIO_s_mem());
    SSL_set0_wbio(ssl, kept);
    for (const std::string& record : settings_.records) SSL_write(ssl, record.data(), static_cast<int>(record.size()));
    char* data = nullptr;
    const long size = BIO_get_mem_data(kept, &data);
    std::string bytes(data, static_cast<std::size_t>(size));
    SSL_set0_wbio(ssl, BIO_new_socket(socket_, BIO_NOCLOSE));
    if (settings_.spoilt) bytes.back() ^= 1;
    rest_ = bytes.substr(bytes.size() - settings_.heldBack);
    (void)!::send(socket_, bytes.data(), bytes.size() - rest_.size(), MSG_NOSIGNAL);
    said_ = true;
    loop_.post([] {});
  }

  // Without reading: until the other end has reset the connection, or stop().
  void waitForEnd() {
    pollfd one{socket_, POLLRDHUP, 0};
    ::poll(&one, 1, -1);
  }

  void useIdentity(SSL_CTX* context) {
    BIO* bio = BIO_new_mem_buf(settings_.identity.certificatePem.data(), -1);
    X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context, certificate);
    X509_free(certificate);
    BIO_free(bio);
    bio = BIO_new_mem_buf(settings_.identity.privateKeyPem.data(), -1);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    SSL_CTX_use_PrivateKey(context, key);
    EVP_PKEY_free(key);
    BIO_free(bio);
  }

  Loop& loop_;
  StrangerSettings settings_;
  std::string address_;
  int socket_ = -1, listener_ = -1;
  std::string rest_;
  std::atomic<bool> over_{false}, said_{false};
  std::thread thread_;
};

}  // namespace witan::net::test
