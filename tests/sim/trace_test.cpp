// Traces: text that can be searched, JSON that viewers open, frames in words.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/bytes.h"
#include "base/json.h"
#include "domains/registry.h"
#include "replica/core/messages.h"
#include "sim/catalog.h"
#include "sim/scenario.h"
#include "sim/trace_format.h"
#include "sim/trace_text.h"

#include "tests/paths.h"

namespace witan::trace_test {
namespace {

using namespace witan;
using namespace witan::sim;

TraceLine line(Micros at, std::uint32_t device, std::string_view category, std::string_view what,
               std::string_view detail = {}, Micros lasts = 0, std::uint64_t flow = 0) {
  return {at, lasts, device, category, what, detail, flow};
}

Plan smallPlan() {
  auto scenario = builtinScenario("canary");
  EXPECT_TRUE(scenario.ok());
  scenario->draws["time.seconds"] = {0, 0, {std::int64_t{30}}, "here"};
  auto plan = drawPlan(*scenario, 4);
  EXPECT_TRUE(plan.ok());
  plan->events.push_back(Event{.at = 20'000'000, .kind = EventKind::isolate, .device = 1, .lasts = 5'000'000});
  plan->events.push_back(Event{.at = 21'000'000, .kind = EventKind::pause, .device = 1, .lasts = 8'000'000});
  return *plan;
}

// ---- text

TEST(TraceText, OneAlignedLine) {
  EXPECT_EQ(traceText(line(62'345'678, 3, "work", "commits", "agents/main agent-4")),
            "00:01:02.345678 device-3   work   commits           agents/main agent-4");
  EXPECT_EQ(traceText(line(0, kNobody, "check", "settled")), "00:00:00.000000 cluster    check  settled");
  EXPECT_EQ(traceText(line(1, 0, "fault", "cut", "device-0 | device-1", 2'000'000)),
            "00:00:00.000001 device-0   fault  cut               device-0 | device-1 (for 00:00:02.000000)");
}

TEST(TraceText, HoursGrow) { EXPECT_EQ(traceTime(1'000LL * 3'600'000'000 + 5), "1000:00:00.000005"); }

TEST(TraceText, BytesFromOutsideStayOnTheirLine) {
  const std::string text = traceText(line(0, 0, "net", "a\nb", "\x1b[31m \xff\xfe"));
  EXPECT_NE(text.find("a?b"), std::string::npos);
  EXPECT_NE(text.find("?[31m ??"), std::string::npos);
}

TEST(TraceText, Filter) {
  TraceFilter filter;
  ASSERT_TRUE(readOnly("device-3,ledger,cluster", filter).ok());
  EXPECT_TRUE(filter.lets(line(0, 3, "ledger", "x")));
  EXPECT_TRUE(filter.lets(line(0, kNobody, "ledger", "x")));
  EXPECT_FALSE(filter.lets(line(0, 2, "ledger", "x")));
  EXPECT_FALSE(filter.lets(line(0, 3, "work", "x")));
  TraceFilter times;
  times.from = 10, times.to = 20, times.frames = false;
  EXPECT_FALSE(times.lets(line(9, 0, "work", "x")));
  EXPECT_TRUE(times.lets(line(10, 0, "work", "x")));
  EXPECT_TRUE(times.lets(line(20, 0, "work", "x")));
  EXPECT_FALSE(times.lets(line(21, 0, "work", "x")));
  EXPECT_FALSE(times.lets(line(15, 0, "net", kSends, "", 0, 7)));
  const Status wrong = readOnly("device-3,ledgers", filter);
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message.find("ledgers"), std::string::npos);
  EXPECT_FALSE(readOnly("device-99999999999", filter).ok());
}

TEST(TraceText, NamesInAReason) {
  EXPECT_EQ(namesIn("journal/main entity-2: device-0@1d3d0f6a:1, durable on device-0, is nowhere"),
            (std::vector<std::string>{"entity-2", "device-0@1d3d0f6a:1"}));
  EXPECT_EQ(namesIn("after 3600 s without faults: partition budget/1 has 0 owners"),
            std::vector<std::string>{"budget/1"});
  EXPECT_TRUE(namesIn("").empty());
}

TEST(TraceText, ARunTellsTheSameTwiceAndFramesArriveAfterTheyLeft) {
  const Plan plan = smallPlan();
  const auto tell = [&](std::map<std::uint64_t, std::pair<Micros, Micros>>& flows) {
    std::string text;
    RunOptions options;
    options.trace = [&](const TraceLine& told) {
      text += traceText(told) + "\n";
      if (told.flow == 0) return;
      auto& flow = flows.try_emplace(told.flow, -1, -1).first->second;
      (told.what == kSends ? flow.first : flow.second) = told.at;
    };
    run(plan, options);
    return text;
  };
  std::map<std::uint64_t, std::pair<Micros, Micros>> flows, again;
  const std::string text = tell(flows);
  EXPECT_EQ(text, tell(again));
  ASSERT_GT(flows.size(), 20u);
  for (const auto& [number, flow] : flows) {
    EXPECT_GE(flow.first, 0) << number << " arrived and was never sent";
    if (flow.second >= 0) {
      EXPECT_GT(flow.second, flow.first) << number;
    }
  }
  EXPECT_NE(text.find("fault  isolate           device-1 | everybody else (for 00:00:05.000000)"), std::string::npos);
}

TEST(TraceText, TellingChangesNothing) {
  const Plan plan = smallPlan();
  RunOptions told;
  told.trace = [](const TraceLine&) {};
  EXPECT_EQ(run(plan).digest, run(plan, told).digest);
}

// ---- the viewers' format

json::array eventsOf(const std::string& text) {
  auto value = parseJson(text, {.bytes = text.size(), .depth = 8});
  EXPECT_TRUE(value.ok()) << (value.ok() ? "" : value.error().message);
  return value.ok() ? value->as_object().at("traceEvents").as_array() : json::array();
}

std::string perfettoOf(const Plan& plan) {
  std::string text;
  PerfettoTrace trace([&](std::string_view more) { text += more; });
  trace.begin("a \"title\"");
  RunOptions options;
  options.trace = [&](const TraceLine& told) { trace.add(told); };
  run(plan, options);
  return text + std::string(PerfettoTrace::end());
}

TEST(Perfetto, AnEmptyTraceIsWhole) {
  std::string text;
  PerfettoTrace trace([&](std::string_view more) { text += more; });
  trace.begin("nothing");
  EXPECT_EQ(eventsOf(text + std::string(PerfettoTrace::end())).size(), 1u);
}

TEST(Perfetto, SlicesOfATrackNeverOverlap) {
  std::map<std::int64_t, std::int64_t> busy;  // by track
  std::map<std::string, int> phases;
  for (const json::value& event : eventsOf(perfettoOf(smallPlan()))) {
    const std::string phase(event.at("ph").as_string());
    ++phases[phase];
    if (phase != "X") continue;
    const std::int64_t track = event.at("tid").as_int64(), at = event.at("ts").as_int64(),
                       lasts = event.at("dur").as_int64();
    EXPECT_GT(lasts, 0);
    if (lasts == 1) continue;  // frames: of one moment, within each other
    EXPECT_GE(at, busy[track]) << event;
    busy[track] = at + lasts;
  }
  EXPECT_GT(phases["s"], 10);
  EXPECT_LE(phases["f"], phases["s"]);
  EXPECT_GT(phases["i"], 10);
  EXPECT_EQ(busy.size(), 2u);  // the two faults overlap: two tracks
}

TEST(Perfetto, EveryTrackHasItsName) {
  std::map<std::int64_t, std::string> names;
  const json::array events = eventsOf(perfettoOf(smallPlan()));
  for (const json::value& event : events)
    if (event.at("name").as_string() == "thread_name")
      names[event.at("tid").as_int64()] = std::string(event.at("args").at("name").as_string());
  for (const json::value& event : events) {
    if (event.at("ph").as_string() != "M") {
      EXPECT_TRUE(names.contains(event.at("tid").as_int64())) << event;
    }
  }
}

TEST(Perfetto, AnArrowBeginsAndEndsInASlice) {
  std::string text;
  PerfettoTrace trace([&](std::string_view more) { text += more; });
  trace.begin("two lines");
  trace.add(line(5, 0, "net", kSends, "to device-1", 0, 9));
  trace.add(line(8, 1, "net", kArrives, "from \xff", 0, 9));
  const json::array events = eventsOf(text + std::string(PerfettoTrace::end()));
  std::vector<std::string> seen;
  for (const json::value& event : events)
    if (const std::string phase(event.at("ph").as_string()); phase != "M")
      seen.push_back(phase + "@" + std::to_string(event.at("ts").as_int64()));
  EXPECT_EQ(seen, (std::vector<std::string>{"X@5", "s@5", "X@8", "f@8"}));
}

// ---- frames

TEST(FrameWords, WhatIsInThem) {
  std::string frames;
  WordWriter words;
  node::Request request;
  request.operationId = "op-7";
  request.entity = "budget-1";
  node::appendFrame(frames, words, request);
  node::Followed followed{"budget/0", 12};
  node::appendFrame(frames, words, followed);
  EXPECT_EQ(frameWords(frames), "request op-7 (propose budget-1); followed budget/0 up to batch 12, " +
                                    std::to_string(frames.size()) + " bytes");
  EXPECT_NE(frameWords(frames.substr(0, frames.size() - 8)).find("no frame"), std::string::npos);
}

TEST(FrameWords, AnyBytes) {
  SeededRandom random(1);
  for (int round = 0; round < 3'000; ++round) {
    std::string bytes(random.below(96), '\0');
    for (char& c : bytes) c = static_cast<char>(random.next());
    if (bytes.size() > 8 && random.below(2) == 0) {  // as if it were one
      bytes.resize(bytes.size() / 8 * 8);
      bytes[0] = static_cast<char>(bytes.size() - 8), bytes[1] = bytes[2] = bytes[3] = 0;
      bytes[4] = static_cast<char>(random.below(40));
      bytes[5] = 1;
    }
    EXPECT_FALSE(frameWords(bytes).empty());
  }
}

// ---- decisions

node::Request spending(std::int64_t n) {
  const auto budget = *domains::makeDomain("budget");
  const auto action = budget->parseAction(json::object{{"type", "SpendA"}, {"n", n}});
  const std::string bytes = budget->encodeAction(**action);
  node::Request request;
  request.domain = "budget";
  request.entity = "budget-1";
  request.role = "A";
  request.operationId = "op-7";
  request.actionType = "SpendA";
  request.action.assign(bytes.begin(), bytes.end());
  return request;
}

TEST(DecisionWords, WhoAsksForWhatInWhichRole) {
  const auto budget = *domains::makeDomain("budget");
  node::Request request = spending(5);
  EXPECT_EQ(formatRequest(request, budget.get()), R"(op-7 budget-1: A {"n":5,"type":"SpendA"})");
  request.runKey = sha256("run"), request.planDigest = sha256("plan");
  EXPECT_EQ(formatRequest(request, budget.get()), R"(op-7 budget-1: A {"n":5,"type":"SpendA"}, run )" +
                                                      toHex(request.runKey).substr(0, 8) + " by plan " +
                                                      toHex(request.planDigest).substr(0, 8));
  request.action.assign(16, 7);
  EXPECT_NE(formatRequest(request, budget.get()).find("A no action of the domain"), std::string::npos);
  EXPECT_NE(formatRequest(request, nullptr).find("A no action of the domain"), std::string::npos);
  request = {};
  request.kind = node::RequestKind::commit;
  request.operationId = "counsel-1", request.entity = "e", request.counselor = "board", request.reason = "enough";
  request.escalation = 4, request.text = R"({"spent":3})";
  EXPECT_EQ(formatRequest(request, nullptr), R"(counsel-1 e: board about entry 4 {"spent":3}, "enough")");
  request.reason.assign(100'000, 'x');
  EXPECT_LT(formatRequest(request, nullptr).size(), 1'000u);
}

TEST(DecisionWords, WhyItWasDecidedSoAndAtWhichTimeOfTheDomain) {
  kernel::Entry entry;
  entry.seq = 12;
  entry.tag = kernel::Tag::rejected;
  entry.time = Time{1'774'252'805'000'000};
  entry.operationId = "op-7", entry.entity = "budget-1", entry.role = "A", entry.action = R"({"n":5,"type":"SpendA"})";
  entry.invariant = "BUDGET_CAP", entry.message = "105 of 100";
  EXPECT_EQ(formatEntry(entry),
            R"(entry 12, op-7 budget-1: rejected by BUDGET_CAP, "105 of 100"; A {"n":5,"type":"SpendA"})"
            " at " +
                formatTime(entry.time));
  entry.tag = kernel::Tag::cCommitted;
  entry.invariant.clear(), entry.message.clear();
  entry.counselor = "board", entry.escalation = 11, entry.reason = "enough";
  EXPECT_EQ(formatEntry(entry), R"(entry 12, op-7 budget-1: cCommitted; board about entry 11, "enough", safe at )" +
                                    formatTime(entry.time));
}

TEST(DecisionWords, WhatTheOneWhoAskedIsTold) {
  node::Answer answer;
  answer.operationId = "op-7";
  answer.message = "no such entity";
  EXPECT_EQ(answerWords(answer), "op-7: refused: no such entity");
  answer.outcome = kernel::Outcome::duplicate, answer.recorded = kernel::Outcome::rejected;
  answer.invariant = "BUDGET_CAP", answer.message = "105 of 100", answer.seq = 12;
  EXPECT_EQ(answerWords(answer), R"(op-7: duplicate of rejected by BUDGET_CAP, "105 of 100" (entry 12))");
  answer = {};
  answer.operationId = "op-7", answer.kind = node::AnswerKind::frozen;
  EXPECT_EQ(answerWords(answer), "op-7: frozen");
}

// One who reads a run sees of each entry who decided it.
TEST(DecisionWords, ARunTellsEachDecisionOnceAtItsOwner) {
  std::map<std::string, int> decided;
  std::size_t answers = 0;
  RunOptions options;
  options.trace = [&](const TraceLine& told) {
    if (told.what == "answer" && told.detail.find("(entry ") != std::string_view::npos) ++answers;
    if (told.what != "decides") return;
    EXPECT_NE(told.detail.find(" at 20"), std::string_view::npos) << told.detail;
    ++decided[std::string(told.detail.substr(0, told.detail.find(',')))];
  };
  run(smallPlan(), options);
  EXPECT_GT(answers, 0u);
  EXPECT_GE(decided.size(), 1u);
  for (const auto& [entry, times] : decided) EXPECT_EQ(times, 1) << entry;
}

// ---- the lists for people

TEST(EventInfo, EveryKindHasWords) {
  for (std::size_t n = 0; n < enumNames<EventKind>().size(); ++n) {
    const auto kind = static_cast<EventKind>(n);
    EXPECT_FALSE(eventInfo(kind).does.empty()) << enumName(kind);
    Event event{.kind = kind, .n = ~std::uint64_t{0}, .m = ~std::uint64_t{0}, .lasts = -1, .seed = 1};
    faultWords(event);
  }
}

TEST(Checkers, EachSaysWhatItProves) {
  for (const CheckerInfo& checker : checkers()) EXPECT_EQ(checkerPromise(checker.name), checker.promise);
  EXPECT_EQ(checkerPromise("no such checker"), "");
}

// Whoever fails a run under a new name says in sim/catalog.cpp what it proves.
TEST(Checkers, EveryNameInTheCodeIsKnown) {
  std::size_t found = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(std::string(witan::tests::kSourceDir) + "/sim")) {
    if (file.path().extension() != ".cpp") continue;
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const std::string_view call : {"failed(\"", "Failure{\""})
      for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
        const std::size_t from = at + call.size();
        const std::string name = text.substr(from, text.find('"', from) - from);
        EXPECT_FALSE(checkerPromise(name).empty()) << name << " in " << file.path();
        ++found;
      }
  }
  EXPECT_GT(found, 10u);
}

}  // namespace
}  // namespace witan::trace_test
