#include "base/secret.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace witan {

void wipe(std::span<std::uint8_t> bytes) { OPENSSL_cleanse(bytes.data(), bytes.size()); }

void wipe(std::string& text) {
  text.resize(text.capacity());
  OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

Secret::Secret(std::size_t size) : data_(std::make_unique<std::uint8_t[]>(size)), size_(size) {}

Secret Secret::copyOf(std::string_view bytes) {
  Secret secret(bytes.size());
  std::copy(bytes.begin(), bytes.end(), secret.data_.get());
  return secret;
}

Secret Secret::take(std::string& text) {
  Secret secret = copyOf(text);
  wipe(text);
  return secret;
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe(bytes());
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Secret::~Secret() { wipe(bytes()); }

bool Secret::sameAs(std::string_view bytes) const {
  return bytes.size() == size_ && CRYPTO_memcmp(bytes.data(), data_.get(), size_) == 0;
}

}  // namespace witan
