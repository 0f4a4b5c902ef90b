#include "replica/core/signed_sizes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/bytes.h"
#include "base/concat.h"

namespace witan::node {

namespace {

constexpr std::string_view kFirst = "witan-sizes/1 ";

std::string digestOf(std::string_view lines) {
  Sha256 hash;
  hash.update(lines);
  return toHex(hash.finish());
}

std::string firstLine(std::string_view lines) {
  return concat(kFirst, std::ranges::count(lines, '\n'), ' ', digestOf(lines), '\n');
}

std::optional<std::uint64_t> numberIn(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && std::to_string(number) == text ? std::optional(number) : std::nullopt;
}

bool readLine(std::string_view line, SignedSizes& into) {
  const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return false;
  const auto size = numberIn(line.substr(0, first));
  const auto root = fromHex(line.substr(first + 1, second - first - 1));
  if (!size || !root.ok() || root->size() != sizeof(Hash)) return false;
  SignedSize known{*size, {}};
  std::ranges::copy(asBytes(*root), known.root.begin());
  return into.emplace(line.substr(second + 1), known).second;
}

}  // namespace

std::string signedSizesText(const SignedSizes& sizes) {
  std::string lines;
  for (const auto& [origin, known] : sizes) lines += concat(known.size, ' ', toHex(known.root), ' ', origin, '\n');
  return firstLine(lines) + lines;
}

Result<SignedSizes> parseSignedSizes(std::string_view text) {
  constexpr const char* kHint = "restore the file from a copy that was made after its last signature";
  SignedSizes sizes;
  if (text.empty()) return sizes;
  if (!text.starts_with(kFirst))
    return corrupt(concat("line 1 is not \"", kFirst, "LINES SHA-256\": the first line is missing"), kHint);
  const std::string_view first = text.substr(0, text.find('\n') + 1);
  text.remove_prefix(first.size());
  if (first.empty() || first != firstLine(text)) return corrupt("its lines are not those of its first line", kHint);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return corrupt(concat("line ", number, " has no end: the file was cut"), kHint);
    if (!readLine(text.substr(0, end), sizes))
      return corrupt(concat("line ", number, " names no signed head, or one that another line names"), kHint);
    text.remove_prefix(end + 1);
  }
  return sizes;
}

}  // namespace witan::node
