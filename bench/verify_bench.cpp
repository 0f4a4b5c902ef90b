// Verification of a long ledger on one core: framing, canonical bytes, tree, state digests, operation ids.
//
//   witan_verify_bench [--entries N] [--entities N] [--batch N] [--signed N] [--replay 0|1] [--export 0|1|2]
//
// --signed N makes a ledger of format 2: one signature of the proposers' device for each N requests; 0: of format 1.
// --export 1 reads lines as of `ledger export --store`, 2 as of `ledger export` from a node.
// Times are processor time of the one thread; the store is the in-memory one, so that no disk is measured.
#include "base/bytes.h"
#include "base/concat.h"
#include "bench/workload.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_verify.h"
#include "kernel/record/entry.h"
#include "kernel/record/merkle.h"
#include "kernel/record/statement.h"
#include "store/memory_store.h"

namespace {

using namespace witan;
using namespace witan::bench;

constexpr const char* kCluster = "bench";

// Decides all messages, each with the proof that its device asked for it, `each` under one signature.
void decideSigned(kernel::Partition& partition, const Messages& messages, std::size_t each, const SigningKey& key) {
  std::vector<kernel::ProposalMessage> proposals;
  std::vector<kernel::ActionPtr> actions;
  std::vector<Hash> leaves;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& p = proposals.emplace_back(must(kernel::readProposalMessage(messages.bytes(i)), "message"));
    actions.push_back(must(kernel::actionOf(partition.module(), p), "action"));
    std::string action;
    partition.module().writeAction(action, *actions.back());
    kernel::Statement asked{kCluster, "budget", "propose", p.entity, p.role, p.operationId, p.device, p.agent};
    asked.action = action;
    leaves.push_back(kernel::requestLeaf(asked));
  }
  for (std::size_t first = 0; first < leaves.size(); first += each) {
    const auto round = std::span(leaves).subspan(first, std::min(each, leaves.size() - first));
    const auto proofs = kernel::signLeaves(kCluster, round, key);
    for (std::size_t i = 0; i < proofs.size(); ++i) {
      const kernel::ProposalMessage& p = proposals[first + i];
      const auto proof = kernel::packProof(proofs[i]);
      kernel::Proposal proposal{
          p.entity, p.role, p.operationId, p.device, p.agent, actions[first + i].get(), messages.at(first + i)};
      proposal.proof = proof;
      if (partition.propose(proposal).seq == 0) fail("a proposal without an entry");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments args(argc, argv, {"--entries", "--entities", "--batch", "--signed", "--replay", "--export"});
  const std::size_t entries = args.number("--entries", 1'000'000), batch = args.number("--batch", 100);
  const std::size_t signedTogether = args.number("--signed", 0);
  store::MemoryStore store;
  const auto module = must(domains::makeDomain("budget", {{"cap", std::int64_t{1} << 60}}), "domain");
  const auto ledger = must(kernel::Ledger::open(store, *module, {{}, concat(kCluster, "/budget/0")}), "ledger");
  const auto workload = budgetWorkload(*module, args.number("--entities", 1000), 1);
  workload->begin(ledger->partition(), 0);
  must(ledger->commit(), "commit");
  const SigningKey key = must(SigningKey::fromSeed(std::string(32, 'k')), "key");
  if (signedTogether > 0) {
    ledger->partition().beginEpoch({1, "a@00000001"}, kernel::EpochCause::founding, Time{0}, "", "",
                                   kernel::kSignedFormat);
    must(ledger->commit(), "commit");
  }
  Messages messages;
  std::uint64_t bytes = 0;
  while (ledger->partition().size() < entries) {
    messages.clear();
    workload->fill(messages, batch);
    if (signedTogether > 0)
      decideSigned(ledger->partition(), messages, signedTogether, key);
    else
      decideAll(ledger->partition(), messages, 0, batch, 0, bytes);
    must(ledger->commit(), "commit");
  }
  kernel::VerifyOptions options;
  if (args.number("--replay", 0) != 0) options.replay = module.get();
  std::vector<std::string> lines;
  for (std::uint64_t seq = 1; args.number("--export", 0) != 0 && seq <= ledger->partition().size(); ++seq) {
    const std::string entry = must(ledger->entryBytes(seq), "entry");
    std::string shown = kernel::entryJson(must(kernel::readEntryView(entry), "entry"), {});
    if (args.number("--export", 0) == 2) shown = canonicalJson(must(parseJson(shown, kOwnJson), "entry"));
    lines.push_back(concat("{\"seq\":", seq, ",\"leafHash\":\"", toHex(kernel::leafHash(entry)), "\",\"bytes\":\"",
                           toBase64(entry), "\",\"entry\":", shown, "}"));
  }
  for (int round = 0; round < 3; ++round) {
    std::size_t at = 0;
    const auto next = [&]() -> Result<std::optional<std::string>> {
      return at == lines.size() ? std::nullopt : std::optional(lines[at++]);
    };
    const ThreadStopwatch watch;
    const kernel::VerifyReport report =
        must(lines.empty() ? kernel::verifyLedger(store, options) : kernel::verifyExport(next, options), "verify");
    const double seconds = watch.seconds();
    if (!report.ok() || report.entries != ledger->partition().size())
      fail("the ledger does not verify: " + report.problem);
    std::printf("%llu entries%s: %.2f s, %.0f entries/s\n", static_cast<unsigned long long>(report.entries),
                report.replayed ? ", replayed" : "", seconds, static_cast<double>(report.entries) / seconds);
  }
  return 0;
}
