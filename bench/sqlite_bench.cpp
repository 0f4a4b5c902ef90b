// The same decision in SQLite: WAL, synchronous FULL, one writer; budget check, update and audit record in one
// transaction, B decisions a transaction. In process, prepared statements: SQLite at its best.
//
//   witan_sqlite_bench --file PATH [--batch B] [--budgets N] [--seconds N]
#include <sqlite3.h>

#include <filesystem>

#include "bench/bench_tools.h"

namespace {

using namespace witan;
using namespace witan::bench;

class Database {
 public:
  explicit Database(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) fail("cannot open " + path);
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=FULL");
    run("CREATE TABLE budget(id INTEGER PRIMARY KEY, cap INTEGER NOT NULL) WITHOUT ROWID");
    run("CREATE TABLE slice(budget INTEGER, agent INTEGER, spent INTEGER NOT NULL, PRIMARY KEY(budget, agent)) WITHOUT "
        "ROWID");
    run("CREATE TABLE audit(id INTEGER PRIMARY KEY, budget INTEGER, agent INTEGER, n INTEGER, outcome TEXT, time "
        "INTEGER)");
  }
  ~Database() { sqlite3_close(db_); }
  Database(const Database&) = delete;

  void run(const char* sql) {
    char* error = nullptr;
    if (sqlite3_exec(db_, sql, nullptr, nullptr, &error) != SQLITE_OK) fail(concat(sql, ": ", error));
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK)
      fail(concat(sql, ": ", sqlite3_errmsg(db_)));
    return statement;
  }

 private:
  sqlite3* db_ = nullptr;
};

void bind(sqlite3_stmt* statement, std::initializer_list<std::int64_t> values) {
  int at = 0;
  for (const std::int64_t value : values) sqlite3_bind_int64(statement, ++at, value);
}
void finish(sqlite3_stmt* statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) fail("a statement failed");
  sqlite3_reset(statement);
}

class Decider {
 public:
  explicit Decider(Database& db)
      : check_(db.prepare("SELECT (SELECT coalesce(sum(spent), 0) FROM slice WHERE budget = ?1) + ?2 <= cap FROM "
                          "budget WHERE id = ?1")),
        spend_(db.prepare("UPDATE slice SET spent = spent + ?3 WHERE budget = ?1 AND agent = ?2")),
        audit_(db.prepare("INSERT INTO audit(budget, agent, n, outcome, time) VALUES(?1, ?2, ?3, ?4, ?5)")) {}
  ~Decider() {
    for (sqlite3_stmt* statement : {check_, spend_, audit_}) sqlite3_finalize(statement);
  }
  Decider(const Decider&) = delete;

  void decide(std::int64_t budget, std::int64_t agent, std::int64_t n, std::int64_t time) {
    bind(check_, {budget, n});
    if (sqlite3_step(check_) != SQLITE_ROW) fail("the check failed");
    const bool ok = sqlite3_column_int(check_, 0) != 0;
    sqlite3_reset(check_);
    if (ok) {
      bind(spend_, {budget, agent, n});
      finish(spend_);
    }
    bind(audit_, {budget, agent, n, 0, time});
    sqlite3_bind_text(audit_, 4, ok ? "approved" : "rejected", 8, SQLITE_STATIC);
    finish(audit_);
  }

 private:
  sqlite3_stmt* check_;
  sqlite3_stmt* spend_;
  sqlite3_stmt* audit_;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments args(argc, argv, {"--file", "--batch", "--budgets", "--seconds"});
  const std::string file = args.text("--file", "");
  if (file.empty() || std::filesystem::exists(file)) fail("--file must name a file that does not exist yet");
  const std::uint64_t budgets = args.number("--budgets", 1), batch = args.number("--batch", 1);
  const double seconds = static_cast<double>(args.number("--seconds", 5));
  Database db(file);
  db.run("BEGIN");
  for (std::uint64_t b = 0; b < budgets; ++b) {
    const std::string id = std::to_string(b);
    db.run(("INSERT INTO budget VALUES(" + id + ", 1000000000000000)").c_str());
    for (int a = 0; a < 2; ++a) db.run((concat("INSERT INTO slice VALUES(", id, ", ", a, ", 0)")).c_str());
  }
  db.run("COMMIT");
  Decider decider(db);
  SeededRandom random(1);
  std::vector<double> latencies;
  std::uint64_t decisions = 0;
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    const Stopwatch one;
    db.run("BEGIN IMMEDIATE");
    for (std::uint64_t i = 0; i < batch; ++i, ++decisions)
      decider.decide(static_cast<std::int64_t>(random.below(budgets)), static_cast<std::int64_t>(random.below(2)),
                     static_cast<std::int64_t>(1 + random.below(9)), static_cast<std::int64_t>(decisions));
    db.run("COMMIT");
    latencies.push_back(1000 * one.seconds());
  }
  std::printf("sqlite, %llu a transaction: %.0f decisions/s, p50 %.3f ms, p99 %.3f ms\n",
              static_cast<unsigned long long>(batch), static_cast<double>(decisions) / watch.seconds(),
              quantile(latencies, 0.5), quantile(latencies, 0.99));
  return 0;
}
