// Disks that are full, read-only or rotten under a node: it says what and where, nothing that it has acknowledged is
// lost in silence, and it goes on once the disk is well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cstring>
#include <set>

#include "cli/doctor/doctor.h"
#include "store/log_record.h"
#include "tests/node/node_process.h"

namespace witan::node::disk_test {
namespace {

namespace fs = std::filesystem;
using namespace test;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr Time kNow{1'790'000'000'000'000};

// Spends, and remembers what was acknowledged.
class Spending {
 public:
  explicit Spending(Node& node) : node_(node) {}
  Result<json::value> spend(const std::string& id) {
    return node_.post("/v1/propose", {{"domain", "budget"},
                                      {"entity", "e"},
                                      {"role", "A"},
                                      {"action", {{"type", "SpendA"}, {"n", 1}}},
                                      {"operationId", id},
                                      {"waitMs", 60'000}});
  }
  bool one() {
    const std::string id = "spend-" + std::to_string(acknowledged_.size());
    if (!spend(id).ok()) return false;
    acknowledged_.push_back(id);
    return true;
  }
  std::size_t count() const { return acknowledged_.size(); }
  // How many of them are decided anew when they are asked again.
  std::size_t forgotten() {
    std::size_t anew = 0;
    for (const std::string& id : acknowledged_) {
      const auto again = spend(id);
      anew += again.ok() && again->at("duplicate").as_bool() ? 0 : 1;
    }
    return anew;
  }

 private:
  Node& node_;
  std::vector<std::string> acknowledged_;
};

// A disk of so many MiB at a folder, for this thread and what it starts; nobody else sees it, and it goes with them.
class SmallDisk {
 public:
  SmallDisk(std::string at, int mib) : at_(std::move(at)) {
    fs::create_directories(at_);
    const std::string options = "mode=700,size=" + std::to_string(mib) + "m";
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", at_.c_str(), "tmpfs", 0, options.c_str()) != 0)
      why_ = std::strerror(errno);
  }
  ~SmallDisk() {
    if (why_.empty()) ::umount2(at_.c_str(), MNT_DETACH);
  }
  // Empty: it is there.
  const std::string& why() const { return why_; }
  bool readOnly(bool on) {
    return ::mount(nullptr, at_.c_str(), nullptr, MS_REMOUNT | (on ? MS_RDONLY : 0), nullptr) == 0;
  }
  // All but so many bytes are taken.
  void leave(std::uintmax_t bytes) {
    free();
    std::ofstream filler(at_ + "/filler", std::ios::binary);
    const std::string page(4096, 'x');
    while (fs::space(at_).available > bytes && filler.write(page.data(), 4096).flush()) {
    }
  }
  void free() { fs::remove(at_ + "/filler"); }

 private:
  const std::string at_;
  std::string why_;
};

struct OnASmallDisk : ::testing::Test {
  void SetUp() override {
    if (!disk.why().empty()) GTEST_SKIP() << "no disk may be mounted here: " << disk.why();
    ASSERT_EQ(node.init(1).exitCode, 0);
  }
  void expectRefusal(const std::vector<std::string>& words, const std::string& cause, const std::string& where) {
    const Finished done = node.run(words);
    EXPECT_EQ(done.signal, 0) << words[0] << done.err;
    EXPECT_EQ(done.exitCode, 1) << words[0] << done.out << done.err;
    EXPECT_THAT(done.out + done.err, HasSubstr(cause)) << words[0];
    EXPECT_THAT(done.out + done.err, HasSubstr(where)) << words[0];
  }
  Scratch scratch;
  SmallDisk disk{scratch / "one", 64};
  Node node{scratch, "one"};
  Spending spending{node};
};

TEST_F(OnASmallDisk, FullAtWorkANodeEndsWithItsReasonAndLosesNothing) {
  disk.leave(1 << 20);  // too little for logs to be laid out ahead
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "e"}).exitCode, 0);
  EXPECT_THAT(node.check("disk"), HasSubstr("0 MiB free"));
  EXPECT_THAT(node.run({"status"}).out, HasSubstr("a full disk stops the node"));
  EXPECT_GT(node.metric("disk_free_bytes"), 0);
  EXPECT_LE(node.metric("disk_free_bytes"), 1 << 20);
  EXPECT_EQ(node.metric("disk_capacity_bytes"), 64 << 20);
  disk.leave(128 << 10);
  for (int n = 0; n < 20'000 && spending.one(); ++n) {
  }
  EXPECT_EQ(node.stop(0), 1) << node.log();  // it ends by itself
  EXPECT_THAT(node.log(), HasSubstr("No space left on device"));
  EXPECT_THAT(node.log(), HasSubstr(node.dir()));
  EXPECT_THAT(node.log(), HasSubstr("nothing more is acknowledged; what was, is on disk"));
  ASSERT_GT(spending.count(), 10u);

  disk.leave(0);
  expectRefusal({"up"}, "No space left on device", node.dir());
  expectRefusal({"doctor"}, "0 MiB free", "a full disk stops the node");
  disk.free();
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(spending.forgotten(), 0u);
  EXPECT_TRUE(spending.one());
  EXPECT_EQ(node.run({"ledger", "verify", "--replay"}).exitCode, 0);
}

TEST_F(OnASmallDisk, ABackupThatDoesNotFitIsRemovedAndTheNodeGoesOn) {
  Node other(scratch, "two");
  ASSERT_TRUE(begin(other)) << other.log();
  ASSERT_EQ(other.run({"begin", "budget", "e"}).exitCode, 0);
  Spending there(other);
  disk.leave(16 << 10);
  const std::string to = node.dir() + "/copy";
  const Finished done = other.run({"backup", "--to", to});
  EXPECT_EQ(done.exitCode, 1);
  EXPECT_THAT(done.err, HasSubstr("No space left on device"));
  EXPECT_THAT(done.err, HasSubstr(to));
  EXPECT_FALSE(fs::exists(to));
  EXPECT_TRUE(there.one());
  disk.free();
  EXPECT_EQ(other.run({"backup", "--to", to}).exitCode, 0);
}

TEST_F(OnASmallDisk, ReadOnlyItIsSaidWhatAndWhere) {
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "e"}).exitCode, 0);
  ASSERT_TRUE(spending.one());
  ASSERT_EQ(node.run({"backup", "--with-keys", "--to", scratch / "copy"}).exitCode, 0);
  ASSERT_EQ(node.stop(), 0);
  ASSERT_TRUE(disk.readOnly(true)) << std::strerror(errno);
  expectRefusal({"up"}, "Read-only file system", node.dir());
  expectRefusal({"doctor"}, "Read-only file system", node.dir());
  expectRefusal({"journal", "put", "j", "--type", "note", "--text", "t"}, "Read-only file system", node.dir());
  expectRefusal({"restore", "--force", "--from", scratch / "copy"}, "Read-only file system", node.dir());
  ASSERT_TRUE(disk.readOnly(false));
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(spending.forgotten(), 0u);
}

// --- rotten files

struct Rotten : ::testing::Test {
  // Each start, and the backup, writes what the log before it had to a table; too few for RocksDB to merge them.
  void SetUp() override {
    ASSERT_EQ(node.init(1).exitCode, 0);
    for (int start = 0; start < 2; ++start) {
      ASSERT_TRUE(node.up()) << node.log();
      if (start == 0) {
        ASSERT_EQ(node.run({"begin", "budget", "e"}).exitCode, 0);
      }
      for (int n = 0; n < 5; ++n) ASSERT_TRUE(spending.one());
      ASSERT_EQ(node.run({"journal", "put", "j" + std::to_string(start), "--type", "note", "--text", "t"}).exitCode, 0);
      ASSERT_EQ(node.stop(), 0);
    }
    ASSERT_EQ(node.run({"backup", "--with-keys", "--to", scratch / "copy"}).exitCode, 0);
    fs::copy(node.dir(), good, fs::copy_options::recursive);
  }
  std::vector<std::string> filesOf(const std::string& store) const {
    std::set<std::string> files;
    std::size_t tables = 0;
    for (const auto& entry : fs::directory_iterator(good / store)) {
      const std::string name = entry.path().filename();
      const bool table = entry.path().extension() == ".sst", log = entry.path().extension() == ".log";
      if (entry.file_size() > 0 && (table || log || name.starts_with("MANIFEST-"))) files.insert(store + "/" + name);
      tables += table ? 1 : 0;
    }
    EXPECT_GT(tables, 0u) << store;
    return {files.begin(), files.end()};
  }
  void turn(const std::string& file, std::size_t at, int bits) {
    fs::remove_all(node.dir());
    fs::copy(good, node.dir(), fs::copy_options::recursive);
    std::string bytes = contentOf(node.dir() + "/" + file);
    bytes[at] = static_cast<char>(bytes[at] ^ bits);
    scratch.write("one/" + file, bytes);
  }
  void rot(const std::string& file, int perMille) {
    turn(file, contentOf(good / file).size() * static_cast<std::size_t>(perMille) / 1000, 0x10);
  }
  bool doctorNames(const std::string& file) {
    for (const DoctorCheck& check : examine(node.dir(), true, kNow))
      if (check.level == CheckLevel::fail && check.what.find(file) != std::string::npos) return true;
    return false;
  }
  // A torn end is what every crash may leave: of a log, its first part. The last bytes of a table are padding.
  static std::vector<int> placesIn(const std::string& file) {
    std::vector<int> places;
    for (int perMille = 0; perMille < (file.ends_with(".log") ? 400 : 950); perMille += 70) places.push_back(perMille);
    return places;
  }

  Scratch scratch;
  Node node{scratch, "one"};
  Spending spending{node};
  const fs::path good = scratch / "good";
};

TEST_F(Rotten, AFileIsNamedByTheDoctor) {
  for (const char* store : {"journal", "agents", "ledgers"})
    for (const std::string& file : filesOf(store))
      for (const int perMille : placesIn(file)) {
        rot(file, perMille);
        EXPECT_TRUE(doctorNames(file)) << file << " at " << perMille;
      }
}

// It refuses to start, or it has everything, or it says what it has not.
TEST_F(Rotten, AFileIsNamedByTheNodeOrNothingIsMissing) {
  std::size_t refused = 0;
  for (const std::string& file : filesOf("ledgers"))
    for (const int perMille : placesIn(file)) {
      SCOPED_TRACE(file + " at " + std::to_string(perMille));
      rot(file, perMille);
      fs::remove(node.dir() + ".log");
      if (node.up()) {
        const bool said = node.log().find(file) != std::string::npos ||
                          canonicalJson(node.get("/v1/status")).find(file) != std::string::npos;
        EXPECT_TRUE(said || spending.forgotten() == 0) << node.log();
        (void)node.stop();
        EXPECT_EQ(node.log().find("Assertion"), std::string::npos) << node.log();
        continue;
      }
      ++refused;
      EXPECT_EQ(node.run({"up"}).exitCode, 1);
      EXPECT_THAT(node.log(), HasSubstr(file));
      EXPECT_THAT(node.log(), AnyOf(HasSubstr("is damaged ("), HasSubstr("Corruption: ")));
    }
  EXPECT_GT(refused, 5u);
}

// To RocksDB a record that is longer than its file is one that a crash tore: the newest tables would be forgotten.
TEST_F(Rotten, AManifestWhoseRecordsSeemTornIsNamed) {
  std::size_t records = 0;
  for (const std::string& file : filesOf("ledgers")) {
    if (file.find("MANIFEST-") == std::string::npos) continue;
    const std::string bytes = contentOf(good / file);
    ASSERT_LT(bytes.size(), 0x8000u);
    std::size_t at = 0;
    while (const auto record = store::logRecordAt(bytes, at)) {
      SCOPED_TRACE("record at " + std::to_string(at));
      turn(file, at + 5, 0x80);  // its length, by 0x8000
      fs::remove(node.dir() + ".log");
      EXPECT_FALSE(node.up()) << "and forgot " << spending.forgotten() << " of " << spending.count();
      EXPECT_THAT(node.log(), HasSubstr(file));
      turn(file, at + 5, 0x80);
      EXPECT_TRUE(doctorNames(file));
      at += record->bytes, ++records;
    }
  }
  EXPECT_GT(records, 2u);
}

TEST_F(Rotten, ARestoredBackupGoesOn) {
  for (const std::string& file : filesOf("ledgers")) {
    if (!file.ends_with(".sst")) continue;
    rot(file, 950);
    EXPECT_FALSE(node.up());
    break;
  }
  const Finished restored = node.run({"restore", "--force", "--seize", "--from", scratch / "copy"});
  ASSERT_EQ(restored.exitCode, 0) << restored.err;
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(spending.forgotten(), 0u);
  EXPECT_TRUE(spending.one());
  EXPECT_EQ(node.run({"ledger", "verify", "--replay"}).exitCode, 0);
  EXPECT_EQ(node.run({"journal", "get", "j0"}).exitCode, 0);
}

}  // namespace
}  // namespace witan::node::disk_test
