// Request and answer of the control API about backups. Values.
#pragma once

#include "base/json_schema.h"

namespace witan::node::api {

struct BackupRequest {
  std::string to;
  Omittable<bool> keys;
  WITAN_MEMBERS(BackupRequest, to, keys)
  static constexpr std::array notes{
      MemberNote{"to", "Absolute path of a folder that does not exist yet, or is empty", 1},
      MemberNote{"keys", "true: the secrets too; needs the role admin"}};
};

struct BackupWritten {
  std::string to;
  std::uint64_t files = 0, bytes = 0;
  bool keys = false;
  Time at;
  WITAN_MEMBERS(BackupWritten, to, files, bytes, keys, at)
  static constexpr std::array notes{MemberNote{"to", "Path of the folder"}, MemberNote{"files", "Number of files"},
                                    MemberNote{"bytes", "Bytes of all files"},
                                    MemberNote{"keys", "Whether the secrets are in it"},
                                    MemberNote{"at", "The moment of which it is a copy"}};
};

}  // namespace witan::node::api
