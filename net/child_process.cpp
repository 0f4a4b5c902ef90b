#include "net/child_process.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>

#include "net/byte_stream.h"
#include "net/loop_impl.h"

namespace witan::net {

namespace {

using Descriptor = asio::posix::stream_descriptor;

constexpr std::int64_t kLeftoversMs = 1'000;
constexpr int kCannotStart = 127;  // the exit code of a shell, too

// --- between fork and exec: nothing but system calls

// What a tool has no business with: other processes, the kernel, namespaces of its own, and a group in which its end
// would not find a child of it.
constexpr std::array kForbidden{SYS_ptrace,
                                SYS_setsid,
                                SYS_setpgid,
                                SYS_process_vm_readv,
                                SYS_process_vm_writev,
                                SYS_kexec_load,
                                SYS_init_module,
                                SYS_finit_module,
                                SYS_delete_module,
                                SYS_mount,
                                SYS_umount2,
                                SYS_pivot_root,
                                SYS_bpf,
                                SYS_perf_event_open,
                                SYS_keyctl,
                                SYS_add_key,
                                SYS_request_key,
                                SYS_userfaultfd,
                                SYS_reboot,
                                SYS_swapon,
                                SYS_swapoff,
                                SYS_settimeofday,
                                SYS_clock_settime,
                                SYS_setns,
                                SYS_acct,
                                SYS_open_by_handle_at};

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

// Where the kernel has no filters the rest of the confinement stands.
void forbidCalls() {
  if (kArchitecture == 0) return;
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  std::array<sock_filter, 5 + 2 * kForbidden.size()> code{};
  std::size_t at = 0;
  code[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  code[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  code[at++] = BPF_STMT(BPF_RET | BPF_K, kRefuse);
  code[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (const auto call : kForbidden) {
    code[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    code[at++] = BPF_STMT(BPF_RET | BPF_K, kRefuse);
  }
  code[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  sock_fprog program{static_cast<unsigned short>(at), code.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

bool limit(__rlimit_resource what, rlim_t most) {
  rlimit now{};
  if (::getrlimit(what, &now) != 0) return false;
  now.rlim_cur = now.rlim_max = std::min(most, now.rlim_max);
  return ::setrlimit(what, &now) == 0;
}

bool confine(const ChildOptions& options, pid_t parent) {
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) return false;  // it went meanwhile
  if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_NOFILE, options.files)) return false;
  if (options.memoryBytes > 0 && !limit(RLIMIT_AS, options.memoryBytes)) return false;
  if (!options.network && ::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  forbidCalls();
  return true;
}

[[noreturn]] void become(const ChildOptions& options, char** arguments, char** environment, int in, int out, int err,
                         pid_t parent) {
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) ::_exit(kCannotStart);
  if (::syscall(SYS_close_range, 3u, ~0u, 0u) != 0)
    for (int fd = 3; fd < 65'536; ++fd) ::close(fd);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (confine(options, parent)) ::execvpe(arguments[0], arguments, environment);
  ::_exit(kCannotStart);
}

std::vector<char*> pointersOf(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string endWords(const siginfo_t& end) {
  if (end.si_code != CLD_EXITED) return concat("signal ", end.si_status);
  return end.si_status == kCannotStart ? "it cannot be started, or not confined (exit code 127)"
                                       : concat("exit code ", end.si_status);
}

}  // namespace

struct ChildProcess::State : std::enable_shared_from_this<ChildProcess::State> {
  explicit State(asio::io_context& io) : in(io), out(io), err(io), process(io), leftovers(io, [this] { cut(); }) {}

  Descriptor in, out, err, process;
  ChildEvents events;
  pid_t pid = 0;
  std::size_t maxQueued = 0, queued = 0;
  std::deque<std::string> queue;
  bool writing = false, closing = false, reaped = false;
  int open = 2;        // of stdout and stderr
  Deadline leftovers;  // a process that left the group may hold them
  std::string how;
  std::array<char, 64 << 10> outBytes{}, errBytes{};

  void read(Descriptor& from, std::array<char, 64 << 10>& into, bool isOut);
  void write();
  void awaitEnd();
  void tellEnd();
  void cut() {
    open = 0;
    ErrorCodeOf ignored;
    out.close(ignored), err.close(ignored);
    tellEnd();
  }
  void killGroup() {
    if (!reaped) ::kill(-pid, SIGKILL);
  }
};

void ChildProcess::State::read(Descriptor& from, std::array<char, 64 << 10>& into, bool isOut) {
  from.async_read_some(asio::buffer(into),
                       [self = shared_from_this(), &from, &into, isOut](const ErrorCodeOf& error, std::size_t bytes) {
                         const auto tell = isOut ? self->events.out : self->events.err;
                         if (!error && tell) tell({into.data(), bytes});
                         if (!error) return self->read(from, into, isOut);
                         if (self->open > 0) --self->open;
                         self->tellEnd();
                       });
}

void ChildProcess::State::write() {
  ErrorCodeOf ignored;
  if (writing || !in.is_open()) return;
  if (queue.empty()) {
    if (closing) in.close(ignored);
    return;
  }
  writing = true;
  asio::async_write(in, asio::buffer(queue.front()),
                    [self = shared_from_this()](const ErrorCodeOf& error, std::size_t) {
                      self->writing = false;
                      self->queued -= self->queue.front().size();
                      self->queue.pop_front();
                      ErrorCodeOf none;
                      if (error) self->in.close(none);  // its end is told by its process
                      self->write();
                    });
}

void ChildProcess::State::awaitEnd() {
  process.async_wait(Descriptor::wait_read, [self = shared_from_this()](const ErrorCodeOf&) {
    siginfo_t end{};
    if (::waitid(P_PIDFD, static_cast<id_t>(self->process.native_handle()), &end, WEXITED | WNOWAIT) != 0) return;
    // Its children go with it, while its number cannot be another's yet.
    self->killGroup();
    ::waitid(P_PIDFD, static_cast<id_t>(self->process.native_handle()), &end, WEXITED);
    self->reaped = true;
    self->how = endWords(end);
    self->tellEnd();
    if (self->open > 0) self->leftovers.within(kLeftoversMs);
  });
}

void ChildProcess::State::tellEnd() {
  if (!reaped || open > 0) return;
  if (const auto ended = std::exchange(events, {}).ended) ended(how);
}

namespace {

struct Ends {
  int ours = -1, theirs = -1;
  ~Ends() {
    if (ours >= 0) ::close(ours);
    if (theirs >= 0) ::close(theirs);
  }
  bool make(bool weRead) {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) != 0) return false;
    ours = both[weRead ? 0 : 1], theirs = both[weRead ? 1 : 0];
    return ::fcntl(ours, F_SETFL, O_NONBLOCK) == 0;
  }
};

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(Loop& loop, ChildOptions options, ChildEvents events) {
  if (options.command.empty()) return invalid("no command to start");
  ::signal(SIGPIPE, SIG_IGN);
  const std::string name = options.command.front();
  const auto failed = [&](const char* what) {
    return unavailable(concat("cannot start ", name, ": ", what, " (", std::strerror(errno), ")"));
  };
  Ends in, out, err;
  if (!in.make(false) || !out.make(true) || !err.make(true)) return failed("no pipe");
  std::vector<char*> arguments = pointersOf(options.command), environment = pointersOf(options.environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failed("no process");
  if (pid == 0) become(options, arguments.data(), environment.data(), in.theirs, out.theirs, err.theirs, parent);
  ::setpgid(pid, pid);  // whoever comes first
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) {
    const Error why = failed("no descriptor of the process");
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return why;
  }
  ::fcntl(process, F_SETFD, FD_CLOEXEC);
  auto state = std::make_shared<State>(loop.impl().io);
  state->in.assign(std::exchange(in.ours, -1));
  state->out.assign(std::exchange(out.ours, -1));
  state->err.assign(std::exchange(err.ours, -1));
  state->process.assign(process);
  state->events = std::move(events);
  state->pid = pid;
  state->maxQueued = options.maxQueued;
  state->read(state->out, state->outBytes, true);
  state->read(state->err, state->errBytes, false);
  state->awaitEnd();
  return std::unique_ptr<ChildProcess>(new ChildProcess(std::move(state)));
}

ChildProcess::~ChildProcess() {
  state_->events = {};
  state_->killGroup();
  ErrorCodeOf ignored;
  state_->in.close(ignored);
  state_->out.close(ignored);
  state_->err.close(ignored);
}

Status ChildProcess::send(std::string bytes) {
  if (!state_->in.is_open() || state_->closing) return unavailable("the program reads no more");
  if (state_->queued + bytes.size() > state_->maxQueued) return unavailable("the program does not read what is sent");
  state_->queued += bytes.size();
  state_->queue.push_back(std::move(bytes));
  state_->write();
  return okStatus();
}

void ChildProcess::closeInput() {
  state_->closing = true;
  state_->write();
}

void ChildProcess::kill() { state_->killGroup(); }

int ChildProcess::id() const { return state_->pid; }

}  // namespace witan::net
