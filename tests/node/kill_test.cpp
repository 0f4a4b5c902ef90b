// SIGKILL at random moments of `witan run --store`: what was answered is never lost and never decided twice, feeding
// the same lines again continues, and the ledger ends up, entry for entry, as that of a run nobody killed.
// WITAN_KILLS says how many kills (tests/crash/kill_run.sh asks for 200), WITAN_KILL_SEED which ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/json.h"
#include "base/seams.h"
#include "domains/registry.h"
#include "kernel/partition.h"
#include "node/data_dir/store_dir.h"
#include "tests/node/program.h"

namespace witan::node::kill_test {
namespace {

namespace fs = std::filesystem;
using test::Child;
using test::Finished;

std::uint64_t numberFrom(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Lines of every kind. A partition of our own tells which entity is frozen, so that most proposals get somewhere.
class Workload {
 public:
  Workload(std::uint64_t seed, std::size_t lines) : random_(seed) {
    for (std::size_t i = 0; i < lines; ++i) {
      text_ += line();
      text_ += '\n';
      partition_.takeBatch();
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string line() {
    clock_.advance(static_cast<std::int64_t>(random_.below(4'000'000'000)));
    const std::string entity = "patient-" + std::to_string(random_.below(12));
    const std::string head = "{\"at\":\"" + formatTime(clock_.now()) + "\",\"entity\":\"" + entity + "\",";
    if (random_.below(40) == 0) return "{\"entity\":\"" + entity + "\",\"broken\":" + std::to_string(random_.next());
    if (partition_.state(entity) == nullptr) return init(head, entity);
    if (partition_.frozen(entity) && random_.below(3) != 0) return decision(head, entity);
    return proposal(head, entity);
  }
  std::string init(const std::string& head, const std::string& entity) {
    const std::string fields = module_->sampleInit(random_, clock_.now());
    partition_.init(entity, parseJson(fields).value().as_object(), clock_.now());
    return head + "\"init\":" + fields + "}";
  }
  std::string decision(const std::string& head, const std::string& entity) {
    kernel::CounselorDecision d;
    const std::string id = "twin-" + std::to_string(++count_);
    d.entity = entity;
    d.operationId = id;
    d.counselor = "dr.supervising";
    d.commit = random_.below(2) == 0;
    d.at = clock_.now();
    partition_.decide(d);
    return head + "\"counselor\":\"dr.supervising\",\"decision\":" +
           (d.commit ? "\"commit\"}" : "\"reject\",\"reason\":\"no\"}");
  }
  std::string proposal(const std::string& head, const std::string& entity) {
    const kernel::ActionPtr action = module_->sample(*partition_.state(entity), random_, clock_.now());
    const std::string role = module_->signature().processes[action->process].role;
    const std::string id = "op-" + std::to_string(++count_);
    // A frozen entity's proposal may be sent again under its name and is then decided: it brings none here.
    const bool named = !partition_.frozen(entity) && random_.below(2) == 0;
    partition_.propose({entity, role, id, {}, {}, action.get(), clock_.now(), false});
    std::string line = head + "\"role\":\"" + role + "\",";
    if (named) line += "\"operationId\":\"" + id + "\",";
    line += "\"action\":";
    module_->writeAction(line, *action);
    return line + "}";
  }

  SeededRandom random_;
  ManualClock clock_{parseTime("2026-03-23T08:00:00Z").value()};
  std::unique_ptr<kernel::DomainModule> module_ = domains::makeDomain("udt").value();
  kernel::Partition partition_{*module_};
  std::uint64_t count_ = 0;
  std::string text_;
};

struct Answer {
  std::string outcome;
  std::string recorded;
  std::int64_t seq = 0;
  // What was answered the first time, as far as this answer knows.
  const std::string& told() const { return outcome == "duplicate" ? recorded : outcome; }
};
using Answers = std::map<std::int64_t, Answer>;

// The complete lines of an output.
Answers readAnswers(std::string_view out) {
  Answers answers;
  for (std::size_t end; (end = out.find('\n')) != std::string_view::npos; out.remove_prefix(end + 1)) {
    const auto parsed = parseJson(out.substr(0, end));
    if (!parsed.ok()) {
      ADD_FAILURE() << "no JSON: " << out.substr(0, end);
      break;
    }
    const json::object& o = parsed->get_object();
    Answer answer;
    answer.outcome = o.at("outcome").as_string();
    if (const auto* recorded = o.if_contains("recorded")) answer.recorded = recorded->as_string();
    if (o.at("ledgerSeq").is_int64()) answer.seq = o.at("ledgerSeq").as_int64();
    answers[o.at("line").as_int64()] = answer;
  }
  return answers;
}

std::vector<std::string> entriesOf(const fs::path& store) {
  auto opened = openStoreDir({store, false, std::nullopt, std::nullopt, {}, {}});
  if (!opened.ok()) {
    ADD_FAILURE() << opened.error().message;
    return {};
  }
  std::vector<std::string> entries;
  for (std::uint64_t seq = 1; seq <= opened->ledger->partition().size(); ++seq)
    entries.push_back(opened->ledger->entryBytes(seq).value());
  return entries;
}

class KillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("witan-kill-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    events_ = folder_ / "events.jsonl";
    std::ofstream(events_, std::ios::binary) << workload_.text();
    const auto start = std::chrono::steady_clock::now();
    const Finished whole = Child(words(folder_ / "whole", true)).finish();
    runMicros_ = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count());
    ASSERT_EQ(whole.exitCode, 3) << whole.err;  // 3: it holds malformed lines
    outBytes_ = whole.out.size();
    first_ = readAnswers(whole.out);
    entries_ = entriesOf(folder_ / "whole");
    ASSERT_GT(entries_.size(), 500u);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> words(const fs::path& store, bool file) const {
    return {"run", "--domain", "udt", "--events", file ? events_.string() : "-", "--store", store.string()};
  }

  // Starts a run and kills it: after a random number of answered bytes, or after a random time, or not at all.
  Finished runAndKill(const fs::path& store) {
    const bool file = random_.below(5) == 0;
    Child child(words(store, file));
    const std::size_t pieces = std::size_t{1} << random_.below(13);
    const auto piece = [&] { return static_cast<std::size_t>(1 + random_.below(pieces)); };
    if (random_.below(2) == 0) {
      const std::size_t bytes = random_.below(outBytes_);
      child.pump(file ? "" : workload_.text(), piece, [&](const std::string& out) { return out.size() >= bytes; });
    } else {
      child.pump(file ? "" : workload_.text(), piece, {},
                 std::chrono::microseconds(random_.below(runMicros_ + runMicros_ / 4)));
    }
    child.kill();
    return child.wait();
  }

  // Holds answers against those of the whole run and against what was acknowledged before.
  void compare(const Answers& answers, Answers& acknowledged) {
    for (const auto& [line, answer] : answers) {
      const Answer& first = first_.at(line);
      ASSERT_EQ(answer.told(), first.told()) << "line " << line;
      ASSERT_EQ(answer.seq, first.seq) << "line " << line;
      const bool remembered = first.outcome != "refused" || answer.outcome == "duplicate";
      if (acknowledged.contains(line) && remembered) {
        ASSERT_EQ(answer.outcome, "duplicate") << "line " << line << " was decided twice";
      }
      acknowledged[line] = answer;
    }
  }

  void verify(const fs::path& store) {
    const Finished verified = Child({"ledger", "verify", "--replay", "--store", store.string()}).finish();
    ASSERT_EQ(verified.exitCode, 0) << verified.out << verified.err;
    ASSERT_TRUE(verified.out.starts_with("ok ")) << verified.out;
  }

  SeededRandom random_{numberFrom("WITAN_KILL_SEED", 1)};
  Workload workload_{numberFrom("WITAN_KILL_SEED", 1), 2'500};
  fs::path folder_, events_;
  std::uint64_t runMicros_ = 0;
  std::size_t outBytes_ = 0;
  Answers first_;
  std::vector<std::string> entries_;
};

TEST_F(KillTest, NothingAcknowledgedIsLostOrDoneTwice) {
  const std::uint64_t kills = numberFrom("WITAN_KILLS", 30);
  std::uint64_t early = 0, midway = 0, afterAll = 0;
  for (std::uint64_t done = 0; done < kills;) {
    const fs::path store = folder_ / "store";
    fs::remove_all(store);
    Answers acknowledged;
    // The same store may be hit several times before a run comes to its end.
    for (std::uint64_t times = 1 + random_.below(3); times > 0 && done < kills; --times, ++done) {
      const Finished killed = runAndKill(store);
      ASSERT_TRUE(killed.signal == SIGKILL || killed.exitCode == 3) << killed.exitCode << " " << killed.err;
      const Answers answers = readAnswers(killed.out);
      compare(answers, acknowledged);
      ++(answers.empty() ? early : answers.size() < first_.size() ? midway : afterAll);
      if (!acknowledged.empty()) verify(store);
      if (HasFatalFailure()) return;
    }
    const Finished last = Child(words(store, true)).finish();
    ASSERT_EQ(last.exitCode, 3) << last.err;
    const Answers all = readAnswers(last.out);
    ASSERT_EQ(all.size(), first_.size());
    compare(all, acknowledged);
    verify(store);
    if (HasFatalFailure()) return;
    ASSERT_EQ(entriesOf(store), entries_) << "after " << done << " kills";
  }
  std::printf("%llu kills: %llu before the first answer, %llu midway, %llu after the last; a run takes %llu ms\n",
              static_cast<unsigned long long>(kills), static_cast<unsigned long long>(early),
              static_cast<unsigned long long>(midway), static_cast<unsigned long long>(afterAll),
              static_cast<unsigned long long>(runMicros_ / 1000));
  if (kills >= 20) {
    EXPECT_GT(midway, kills / 8) << "most kills must hit a run at work";
  }
}

}  // namespace
}  // namespace witan::node::kill_test
