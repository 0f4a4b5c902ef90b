#include "base/frame.h"

#include "base/check.h"

namespace witan {

Result<FrameHeader> readFrameHeader(std::string_view bytes, std::size_t maxFrame) {
  WITAN_CHECK(bytes.size() >= kFrameHeaderBytes, "a whole header");
  FrameHeader header;
  for (unsigned i = 0; i < 4; ++i)
    header.length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  header.type = static_cast<std::uint8_t>(bytes[4]);
  header.version = static_cast<std::uint8_t>(bytes[5]);
  if (header.length == 0) return invalid("a frame without a message");
  if (header.length % 8 != 0)
    return invalid("a frame of " + std::to_string(header.length) + " bytes (not whole 8-byte words)");
  if (header.length > maxFrame)
    return invalid("a frame of " + std::to_string(header.length) + " bytes, at most " + std::to_string(maxFrame) +
                   " are allowed");
  if (header.version == 0) return invalid("a frame of protocol version 0");
  return header;
}

void appendFrame(std::string& out, std::uint8_t type, std::uint8_t version, std::string_view message) {
  const auto length = static_cast<std::uint32_t>(message.size());
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<char>(length >> (8 * i)));
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(version));
  out.append(2, '\0');
  out.append(message);
}

}  // namespace witan
