#include "node/data_dir/lock_holder.h"

#include <fcntl.h>
#include <unistd.h>

namespace witan::node {

pid_t lockHolder(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  struct flock ask {};
  ask.l_type = F_WRLCK;
  ask.l_whence = SEEK_SET;
  const bool told = ::fcntl(fd, F_GETLK, &ask) == 0 && ask.l_type != F_UNLCK;
  ::close(fd);
  return told ? ask.l_pid : 0;
}

}  // namespace witan::node
