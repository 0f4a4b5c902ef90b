// Checker "rows": at rest every device starts once more on a copy of its disks. What it reads there is what it knows:
// no row is missing, and none was left behind.
#include <cstdlib>

#include "agents/host/agent_host.h"
#include "replica/ledger_watch.h"
#include "replication/anti_entropy.h"
#include "replication/membership.h"
#include "replication/space_rows.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

constexpr std::uint64_t kNever = std::uint64_t{1} << 40;

// Versions of each kind, and what a digest leaves out.
std::string recordsOf(Space& space) {
  std::map<Kind, std::size_t> versions;
  space.table().visit([&](Record& record) {
    versions[record.kind] += record.versions.size();
    return true;
  });
  std::string text;
  for (const auto& [kind, count] : versions) text += concat(" ", static_cast<int>(kind), ":", count);
  return text;
}

// Versions that one has and the other has not heard of.
std::string onlyIn(Space& one, const VectorClock& other, const char* where) {
  std::string text;
  one.table().visit([&](Record& record) {
    for (const Held* held : record.versions)
      if (const std::string& writer = one.writers().name(held->writer); !other.covers({writer, held->seq}))
        text += concat(", ", writer, ":", held->seq, " (", one.schemas().traits(record.kind).name, " ", record.key(),
                       ") ", where);
    return text.size() < 1'000;
  });
  return text;
}

std::string spacesDiffer(LocalReplica& now, LocalReplica& read) {
  if (now.spaceIds() != read.spaceIds()) return "its spaces";
  for (const std::string& id : now.spaceIds()) {
    Space &one = *now.findSpace(id), &other = *read.findSpace(id);
    if (one.clock() != other.clock())
      return concat(id, ": its vector", onlyIn(one, other.clock(), "is not there"),
                    onlyIn(other, one.clock(), "is there only"));
    if (one.digest() != other.digest()) return id + ": its records";
    if (recordsOf(one) != recordsOf(other))
      return id + ": versions by kind" + recordsOf(one) + ", on its disk" + recordsOf(other);
    if (withNames(one.delivered(), one.writers()) != withNames(other.delivered(), other.writers()))
      return id + ": how far batches were delivered";
  }
  return {};
}

std::string metaDiffers(const node::Replica& now, const node::Replica& read) {
  const auto mine = now.data().incidents(), theirs = read.data().incidents();
  const auto held = now.data().quarantines(), heldThere = read.data().quarantines();
  if (!mine.ok() || !theirs.ok() || mine->size() != theirs->size()) return "its incidents";
  if (!held.ok() || !heldThere.ok() || *held != *heldThere) return "whom it has in quarantine";
  return now.ownerName() == read.ownerName() ? "" : "its name as an owner";
}

std::string restoredDiffers(const LocalReplica& now, const LocalReplica& read) {
  for (const std::string& id : now.spaceIds())
    if (now.restored(id) != read.restored(id)) return "whether " + id + " came from an older copy";
  return {};
}

// What a former member acknowledged lets nothing be forgotten should it come back: it goes when a device tidies up.
std::string acksLeft(LocalReplica& read) {
  const Status tidied = read.stabilise();
  const auto members = read.membership();
  if (!tidied.ok() || !members.ok()) return "it cannot tidy up";
  for (const auto& [space, devices] : read.acks().entries())
    for (const auto& [device, clock] : devices)
      if (members->standing(device) == Standing::retired)
        return concat("what ", device, " acknowledged of ", space, " is kept, which is no member any more");
  return {};
}

// Of an agent that works here nothing is left to be found that came while it did not.
std::string missedLeft(LocalReplica& replica, const agents::AgentHost* host) {
  if (host == nullptr || host->wakes().backlog() > 0) return {};
  const Database& rows = replica.database(DatabaseName::agents);
  const auto here = rows.meta("intake/here");
  std::string left;
  const Status read = rows.scanMeta("intake/left/", [&](std::string_view row, std::string_view) {
    const std::string agent(row.substr(row.rfind('/') + 1));
    if (here.ok() && *here && (*here)->find(concat('"', agent, '"')) != std::string::npos)
      left = agent + " works there, and where it left off is kept";
    return left.empty();
  });
  return read.ok() ? left : read.error().message;
}

// What batches say has woken whom it wakes, so no start offers it again.
std::string offeredAgain(LocalReplica& replica, const agents::AgentHost* host) {
  if (host == nullptr || host->wakes().backlog() > 0) return {};
  for (const DatabaseName database : {DatabaseName::journal, DatabaseName::agents}) {
    Space* space = replica.database(database).find("main");
    if (space == nullptr) continue;
    for (const std::string& key : space->keys(Kind::batch))
      for (const Held* one : space->table().find(Kind::batch, key)->versions)
        if (!one->tombstone && !space->delivered().covers(one->writer, one->seq))
          return concat("batch ", key, " of ", LocalReplica::spaceId(database, "main"), " counts as not delivered");
  }
  return {};
}

// What a repair took from agents that work here has been looked at.
std::string takenBackLeft(LocalReplica& replica, const agents::AgentHost* host) {
  std::string left;
  if (host == nullptr) return left;
  const Status read = replica.database(DatabaseName::agents)
                          .scanMeta(concat(kTookBackRow, "agents/main|"), [&](std::string_view row, auto) {
                            left = concat(row, " is to be looked at still");
                            return false;
                          });
  return read.ok() ? left : read.error().message;
}

// Of an encrypted copy that a later one of this device's has replaced no part stays.
std::string sealedLeft(LocalReplica& replica) {
  for (const std::string& id : replica.spaceIds()) {
    Space& space = *replica.findSpace(id);
    std::map<std::uint64_t, bool> hasEnd;  // by the commit in the copy's name
    const std::string own = space.selfName() + ":";
    for (const std::string& record : space.keys(Kind::sealedCopy, own)) {
      const auto& versions = space.table().find(Kind::sealedCopy, record)->versions;
      if (std::ranges::all_of(versions, [](const Held* one) { return one->tombstone; })) continue;
      hasEnd[std::strtoull(record.c_str() + own.size(), nullptr, 10)] |= record.ends_with(":end");
    }
    bool later = false;
    for (auto one = hasEnd.rbegin(); one != hasEnd.rend(); ++one) {
      if (later && !one->second)
        return concat(id, ": parts of its copy ", one->first, " are there, and it has an end no more");
      later = later || one->second;
    }
  }
  return {};
}

// The seals on a disk are those that prove something (replication/row_seals.h).
std::string sealsDiffer(Seat& at) {
  const std::pair<DatabaseName, std::size_t> disks[] = {{DatabaseName::journal, 0}, {DatabaseName::agents, 1}};
  for (const auto& [database, disk] : disks)
    for (const auto& [scope, space] : at.replica().data().database(database).spaces()) {
      std::set<std::string> known, stored;
      const auto add = [&](const RowSeal* seal) {
        std::string id;
        if (seal != nullptr) rows::putBigEndian(id, seal->id, 8), known.insert(std::move(id));
      };
      space->table().visit([&](Record& record) {
        for (const Held* held : record.versions) add(held->seal);
        return true;
      });
      for (WriterIndex writer = 0; writer < space->writers().size(); ++writer) add(space->seals().counting(writer));
      std::string prefix = concat("s", scope);
      prefix.push_back('\0'), prefix.push_back(rows::kSeal);
      const Status read = at.device->disk(disk).scan(prefix, {}, [&](std::string_view row, std::string_view) {
        stored.emplace(row.substr(prefix.size()));
        return true;
      });
      if (!read.ok()) return read.error().message;
      if (stored != known)
        return concat("of ", LocalReplica::spaceId(database, scope), ": ", stored.size(), " seals, and ", known.size(),
                      " prove something");
    }
  return {};
}

// Of a copy that has begun nothing is left of what it began with (replica/base_transfer.cpp, "n/").
std::string begunLeft(Seat& at) {
  std::string left;
  const Status read = at.device->disk(2).scan("n/", {}, [&](std::string_view row, std::string_view) {
    for (const auto& [id, host] : at.replica().hosts())
      if (row.starts_with(concat("n/", id, "/"))) left = concat("rows with which its copy of ", id, " began");
    return left.empty();
  });
  return read.ok() ? left : read.error().message;
}

// A device whose agents read ledgers goes on there where it has looked to.
std::string ledgersUnread(node::Replica& replica) {
  if (std::as_const(replica).agents() == nullptr) return {};
  const Database& rows = replica.data().database(DatabaseName::agents);
  for (const auto& [id, host] : replica.hosts()) {
    if (host->module().signature().domain != "verification" || host->durableBatches() == 0) continue;
    for (const char* spec : {"triaged", "verified"}) {
      const auto row = rows.meta(concat("ledger-watch/", kSimAgents[2], "/", spec, "/", id));
      node::LedgerCursor cursor;
      if (row.ok() && *row)
        if (const auto text = parseJson(**row); text.ok()) (void)readJson(*text, cursor, "cursor");
      if (cursor.batches != host->durableBatches())
        return concat("of ", host->durableBatches(), " batches of ", id, " ", cursor.batches, " are noted as read");
    }
  }
  return {};
}

std::string outboxDiffers(const node::Outbox& now, const node::Outbox& read) {
  for (const auto& [id, waiting] : now.all())
    if (waiting.saved && !read.all().contains(id)) return "request " + id + " of its outbox is not on its disk";
  for (const auto& [id, waiting] : read.all())
    if (!now.all().contains(id)) return "request " + id + " is on its disk, and was answered";
  return {};
}

std::string ownersDiffer(const node::OwnerTable& now, const node::OwnerTable& read) {
  for (const auto& [id, claim] : now.all())
    if (const node::OwnershipRecord* other = read.find(id); other == nullptr || other->epoch() != claim.epoch())
      return "who owns " + id;
  return now.all().size() == read.all().size() ? "" : "owners of partitions";
}

std::string hostsDiffer(node::Replica& now, node::Replica& read, bool etcd) {
  for (const auto& [id, host] : now.hosts()) {
    node::PartitionHost* other = read.host(id);
    if (other == nullptr) return id + " is not on its disk";
    if (host->ledger().batches() != other->ledger().batches())
      return concat(id, ": ", host->ledger().batches(), " batches, on its disk ", other->ledger().batches());
    if (host->epoch() != other->epoch()) return id + ": its epoch";
    if (host->first() != other->first()) return id + ": with which batch it begins";
    if (host->partition().size() != other->partition().size() ||
        host->partition().tree().root() != other->partition().tree().root())
      return id + ": its entries";
    const auto entities = host->partition().entities();
    if (entities != other->partition().entities()) return id + ": its entities";
    for (const std::string& entity : entities) {
      std::string mine, theirs;
      host->module().writeState(mine, *host->partition().state(entity));
      host->module().writeState(theirs, *other->partition().state(entity));
      if (mine != theirs || host->partition().state(entity)->notPassing != other->partition().state(entity)->notPassing)
        return id + ": the state of " + entity;
      if (host->partition().pending(entity).has_value() != other->partition().pending(entity).has_value())
        return id + ": what is pending for " + entity;
    }
    if (!etcd && now.owns(*host) != read.owns(*other)) return id + ": whether it decides";
  }
  return {};
}

std::string agentsDiffer(const agents::AgentHost* now, const agents::AgentHost* read) {
  if (now == nullptr || read == nullptr) return {};
  for (const auto& [run, entry] : now->wakes().queue().all())
    if (!read->wakes().queue().all().contains(run)) return "wake " + run.hex() + " is not on its disk";
  for (const auto& [run, entry] : read->wakes().queue().all())
    if (!now->wakes().queue().all().contains(run)) return "wake " + run.hex() + " is on its disk, and has ended";
  return {};
}

std::string sagasDiffer(agents::AgentHost* now, agents::AgentHost* read) {
  if (now == nullptr || read == nullptr) return {};
  if (now->sagas().open() != read->sagas().open())
    return concat(now->sagas().open(), " open sagas, on its disk ", read->sagas().open());
  std::set<OperationId> held, heldThere;
  const Status mine = now->sagas().rows().visitHeld([&](saga::SagaRow&& row) { held.insert(row.id()); });
  const Status theirs = read->sagas().rows().visitHeld([&](saga::SagaRow&& row) { heldThere.insert(row.id()); });
  std::string both;
  const Status open = read->sagas().rows().visitOpen([&](saga::SagaRow&& row) {
    if (heldThere.contains(row.id())) both = "operation " + row.id().hex() + " is open and put aside";
  });
  if (!mine.ok() || !theirs.ok() || !open.ok() || held != heldThere) return "which sagas are put aside";
  return both;
}

std::string foldsDiffer(agents::AgentHost* now, agents::AgentHost* read) {
  if (now == nullptr || read == nullptr) return {};
  for (const auto& [id, job] : now->memory().jobs())
    if (!read->memory().jobs().contains(id)) return "fold " + id.hex() + " is not on its disk";
  for (const auto& [id, job] : read->memory().jobs())
    if (!now->memory().jobs().contains(id)) return "fold " + id.hex() + " is on its disk, and is over";
  return {};
}

class RowsChecker final : public Checker {
 public:
  explicit RowsChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    for (Seat* at : c_.members()) {
      for (std::size_t n = 0; n < kStores; ++n) {  // what was to strike later strikes no more
        at->device->disk(n).failAt(kNever);
        at->device->disk(n).crashAt(kNever);
      }
      node::Effects out;
      Micros cost = 0;
      if (const Status drained = at->device->drain(c_.agenda().now(), out, cost); !drained.ok())
        return c_.failed("store", at->name() + ": " + drained.error().message);
      for (std::size_t n = 0; n < kStores; ++n)
        if (const Status synced = at->device->disk(n).sync(); !synced.ok())
          return c_.failed("store", at->name() + ": " + synced.error().message);
      auto copy = at->device->openCopy(c_.agenda().now());
      if (!copy.ok()) return c_.failed("rows", at->name() + " does not start from its disks: " + copy.error().message);
      node::Replica &now = at->replica(), &read = *copy->replica;
      for (const std::string& what :
           {spacesDiffer(now.data(), read.data()), metaDiffers(now, read), restoredDiffers(now.data(), read.data()),
            acksLeft(read.data()), missedLeft(now.data(), std::as_const(now).agents()), sealedLeft(now.data()),
            takenBackLeft(now.data(), std::as_const(now).agents()),
            offeredAgain(now.data(), std::as_const(now).agents()), begunLeft(*at), sealsDiffer(*at), ledgersUnread(now),
            outboxDiffers(now.outbox(), read.outbox()),
            c_.etcd() ? std::string() : ownersDiffer(now.owners(), read.owners()),
            hostsDiffer(now, read, c_.etcd() != nullptr),
            agentsDiffer(std::as_const(now).agents(), std::as_const(read).agents()),
            sagasDiffer(now.agents(), read.agents()), foldsDiffer(now.agents(), read.agents())})
        if (!what.empty()) return c_.failed("rows", at->name() + " reads something else from its disks: " + what);
    }
  }
};

}  // namespace

std::unique_ptr<Checker> makeRowsChecker(Cluster& cluster) { return std::make_unique<RowsChecker>(cluster); }

}  // namespace witan::sim
