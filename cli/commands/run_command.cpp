// `witan run`: one-shot adjudication of an events file, in memory or on a durable ledger.
//
// Lines are decided in the chunks in which they arrive; each chunk is one log value and one sync, and its answers are
// printed only after that. So a pipe is answered at once, a file is committed in groups, and what was printed is never
// lost.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include "program/command_line.h"

#include "base/quote.h"
#include "cli/commands/commands.h"
#include "domains/registry.h"
#include "node/data_dir/store_dir.h"
#include "node/events/event_runner.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "program/policy_file.h"
#include "program/process.h"
#include "program/progress.h"
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

Status writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ioFailed(concat("cannot write the answers (", std::strerror(errno), ")"));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return okStatus();
}

// `notes` holds what the runner noted while deciding; it is told with the answers, when it is durable.
Status tell(kernel::Ledger& ledger, std::string& answers, std::string& notes) {
  WITAN_DO(ledger.commit());
  putErr(notes);
  notes.clear();
  WITAN_DO(writeAll(STDOUT_FILENO, answers));
  answers.clear();
  return ledger.snapshotIfDue(10 * kernel::kSnapshotEvery);
}

Status runEvents(InputFile& input, EventRunner& runner, kernel::Ledger& ledger, std::string& notes) {
  LineCutter lines(kLineMax);
  std::optional<Progress> progress;  // not among the answers
  if (::isatty(STDOUT_FILENO) == 0) progress.emplace("deciding", "lines");
  std::string chunk(kChunk, '\0'), answers;
  const auto take = [&](const InputLine& line) {
    const std::string answer = line.overlong ? runner.refuseOverlong(line.number) : runner.feed(line.number, line.text);
    if (!answer.empty()) (answers += answer) += '\n';
  };
  for (;;) {
    WITAN_TRY(got, input.read(chunk));
    if (got == 0) break;
    std::string_view rest(chunk.data(), got);
    while (!rest.empty()) {
      while (ledger.partition().openBatchBytes() < kBatchBytes) {
        const auto line = lines.next(rest);
        if (!line) break;
        take(*line);
      }
      WITAN_DO(tell(ledger, answers, notes));
      if (progress) progress->count(runner.tally().lines);
    }
  }
  if (const auto line = lines.last()) take(*line);
  return tell(ledger, answers, notes);
}

void printSummary(const RunOptions& options, const EventTally& tally, const kernel::Partition& partition) {
  std::string text = concat(options.domain, ": ", tally.lines, " lines");
  for (std::size_t i = 0; i < tally.outcomes.size(); ++i)
    if (tally.outcomes[i] > 0) text += concat(", ", tally.outcomes[i], " ", enumName(static_cast<kernel::Outcome>(i)));
  text += concat("; ledger of ", partition.size(), " entries");
  if (options.check)
    text += concat("; ", tally.expectations - tally.differences, " of ", tally.expectations, " expectations held");
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
    WITAN_SET(partitionOptions.pendingTtlMicros, pendingTtlOf(options.pendingTtl));
  }
  std::optional<json::object> policy;
  if (!options.policyFile.empty()) {
    WITAN_SET(policy, readPolicyFile(options.policyFile));
  }
  WITAN_TRY(input, InputFile::open(options.events));
  std::string notes;
  const auto note = [&notes](const std::string& text) { (notes += text) += '\n'; };
  const auto decideAll = [&](kernel::Ledger& ledger) -> Result<int> {
    EventRunner runner(ledger.partition(), options.check, note);
    WITAN_DO(runEvents(input, runner, ledger, notes));
    const EventTally& tally = runner.tally();
    printSummary(options, tally, ledger.partition());
    if (options.check && tally.differences > 0) return kExitFailed;
    return tally.unexpectedRefusals > 0 ? kExitSomeRefused : kExitOk;
  };
  if (options.store.empty()) {
    WITAN_TRY(module, domains::makeDomain(options.domain, policy.value_or(json::object{}), options.counselors));
    store::MemoryStore memory;
    WITAN_TRY(ledger, kernel::Ledger::open(memory, *module, {partitionOptions, "witan/memory"}));
    return decideAll(*ledger);
  }
  WITAN_TRY(opened, openStoreDir({options.store, true, options.domain, policy, options.counselors, partitionOptions}));
  if (opened.ledger->recovery().cutTornTail)
    putErr("witan: the log ended in a torn batch; cut after its last complete record\n");
  for (const std::string& what : store::keptDamage(std::filesystem::path(options.store) / "db"))
    putErr("witan: " + what + "\n");
  WITAN_TRY(exitCode, decideAll(*opened.ledger));
  WITAN_DO(signHead(opened, SystemClock().now()));
  WITAN_DO(opened.ledger->snapshotIfDue());
  return exitCode;
}

}  // namespace

void addRunCommand(Command& app) {
  auto options = std::make_shared<RunOptions>();
  Command* command = app.command("run", "Adjudicate an events file (JSON Lines): one answer line per input line");
  command
      ->option("--domain", options->domain,
               "Domain of the events (see: witan domain list), or a rule file NAME.domain.toml")
      ->required();
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
  runs(command, options, run);
}

}  // namespace witan::node
