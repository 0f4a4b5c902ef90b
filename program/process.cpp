#include "program/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

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

int runSibling(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) ::execv((own.parent_path() / program).c_str(), argv.data());
  if (error || errno == ENOENT) ::execvp(program.c_str(), argv.data());
  if (errno != ENOENT)
    return reportError(ioFailed("cannot start " + program + " (" + std::strerror(errno) + ")"), false);
  return reportError(
      {ErrorCode::notFound, program + ", which carries this command out, is neither beside witan nor on PATH",
       "build it: cmake --build build --target " + program + "; or install the package witan-sim"},
      false);
}

}  // namespace witan::node
