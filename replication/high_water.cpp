// Reading the high-water record (replication/incarnation.h). Its checksum is looked at first, so that a torn write is
// told from a record that was never well formed.
#include <charconv>

#include "base/bytes.h"
#include "base/quote.h"
#include "replication/incarnation.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

constexpr std::string_view kFirstLine = "witan highwater 1\n";
constexpr std::string_view kChecksum = "sha256 ";
constexpr std::size_t kLastLineBytes = kChecksum.size() + 64 + 1;

Error damaged(std::string why) {
  return corrupt("high-water record: " + std::move(why),
                 "the device takes a new incarnation; nothing in the store is lost");
}

// The next word or line; both end where `text` has `end`.
std::optional<std::string_view> take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at + 1);
  return word;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || std::to_string(value) != text) return std::nullopt;
  return value;
}

Status readLease(std::string_view line, HighWater& into) {
  const std::string quoted = inQuotes(line);
  if (line.substr(0, 6) != "lease ") return damaged("expected a lease, found " + quoted);
  line.remove_prefix(6);
  const auto space = take(line, ' ');
  const auto from = take(line, ' ');
  if (!space || !from) return damaged("a lease has a space and two counters: " + quoted);
  if (const Status valid = validateId("space", *space); !valid.ok()) return damaged(valid.error().message);
  const auto first = number(*from), last = number(line);
  if (!first || !last || *first > *last) return damaged("no ascending counters in " + quoted);
  if (!into.spaces.empty() && !(into.spaces.rbegin()->first < *space))
    return damaged("the spaces are not in order at " + quoted);
  if (into.spaces.size() == kMaxHighWaterSpaces) return damaged("more than 16384 spaces");
  into.spaces[std::string(*space)] = {*first, *last};
  return okStatus();
}

}  // namespace

std::string formatHighWater(const HighWater& record) {
  std::string text(kFirstLine);
  text += "writer " + record.writer + '\n';
  for (const auto& [space, lease] : record.spaces)
    text += "lease " + space + ' ' + std::to_string(lease.from) + ' ' + std::to_string(lease.to) + '\n';
  text += "sha256 " + toHex(sha256(text)) + '\n';
  return text;
}

Result<HighWater> parseHighWater(std::string_view text) {
  if (text.size() > kMaxHighWaterBytes) return damaged(std::to_string(text.size()) + " bytes, too many");
  if (text.size() < kFirstLine.size() + kLastLineBytes || text.substr(0, kFirstLine.size()) != kFirstLine)
    return damaged("it does not begin with \"witan highwater 1\" or is cut off");
  const std::string_view signedPart = text.substr(0, text.size() - kLastLineBytes);
  const std::string checksum = std::string(kChecksum) + toHex(sha256(signedPart)) + '\n';
  if (text.substr(signedPart.size()) != checksum) return damaged("its checksum does not match");

  std::string_view rest = signedPart.substr(kFirstLine.size());
  const auto writerLine = take(rest, '\n');
  if (!writerLine || writerLine->substr(0, 7) != "writer ") return damaged("its second line names no writer");
  HighWater record{std::string(writerLine->substr(7)), {}};
  if (const Status valid = validateWriter("writer", record.writer); !valid.ok()) return damaged(valid.error().message);
  while (!rest.empty()) {
    const auto line = take(rest, '\n');
    if (!line) return damaged("its last lease has no end");
    WITAN_DO(readLease(*line, record));
  }
  return record;
}

}  // namespace witan::replication
