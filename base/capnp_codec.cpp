#include "base/capnp_codec.h"

namespace witan {

namespace {

// Generous for our records, small against hostile ones: words traversed and pointer depth of one message.
constexpr capnp::ReaderOptions kLimits{8 * 1024 * 1024, 32};

kj::ArrayPtr<const capnp::word> asWords(std::string_view bytes) {
  WITAN_CHECK(bytes.size() % 8 == 0 && reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0,
              "a message in aligned words");
  return {reinterpret_cast<const capnp::word*>(bytes.data()), bytes.size() / 8};
}

}  // namespace

FlatMessage::FlatMessage(std::string_view bytes)
    : segment_(asWords(bytes)), reader_(kj::arrayPtr(&segment_, 1), kLimits) {}

capnp::AnyPointer::Reader FlatMessage::root() { return reader_.getRoot<capnp::AnyPointer>(); }

namespace detail {

Status wholeWords(std::string_view bytes) {
  if (!bytes.empty() && bytes.size() % 8 == 0) return okStatus();
  return invalid(concat("a message of ", bytes.size(), " bytes (not whole 8-byte words)"));
}

}  // namespace detail

Result<std::vector<std::uint64_t>> alignedWords(std::string_view bytes) {
  WITAN_DO(detail::wholeWords(bytes));
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

namespace detail {

Result<std::string_view> readTextPointer(capnp::AnyPointer::Reader from, std::string_view where, std::size_t textMax) {
  if (from.isNull()) return std::string_view("");  // as most are
  auto text = from.getAs<capnp::Text>();
  if (text.size() > textMax) return invalid(concat(where, ": text too long"));
  const std::string_view view(text.begin(), text.size());
  if (!isUtf8(view)) return invalid(concat(where, ": not UTF-8"));
  return view;
}

}  // namespace detail

}  // namespace witan
