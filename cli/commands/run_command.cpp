// `witan run`: one-shot adjudication of an events file, in memory or on a durable ledger.
//
// Lines are decided in the chunks in which they arrive; each chunk is one log value and one sync, and its answers are
// printed only after that. So a pipe is answered at once, a file is committed in groups, and what was printed is never
// lost.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include "program/command_line.h"

#include "base/quote.h"
#include "cli/commands/commands.h"
#include "cli/events/event_runner.h"
#include "domains/registry.h"
#include "node/data_dir/store_dir.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "program/policy_file.h"
#include "program/process.h"
#include "store/memory_store.h"
#include "store/wal_damage.h"

namespace witan::node {

namespace {

constexpr std::size_t kChunk = 256 * 1024;
// A chunk of short lines can make long entries: no batch grows much beyond this.
constexpr std::size_t kBatchBytes = 4 << 20;

struct RunOptions {
  std::string domain;
  std::string events;
  std::string store;
  std::string policyFile;
  std::vector<std::string> counselors;
  std::string pendingTtl;
  bool check = false;
  bool json = false;
};

class Input {
 public:
  static Result<Input> open(const std::string& path) {
    if (path == "-") return Input(STDIN_FILENO);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ioFailed("cannot open the events file " + path + " (" + std::strerror(errno) + ")");
    struct stat kind {};
    if (::fstat(fd, &kind) == 0 && S_ISDIR(kind.st_mode)) {
      ::close(fd);
      return invalid("the events file " + path + " is a folder", "name a file of JSON Lines, or - for standard input");
    }
    return Input(fd);
  }
  Input(Input&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Input& operator=(Input&&) = delete;
  ~Input() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  // 0 at the end.
  Result<std::size_t> read(char* into, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(fd_, into, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return ioFailed(std::string("cannot read the events (") + std::strerror(errno) + ")");
    }
  }

 private:
  explicit Input(int fd) : fd_(fd) {}
  int fd_;
};

Status writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ioFailed(std::string("cannot write the answers (") + std::strerror(errno) + ")");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return okStatus();
}

// Cuts the byte stream into lines and hands them to the runner; keeps an unfinished one for the next chunk.
class LineFeeder {
 public:
  explicit LineFeeder(EventRunner& runner) : runner_(runner) {}

  // Takes lines while `more` says so; returns how many bytes it took.
  std::size_t feed(std::string_view bytes, std::string& answers, const std::function<bool()>& more) {
    std::size_t at = 0;
    for (std::size_t end; more() && (end = bytes.find('\n', at)) != std::string_view::npos; at = end + 1)
      take(bytes.substr(at, end - at), answers, true);
    if (!more()) return at;
    take(bytes.substr(at), answers, false);
    return bytes.size();
  }
  void finish(std::string& answers) {
    if (!held_.empty() || overlong_) take({}, answers, true);
  }

 private:
  void take(std::string_view part, std::string& answers, bool ends) {
    if (!overlong_ && held_.size() + part.size() > kLineMax) {
      overlong_ = true;
      held_.clear();
      held_.shrink_to_fit();
    }
    if (!ends) {
      if (!overlong_) held_ += part;
      return;
    }
    ++number_;
    std::string answer;
    if (overlong_)
      answer = runner_.refuseOverlong(number_);
    else if (held_.empty())
      answer = runner_.feed(number_, part);
    else
      answer = runner_.feed(number_, held_ += part);
    if (!answer.empty()) (answers += answer) += '\n';
    held_.clear();
    overlong_ = false;
  }

  EventRunner& runner_;
  std::uint64_t number_ = 0;
  std::string held_;
  bool overlong_ = false;
};

// `notes` holds what the runner noted while deciding; it is told with the answers, when it is durable.
Status tell(kernel::Ledger& ledger, std::string& answers, std::string& notes) {
  WITAN_DO(ledger.commit());
  putErr(notes);
  notes.clear();
  WITAN_DO(writeAll(STDOUT_FILENO, answers));
  answers.clear();
  return ledger.snapshotIfDue(10 * kernel::kSnapshotEvery);
}

Status runEvents(Input& input, EventRunner& runner, kernel::Ledger& ledger, std::string& notes) {
  LineFeeder feeder(runner);
  std::string chunk(kChunk, '\0');
  std::string answers;
  const auto batchHasRoom = [&] { return ledger.partition().openBatchBytes() < kBatchBytes; };
  for (;;) {
    WITAN_TRY(got, input.read(chunk.data(), chunk.size()));
    if (got == 0) break;
    for (std::string_view rest = std::string_view(chunk).substr(0, got); !rest.empty();) {
      rest.remove_prefix(feeder.feed(rest, answers, batchHasRoom));
      WITAN_DO(tell(ledger, answers, notes));
    }
  }
  feeder.finish(answers);
  return tell(ledger, answers, notes);
}

void printSummary(const RunOptions& options, const EventTally& tally, const kernel::Partition& partition) {
  std::string text = options.domain + ": " + std::to_string(tally.lines) + " lines";
  for (std::size_t i = 0; i < tally.outcomes.size(); ++i)
    if (tally.outcomes[i] > 0)
      text += ", " + std::to_string(tally.outcomes[i]) + " " + std::string(enumName(static_cast<kernel::Outcome>(i)));
  text += "; ledger of " + std::to_string(partition.size()) + " entries";
  if (options.check)
    text += "; " + std::to_string(tally.expectations - tally.differences) + " of " +
            std::to_string(tally.expectations) + " expectations held";
  putErr(text + "\n");
}

Result<std::int64_t> pendingTtlOf(const std::string& text) {
  const auto micros = parseDurationMicros(text);
  if (micros.ok() && *micros > 0) return *micros;
  return invalid(inQuotes(text) + " is no positive ISO 8601 duration", "for example P7D or PT36H");
}

Result<int> run(const RunOptions& options) {
  ignoreBrokenPipes();
  kernel::PartitionOptions partitionOptions;
  if (!options.pendingTtl.empty()) {
    WITAN_TRY(ttl, pendingTtlOf(options.pendingTtl));
    partitionOptions.pendingTtlMicros = ttl;
  }
  std::optional<json::object> policy;
  if (!options.policyFile.empty()) {
    WITAN_TRY(read, readPolicyFile(options.policyFile));
    policy = std::move(read);
  }
  WITAN_TRY(input, Input::open(options.events));
  std::string notes;
  const auto note = [&notes](const std::string& text) { (notes += text) += '\n'; };
  EventTally tally;
  if (options.store.empty()) {
    WITAN_TRY(module, domains::makeDomain(options.domain, policy.value_or(json::object{}), options.counselors));
    store::MemoryStore memory;
    WITAN_TRY(ledger, kernel::Ledger::open(memory, *module, {partitionOptions, "witan/memory"}));
    EventRunner runner(ledger->partition(), options.check, note);
    WITAN_DO(runEvents(input, runner, *ledger, notes));
    tally = runner.tally();
    printSummary(options, tally, ledger->partition());
  } else {
    WITAN_TRY(opened,
              openStoreDir({options.store, true, options.domain, policy, options.counselors, partitionOptions}));
    if (opened.ledger->recovery().cutTornTail)
      std::fputs("witan: the log ended in a torn batch; cut after its last complete record\n", stderr);
    for (const std::string& what : store::keptDamage(std::filesystem::path(options.store) / "db"))
      std::fprintf(stderr, "witan: %s\n", what.c_str());
    EventRunner runner(opened.ledger->partition(), options.check, note);
    WITAN_DO(runEvents(input, runner, *opened.ledger, notes));
    if (opened.key) WITAN_DO(opened.ledger->checkpoint(*opened.key, SystemClock().now()));
    WITAN_DO(opened.ledger->snapshotIfDue());
    tally = runner.tally();
    printSummary(options, tally, opened.ledger->partition());
  }
  if (options.check && tally.differences > 0) return kExitFailed;
  return tally.unexpectedRefusals > 0 ? kExitSomeRefused : kExitOk;
}

}  // namespace

void addRunCommand(Command& app, int& exitCode) {
  auto options = std::make_shared<RunOptions>();
  Command* command = app.command("run", "Adjudicate an events file (JSON Lines): one answer line per input line");
  command->option("--domain", options->domain, "Domain of the events (see: witan domain list)")->required();
  command->option("--events", options->events, "Events file, or - for standard input")->required();
  command->option("--store", options->store, "Directory of a durable ledger, made if new; a second run continues it");
  command->flag("--check", options->check, "Compare each line's \"expect\" with its outcome; exit 1 on any difference");
  command->option("--policy", options->policyFile, "TOML or JSON file with the domain's policy");
  command->option("--counselor", options->counselors,
                  "Authorised counselor, instead of the domain's own; may be repeated");
  command
      ->option("--pending-ttl", options->pendingTtl,
               "Reject proposals that wait longer for a counselor (ISO 8601, e.g. P7D)")
      ->check(readBy(pendingTtlOf));
  command->flag("--json", options->json, "Errors as JSON too (answers always are)");
  command->footer("Example: witan run --domain budget --events - --store /tmp/ledger < events.jsonl");
  command->callback([options, &exitCode] {
    auto code = run(*options);
    exitCode = code ? *code : reportError(code.error(), options->json);
  });
}

}  // namespace witan::node
