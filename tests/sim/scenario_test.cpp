// Scenarios: what their files say, what a seed makes of them, and what is refused.
#include "sim/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/json_codec.h"
#include "base/time.h"
#include "sim/duration.h"
#include "sim/options.h"

#include "tests/paths.h"

namespace witan::sim::scenario_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<Scenario> parsed(std::string_view text, std::string_view other = {}) {
  return parseScenario(text, "mine.toml", [&](std::string_view name, std::string_view from) -> Result<std::string> {
    if (name == "other") return std::string(other);
    return builtinScenarioText(name, from);
  });
}

TEST(Duration, ReadsWhatPeopleWrite) {
  const std::pair<std::string, std::int64_t> good[] = {
      {"10m", 600'000'000},       {"2m30s", 150'000'000},   {"0s", 0},
      {"30d", 2'592'000'000'000}, {"1h1ms", 3'600'001'000}, {"7us", 7}};
  for (const auto& [text, micros] : good) {
    const auto read = parseDuration(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, micros);
    EXPECT_EQ(formatDuration(micros), text);
  }
  for (const char* bad :
       {"", "10", "m", "-1m", "1s1m", "1m1m", "1.5h", "1 m", "99999999999999999999d", "5000000d", "3w", "1m-2s"})
    EXPECT_FALSE(parseDuration(bad).ok()) << bad;
}

TEST(Builtin, AreTheFilesOfTheFolderAndParse) {
  std::set<std::string> files, names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(witan::tests::kSourceDir) + "/sim/scenarios"))
    files.insert(entry.path().stem());
  for (const BuiltinScenario& builtin : builtinScenarios()) {
    names.insert(std::string(builtin.name));
    std::ifstream in(std::string(witan::tests::kSourceDir) + "/sim/scenarios/" + std::string(builtin.name) + ".toml");
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_EQ(text.str(), builtin.text);
    const auto scenario = builtinScenario(builtin.name);
    ASSERT_TRUE(scenario.ok()) << scenario.error().message;
    EXPECT_FALSE(scenario->title.empty());
    EXPECT_FALSE(scenario->about.empty());
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto options = drawOptions(*scenario, seed);
      ASSERT_TRUE(options.ok()) << options.error().message;
      EXPECT_EQ(options->scenario, builtin.name);
      EXPECT_EQ(options->seed, seed);
    }
  }
  EXPECT_EQ(files, names);
  for (const char* name : {"calm", "lossy", "flapping", "split-brain", "owner-dies", "disk-lost", "clock-chaos",
                           "month-offline", "hostile-peer", "everything", "etcd", "rocksdb", "canary"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(builtinScenario("nonsense").ok());
}

TEST(Draw, TheSameSeedTheSamePlan) {
  const auto scenario = *builtinScenario("everything");
  EXPECT_EQ(writePlan(*drawPlan(scenario, 3)), writePlan(*drawPlan(scenario, 3)));
  EXPECT_NE(writePlan(*drawPlan(scenario, 3)), writePlan(*drawPlan(scenario, 4)));
}

TEST(Draw, RangesListsAndValues) {
  const auto scenario = parsed(R"(
[cluster]
devices = [2, 4]
engine = ["embedded", "etcd"]
agents = [1, 50, 7]
[disk]
tear = [true, false]
[faults]
cutSeconds = "2m"
offlineHours = ["2h", "1d"]
[time]
skewMs = "3s"
)");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  std::set<std::int64_t> devices, agents;
  std::set<Engine> engines;
  std::set<bool> tears;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Options o = *drawOptions(*scenario, seed);
    devices.insert(o.cluster.devices);
    agents.insert(o.cluster.agents);
    engines.insert(o.cluster.engine);
    tears.insert(o.disk.tear);
    EXPECT_EQ(o.faults.cutSeconds, 120);
    EXPECT_GE(o.faults.offlineHours, 2);
    EXPECT_LE(o.faults.offlineHours, 24);
    EXPECT_EQ(o.time.skewMs, 3'000);
  }
  EXPECT_EQ(devices, (std::set<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(agents, (std::set<std::int64_t>{1, 7, 50}));
  EXPECT_EQ(engines.size(), 2U);
  EXPECT_EQ(tears.size(), 2U);
}

TEST(Draw, AnEventThatComesAgainIsDrawnEachTimeButForWhatItSays) {
  const auto scenario = parsed(R"(
[cluster]
devices = 4
[time]
seconds = "28h"
[[event]]
at = "5h"
kind = "split"
lasts = "2h"
every = "7h"
[[event]]
at = "1h"
kind = "request"
device = 2
every = "1h"
[[event]]
at = "3h"
kind = "retire"
other = 1
)");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  const Plan plan = *drawPlan(*scenario, 5);
  std::map<EventKind, std::vector<Event>> of;
  for (const Event& event : plan.events) of[event.kind].push_back(event);
  ASSERT_EQ(of[EventKind::split].size(), 4u);
  std::set<std::uint64_t> sides, seeds;
  for (std::size_t i = 0; i < 4; ++i) {
    const Event& split = of[EventKind::split][i];
    EXPECT_EQ(split.at, static_cast<Micros>(5 + 7 * i) * kMicrosPerHour);
    EXPECT_EQ(split.lasts, std::min<Micros>(2, 28 - (5 + 7 * static_cast<Micros>(i))) * kMicrosPerHour);
    EXPECT_NE(split.n, 0u);
    sides.insert(split.n);
  }
  EXPECT_GT(sides.size(), 1u);
  for (const Event& request : of[EventKind::request])
    if (request.at % kMicrosPerHour == 0 && request.device == 2) seeds.insert(request.seed);
  EXPECT_EQ(seeds.size(), 27u);
  EXPECT_EQ(of[EventKind::retire].size(), 1u);
  EXPECT_FALSE(parsed("[[event]]\nat = \"1s\"\nkind = \"request\"\nevery = \"1ms\"").ok());
  EXPECT_FALSE(drawPlan(*parsed("[[event]]\nat = \"1h\"\nkind = \"request\"\nevery = \"1s\""), 1).ok());
}

TEST(Draw, AnOptionThatChangesLeavesTheOthers) {
  const Options a = *drawOptions(*parsed("[cluster]\nagents = [1, 900]\nentities = [1, 900]"), 5);
  const Options b = *drawOptions(*parsed("[cluster]\nentities = [1, 900]"), 5);
  EXPECT_EQ(a.cluster.entities, b.cluster.entities);
}

TEST(Draw, SometimesSwitchesRatesOffButNotLengths) {
  const auto scenario = builtinScenario("everything");
  std::map<std::string, int> on;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Options options = *drawOptions(*scenario, seed);
    forEachOption(options, [&](std::string_view table, std::string_view member, const auto& value) {
      if constexpr (std::is_same_v<decltype(value), const std::int64_t&>) {
        if (table == "faults") on[std::string(member)] += value > 0;
      }
    });
  }
  EXPECT_EQ(on["cutSeconds"], 400);
  for (const char* rate : {"cuts", "crashes", "diskLosses", "hostiles", "seizures"}) {
    EXPECT_GT(on[rate], 150) << rate;
    EXPECT_LT(on[rate], 250) << rate;
  }
}

TEST(Extends, TakesWhatIsNotSaidAndAddsEvents) {
  const auto scenario = parsed(R"(extends = "other"
[cluster]
devices = 7
[[event]]
at = "2m30s"
kind = "split"
devices = [0, 2]
lasts = "1m"
)",
                               R"(title = "Other"
[cluster]
devices = 3
agents = 9
[[event]]
at = "1s"
kind = "crash"
device = 1
[expect]
probes = ["forks", "fault: crash"]
)");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  EXPECT_EQ(scenario->title, "");
  EXPECT_EQ(scenario->expectedProbes, (std::vector<std::string>{"forks", "fault: crash"}));
  const Plan plan = *drawPlan(*scenario, 1);
  EXPECT_EQ(plan.options.cluster.devices, 7);
  EXPECT_EQ(plan.options.cluster.agents, 9);
  EXPECT_EQ(scenario->events,
            (std::vector<Event>{{.at = 1'000'000, .kind = EventKind::crash, .device = 1},
                                {.at = 150'000'000, .kind = EventKind::split, .n = 5, .lasts = 60'000'000}}));
}

TEST(Refused, WithFileAndLine) {
  const std::pair<std::string, std::string> bad[] = {
      {"\n[cluster]\ndevice = 3", "mine.toml:3: cluster.device: no option is called"},
      {"\n[clutter]\n", "mine.toml:2: unknown table \"clutter\""},
      {"x = 1", "mine.toml:1: unknown key \"x\""},
      {"[cluster]\ndevices = \"many\"", "mine.toml:2: cluster.devices: expected a number"},
      {"[cluster]\ndevices = [4, 2]", "mine.toml:2: devices: the range begins above its end"},
      {"[cluster]\ndevices = [4]", "mine.toml:2: devices: a list of 1"},
      {"[cluster]\ndevices = 1.5", "mine.toml:2: devices: expected a whole number"},
      {"[cluster]\nengine = \"raft\"", "expected one of embedded, etcd"},
      {"[cluster]\nengine = [\"etcd\", \"raft\"]", "expected one of embedded, etcd"},
      {"[disk]\ntear = 1", "disk.tear: expected true or false"},
      {"[faults]\ncutSeconds = \"1 minute\"", "mine.toml:2: cutSeconds: \"1 minute\" is no length"},
      {"[faults]\ncutSeconds = \"10ms\"", "is no whole number of the unit"},
      {"[faults]\nsometimes = 2.0", "sometimes: expected a share"},
      {"[disk]\nsometimes = 0.5", "has no meaning in [disk]"},
      {"[expect]\nprobe = []", "mine.toml:2: unknown key \"probe\""},
      {"[expect]\nprobes = [1]", "probes: expected a list of texts"},
      {"[expect]\nprobes = [\"gaps\",\n\"zombyRefused\"]",
       "mine.toml:3: expect.probes: no probe is called \"zombyRefused\""},
      {"[[event]]\nkind = \"crash\"", "without \"at\""},
      {"[[event]]\nat = 5\nkind = \"crash\"", "mine.toml:2: at: expected a length of time in quotes"},
      {"[[event]]\nat = \"5s\"\nkind = \"meteor\"", "mine.toml:3: kind: not a kind of event: \"meteor\""},
      {"[[event]]\nat = \"5s\"\nkind = 7", "mine.toml:3: kind: expected a text"},
      {"\ncluster = 3", "mine.toml:2: cluster: expected a table"},
      {"\n[[event]]\nat = \"5s\"\nkind = \"isolate\"", "mine.toml:2: isolate that lasts no time changes nothing"},
      {"[[event]]\nat = \"5s\"\nkind = \"cut\"\nlasts = \"9s\"\ndevice = 1\nother = 1",
       "mine.toml:1: cut is between two devices, and both are 1"},
      {"[[event]]\nat = \"5s\"\nkind = \"crash\"\ndevice = 5",
       "mine.toml:4: device: there is no device 5 among 5 devices"},
      {"[[event]]\nat = \"5s\"\nkind = \"retire\"\nother = 9\n[cluster]\ndevices = [3, 9]",
       "mine.toml:4: other: there is no device 9 among 9 devices"},
      {"[[event]]\nat = \"5s\"\nkind = \"crash\"\nwho = 1", "mine.toml:4: unknown key \"who\""},
      {"[[event]]\nat = \"5s\"\nkind = \"crash\"\nwho = -1", "mine.toml:4: \"who\""},
      {"[event]\nat = \"5s\"", "expected tables of the form [[event]]"},
      {"extends = \"nonsense\"", "mine.toml:1: there is no scenario \"nonsense\""},
      {"extends = 5", "mine.toml:1: extends: expected the name"},
      {"[cluster\n", "mine.toml:1: "},
      {"title = \"\xff\"", "not UTF-8"},
  };
  for (const auto& [text, message] : bad) {
    const auto scenario = parsed(text);
    ASSERT_FALSE(scenario.ok()) << text;
    EXPECT_THAT(scenario.error().message, HasSubstr(message)) << text;
  }
  EXPECT_THAT(parsed("[expect]\nprobes = [\"zombyRefused\"]").error().hint, StartsWith("near it: zombieRefused, "));
  EXPECT_FALSE(parsed("[expect]\nprobes = [\"fault: message\"]").ok()) << "work is no fault";
  EXPECT_THAT(parsed("[[event]]\nat = \"5s\"\nkind = \"isolated\"").error().hint, HasSubstr(", isolate, "));
  EXPECT_TRUE(parsed("[[event]]\nat = \"5s\"\nkind = \"crash\"\ndevice = 8\n[cluster]\ndevices = [3, 9]").ok());
  EXPECT_THAT(parsed("extends = \"other\"", "extends = \"other\"").error().message, HasSubstr("more than 8"));
  EXPECT_THAT(parsed("extends = \"other\"", "\n\nx = 1").error().message, HasSubstr("other:3: unknown key"));
  const auto drawn = drawOptions(*parsed("[cluster]\ndevices = [1040, 1050]"), 1);
  ASSERT_FALSE(drawn.ok());
  EXPECT_THAT(drawn.error().message, HasSubstr("cluster.devices is"));
  const auto late = drawPlan(*parsed("[time]\nseconds = \"1m\"\n[[event]]\nat = \"1m\"\nkind = \"crash\"\n"
                                     "[[event]]\nat = \"61s\"\nkind = \"pause\""),
                             7);
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.error().message,
              HasSubstr("seed 7: [[event]] 2: at: pause at 1m1s comes after the end of the run, at 1m"));
}

}  // namespace
}  // namespace witan::sim::scenario_test
