// Sagas under SIGKILL: a process with N sagas under way is killed, another goes on where it was, and what stands in
// both databases is counted. Says how long after the kill everything was finished; fails if an effect is doubled or
// missing.
//
//   witan_saga_kill_bench [--sagas N] [--kills N] [--in-flight N] [--seed N] [--dir DIR]
//
// Every saga adds one to a counter in the journal that ten of them share, so that a second time would show. The kill
// strikes at a random moment between "all rows are durable" and the end of an undisturbed run. --in-flight: how many
// effects may be under way at once. DIR is made and taken away; none: one in the folder for temporary files.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>

#include "base/json.h"
#include "bench/saga_device.h"
#include "replication/records/journal_entity.h"

extern char** environ;

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::replication;

constexpr std::uint64_t kSagasACounter = 10;
constexpr std::string_view kOpen = "open\n", kDone = "done ";
const Now kNow{Time{1'774'252'800'000'000}, 0};

std::string counterOf(std::uint64_t n) { return concat("counter-", n / kSagasACounter); }

Space& journalOf(SagaDevice& device) {
  return *must(device.replica->database(DatabaseName::journal).space("main"), "journal");
}

std::int64_t countIn(Space& journal, const std::string& counter) {
  const JournalView view = must(journalViewIn(journal, counter), counter);
  if (!view.shown) return 0;
  return must(parseJson(view.siblings[*view.shown].body->payload), counter).at("n").to_number<std::int64_t>();
}

class Work final : public saga::SagaEnvironment {
 public:
  explicit Work(SagaDevice& device) : device_(device) {}

  Result<saga::JournalEffect> journalEffect(const saga::SagaRow& row) override {
    const std::string& counter = row.intent.targets.front();
    const std::string now = concat("{\"n\":", countIn(journalOf(device_), counter) + 1, "}");
    JournalBody body{"counter", now, ++lamport_, row.intent.agentId, row.createdAtMs, row.id().value, {}};
    saga::JournalEffect effect;
    effect.scope = "main";
    effect.changes.push_back({counter, std::move(body), "", ChangeOrigin::local});
    return effect;
  }
  Status call(const saga::SagaRow&, Now) override { return okStatus(); }
  Result<std::vector<Write>> record(const saga::SagaRow&, const saga::Outcome&) override {
    return std::vector<Write>{};
  }
  void finished(const saga::SagaRow&) override {}

 private:
  SagaDevice& device_;
  std::uint64_t lamport_ = 0;
};

// --- in a process of its own

void say(std::string_view words) {
  if (write(STDOUT_FILENO, words.data(), words.size()) < 0) _exit(1);
}

// Carries out what is open, after beginning `fresh` sagas.
int work(const std::string& dir, std::uint64_t fresh, std::size_t inFlight) {
  SagaDevice device = openSagaDevice(dir);
  Work environment(device);
  saga::SagaOptions options;
  options.maxInFlight = inFlight;
  saga::SagaEngine engine(*device.replica, environment, options);
  must(engine.load(kNow), "load");
  std::vector<saga::Intent> intents;
  for (std::uint64_t n = 0; n < fresh; ++n) {
    intents.push_back(sagaIntent(n));
    intents.back().targets = {counterOf(n)};
  }
  must(engine.begin(intents, kNow), "begin");
  must(device.replica->flush(), "flush");
  say(kOpen);
  engine.tick(kNow);
  engine.agentsDurable(kNow);
  while (engine.open() > 0) sagaRound(device, engine, kNow);
  const saga::SagaCounters& counted = engine.counters();
  say(concat(kDone, counted.recovered, " ", counted.found, "\n"));
  return 0;
}

// --- the judge

class Child {
 public:
  Child(const std::string& dir, std::uint64_t fresh, std::uint64_t inFlight) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("no pipe");
    out_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::string words[] = {"witan_saga_kill_bench", "work", dir, std::to_string(fresh), std::to_string(inFlight)};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
    if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv, environ) != 0) fail("no second process");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
  }
  Child(const Child&) = delete;
  ~Child() {
    close(out_);
    kill();
  }

  // What it says, up to the end of a line.
  std::string line() {
    std::string words;
    for (char c = 0; read(out_, &c, 1) == 1;) {
      words += c;
      if (c == '\n') break;
    }
    return words;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
};

struct Tally {
  std::uint64_t doubled = 0, missing = 0;
};

// The effects of each saga: its record and its count in the journal, its record in the agents' database.
Tally judge(const std::string& dir, std::uint64_t sagas) {
  SagaDevice device = openSagaDevice(dir);
  Space& journal = journalOf(device);
  Space& agents = *must(device.replica->database(DatabaseName::agents).space("main"), "agents");
  Tally tally;
  const auto compare = [&](std::uint64_t found, std::uint64_t expected) {
    tally.doubled += found > expected ? found - expected : 0;
    tally.missing += found < expected ? expected - found : 0;
  };
  for (std::uint64_t n = 0; n < sagas; ++n) {
    const std::string hex = sagaIntent(n).id().hex();
    compare(must(journal.versions(Kind::operation, hex), "journal").size(), 1);
    compare(must(agents.versions(Kind::operation, hex), "agents").size(), 1);
  }
  for (std::uint64_t n = 0; n < sagas; n += kSagasACounter)
    compare(static_cast<std::uint64_t>(countIn(journal, counterOf(n))), std::min(kSagasACounter, sagas - n));
  compare(journal.keys(Kind::batch).size(), sagas);
  return tally;
}

struct Run {
  double ms = 0;                             // from the kill to the end
  std::uint64_t open = 0, alreadyThere = 0;  // when it was started again: sagas, effects that had been made
};

Run killOnce(const std::string& dir, std::uint64_t sagas, std::uint64_t inFlight, double afterSeconds) {
  Child first(dir, sagas, inFlight);
  if (first.line() != kOpen) fail("the first process did not begin");
  const Stopwatch wait;
  while (wait.seconds() < afterSeconds) {
  }
  const Stopwatch watch;
  first.kill();
  Child second(dir, 0, inFlight);
  if (second.line() != kOpen) fail("the second process did not begin");
  const std::string done = second.line();
  Run run{watch.seconds() * 1e3};
  unsigned long long open = 0, there = 0;
  if (std::sscanf(done.c_str(), "done %llu %llu", &open, &there) != 2) fail("the second process did not finish");
  run.open = open, run.alreadyThere = there;
  return run;
}

double undisturbedSeconds(const std::string& dir, std::uint64_t sagas, std::uint64_t inFlight) {
  Child child(dir, sagas, inFlight);
  if (child.line() != kOpen) fail("the undisturbed process did not begin");
  const Stopwatch watch;
  if (!child.line().starts_with(kDone)) fail("the undisturbed process did not finish");
  return watch.seconds();
}

int killAll(const std::string& dir, std::uint64_t sagas, std::uint64_t inFlight, std::uint64_t kills,
            std::uint64_t seed) {
  SeededRandom random(seed);
  const double whole = undisturbedSeconds(dir + "/undisturbed", sagas, inFlight);
  std::vector<double> ms;
  Tally all = judge(dir + "/undisturbed", sagas);
  std::uint64_t midway = 0;
  for (std::uint64_t k = 0; k < kills; ++k) {
    const std::string place = concat(dir, "/", k);
    const double after = whole * static_cast<double>(random.below(1'000)) / 1'000;
    const Run run = killOnce(place, sagas, inFlight, after);
    const Tally tally = judge(place, sagas);
    all.doubled += tally.doubled, all.missing += tally.missing;
    midway += run.open > 0 ? 1 : 0;
    ms.push_back(run.ms);
    std::printf(
        "killed after %.1f ms: %llu sagas open, %llu effects already made; all finished %.0f ms after the kill\n",
        after * 1e3, static_cast<unsigned long long>(run.open), static_cast<unsigned long long>(run.alreadyThere),
        run.ms);
    std::filesystem::remove_all(place);
  }
  std::printf(
      "%llu kills of %llu sagas, %llu with sagas to go on with: finished after %.0f ms (median), %.0f ms (worst); "
      "effects doubled %llu, missing %llu\n",
      static_cast<unsigned long long>(kills), static_cast<unsigned long long>(sagas),
      static_cast<unsigned long long>(midway), median(ms), quantile(ms, 1),
      static_cast<unsigned long long>(all.doubled), static_cast<unsigned long long>(all.missing));
  return all.doubled + all.missing == 0 ? 0 : 1;
}

std::string ownFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "witan-saga-kill.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail("no folder " + name);
  return name;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "work")
    return work(argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10));
  const Arguments arguments(argc, argv, {"--sagas", "--kills", "--in-flight", "--seed", "--dir"});
  std::string dir = arguments.text("--dir", "");
  if (!dir.empty() && std::filesystem::exists(dir)) fail(dir + " exists");
  if (dir.empty()) dir = ownFolder();
  const std::uint64_t sagas = std::max<std::uint64_t>(1, arguments.number("--sagas", 200));
  const int failed = killAll(dir, sagas, arguments.number("--in-flight", 4'096), arguments.number("--kills", 20),
                             arguments.number("--seed", 1));
  std::filesystem::remove_all(dir);
  return failed;
}
