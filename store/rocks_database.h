// A store over an opened RocksDB, whatever it lies on. For store/rocks_store.cpp and store/testing/crashable_rocks.cpp
// only.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <memory>
#include <string>

#include "store/rocks_store.h"

namespace witan::store {

// Without info_log. `env` outlives the database.
rocksdb::Options rocksOptions(const RocksOptions& options, rocksdb::Env* env);

// `env` is the database's; `where` is what the store is called in errors.
std::unique_ptr<Store> rocksStoreOver(std::shared_ptr<rocksdb::Env> env, std::unique_ptr<rocksdb::DB> db,
                                      std::string where);

}  // namespace witan::store
