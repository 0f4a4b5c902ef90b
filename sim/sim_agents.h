// The agents that work on simulated devices, what they may call, and the policies over it: a mail goes out only while a
// person's confirmation of that stands, a payment only if a person has approved it, under the policy in force.
//
//   sim-clerk    wakes on entries of type "request" and on what people say; asks a model ("sim.ask"), writes an entry
//                down, proposes what the request says to its meta-agent, writes on a desk, mails about it ("sim.mail")
//                and pays ("sim.pay")
//   sim-sealer   wakes on what the clerk wrote, and writes a seal: a second run in the chain
//   sim-herald   wakes on findings that a ledger of the domain verification says are triaged or verified, and writes
//   that down; the policy lets no person wake it
//   sim-keeper   where people tell it something to remember: says nothing, and sums its memory up by a tool ("sim.sum")
//   sim-warden   where runs are forgotten after a horizon: wakes on requests and by a timer, and notes it, once an hour
//
// The model's answers are judged: what is none of its words reaches no agent. What people write as the clerk would
// wakes no sealer.
//
// The model's answer is part of what they plan, so two devices that run one wake plan differently. Ids of entries
// derive from run and answer: one operation writes one entry, once. But for desks: few entries, on which all write the
// same few words, and people too; on a board only agents, and the clerk's requests of one half minute have one. A slip
// is written twice by one run, and by no other. Immutable, any thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "replica/agent_runtime.h"

namespace witan::sim {

inline constexpr std::array<std::string_view, 3> kSimAgents{"sim-clerk", "sim-sealer", "sim-herald"};

// The answer of a tool outside.
WITAN_ENUM(ToolSays, done, refused, unreachable, nothing)

// What the policy lets no answer of the model say.
inline constexpr std::string_view kForgedAnswer = "forged";

// The agent of months, its timer by its description and as it is set at the beginning, and how often it may write.
inline constexpr std::string_view kSimWarden = "sim-warden", kWardenTimer = "round", kWardenFolder = "watch/",
                                  kWardenOther = "other/";
inline constexpr std::int64_t kWardenEveryMs = 3'600'000, kWardenSetMs = 12 * kWardenEveryMs;
inline constexpr std::size_t kWardenPerHour = 3;  // by both of its capabilities

// The agent that remembers. Each remark begins with a mark of its own, which a summary keeps; so many have room in the
// first words of messages (agents/memory/compactor.h).
inline constexpr std::string_view kSimKeeper = "sim-keeper", kSumTool = "sim.sum", kMark = "remark/";
inline constexpr std::uint64_t kMostRemarks = 20;
std::string remarkText(std::string_view mark);            // three of them are more than a thread may hold
std::vector<std::string> marksIn(std::string_view text);  // in their order
std::string simSummary(const json::object& arguments);    // the answer of sim.sum

inline constexpr std::uint64_t kDesks = 3;
std::string deskName(std::uint64_t n);
// On boards only some answers are written: one plan of a run may, and the other not.
inline constexpr std::string_view kBoardFolder = "desk/board-";
// Entries about which two devices contradict each other, settle it, and contradict each other again. The clerk
// does not ask its model: the request, "request/contrary-" with the entry's digit, says all.
inline constexpr std::uint64_t kContraries = 3;
inline constexpr std::string_view kContraryFolder = "desk/contrary-", kContraryRequest = "request/contrary-";
inline constexpr std::string_view kSlipFolder = "desk/slip-";  // of each request and answer one
inline constexpr std::string_view kDeskFolder = "desk/";       // of the desks, and of boards: two each half minute

inline constexpr std::string_view kSimSilent = "the model is silent";  // why a run of the clerk fails
inline constexpr std::int64_t kClerkTokens = 100;                      // that a run of the clerk may spend on its model
inline constexpr std::int64_t kClerkDay = 100;  // that all its runs of a day may, where there is such a budget
inline bool hasDayBudget(std::int64_t retentionDays) { return retentionDays > 0; }
// Whose runs wait for an hour or a day.
inline bool isRationed(std::string_view agent, std::int64_t retentionDays) {
  return agent == kSimWarden || (agent == kSimAgents[0] && hasDayBudget(retentionDays));
}
inline constexpr std::uint32_t kSagaAttempts = 6;
// A run that its device has lost, and that nobody else has, ends after so long, and at most half as long again.
inline constexpr std::int64_t kAbandonMs = 600'000;

// For a device that hosts all of them; short waits, so that ten minutes hold many.
struct SimAgents {
  std::shared_ptr<const node::AgentSetup> setup;
  std::shared_ptr<agents::DeviceGate> outside;  // of that setup: is to be told where receipts are
  std::shared_ptr<agents::DeviceGate> till;     // judges payments
};
struct SimAgentsOptions {
  std::int64_t retentionDays = 0;  // the horizon of what runs left; 0: there is none
  std::uint64_t policy = 1;        // the version of the policy over payments
  bool all = true;                 // also the sealer, without which a device starts now and then
  bool remembers = false;          // also the keeper
  std::uint64_t seed = 0;          // of the run
};
SimAgents simAgents(const SimAgentsOptions& options);
// In some runs wakes soon find no room, and wait in their batches; in some a payment may be called for only once, as
// its tool would pay again.
inline bool hasLittleRoom(std::uint64_t seed) { return seed % 6 == 1; }
inline constexpr std::string_view kOnceTool = "sim.pay";
inline bool paysOnce(std::uint64_t seed) { return seed % 4 >= 2; }
void usePolicy(agents::DeviceGate& till, std::uint64_t policy);

// What a person confirms: that the clerk may mail.
replication::PrivacyReceipt simReceipt(std::string_view person, std::int64_t atMs);

}  // namespace witan::sim
