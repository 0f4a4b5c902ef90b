#include "replication/writer.h"

#include <algorithm>

#include "base/quote.h"

namespace witan::replication {

namespace {

bool isTag(std::string_view text) {
  const auto isDigit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == kWriterTagBytes && text[0] == '@' && std::all_of(text.begin() + 1, text.end(), isDigit);
}

}  // namespace

Status validateDeviceId(std::string_view what, std::string_view id) {
  WITAN_DO(validateId(what, id));
  if (id.size() > kMaxDeviceIdBytes) {
    return invalid(concat(what, " has ", id.size(), " characters, more than ", kMaxDeviceIdBytes),
                   "a device's writers append 9 characters to its id");
  }
  if (id.find('@') != std::string_view::npos) {
    return invalid(concat(what, " ", inQuotes(id), " has an '@'"),
                   "'@' separates a device from the tag of its incarnation");
  }
  if (id.starts_with('+')) {
    return invalid(concat(what, " ", inQuotes(id), " begins with a '+'"), "such names speak of all devices");
  }
  return okStatus();
}

Status validateWriter(std::string_view what, std::string_view name) {
  WITAN_DO(validateId(what, name));
  const std::string_view device = deviceOf(name);
  if (device.empty()) return invalid(concat(what, " ", inQuotes(name), " names no device before the '@'"));
  if (device.find('@') != std::string_view::npos) {
    return invalid(concat(what, " ", inQuotes(name), " is no writer"),
                   "a writer is a device id, '@' and 8 lower-case hex digits");
  }
  return validateDeviceId(what, device);
}

std::string writerName(std::string_view deviceId, std::uint32_t tag) {
  WITAN_CHECK(validateDeviceId("device", deviceId).ok(), "writers are named after valid device ids");
  std::string name(deviceId);
  name += '@';
  for (int shift = 28; shift >= 0; shift -= 4) name += "0123456789abcdef"[tag >> shift & 15];
  return name;
}

std::string_view deviceOf(std::string_view writer) {
  if (writer.size() < kWriterTagBytes) return writer;
  const std::size_t at = writer.size() - kWriterTagBytes;
  return isTag(writer.substr(at)) ? writer.substr(0, at) : writer;
}

}  // namespace witan::replication
