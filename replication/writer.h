// Writers: one incarnation of one device, named {deviceId}@{8 hex digits}. The name is the seeds' hostId.
//
// A device that was reinstalled, restored, cloned or rolled back takes a new incarnation and so never reuses a dot
// (replication/incarnation.h says when). The digits are 32 fresh random bits; the driver draws them and passes them in.
// A name from outside that does not end like that (a test, a tool, an import) is a device of its own. Pure functions,
// any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/identity.h"
#include "base/result.h"

namespace witan::replication {

inline constexpr std::size_t kWriterTagBytes = 9;  // '@' and 8 digits
inline constexpr std::size_t kMaxDeviceIdBytes = kMaxIdBytes - kWriterTagBytes;

// An id (base/identity.h) of at most 247 characters without '@'. `what` names it in the message.
Status validateDeviceId(std::string_view what, std::string_view id);

// An id that is a device id, or a device id with '@' and 8 lower-case hex digits.
Status validateWriter(std::string_view what, std::string_view name);

// Requires: a valid device id.
std::string writerName(std::string_view deviceId, std::uint32_t tag);

// The writer's device: the part before the tag, or the whole name without a tag. Total; a view into the argument.
std::string_view deviceOf(std::string_view writer);

}  // namespace witan::replication
