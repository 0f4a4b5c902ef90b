// Network: streams between devices, as TLS over TCP gives them, on a network that fails.
//
// A connection is two ordered streams of frames; it may die anywhere, and each end notices when it can: at once if the
// other's goodbye gets through, after a keep-alive's time if not. Meanwhile it is half open: what is sent into it is
// lost. A direction that is cut holds back what is sent, as retransmission would; it comes late, in a burst, or dies
// with the connection. Beyond that, single frames of the adjudication protocol can be lost, repeated or overtaken: it
// is made for that. The sync protocol is not, and a stream does not do that to it.
//
// All chance comes from one stream of draws per pair of devices, so that what happens between two does not change what
// happens between others. The hooks outlive it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/seams.h"
#include "replica/mesh.h"
#include "sim/agenda.h"
#include "sim/options.h"

namespace witan::sim {

inline constexpr Micros kSecond = 1'000'000;

// Exponential with this mean, at most twenty means. Integer arithmetic only: the same on every machine.
Micros drawExponential(Random& random, Micros mean);

class NetworkHooks {
 public:
  virtual ~NetworkHooks() = default;
  // Whether the device runs and answers.
  virtual bool reachable(std::uint32_t device) const = 0;
  virtual void onConnected(std::uint32_t device, std::uint32_t peer) = 0;
  virtual void onDisconnected(std::uint32_t device, std::uint32_t peer) = 0;
  virtual void onFrames(std::uint32_t device, std::uint32_t peer, std::string frames) = 0;
  virtual void onNetwork(std::uint32_t device, std::string_view what, std::uint32_t peer) = 0;  // for trace and probes
  // For traces: frames go on their way under a number (from a device, to a peer), and arrive (at a device, of a peer).
  virtual void onDeparture(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) = 0;
  virtual void onArrival(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) = 0;
};

class Network {
 public:
  Network(const NetworkOptions& options, std::uint64_t seed, Agenda& agenda, NetworkHooks& hooks)
      : options_(options), seed_(seed), agenda_(agenda), hooks_(hooks) {}

  void addDevice();
  // The devices so far make the ring of NetworkOptions::chords; later ones talk to everybody.
  void closeRing() { ring_ = devices_; }
  // Whether the two are to have a connection.
  bool linked(std::uint32_t a, std::uint32_t b) const;
  // Which devices are, over the connections of others too; all, where all are to have connections.
  std::vector<bool> reachedFrom(std::uint32_t first) const;

  // NetworkOptions::links: each device decides with whom.
  void setMembers(const std::vector<node::MeshMember>& members);
  void need(std::uint32_t device, std::set<std::string, std::less<>> devices);

  bool isBlocked(std::uint32_t from, std::uint32_t to) { return pair(from, to).blocked[towards(to, from)] > 0; }
  // A direction that is blocked twice must be unblocked twice.
  void block(std::uint32_t from, std::uint32_t to);
  void unblock(std::uint32_t from, std::uint32_t to);
  // No more loss, repetition, resets; what is blocked stays.
  void calm() {
    options_.lossPerMillion = options_.duplicatePerMillion = options_.reorderPerMillion = options_.resetPerMillion = 0;
  }

  // Whole frames, at `when`. Lost if there is no connection any more.
  void send(std::uint32_t from, std::uint32_t to, std::string frames, Micros when);
  // This end closes.
  void close(std::uint32_t device, std::uint32_t peer);
  // The device has stopped without a word, or may be reached again.
  void stopped(std::uint32_t device);
  void started(std::uint32_t device);

  bool connected(std::uint32_t a, std::uint32_t b) const;
  // Frames on their way.
  std::size_t underWay() const { return underWay_; }
  // Of what is under way, the first in words. Requires: there is something.
  std::string describe() const;
  std::uint64_t frames() const { return frames_; }
  std::uint64_t bytes() const { return bytes_; }
  // A frame that went from `from` to `to` before, by number; empty: there is none. For replays.
  std::string seen(std::uint32_t from, std::uint32_t to, std::uint64_t n) const;
  // Puts bytes into the stream that its sender never sent.
  void forge(std::uint32_t from, std::uint32_t to, std::string frames);

  // Steps of the agenda that are the network's.
  void arrive(std::uint64_t chunk);
  void dial(std::uint64_t pair);
  void endDown(std::uint64_t connection, std::uint32_t device);
  void stall(std::uint64_t connection, std::uint32_t from);
  void look(std::uint32_t device);

 private:
  struct Chunk {
    std::uint64_t connection = 0;
    std::uint32_t from = 0, to = 0;
    std::string frames;
    bool inOrder = true;
    bool arrived = false;  // as far as the delay goes
  };
  struct Connection {
    std::uint32_t ends[2] = {0, 0};
    bool up[2] = {true, true};  // as each end sees it
    bool alive = true;
    Micros lastArrival[2] = {0, 0};      // towards each end
    std::deque<std::uint64_t> queue[2];  // towards each end: chunks in the order in which they were sent
    bool stallDue[2] = {false, false};
  };
  struct Pair {
    explicit Pair(std::uint64_t seed) : random(seed) {}
    SeededRandom random;
    int blocked[2] = {0, 0};       // towards the smaller, the greater index
    std::uint64_t connection = 0;  // the newest; 0: none yet
    bool dialDue = false;
    std::deque<std::string> seen[2];
  };

  // What a device knows of its links; gone with its memory.
  struct Links {
    std::unique_ptr<node::Mesh> mesh;
    std::uint64_t lives = 0;
    Micros lookAt = -1;  // -1: not
    std::set<std::string, std::less<>> needs;
  };

  Pair& pair(std::uint32_t a, std::uint32_t b);
  const Pair* findPair(std::uint32_t a, std::uint32_t b) const;
  const Connection* connectionOf(std::uint32_t a, std::uint32_t b) const;
  bool wants(std::uint32_t a, std::uint32_t b) const;
  void newMesh(std::uint32_t device);
  void lookAt(std::uint32_t device, Micros at);
  static std::uint64_t pairKey(std::uint32_t a, std::uint32_t b);
  int towards(std::uint32_t to, std::uint32_t other) const { return to < other ? 0 : 1; }
  Connection* find(std::uint64_t id);
  bool isOpen(std::uint32_t from, std::uint32_t to);
  void considerDial(std::uint32_t a, std::uint32_t b);
  void kill(std::uint64_t id, std::uint32_t firstToKnow);
  void lower(Connection& connection, std::uint32_t device);
  void dispatch(Pair& between, std::uint64_t id, Connection& connection, std::uint32_t from, std::uint32_t to,
                std::string frames, Micros when, bool inOrder);
  Micros delay(Pair& between, std::size_t bytes);
  bool chance(Pair& between, std::int64_t perMillion);
  void deliver(std::uint64_t id, int side);
  void hand(std::uint64_t chunk);

  NetworkOptions options_;
  const std::uint64_t seed_;
  Agenda& agenda_;
  NetworkHooks& hooks_;
  std::uint32_t devices_ = 0, ring_ = 0;
  std::map<std::uint64_t, Pair> pairs_;  // of those that have met
  std::vector<Links> links_;             // empty: all are to have connections
  std::vector<node::MeshMember> members_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t nextConnection_ = 1, nextChunk_ = 1;
  std::map<std::uint64_t, Chunk> chunks_;
  std::size_t underWay_ = 0;
  std::uint64_t frames_ = 0, bytes_ = 0;
};

}  // namespace witan::sim
