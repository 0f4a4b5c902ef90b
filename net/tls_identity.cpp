#include "net/tls_identity.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/secret.h"
#include "base/utf8.h"

namespace witan::net {
namespace {

template <class T, void (*free)(T*)>
struct Free {
  void operator()(T* owned) const { free(owned); }
};
using PkeyHandle = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY, EVP_PKEY_free>>;
using CertificateHandle = std::unique_ptr<X509, Free<X509, X509_free>>;
using BioHandle = std::unique_ptr<BIO, Free<BIO, BIO_free_all>>;
using ExtensionHandle = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION, X509_EXTENSION_free>>;

BioHandle newBio() {
  BioHandle bio(BIO_new(BIO_s_secmem()));
  WITAN_CHECK(bio != nullptr, "there is memory for a text");
  return bio;
}

std::string textOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

void addExtension(X509* certificate, int kind, const char* value) {
  const ExtensionHandle extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  WITAN_CHECK(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "a certificate takes an extension");
}

// RFC 5280 4.1.2.2: at most 20 bytes, positive. From the key, so that the same key gives the same certificate.
void setSerial(X509* certificate, const PublicKey& key) {
  const Hash hash = sha256(asView(key));
  BIGNUM* number = BN_bin2bn(hash.data(), 16, nullptr);
  WITAN_CHECK(number && BN_set_bit(number, 120) == 1 && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)),
              "a certificate takes a serial number");
  BN_free(number);
}

void describe(X509* certificate, const PublicKey& key, std::string_view commonName) {
  bool fits = X509_set_version(certificate, X509_VERSION_3) == 1;
  setSerial(certificate, key);
  fits = fits && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "19700101000000Z") == 1;
  fits = fits && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1;
  X509_NAME* name = X509_get_subject_name(certificate);
  fits = fits && X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, asBytes(commonName).data(),
                                            static_cast<int>(commonName.size()), -1, 0) == 1;
  fits = fits && X509_set_issuer_name(certificate, name) == 1;
  WITAN_CHECK(fits, "a certificate takes its fields");
  addExtension(certificate, NID_basic_constraints, "critical,CA:FALSE");
  addExtension(certificate, NID_key_usage, "critical,digitalSignature");
  addExtension(certificate, NID_ext_key_usage, "serverAuth,clientAuth");
}

}  // namespace

Result<TlsIdentity> tlsIdentityOf(const SigningKey& key, std::string_view commonName) {
  if (commonName.empty() || commonName.size() > 64 || !isUtf8(commonName))
    return invalid("a certificate's name has 1 to 64 bytes of UTF-8, not " + inQuotes(commonName));
  std::string plain = key.seed();
  const Secret seed = Secret::take(plain);
  const PkeyHandle pkey(
      EVP_PKEY_new_raw_private_key_ex(nullptr, "ED25519", nullptr, asBytes(seed.reveal()).data(), 32));
  const CertificateHandle certificate(X509_new());
  WITAN_CHECK(pkey && certificate, "there is memory for a certificate");
  describe(certificate.get(), key.publicKey(), commonName);
  // Ed25519 hashes by itself: no digest here (RFC 8410).
  WITAN_CHECK(
      X509_set_pubkey(certificate.get(), pkey.get()) == 1 && X509_sign(certificate.get(), pkey.get(), nullptr) > 0,
      "an Ed25519 key signs its certificate");
  const BioHandle first = newBio(), second = newBio();
  WITAN_CHECK(PEM_write_bio_X509(first.get(), certificate.get()) == 1 &&
                  PEM_write_bio_PKCS8PrivateKey(second.get(), pkey.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
              "a certificate has a text");
  return TlsIdentity{textOf(first.get()), textOf(second.get())};
}

}  // namespace witan::net
