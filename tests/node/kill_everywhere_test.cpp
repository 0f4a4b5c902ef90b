// SIGKILL of a real process at every write of its stores, on RocksDB, one after the other: before it and after it.
//
// The program witan-killed (tests/crash/killing_store.cpp) does an hour of a clinic's work: a patient's first order (a
// plan of two proposals) and a note (a plan with an edit of the journal), so an episode each with its sagas. Wherever
// it dies, the ordinary program finishes on what is on disk; then each operation has one effect in each database, each
// run an end, the ledgers verify, and all is as if nothing had happened.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::kill_everywhere_test {
namespace {

namespace fs = std::filesystem;
using test::Child;
using test::Finished;
using test::runWitan;

const std::string kFirst =
    R"({"at":"2026-03-23T08:00:00Z","id":"p","type":"udt.patient","payload":{"patient":"David","fields":{"baselinePositiveOn":"2025-12-01"}}})"
    "\n";
const std::string kHour =
    R"({"at":"2026-03-23T09:00:00Z","id":"o","type":"udt.order","payload":{"patient":"David","order":"O1","kind":"DEFINITIVE","code":"G0480","method":"LCMS","dos":"2026-03-23","rationale":"treatment plan: random monitoring"}})"
    "\n"
    R"({"at":"2026-03-23T09:30:00Z","id":"n","type":"note","payload":"David slept well"})"
    "\n";

std::vector<std::string> workOn(const fs::path& dir, const fs::path& feed) {
  std::vector<std::string> words{"agent", "run", "--quiet", "--feed", feed.string(), "--dir", dir.string()};
  for (const char* agent : {"udt-clinical", "udt-lab", "journal-summariser"})
    words.insert(words.end(), {"--agent", agent});
  return words;
}

// witan-killed in the place of witan.
Finished runKilled(std::vector<std::string> words, std::size_t step, const std::string& moment) {
  std::string program = std::string(witan::tests::kProgram) + "-killed";
  std::vector<std::string> settings{"WITAN_KILL_STEP=" + std::to_string(step), "WITAN_KILL_MOMENT=" + moment};
  std::vector<char*> argv{program.data()}, environment;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& setting : settings) environment.push_back(setting.data());
  argv.push_back(nullptr), environment.push_back(nullptr);
  return runWitan({}, {}, [&] { execve(program.c_str(), argv.data(), environment.data()); });
}

std::string checked(const fs::path& dir) {
  const Finished check = runWitan({"agent", "check", "--json", "--dir", dir.string()});
  EXPECT_EQ(check.exitCode, 0) << check.out << check.err;
  return check.out;
}

// The journal as people see it. When an entry was written is the clock's: a recovery happens at another time.
std::string journalOf(const fs::path& dir) {
  std::string all;
  for (const char* id : {"p", "o", "n", "digest/2026-03-23"}) {
    const Finished got = runWitan({"journal", "get", id, "--json", "--dir", dir.string()});
    EXPECT_EQ(got.exitCode, 0) << id << got.err;
    const auto entry = parseJson(got.out);
    EXPECT_TRUE(entry.ok()) << got.out;
    if (!entry.ok()) continue;
    for (const json::value& sibling : entry->at("siblings").as_array()) {
      json::object shown = sibling.as_object();
      shown.erase("editedAtMs"), shown.erase("dot");
      all += id + (": " + canonicalJson(shown)) + "\n";
    }
  }
  return all;
}

// A directory with the patient, which is copied for every death; and what an undisturbed hour leaves.
class Clinic {
 public:
  Clinic() : before_(scratch_ / "before"), feed_(scratch_ / "hour.jsonl") {
    scratch_.write("first.jsonl", kFirst);
    scratch_.write("hour.jsonl", kHour);
    run(runWitan({"device", "init", "--dir", before_.string(), "--device", "clinic"}));
    run(runWitan(workOn(before_, scratch_ / "first.jsonl")));
    const fs::path calm = copy(before_);
    run(runWitan(workOn(calm, feed_)));
    report_ = checked(calm), journal_ = journalOf(calm);
    fs::remove_all(calm);
  }

  fs::path fresh() { return copy(before_); }
  fs::path copy(const fs::path& of) {
    const fs::path to = scratch_ / ("copy-" + std::to_string(copies_++));
    fs::copy(of, to, fs::copy_options::recursive);
    return to;
  }
  // Whether it was killed; else it has done all.
  bool workUntil(const fs::path& dir, std::size_t step, const std::string& moment) const {
    const Finished ran = runKilled(workOn(dir, feed_), step, moment);
    if (ran.signal == SIGKILL) return true;
    EXPECT_EQ(ran.exitCode, 0) << ran.err;
    return false;
  }
  // The ordinary program goes on, and all is as it must be. The directory goes.
  void finish(const fs::path& dir, const std::string& where) {
    SCOPED_TRACE(where);
    run(runWitan(workOn(dir, feed_)));
    EXPECT_EQ(checked(dir), report_);
    if (++finished_ % 8 == 0) {  // four more processes
      EXPECT_EQ(journalOf(dir), journal_);
    }
    fs::remove_all(dir);
  }
  const std::string& report() const { return report_; }

 private:
  static void run(const Finished& finished) { EXPECT_EQ(finished.exitCode, 0) << finished.out << finished.err; }

  const test::Scratch scratch_;
  const fs::path before_, feed_;
  std::size_t copies_ = 0, finished_ = 0;
  std::string report_, journal_;
};

// Returns how many writes there are.
std::size_t killAtEveryWrite(Clinic& clinic, const std::string& moment) {
  for (std::size_t step = 1;; ++step) {
    const fs::path dir = clinic.fresh();
    const bool killed = clinic.workUntil(dir, step, moment);
    clinic.finish(dir, moment + " write " + std::to_string(step));
    if (!killed) return step - 1;
    if (::testing::Test::HasFailure()) return step;
  }
}

TEST(KilledAtEveryWrite, TheCalmHourIsWorthIt) {
  const Clinic clinic;
  const json::object report = parseJson(clinic.report())->as_object();
  EXPECT_EQ(report.at("operations").as_int64(), 4);      // begin, two proposals, one edit
  EXPECT_EQ(report.at("journalEffects").as_int64(), 1);  // the digest
  EXPECT_EQ(report.at("entries").as_int64(), 2);
  EXPECT_GE(report.at("runs").as_int64(), 3);
}

TEST(KilledAtEveryWrite, BeforeIt) {
  Clinic clinic;
  EXPECT_GT(killAtEveryWrite(clinic, "before"), 20u);
}

TEST(KilledAtEveryWrite, AfterIt) {
  Clinic clinic;
  EXPECT_GT(killAtEveryWrite(clinic, "after"), 20u);
}

// A recovery dies as well: at every write of it, after a death in the middle.
TEST(KilledAtEveryWrite, AndAgainWhileItRecovers) {
  Clinic clinic;
  const fs::path dead = clinic.fresh();
  ASSERT_TRUE(clinic.workUntil(dead, 14, "after"));
  for (std::size_t step = 1;; ++step) {
    const fs::path dir = clinic.copy(dead);
    const bool killed = clinic.workUntil(dir, step, "after");
    clinic.finish(dir, "recovery, write " + std::to_string(step));
    if (::testing::Test::HasFailure()) return;
    if (killed) continue;
    EXPECT_GT(step, 5u);
    return;
  }
}

}  // namespace
}  // namespace witan::node::kill_everywhere_test
