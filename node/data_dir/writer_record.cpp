#include "node/data_dir/writer_record.h"

#include "program/durable_file.h"

namespace witan::node {

using replication::HighWater;
using replication::LocalReplica;

WriterRecord::WriterRecord(std::filesystem::path dir) : file_(std::move(dir) / "writer") {}

Result<std::optional<Result<HighWater>>> WriterRecord::read() {
  WITAN_TRY(text, readSmallFile(file_, replication::kMaxHighWaterBytes));
  if (!text) return std::optional<Result<HighWater>>();
  auto parsed = replication::parseHighWater(*text);
  if (parsed.ok()) record_ = *parsed;
  return std::optional<Result<HighWater>>(std::move(parsed));
}

Status WriterRecord::discard(std::string_view why) {
  record_ = {};
  return replaceFile(file_, "discarded: " + std::string(why) + "\n", 0644);
}

void WriterRecord::opened(const LocalReplica& replica) {
  // A new writer has nothing in the stores yet, whatever they hold of the one before.
  if (!replica.incarnation().newIncarnation()) durable_ = replica.highWater();
}

Status WriterRecord::lease(const LocalReplica& replica) {
  HighWater wanted = replica.highWater();
  if (durable_.writer != wanted.writer) durable_ = {wanted.writer, {}};
  bool covered = record_.writer == wanted.writer;
  for (auto& [space, lease] : wanted.spaces) {
    const auto at = record_.spaces.find(space);
    covered = covered && lease.from <= (at == record_.spaces.end() ? 0 : at->second.to);
    lease.from = durable_.spaces[space].from;
  }
  return covered ? okStatus() : write(wanted);
}

Status WriterRecord::write(const HighWater& record) {
  WITAN_DO(replaceFile(file_, replication::formatHighWater(record), 0644));
  record_ = record;
  return okStatus();
}

void WriterRecord::flushed(const LocalReplica& replica) { durable_ = replica.highWater(); }

Status WriterRecord::close(const LocalReplica& replica) {
  const HighWater closed = replica.closedHighWater();
  return closed == record_ ? okStatus() : write(closed);
}

}  // namespace witan::node
