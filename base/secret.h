// Secret: bytes that must not be seen (a key, a passphrase, a token), wiped when they go.
//
// It can't be printed, logged, compared by accident, turned into a string or copied: whoever wants the bytes writes
// reveal(), which is easy to search for. A value type that moves; belongs to one thread at a time. The view that
// reveal() gives dies with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace witan {

// Overwrites memory in a way that no optimiser removes.
void wipe(std::span<std::uint8_t> bytes);
void wipe(std::string& text);  // its whole capacity; the text is empty afterwards

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::size_t size);  // zeros, to be filled through bytes()

  static Secret copyOf(std::string_view bytes);  // the caller wipes the original
  static Secret take(std::string& text);         // and wipes `text`

  Secret(Secret&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  std::string_view reveal() const { return {reinterpret_cast<const char*>(data_.get()), size_}; }
  std::span<std::uint8_t> bytes() { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // In a time that depends on the sizes only.
  bool sameAs(std::string_view bytes) const;

  friend bool operator==(const Secret&, const Secret&) = delete;
  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

 private:
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t size_ = 0;
};

}  // namespace witan
