#include "program/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "program/error_report.h"

namespace witan::node {

void prepareProcess() {
  // Opened the wrong way round, so that reading stdin and writing stdout fail with EBADF. open() takes the lowest free
  // number, and the lower ones are taken by then.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)!::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  std::signal(SIGXFSZ, SIG_IGN);
}

void ignoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

int finishOutput(int exitCode) {
  const bool failedBefore = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failedBefore) return exitCode;
  std::fprintf(stderr, "witan: the output could not be written%s%s%s\n", failedBefore ? "" : " (",
               failedBefore ? "" : std::strerror(errno), failedBefore ? "" : ")");
  return exitCode == kExitOk ? kExitFailed : exitCode;
}

}  // namespace witan::node
