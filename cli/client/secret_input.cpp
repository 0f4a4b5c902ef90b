#include "cli/client/secret_input.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "agents/policy/secure_store.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostInput = agents::kMaxSecretBytes + 3;  // a line end, and one too many
constexpr std::uint8_t kInterrupt = 3;                           // Ctrl-C

// A terminal that shows nothing of what is typed, until this goes. Ctrl-C ends the line instead of the process, which
// would leave the terminal as it is now.
class NoEcho {
 public:
  explicit NoEcho(int fd) : fd_(fd), known_(::tcgetattr(fd, &before_) == 0) {
    if (!known_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
    quiet.c_cc[VEOL2] = kInterrupt;
    quiet.c_lflag |= ECHONL;
    ::tcsetattr(fd_, TCSAFLUSH, &quiet);
  }
  NoEcho(const NoEcho&) = delete;
  ~NoEcho() {
    if (known_) ::tcsetattr(fd_, TCSAFLUSH, &before_);
  }
  bool ok() const { return known_; }

 private:
  int fd_;
  termios before_{};
  bool known_;
};

Result<Secret> ask(const SecretInput& terminal, const std::string& prompt) {
  const NoEcho quiet(terminal.fd());
  if (!quiet.ok()) return ioFailed("the terminal can't be made to show nothing");
  const std::string words = prompt + ": ";
  if (::write(terminal.fd(), words.data(), words.size()) < 0)
    return ioFailed(concat("cannot write to the terminal (", std::strerror(errno), ")"));
  return terminal.read("what was typed", true);
}

Result<Secret> fromFile(const std::string& path, const std::string& what, bool oneLine) {
  WITAN_TRY(fd, openSecretFile(path, what));
  return SecretInput(fd).read(what + " " + path, oneLine);
}

}  // namespace

SecretInput::~SecretInput() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

Result<Secret> SecretInput::read(const std::string& what, bool oneLine) const {
  Secret buffer(kMostInput);
  std::size_t size = 0;
  for (;;) {
    if (size == kMostInput) return invalid(concat(what, " has more than ", agents::kMaxSecretBytes, " bytes"));
    // A line byte by byte: what follows it is somebody else's.
    const ssize_t got = ::read(fd_, buffer.bytes().data() + size, oneLine ? 1 : kMostInput - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ioFailed("cannot read " + what + " (" + std::strerror(errno) + ")");
    size += static_cast<std::size_t>(got);
    if (got == 0 || (oneLine && buffer.bytes()[size - 1] == '\n')) break;
    if (oneLine && buffer.bytes()[size - 1] == kInterrupt) return invalid("interrupted", "nothing was changed");
  }
  std::string_view text = buffer.reveal().substr(0, size);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return Secret::copyOf(text);
}

Result<int> openSecretFile(const std::string& path, const std::string& what) {
  WITAN_TRY(fd, openToRead(path));
  if (!fd) return ioFailed("cannot open " + what + " " + path + " (" + std::strerror(ENOENT) + ")");
  return *fd;
}

Result<Secret> readPassphrase(const std::string& what, bool fresh, std::string_view else_) {
  if (const char* path = std::getenv("WITAN_PASSPHRASE_FILE"); path != nullptr && *path != '\0')
    return fromFile(path, "the passphrase file", true);
  const SecretInput terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal.fd() < 0)
    return invalid("there is no terminal to ask for the passphrase on",
                   concat("name a file that has it in WITAN_PASSPHRASE_FILE", else_));
  WITAN_TRY(passphrase, ask(terminal, concat(fresh ? "New passphrase of " : "Passphrase of ", what)));
  if (!fresh) return std::move(passphrase);
  WITAN_TRY(again, ask(terminal, "The same again"));
  if (!passphrase.sameAs(again.reveal())) return invalid("the two passphrases differ", "nothing was changed");
  return std::move(passphrase);
}

Result<Secret> readSecretFromInput(const std::string& prompt) {
  const SecretInput input(STDIN_FILENO);
  return ::isatty(STDIN_FILENO) != 0 ? ask(input, prompt) : input.read("standard input", false);
}

}  // namespace witan::node
