// Devices that live through a history (tests/replication/history_ops.h) on the real core, with an oracle that keeps the
// books (tests/replication/history_oracle.h).
#pragma once

#include <list>
#include <optional>
#include <set>

#include "replication/statement.h"
#include "tests/replication/cluster.h"
#include "tests/replication/history_ops.h"
#include "tests/replication/history_oracle.h"

namespace witan::replication::test {

class World {
 public:
  explicit World(const Plot& plot) : plot_(plot) {
    for (unsigned d = 0; d < plot.devices; ++d) {
      devices_.push_back(std::make_unique<Device>(std::string(1, static_cast<char>('a' + d))));
      lost_.push_back(false);
      admitted_.push_back(plot.founders == 0);
      known_.push_back(0);
      listen(d);
    }
    for (unsigned d = 0; d < plot.founders; ++d) admit(d, 0);
  }

  // What is wrong after the history, or "".
  std::string run() {
    for (const Op& op : plot_.ops) {
      apply(op);
      if (!problem_.empty()) return "after \"" + toString(op) + "\": " + problem_;
    }
    finish();
    return problem_;
  }

 private:
  struct Live {
    unsigned a, b;
    std::unique_ptr<Link> link;
  };
  struct Pending {
    std::string space;
    Dot dot;
    std::uint64_t mark;
  };

  void wrong(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }
  Device& at(unsigned d) { return *devices_[d]; }
  bool alive(unsigned d) const { return d < devices_.size() && !lost_[d]; }
  std::unique_ptr<Link> link(unsigned a, unsigned b, unsigned segmentBytes) {
    const auto towards = [&](unsigned from, unsigned to) {
      SessionOptions out;
      out.segmentBytes = segmentBytes;
      out.mayHave = [this, from, to](DatabaseName, std::string_view) { return mayHave(from, to); };
      return out;
    };
    return std::make_unique<Link>(at(a), at(b), towards(a, b), towards(b, a));
  }

  // --- who may have the scope, as the rosters say that come with the sessions

  bool mayHave(unsigned asked, unsigned device) const { return !rosters_[known_[asked]].contains(device); }
  void listen(unsigned d) {
    at(d).replica().waitFor([this, d](std::string_view device, DatabaseName, std::string_view) {
      return mayHave(d, static_cast<unsigned>(device.front() - 'a'));
    });
  }
  void hears(unsigned d, std::size_t roster) {
    if (roster <= known_[d]) return;
    const std::set<unsigned>&before = rosters_[known_[d]], &after = rosters_[roster];
    // As nodes do: links with those whose rights have changed begin again.
    live_.remove_if([&](const Live& live) {
      const unsigned other = live.a == d ? live.b : live.a;
      return (live.a == d || live.b == d) && before.contains(other) != after.contains(other);
    });
    known_[d] = roster;
    at(d).replica().rosterChanged();
  }
  void changeRole(unsigned device, unsigned hearsFirst) {
    if (device == 0 || !alive(hearsFirst)) return;  // somebody has it always
    std::set<unsigned> without = rosters_.back();
    if (without.erase(device) == 0) without.insert(device);
    rosters_.push_back(std::move(without));
    hears(hearsFirst, rosters_.size() - 1);
  }

  void apply(const Op& op) {
    if (op.act == Act::move || op.act == Act::close) return applyLive(op);
    if (op.act == Act::stabilise) return stabilise(op.a);
    if (!alive(op.a)) return;
    switch (op.act) {
      case Act::write: return commit(op.a, DatabaseName::agents, {agentWrite(op.a, op.b, op.n)});
      case Act::several: return several(op.a, op.n);
      case Act::journal: return commit(op.a, DatabaseName::journal, {journalWrite(op.b)});
      case Act::message: return commit(op.a, DatabaseName::agents, {messageWrite()});
      case Act::remove: return remove(op.a, op.b);
      case Act::session: return session(op.a, op.b, op.m, std::nullopt);
      case Act::cutSession: return session(op.a, op.b, op.m, op.n);
      case Act::open:
        if (maySync(op.a, op.b)) live_.push_back({op.a, op.b, link(op.a, op.b, op.m)});
        return;
      case Act::crash: return crash(op.a);
      case Act::lose:
        if (op.a == 0) return;  // somebody stays
        dropLinks(op.a);
        lost_[op.a] = true;
        return;
      case Act::admit:
        if (plot_.founders > 0 && !admitted_[op.a] && alive(op.b)) admit(op.a, op.b);
        return;
      case Act::role: return changeRole(op.a, op.b);
      default: return;
    }
  }

  // --- writing

  std::string fresh() { return "x-" + std::to_string(++made_); }

  Write agentWrite(unsigned d, unsigned agent, unsigned change) {
    const std::string key = "agent-" + std::to_string(agent), self = at(d).replica().writer();
    AgentState state = at(d).view(key);
    Slot& slot = state.slots[change % kSlots];
    switch (change) {
      case 0: state.consecutiveFailureCount = 0; break;
      case 1: ++state.consecutiveFailureCount; break;
      case 2: state.lifecycle = Lifecycle::active; break;
      case 3: state.processedCounterByHost.raise(self, ++made_); break;
      case 4: state.schedule.nextWakeAt = 10 + ++made_; break;
      default: slot = {"\"" + fresh() + "\"", slot.version + 1, self};
    }
    return {Kind::agentState, key, encodeAgentState(state, self), false};
  }
  Write journalWrite(unsigned entity) {
    JournalBody body{"note", "\"" + fresh() + "\"", ++made_, "person", 5, std::nullopt, {}};
    return {Kind::journal, "entity-" + std::to_string(entity), *encodeRecord(body), false};
  }
  Write messageWrite() {
    const std::string id = fresh();
    return {Kind::message, id, *encodeRecord(MessageBody{id, "agent-0", "t", MessageKind::user, {}, "hi", 5, {}}),
            false};
  }
  Write batchWrite() {
    const BatchBody body{fresh(), {{"journalEntity", "entity-0", ChangeOrigin::local}}, {}, {}, ""};
    return {Kind::batch, "", *encodeRecord(body), false};
  }
  void several(unsigned d, unsigned choice) {
    if (choice % 4 == 3) return commit(d, DatabaseName::journal, {journalWrite(0), journalWrite(1), batchWrite()});
    std::vector<Write> writes{agentWrite(d, choice % plot_.agents, 1)};
    if (plot_.agents > 1) writes.push_back(agentWrite(d, (choice + 1) % plot_.agents, choice));
    if (choice % 2 == 0) writes.push_back(messageWrite());
    if (choice % 3 == 0) writes.push_back(batchWrite());
    commit(d, DatabaseName::agents, std::move(writes));
  }
  void remove(unsigned d, unsigned record) {
    if (record == 2) return commit(d, DatabaseName::journal, {{Kind::journal, "entity-0", "", true}});
    commit(d, DatabaseName::agents, {{Kind::agentState, "agent-" + std::to_string(record), "", true}});
  }

  void commit(unsigned d, DatabaseName database, std::vector<Write> writes, std::string_view scope = "main") {
    LocalReplica& replica = at(d).replica();
    const std::string id = LocalReplica::spaceId(database, scope);
    std::vector<VectorClock> seen;
    for (const Write& write : writes) seen.push_back(seenBy(replica, id, write));
    auto dot = replica.commit(database, scope, writes);
    if (!dot.ok()) return wrong(dot.error().message);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      Written written{writes[i].kind, writes[i].key, *dot, writes[i].body, writes[i].tombstone, seen[i]};
      if (written.kind == Kind::batch) written.key = dot->host + ":" + std::to_string(dot->counter);
      written.context.raise(dot->host, dot->counter);
      oracle_.add(id, std::move(written));
    }
    pending_[d].push_back({id, *dot, replica.mark()});
  }
  // The full context of what the device holds of the record, from the books.
  VectorClock seenBy(LocalReplica& replica, const std::string& id, const Write& write) {
    VectorClock seen;
    Space* space = replica.findSpace(id);
    if (space == nullptr || (!traitsOf(write.kind).register_ && !write.tombstone)) return seen;
    auto versions = space->versions(write.kind, write.key);
    if (!versions.ok()) return wrong(versions.error().message), seen;
    for (const Version& version : *versions) {
      const Written* written = oracle_.find(id, write.kind, write.key, version.dot);
      if (written == nullptr) return wrong(write.key + ": a version that nobody wrote"), seen;
      seen.join(written->context);
    }
    return seen;
  }

  // --- devices

  void crash(unsigned d) {
    dropLinks(d);
    const std::uint64_t durable = at(d).replica().durable();
    for (const Pending& p : pending_[d])
      if (p.mark > durable) oracle_.forget(p.space, p.dot);
    pending_[d].clear();
    at(d).crash();
    listen(d);
  }
  void admit(unsigned newcomer, unsigned sponsor) {
    LocalReplica& replica = at(sponsor).replica();
    const auto members = replica.membership();
    if (!members->active.empty() && members->standing(replica.device()) != Standing::active) return;
    if (members->active.empty() && newcomer != 0) return;
    const Statement statement = replication::admit(*replica.statements(), replica.writer(), at(newcomer).name(),
                                                   members->nextAdmission(at(newcomer).name()), at(newcomer).name());
    if (Status status = replica.addStatement(statement); !status.ok()) return wrong(status.error().message);
    at(sponsor).flush();
    admitted_[newcomer] = true;
  }
  void stabilise(unsigned which) {
    for (unsigned d = 0; d < devices_.size(); ++d) {
      if (!alive(d) || (which != 0 && which - 1 != d)) continue;
      if (Status status = at(d).replica().stabilise(); !status.ok()) wrong(status.error().message);
    }
  }

  // --- sessions

  // Strangers do not talk: one of the two must know that there are members.
  bool maySync(unsigned a, unsigned b) {
    if (a == b || !alive(a) || !alive(b)) return false;
    hears(a, known_[b]), hears(b, known_[a]);
    return plot_.founders == 0 || !at(a).replica().membership()->active.empty() ||
           !at(b).replica().membership()->active.empty();
  }
  void checkOpen(Link& link) {
    for (SyncSession* session : {&link.ofA(), &link.ofB()})
      // Who learns in a session that the other is no member ends it.
      if (session->state() == SessionState::closed && session->closeCode() != "stranger")
        wrong(session->closeCode() + ": " + session->closeReason());
  }
  void session(unsigned a, unsigned b, unsigned segmentBytes, std::optional<unsigned> cutAfter) {
    if (!maySync(a, b)) return;
    const std::unique_ptr<Link> made = link(a, b, segmentBytes);
    if (cutAfter)
      made->runUntilCut(*cutAfter);
    else
      run(*made);
    checkOpen(*made);
  }
  void run(Link& link) {
    for (unsigned steps = 0; link.step(); ++steps)
      if (steps > 2000) return wrong("a session that never comes to rest");
  }
  void applyLive(const Op& op) {
    if (live_.empty()) return;
    const auto which = std::next(live_.begin(), static_cast<std::ptrdiff_t>(op.a % live_.size()));
    if (op.act == Act::close) return void(live_.erase(which));
    Link& link = *which->link;
    for (unsigned i = 0; i <= op.n; ++i) {
      if (link.queueToA().empty() && link.queueToB().empty()) link.say(op.m % 3 == 0 ? 1 : 1u << 20);
      if (link.queueToA().empty() && link.queueToB().empty()) break;
      const bool toB = (op.m >> (i % 8) & 1) == 0;
      if (link.queueToA().empty() || (toB && !link.queueToB().empty()))
        link.deliverToB();
      else
        link.deliverToA();
    }
    checkOpen(link);
  }
  void dropLinks(unsigned d) {
    live_.remove_if([d](const Live& live) { return live.a == d || live.b == d; });
  }

  // --- the end

  std::string stateOf(unsigned d) {
    std::string out;
    for (const std::string& id : at(d).replica().spaceIds()) {
      Space& space = *at(d).replica().findSpace(id);
      out += id + " " + replication::toString(space.digest());
      const VectorClock clock = space.clock();
      for (const auto& [host, counter] : clock.entries()) out += " " + host + ":" + std::to_string(counter);
      out += "\n";
    }
    return out;
  }
  // Whole sessions between all, until nothing changes any more.
  void exchange() {
    std::string before, after;
    for (unsigned round = 0; round < 8; ++round) {
      for (unsigned a = 0; a < devices_.size(); ++a)
        for (unsigned b = a + 1; b < devices_.size(); ++b) session(a, b, 1u << 18, std::nullopt);
      after.clear();
      for (unsigned d = 0; d < devices_.size(); ++d)
        if (alive(d)) after += stateOf(d);
      if (after == before) return;
      before = after;
    }
    wrong("whole sessions between all never come to rest:\n" + after);
  }
  void finish() {
    live_.clear();
    for (unsigned d = 0; d < devices_.size(); ++d)
      if (alive(d) && !admitted_[d]) admit(d, 0);
    exchange();
    if (rosters_.size() > 1) limitedHoldNothingUp();
    admitForgotten();
    compareHeld(false);
    stabilise(0);
    exchange();
    stabilise(0);
    compareHeld(true);
    checkAlarms();
  }
  // Those that have the scope tidy up without the others; these have it again at the end, and bring nothing back.
  void limitedHoldNothingUp() {
    for (unsigned round = 0; round < 2; ++round) stabilise(0), exchange();
    for (unsigned d = 0; d < devices_.size(); ++d)
      for (const std::string& id : at(d).replica().spaceIds())
        if (mayHave(d, d))
          eachHeld(*at(d).replica().findSpace(id), [&](Kind, const std::string& key, const Version& version) {
            if (version.tombstone) wrong(at(d).name() + " keeps the tombstone " + key + " for those without the scope");
          });
    rosters_.emplace_back();
    hears(0, rosters_.size() - 1);
    exchange();
    stabilise(0);  // a tombstone that the others forgot goes here, as it is in no digest
  }
  // Whoever was admitted by a device that was lost before it told anybody.
  void admitForgotten() {
    if (plot_.founders == 0) return;
    const auto members = at(0).replica().membership();
    bool any = false;
    for (unsigned d = 0; d < devices_.size(); ++d) {
      if (!alive(d) || members->standing(at(d).name()) == Standing::active) continue;
      admit(d, 0);
      any = true;
    }
    if (any) exchange();
  }
  // Against the oracle; `all`: a removed record's row must be gone everywhere or nowhere, and contexts be as short.
  void compareHeld(bool all) {
    for (const std::string& id : at(0).replica().spaceIds()) {
      VectorClock clock;
      std::set<const Written*> extra;
      for (unsigned d = 0; d < devices_.size(); ++d) {
        if (!alive(d)) continue;
        Space* space = at(d).replica().findSpace(id);
        if (space == nullptr) return wrong(at(d).name() + " has no " + id);
        clock.join(space->clock());
        eachHeld(*space, [&](Kind kind, const std::string& key, const Version& version) {
          if (const Written* written = oracle_.find(id, kind, key, version.dot)) extra.insert(written);
        });
      }
      if (id == LocalReplica::spaceId(DatabaseName::agents, kClusterScope)) continue;
      const Oracle::Keys expected = oracle_.maximal(id, clock, extra);
      for (unsigned d = 0; d < devices_.size(); ++d)
        if (alive(d)) compareSpace(d, id, clock, expected);
      if (all) compareRows(id);
    }
  }
  void eachHeld(Space& space, const std::function<void(Kind, const std::string&, const Version&)>& visit) {
    for (int k = 1; k <= 12; ++k)
      for (const std::string& key : space.keys(static_cast<Kind>(k))) {
        const auto versions = space.versions(static_cast<Kind>(k), key);
        for (const Version& version : *versions) visit(static_cast<Kind>(k), key, version);
      }
  }
  void compareSpace(unsigned d, const std::string& id, const VectorClock& clock, Oracle::Keys expected) {
    Space& space = *at(d).replica().findSpace(id);
    const std::string where = at(d).name() + " " + id + ": ";
    if (space.clock() != clock) wrong(where + "its vector is not everybody's");
    if (Status status = space.checkIntegrity(); !status.ok()) wrong(where + status.error().message);
    eachHeld(space, [&](Kind kind, const std::string& key, const Version& version) {
      const std::string what = where + key + " " + version.dot.host + ":" + std::to_string(version.dot.counter);
      const Written* written = oracle_.find(id, kind, key, version.dot);
      if (written == nullptr) return wrong(what + " is held and was never written");
      if (written->body != version.body || written->tombstone != version.tombstone) wrong(what + " is another text");
      if (expected[{kind, key}].erase(version.dot) == 0) wrong(what + " is held although superseded");
    });
    for (const auto& [record, dots] : expected)
      for (const Dot& dot : dots)
        if (!oracle_.find(id, record.first, record.second, dot)->tombstone || plot_.founders == 0)
          wrong(where + record.second + " " + dot.host + ":" + std::to_string(dot.counter) + " is missing");
  }
  // The same rows everywhere, tombstones and contexts among them; none that stability should have shortened.
  void compareRows(const std::string& id) {
    std::optional<std::string> first;
    const bool nobodyLost = plot_.founders > 0 && std::find(lost_.begin(), lost_.end(), true) == lost_.end();
    for (unsigned d = 0; d < devices_.size(); ++d) {
      if (!alive(d)) continue;
      std::string rows;
      eachHeld(*at(d).replica().findSpace(id), [&](Kind kind, const std::string& key, const Version& version) {
        const std::string dot = version.dot.host + ":" + std::to_string(version.dot.counter);
        rows += std::string(traitsOf(kind).name) + " " + key + " " + dot + (version.tombstone ? " gone" : "") + "\n";
        if (nobodyLost && version.tombstone)
          wrong(at(d).name() + " keeps the tombstone " + key + " " + dot + " for ever");
      });
      if (first && *first != rows)
        wrong(id + ": other rows at " + at(d).name() + " than at a:\n" + rows + "-\n" + *first);
      if (!first) first = rows;
    }
  }
  // A difference that repair healed is a difference.
  void checkAlarms() {
    for (unsigned d = 0; d < devices_.size(); ++d) {
      if (!alive(d)) continue;
      const auto incidents = at(d).replica().incidents();
      for (const Incident& incident : *incidents)
        wrong(at(d).name() + " reports " + incident.kind + " of " + incident.peer + ": " + incident.what);
    }
  }

  const Plot plot_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<bool> lost_, admitted_;
  std::vector<std::set<unsigned>> rosters_{{}};  // devices without the scope
  std::vector<std::size_t> known_;               // roster of each device
  std::map<unsigned, std::vector<Pending>> pending_;
  std::list<Live> live_;
  Oracle oracle_;
  std::uint64_t made_ = 0;
  std::string problem_;
};

inline std::string outcomeOf(const Plot& plot) { return World(plot).run(); }

}  // namespace witan::replication::test
