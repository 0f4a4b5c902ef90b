// Why a host denies by itself what an agent asked of people: words of the record, which every device keeps. Read by
// the audit, since a person stands behind the first and none behind the second.
#pragma once

namespace witan::agents {

inline constexpr const char* kAgentDestroyed = "its agent is destroyed";
inline constexpr const char* kNotInTime = "nobody answered in time";

}  // namespace witan::agents
