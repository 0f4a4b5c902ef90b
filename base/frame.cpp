#include "base/frame.h"

#include <array>
#include <boost/endian/conversion.hpp>

#include "base/bytes.h"
#include "base/check.h"

namespace witan {

Result<FrameHeader> readFrameHeader(std::string_view bytes, std::size_t maxFrame) {
  WITAN_CHECK(bytes.size() >= kFrameHeaderBytes, "a whole header");
  FrameHeader header;
  header.length = boost::endian::load_little_u32(asBytes(bytes).data());
  header.type = static_cast<std::uint8_t>(bytes[4]);
  header.version = static_cast<std::uint8_t>(bytes[5]);
  if (header.length == 0) return invalid("a frame without a message");
  if (header.length % 8 != 0) return invalid(concat("a frame of ", header.length, " bytes (not whole 8-byte words)"));
  if (header.length > maxFrame)
    return invalid(concat("a frame of ", header.length, " bytes, at most ", maxFrame, " are allowed"));
  if (header.version == 0) return invalid("a frame of protocol version 0");
  return header;
}

void appendFrame(std::string& out, std::uint8_t type, std::uint8_t version, std::string_view message) {
  std::array<std::uint8_t, kFrameHeaderBytes> header{};
  boost::endian::store_little_u32(header.data(), static_cast<std::uint32_t>(message.size()));
  header[4] = type;
  header[5] = version;
  out.append(asView(header)).append(message);
}

}  // namespace witan
