// DeviceTable: what one device's Replica does with each thing that can happen to it, computed once and remembered.
//
// A device knows of the others by what it is told only. So what it is follows from the disks it last started with, the
// time then, and everything that happened to it since, in that order: this is what a local state stands for, and two
// are one only if all of that is equal. (Disks in the store's terms: equal rows.) What is in memory is never compared:
// it need not be readable. The states of a whole cluster are combinations of local ones, of which there are far fewer,
// and those are made by playing a device's own history again on a real Replica.
//
// Every happening is followed by drain(), so whatever a device says is durable; the power can go before each single
// write of that drain. Deterministic. Not thread-safe.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "sim/explore.h"
#include "store/memory_store.h"

namespace witan::sim {

struct Happening {
  enum class Kind : std::uint8_t { connected, disconnected, frames, write, remove, propose, move, seize, tick, power };
  Kind kind = Kind::tick;
  std::uint8_t store = 0;   // power goes during the drain: before the step-th write step of this store;
  std::uint8_t step = 255;  // 255: it does not
  std::uint32_t value = 0;  // of frames: the message; propose: the number; tick: ms at least; else a device
  std::uint32_t peer = 0;   // of frames: whose
  friend auto operator<=>(const Happening&, const Happening&) = default;
};

// What others, and checks, may know of a device. Equal members for equal numbers of the interners of the table.
struct Observed {
  std::string problem;  // it does not open, a store failed, its records contradict each other
  std::string writer;
  bool quiet = false, settled = true;
  replication::VectorClock clock;  // of the agents' space "main", and what it holds of the key
  std::vector<replication::Dot> held;
  std::string digest;
  node::EpochHistory lineage;          // of the partition
  std::vector<std::uint32_t> batches;  // texts of the log
  std::vector<std::uint32_t> aside;    // texts that were set aside
  bool owns = false;
  bool reported = false;             // that something was set aside
  std::vector<std::string> waiting;  // operation ids of the outbox
  std::vector<std::string> incidents;
};

struct Reply {
  std::uint32_t to = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sends;  // device, message
  std::vector<std::uint32_t> closed;                           // connections that the device ended
  std::vector<std::uint32_t> answers;                          // texts: operation id, answer
  std::string refused;                                         // why the operator's word was not taken
  std::optional<replication::Dot> wrote;
  std::array<std::uint8_t, 3> writeSteps{};  // of the drain, by store
};

struct DeviceTableOptions {
  std::uint32_t devices = 2;
  bool ledgers = false;  // one partition of the domain "budget", founded by device 0, with an entity
};

class DeviceTable {
 public:
  explicit DeviceTable(DeviceTableOptions options);
  ~DeviceTable();

  static std::string nameOf(std::uint32_t device) { return std::string(1, static_cast<char>('a' + device)); }

  // A device on empty disks.
  std::uint32_t fresh(std::uint32_t device);
  // References stay valid.
  const Reply& after(std::uint32_t local, const Happening& happening);
  const Observed& observed(std::uint32_t local) const { return locals_[local].observed; }
  const kernel::DomainModule& module() const { return *module_; }

  struct Message {
    std::string frames;
    bool sync = false;  // of the sync protocol only
  };
  const Message& message(std::uint32_t number) const { return messages_[number]; }
  // The names of its frames: "hello spaces".
  std::string messageName(std::uint32_t number) const;
  const std::string& text(std::uint32_t number) const { return texts_.text(number); }
  std::uint32_t number(std::string_view text) { return texts_(text); }

  // What the proposal of this number would write.
  node::Request proposal(std::uint32_t number) const;
  std::size_t locals() const { return locals_.size(); }

 private:
  static constexpr std::size_t kDisks = 3;
  struct Live;
  struct Disks {
    std::array<std::shared_ptr<const store::DiskImage>, kDisks> images;
  };
  struct Local {
    std::uint32_t device = 0, disks = 0, parent = 0;
    bool root = false;
    std::int64_t ms = 0;
    Happening happening;  // since the parent
    Observed observed;
  };

  std::unique_ptr<Live> revive(std::uint32_t local);
  std::unique_ptr<Live> start(std::uint32_t device, std::uint32_t disks, std::int64_t ms, std::string& problem);
  std::uint32_t rootFor(std::uint32_t device, std::uint32_t disks, std::int64_t ms);
  std::uint32_t disksOf(const Live& live);
  std::uint32_t add(Local local, Live& live);
  void carryOut(Live& live, const Happening& happening, Reply* reply);
  Status drain(Live& live, node::Effects& effects);
  void note(Reply& reply, const node::Effects& effects);
  void write(Live& live, bool removal, Reply* reply);
  Observed observe(Live& live);
  void observeLog(Live& live, Observed& out);

  const DeviceTableOptions options_;
  std::unique_ptr<kernel::DomainModule> module_;
  std::deque<Local> locals_;
  std::map<std::pair<std::uint32_t, Happening>, Reply> replies_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint32_t> roots_;
  Interner texts_, messageTexts_, diskTexts_;
  std::vector<Message> messages_;
  std::vector<Disks> disks_;
  // Some of the devices that were played last, to go on with; by local state.
  std::map<std::uint32_t, std::unique_ptr<Live>> kept_;
};

}  // namespace witan::sim
