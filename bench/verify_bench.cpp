// Verification of a long ledger on one core: framing, canonical bytes, tree, state digests, operation ids.
//
//   witan_verify_bench [--entries N] [--entities N] [--batch N] [--replay 0|1] [--export 0|1|2]
//
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
#include "store/memory_store.h"

int main(int argc, char** argv) {
  using namespace witan;
  using namespace witan::bench;
  const Arguments args(argc, argv, {"--entries", "--entities", "--batch", "--replay", "--export"});
  const std::size_t entries = args.number("--entries", 1'000'000), batch = args.number("--batch", 100);
  store::MemoryStore store;
  const auto module = must(domains::makeDomain("budget", {{"cap", std::int64_t{1} << 60}}), "domain");
  const auto ledger = must(kernel::Ledger::open(store, *module, {{}, "witan/bench"}), "ledger");
  const auto workload = budgetWorkload(*module, args.number("--entities", 1000), 1);
  workload->begin(ledger->partition(), 0);
  must(ledger->commit(), "commit");
  Messages messages;
  std::uint64_t bytes = 0;
  while (ledger->partition().size() < entries) {
    messages.clear();
    workload->fill(messages, batch);
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
