// `witan agent run|feed|check`: agents at work on a data directory.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <thread>

#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/events/event_generator.h"
#include "domains/agents.h"
#include "domains/extension.h"
#include "domains/registry.h"
#include "node/config/daemon_config.h"
#include "node/daemon/agent_feed.h"
#include "node/daemon/agent_files.h"
#include "node/daemon/agents_policy_file.h"
#include "node/daemon/published_files.h"
#include "node/data_dir/node_dir.h"
#include "node/ledgers/ledger_rows.h"
#include "node/operations/agent.h"
#include "node/tools/tool_broker.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "program/process.h"
#include "replica/agent_runtime.h"

namespace witan::node {

namespace {

struct RunArguments : ReplicaArguments {
  std::vector<std::string> agents;
  std::string feed;
  bool quiet = false;
};

volatile std::sig_atomic_t stopped = 0;

// The wall clock of a run: the system's, or, while lines are fed, theirs. Waiting costs no time then.
class RunClock {
 public:
  explicit RunClock(bool fed) : fed_(fed) {}
  Now now() {
    if (!fed_) {
      const Time wall = SystemClock().now();
      return {wall, wall.micros / 1000};
    }
    return {wall_, wall_.micros / 1000};
  }
  void moveTo(Time time) { wall_ = std::max(wall_, time); }
  void sleepUntil(std::int64_t ms) {
    if (fed_) return moveTo(Time{ms * 1000});
    const std::int64_t most = 200;  // so that a signal is heard
    std::this_thread::sleep_for(std::chrono::milliseconds(std::clamp<std::int64_t>(ms - now().ms, 1, most)));
  }

 private:
  const bool fed_;
  Time wall_;
};

Result<std::vector<const agents::Agent*>> chosen(const AgentFiles& files, const std::vector<std::string>& ids) {
  std::vector<const agents::Agent*> all = files.all();
  std::erase_if(all, [&](const agents::Agent* agent) { return files.isServed(agent->spec().id); });
  if (ids.empty()) return all;
  std::vector<const agents::Agent*> some;
  for (const std::string& id : ids) {
    const agents::Agent* agent = files.find(id);
    if (files.isServed(id))
      return invalid("the program of " + id + " comes to a running node", "witan up, then witan agent serve " + id);
    if (agent == nullptr) {
      std::string known;
      for (const agents::Agent* one : all) known += (known.empty() ? "" : ", ") + one->spec().id;
      return invalid("there is no agent " + id, "there are: " + known);
    }
    some.push_back(agent);
  }
  return some;
}

// The tools outside, one call after the other: nothing else goes on meanwhile.
class RunTools {
 public:
  Status open(const std::filesystem::path& dir, DaemonConfig config, const AgentFiles& files, AgentSetup& setup) {
    std::vector<ToolConfig> tools = files.withMinds(std::move(config.tools));
    WITAN_TRY(secrets, secretsOf(dir, tools, config.secretKey));
    offerTools(setup.options, tools);
    setup.options.standing = config.budgets;
    setup.policy->know(secrets.names());
    ignoreBrokenPipes();
    WITAN_SET(broker_, ToolBroker::open(loop_, log_, std::move(tools), std::move(secrets)));
    return okStatus();
  }
  ToolAnswer call(const agents::ToolCall& call) {
    std::optional<ToolAnswer> answer;
    broker_->call(call, [&](ToolAnswer came) { answer = std::move(came); });
    loop_.runUntil([&] { return answer.has_value(); }, 300'000);
    return answer.value_or(ToolAnswer{});
  }

 private:
  net::Loop loop_;
  Log log_{LogLevel::warn, false, [] { return SystemClock().now(); }, [](std::string_view line) { putErr(line); }};
  std::unique_ptr<ToolBroker> broker_;
};

class AgentRun {
 public:
  AgentRun(NodeDir& dir, AgentFeed feed, agents::ContentSeals seals, RunClock& clock, RunTools& tools,
           const RunArguments& arguments)
      : dir_(dir),
        feed_(std::move(feed)),
        seals_(std::move(seals)),
        clock_(clock),
        tools_(tools),
        arguments_(arguments) {}

  // Until everything is done (with a feed), or a signal comes.
  Status go(bool untilQuiet) {
    while (stopped == 0) {
      WITAN_DO(round());
      const std::int64_t next = dir_.replica().nextTickMs(), ms = clock_.now().ms;
      if (next <= ms) continue;
      if (!feed_.empty() && (idle() || feed_.at().micros / 1000 <= next)) {
        WITAN_DO(enter());
        continue;
      }
      if (untilQuiet && feed_.empty() && idle()) return okStatus();
      clock_.sleepUntil(next);
    }
    return okStatus();
  }

  // Lines that met an entry which was edited on several devices at once.
  std::size_t refused() const { return refused_; }

 private:
  bool idle() {
    return dir_.replica().agents()->onlyPeopleLeft() &&
           dir_.replica().outbox().size() <= dir_.replica().agents()->waitingForPeople();
  }

  Status round() {
    const Now now = clock_.now();
    dir_.replica().tick(now);
    effects_.clear();
    WITAN_DO(dir_.drain(now, effects_));
    for (const Notice& notice : effects_.notices)
      if (!arguments_.quiet) say(now, notice);
    for (const agents::ToolCall& call : effects_.toolCalls)
      deliver(*dir_.replica().agents(), call, tools_.call(call), clock_.now());
    return okStatus();
  }

  // One line: those of one moment are worked in their order.
  Status enter() {
    clock_.moveTo(feed_.at());
    Status entered = feed_.apply(dir_.replica(), seals_, arguments_.scope, clock_.now());
    if (entered.ok() || entered.error().code != ErrorCode::conflict) return entered;
    ++refused_;
    putErr("witan: " + entered.error().message + ": " + entered.error().hint + "\n");
    return okStatus();
  }

  void say(Now now, const Notice& notice) const {
    const std::string at = formatTime(now.wall);
    if (arguments_.json)
      putWords(canonicalJson(json::object{{"at", at}, {"kind", notice.kind}, {"what", notice.what}}) + "\n");
    else
      putWords(at + "  " + notice.kind + "  " + notice.what + "\n");
  }

  NodeDir& dir_;
  AgentFeed feed_;
  const agents::ContentSeals seals_;
  RunClock& clock_;
  RunTools& tools_;
  const RunArguments& arguments_;
  Effects effects_;
  std::size_t refused_ = 0;
};

std::string summaryOf(const Replica& replica, bool json) {
  const agents::HostCounters& counters = replica.agents()->counters();
  if (json) return toJson(counters) + "\n";
  std::string text;
  forEachMember<agents::HostCounters>([&](auto member, auto) {
    if (counters.*member.pointer > 0)
      text += concat(text.empty() ? "" : ", ", member.name, " ", counters.*member.pointer);
  });
  return (text.empty() ? std::string("nothing to do") : text) + "\n";
}

// Their meta-agents decide here.
Result<int> run(const RunArguments& a) {
  WITAN_TRY(path, replicaDirPath(a.dir));
  WITAN_TRY(config, loadConfig(path));
  if (config.publishedOnly) WITAN_DO(checkPublished(path));
  WITAN_TRY(files, AgentFiles::load(path, config.tools));
  for (const std::string& what : files.leftOut()) putErr("witan: " + what + "\n");
  WITAN_TRY(agents, chosen(files, a.agents));
  AgentFeed feed;
  if (!a.feed.empty()) {
    std::set<std::string> here;
    for (const agents::Agent* agent : agents) here.insert(agent->spec().id);
    WITAN_SET(feed, AgentFeed::read(a.feed, here));
  }
  WITAN_TRY(policy, gateOfDevice(path));
  if (!ReplicaDir::exists(path)) WITAN_DO(ReplicaDir::create(path, {}));
  RunClock clock(!a.feed.empty());
  clock.moveTo(feed.empty() ? SystemClock().now() : feed.at());
  WITAN_TRY(setup, setupOf(path));
  AgentSetup work{.agents = std::move(agents), .policy = std::move(policy)};
  work.options.wake.scope = a.scope;
  // People answer by their own clock, whatever that of the lines says.
  const std::int64_t behind = SystemClock().now().micros - clock.now().wall.micros;
  work.options.approvalTtlMs += std::max<std::int64_t>(0, behind / 1'000);
  RunTools tools;
  WITAN_DO(tools.open(path, std::move(config), files, work));
  WITAN_TRY(seals, contentSealsOf(path, a.scope));
  addLedgerTools(work, seals);
  setup.agents = std::make_shared<const AgentSetup>(std::move(work));
  WITAN_TRY(dir, NodeDir::open(path, std::move(setup), clock.now()));
  const OwnerTable& owners = dir->replica().owners();
  WITAN_DO(dir->replica().bootstrap(clock.now(), [&](std::string_view p) { return owners.find(p) == nullptr; }));
  std::signal(SIGINT, [](int) { stopped = 1; });
  std::signal(SIGTERM, [](int) { stopped = 1; });
  AgentRun run(*dir, std::move(feed), std::move(seals), clock, tools, a);
  WITAN_DO(run.go(!a.feed.empty()));
  WITAN_DO(dir->close(clock.now()));
  std::fputs(summaryOf(dir->replica(), a.json).c_str(), stdout);
  const bool failed = !a.feed.empty() && dir->replica().agents()->counters().failed > 0;
  return failed || run.refused() > 0 ? kExitSomeRefused : kExitOk;
}

void addRun(Command& noun) {
  const auto [command, a] = addVerb<RunArguments>(noun, "run", "Let agents work on this device", "", run);
  command->option("--agent", a->agents, "Which of the agents of this build and of DIR/agents; default all");
  command->option("--feed", a->feed, "Entries to the journal, as JSON Lines; ends when all is done")
      ->typeName("FILE|-");
  command->flag("--quiet", a->quiet, "Only the summary");
  command->footer(
      "Exit code 3: all was done, but a line was refused or a run failed.\n"
      "Example: witan agent feed --entities 3 --days 5 > clinic.jsonl && witan agent run --feed clinic.jsonl");
}

void addFeed(Command& noun) {
  Command* command = noun.command("feed", "The journal of a made-up clinic or lab, as JSON Lines");
  const auto options = std::make_shared<GenerateOptions>();
  const auto domain = std::make_shared<std::string>("udt");
  const auto feeds = std::make_shared<std::map<std::string, domains::Feed>>();
  std::string known;
  for (const auto& [name, extension] : domains::extensions())
    if (extension->feed.make != nullptr) feeds->emplace(name, extension->feed);
  std::vector<std::string> names;
  for (const auto& [name, feed] : *feeds) {
    names.push_back(name);
    known += concat(known.empty() ? "" : "; ", name, ": ", feed.what);
  }
  command->option("--domain", *domain, known)->oneOf(names)->showDefault();
  command->option("--entities", options->entities, "Patients, or vulnerabilities")
      ->showDefault()
      ->check(wholeNumber(1, 10'000));
  command->option("--days", options->days, "Days")->showDefault()->check(wholeNumber(1, 3'660));
  command->option("--seed", options->seed, "Another one gives another clinic or lab")
      ->showDefault()
      ->check(wholeNumber());
  command->footer("Example: witan agent feed --entities 3 --days 5 --seed 1");
  command->callback([options, domain, feeds] {
    const auto feed = feeds->at(*domain).make(options->entities, options->days, options->seed);
    if (feed.ok()) std::fputs(feed->c_str(), stdout);
    return feed.ok() ? kExitOk : reportError(feed.error(), false);
  });
}

std::string checkWords(const operations::AgentReport& report) {
  std::string text;
  for (const std::string& problem : report.problems) text += problem + "\n";
  if (!report.problems.empty()) return text;
  std::string stays;
  if (report.doubled > 0) stays += concat("; ", report.doubled, " carried out by several devices");
  if (report.unwanted > 0)
    stays += concat("; ", report.unwanted, " stay though a person denied them or another plan survived");
  const bool oneEach = stays.empty();
  return concat(oneEach ? "ok: " : "look at the incidents: ", report.operations,
                oneEach ? " operations, one effect each (" : " operations (", report.journalEffects, " in the journal",
                stays, "); ", report.runs, " runs ended; ",
                report.waiting > 0 ? concat(report.waiting, " proposals wait for a counselor; ") : "",
                "the ledgers verify, with ", report.entries, " entries\n");
}

// With the ledgers, which the other operations do not need.
Result<operations::AgentReport> checkDirectory(const std::filesystem::path& path) {
  WITAN_TRY(dir, openAtRest(path));
  operations::OperationContext context{path, dir->replica().data(), SystemClock().now(), [] { return okStatus(); },
                                       &dir->replica()};
  return operations::checkAgents(context, {});
}

Result<int> check(const RunArguments& a) {
  WITAN_TRY(path, replicaDirPath(a.dir));
  const auto node = runningNode(path);
  WITAN_TRY(report, node ? send(*node, operations::kAgentCheck, {}) : checkDirectory(path));
  return printed(
      {a.json ? toJson(report) + "\n" : checkWords(report), report.problems.empty() ? kExitOk : kExitFailed});
}

}  // namespace

void addAgentRunCommands(Command& noun) {
  addRun(noun);
  addFeed(noun);
  addVerb<RunArguments>(noun, "check", "Whether each operation had one effect, each run an end, and the ledgers verify",
                        "witan agent check --dir data", check);
}

}  // namespace witan::node
