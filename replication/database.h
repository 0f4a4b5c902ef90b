// Database: one of a device's two stores with the spaces in it. The journal database holds what people wrote, the agent
// database what agents keep for themselves (003, invariant 1); nothing is ever written to both at once.
//
// Changes collect in one pending batch. flush() makes them durable, all or nothing; what rests on them (a frame to a
// peer, an answer) waits for the mark it was made at:
//
//   space.commit(...);  const auto mark = database.mark();  ...  database.flush();  // durable() >= mark: may be told
//
// Not thread-safe. The store, the fingerprint key and the schemas outlive it. Sans-I/O but for the store, which is a
// seam.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "replication/space.h"

namespace witan::replication {

inline constexpr std::size_t kMaxScopes = 128;  // in one database

class Database {
 public:
  // Reads everything back. O(records). Errors: corrupt, naming the row; a database of the other kind or a newer format.
  // `keys`: with which its spaces prove who wrote their versions; null: they do not.
  static Result<std::unique_ptr<Database>> open(store::Store& store, DatabaseName name, const FingerprintKey& key,
                                                const RecordSchemas& schemas, std::string cluster,
                                                std::shared_ptr<RowKeys> keys);

  DatabaseName name() const { return name_; }

  // The space of a scope, made now if need be. Errors: not a valid id, too many.
  Result<Space*> space(std::string_view scope);
  Space* find(std::string_view scope);
  // By scope.
  const std::map<std::string, std::unique_ptr<Space>, std::less<>>& spaces() const { return spaces_; }

  // From now on local commits, in every space, are this writer's.
  Status become(std::string_view writerName);

  // Small facts beside the spaces: cursors of interrupted sessions, acknowledgements, incidents.
  Result<std::optional<std::string>> meta(std::string_view name) const;
  Status scanMeta(std::string_view prefix, const std::function<bool(std::string_view, std::string_view)>& visit) const;
  // Whether scanMeta() would visit anything. O(log n + rows of the prefix that are erased in the pending batch).
  Result<bool> hasMeta(std::string_view prefix) const;
  void putMeta(std::string_view name, std::string_view value);
  void eraseMeta(std::string_view name);

  // Changes made up to now are durable once durable() has reached mark().
  std::uint64_t mark() const { return flushes_ + (pending_.empty() ? 0 : 1); }
  std::uint64_t durable() const { return flushes_; }
  // Writes and syncs what is pending. After an error the store takes no more writes and what is in memory is ahead of
  // the disk: open again.
  Status flush();
  const store::WriteBatch& pending() const { return pending_; }

 private:
  Database(store::Store& store, DatabaseName name, const FingerprintKey& key, const RecordSchemas& schemas,
           std::string cluster, std::shared_ptr<RowKeys> keys)
      : store_(store),
        name_(name),
        key_(key),
        schemas_(schemas),
        cluster_(std::move(cluster)),
        rowKeys_(std::move(keys)) {}
  Status load();
  Status addSpace(std::string_view scope);
  std::string_view unwritten(std::size_t operation) const { return pending_.op(operation).value; }
  void noteUnwritten(std::string_view name);

  store::Store& store_;
  const DatabaseName name_;
  const FingerprintKey& key_;
  const RecordSchemas& schemas_;
  const std::string cluster_;
  const std::shared_ptr<RowKeys> rowKeys_;
  store::WriteBatch pending_;
  std::map<std::string, std::unique_ptr<Space>, std::less<>> spaces_;
  // Meta rows in the pending batch: the number of the operation there. An erased or empty one is none.
  std::map<std::string, std::size_t, std::less<>> unwritten_;
  std::string writer_;
  std::uint64_t flushes_ = 0;
};

}  // namespace witan::replication
