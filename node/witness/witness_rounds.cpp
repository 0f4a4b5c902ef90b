#include "node/witness/witness_rounds.h"

#include <algorithm>
#include <charconv>

#include "base/json_codec.h"
#include "kernel/record/merkle.h"
#include "node/tools/tool_address.h"
#include "node/witness/witness.h"
#include "program/durable_file.h"
#include "replica/core/partition_host.h"
#include "replica/head_exchange.h"
#include "replication/local_replica.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostPublishedBytes = 16 << 20;
constexpr std::size_t kMostAnswerBytes = 64 * 1024;
constexpr std::int64_t kAskAgainMs = 250, kAskMostMs = 60'000;
constexpr std::int64_t kCostOfProof = 20;  // between two proofs, as a multiple of what one took

struct PublishedRow {
  std::string partition, note;
  WITAN_MEMBERS(PublishedRow, partition, note)
};
struct HeadsFile {
  std::vector<PublishedRow> heads;
  WITAN_MEMBERS(HeadsFile, heads)
};

}  // namespace

Status checkWitnesses(const WitnessOptions& options) {
  if (options.urls.size() != options.vkeys.size())
    return invalid(concat("[witness] url names ", options.urls.size(), " witnesses, vkey ", options.vkeys.size()),
                   "give each one's address and its key, in the same order");
  if (options.require < 1 || options.require > options.urls.size())
    return invalid(concat("[witness] require is ", options.require), "1 to the number of witnesses");
  std::set<std::string> names;
  for (std::size_t i = 0; i < options.urls.size(); ++i) {
    if (!options.urls[i].starts_with("http://") && !options.urls[i].starts_with("https://"))
      return invalid("[witness] url: " + options.urls[i] + " is no address of a witness", "http://HOST:PORT");
    WITAN_TRY(address, toolAddress(options.urls[i]));
    (void)address;
    WITAN_TRY(key, kernel::parseVerifierKey(options.vkeys[i]));
    if (key.type != kernel::NoteKeyType::cosignature)
      return invalid("[witness] vkey: " + options.vkeys[i] + " is no key of a witness", "take its file witness.vkey");
    if (!names.insert(key.name).second) return invalid("[witness] vkey names " + key.name + " twice");
  }
  return okStatus();
}

Result<std::unique_ptr<WitnessRounds>> WitnessRounds::open(net::Loop& loop, Log& log, Replica& replica,
                                                           const std::filesystem::path& dir, WitnessOptions options) {
  WITAN_DO(checkWitnesses(options));
  std::unique_ptr<WitnessRounds> rounds(new WitnessRounds(loop, log, replica, dir, std::move(options)));
  WITAN_DO(rounds->start());
  WITAN_DO(rounds->load());
  return rounds;
}

WitnessRounds::~WitnessRounds() = default;

Status WitnessRounds::start() {
  for (std::size_t i = 0; i < options_.urls.size(); ++i) {
    WITAN_TRY(address, toolAddress(options_.urls[i]));
    WITAN_TRY(key, kernel::parseVerifierKey(options_.vkeys[i]));
    verifiers_.push_back(std::move(key));
    One& one = witnesses_.emplace_back();
    one.target = (address.path == "/" ? "" : address.path) + "/add-checkpoint";
    one.client = std::make_unique<net::HttpClient>(loop_, address.endpoint,
                                                   net::HttpClientOptions{.maxBodyBytes = kMostAnswerBytes});
  }
  return okStatus();
}

// Heads with signatures of other keys than those of the configuration are no longer published.
Status WitnessRounds::load() {
  WITAN_TRY(text, readSmallFile(file_, kMostPublishedBytes));
  if (!text) return okStatus();
  HeadsFile file;
  auto value = parseJson(*text, kOwnJson);
  const Status read = value.ok() ? readJson(*value, file, "heads.published") : Status(value.error());
  if (!read.ok()) return corrupt(file_.string() + " is damaged", "delete it: witnesses are asked again");
  for (PublishedRow& row : file.heads) {
    Published head;
    head.witnesses = witnessesOf(row.note);
    head.text = row.note.substr(0, row.note.rfind("\n\n") + 1);
    const auto checkpoint = kernel::parseCheckpointText(head.text);
    if (!checkpoint.ok() || head.witnesses.size() < options_.require) continue;
    head.size = checkpoint->size;
    head.note = std::move(row.note);
    gathering_[row.partition] = published_[row.partition] = std::move(head);
  }
  return okStatus();
}

const WitnessRounds::Published* WitnessRounds::published(std::string_view partition) const {
  const auto at = published_.find(partition);
  return at == published_.end() ? nullptr : &at->second;
}

std::set<std::string> WitnessRounds::witnessesOf(std::string_view note) const {
  std::set<std::string> names;
  const auto opened = kernel::openNote(note, verifiers_);
  if (opened.ok())
    for (const kernel::NoteVerifier& key : opened->verifiedBy) names.insert(key.name);
  return names;
}

void WitnessRounds::look() {
  for (std::size_t i = 0; i < witnesses_.size(); ++i) askNext(i);
}

void WitnessRounds::askNext(std::size_t index) {
  One& one = witnesses_[index];
  if (one.asked || net::Loop::nowMs() < one.nextMs) return;
  for (const auto& [id, host] : replica_.hosts()) {
    const HeadExchange::Heads* heads = replica_.owns(*host) ? replica_.heads().find(id) : nullptr;
    if (heads == nullptr || !heads->latest || heads->latest->checkpoint.size == 0) continue;
    const auto last = one.texts.find(id);
    if (const auto put = one.putOff.find(heads->latest->checkpoint.origin); put != one.putOff.end()) {
      if (net::Loop::nowMs() < put->second) continue;
      one.putOff.erase(put);
    }
    if (last == one.texts.end() || last->second != heads->latest->text) return ask(index, id, *heads->latest);
  }
}

void WitnessRounds::ask(std::size_t index, const std::string& partition, const LogHead& head) {
  One& one = witnesses_[index];
  const std::uint64_t old = one.sizes[head.checkpoint.origin], size = head.checkpoint.size;
  std::vector<Hash> proof;
  const std::int64_t began = net::Loop::nowMs();
  one.nextMs = began + kAskAgainMs;
  one.putOff[head.checkpoint.origin] = began + kAskMostMs;
  if (old > size) return wentBack(index, head.log, old);
  if (old > 0 && old < size) {
    const auto tree = replica_.host(partition)->ledger().treeOf(size);
    auto path = tree.ok() ? kernel::consistencyProof(old, size, *tree) : Result<std::vector<Hash>>(tree.error());
    if (!path.ok()) return;
    proof = *std::move(path);
  }
  one.putOff.erase(head.checkpoint.origin);
  const std::int64_t now = net::Loop::nowMs();
  one.nextMs = now + std::max(kAskAgainMs, kCostOfProof * (now - began));
  one.asked = true;
  net::HttpRequest request{.method = "POST", .target = one.target};
  request.body = addCheckpointBody(old, proof, head.note);
  one.client->request(std::move(request), [this, index, partition, head,
                                           alive = std::weak_ptr(alive_)](const Result<net::HttpResponse>& answer) {
    if (alive.expired()) return;
    answered(index, partition, head, answer);
    const std::int64_t wait = std::max<std::int64_t>(1, witnesses_[index].nextMs - net::Loop::nowMs());
    loop_.after(wait, [this, index, alive] {
      if (!alive.expired()) askNext(index);
    });
  });
}

void WitnessRounds::answered(std::size_t index, const std::string& partition, const LogHead& head,
                             const Result<net::HttpResponse>& answer) {
  One& one = witnesses_[index];
  one.asked = false;
  if (answer.ok() && answer->status == 200) return cosigned(index, partition, head, answer->body);
  if (answer.ok() && answer->status == 409) return otherSize(index, head, answer->body);
  const std::string why =
      answer.ok() ? concat("it answered ", answer->status, ": ", answer->body.substr(0, 200)) : answer.error().message;
  if (answer.ok() && answer->status == 422) {
    one.putOff[head.checkpoint.origin] = net::Loop::nowMs() + kAskMostMs;
    return accuse(
        index, head.log,
        concat("the witness ", verifiers_[index].name, " has cosigned another log of ", partition, ", of ",
               one.sizes[head.checkpoint.origin], " entries: ledgers here were replaced, or two of them exist"));
  }
  // Once for each time that it begins to fail.
  if (one.failures++ == 0)
    log_.warn("witness", "a head was not cosigned",
              {{"witness", verifiers_[index].name}, {"partition", partition}, {"why", why}});
  one.nextMs = net::Loop::nowMs() + std::min(kAskMostMs, kAskAgainMs << std::min(one.failures, 8u));
}

void WitnessRounds::cosigned(std::size_t index, const std::string& partition, const LogHead& head,
                             std::string_view lines) {
  One& one = witnesses_[index];
  const std::string& name = verifiers_[index].name;
  std::string note = concat(head.note, lines);
  if (!witnessesOf(note).contains(name)) {
    if (one.failures++ == 0) log_.warn("witness", "its answer bears no signature of its key", {{"witness", name}});
    one.nextMs = net::Loop::nowMs() + kAskMostMs;
    return;
  }
  one.failures = 0;
  one.sizes[head.checkpoint.origin] = head.checkpoint.size;
  one.texts[partition] = head.text;
  contradicting_.erase(partition);
  Published& gathered = gathering_[partition];
  const auto joined = gathered.text == head.text ? kernel::withSignaturesOf(gathered.note, note) : Result(note);
  if (!joined.ok()) return;
  gathered = {head.text, *joined, head.checkpoint.size, witnessesOf(*joined)};
  if (gathered.witnesses.size() < options_.require) return;
  published_[partition] = gathered;
  save();
}

void WitnessRounds::otherSize(std::size_t index, const LogHead& head, std::string_view body) {
  One& one = witnesses_[index];
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), size);
  std::uint64_t& known = one.sizes[head.checkpoint.origin];
  const bool news = error == std::errc{} && size != known;
  if (news) known = size;
  if (news && size <= head.checkpoint.size) return;  // it is asked again from there
  one.putOff[head.checkpoint.origin] = net::Loop::nowMs() + kAskMostMs;
  const PartitionHost* mine = replica_.host(head.log.partition);
  if (mine != nullptr && mine->epoch() == head.log.epoch && size > head.checkpoint.size && size <= mine->entries())
    return;  // the entries are here, and only the head that it cosigned is not: the next one extends that
  wentBack(index, head.log, size);
}

// What stands here is shorter, or of the same length and other.
void WitnessRounds::wentBack(std::size_t index, const LogName& log, std::uint64_t cosignedSize) {
  accuse(index, log,
         concat("the witness ", verifiers_[index].name, " has cosigned ", cosignedSize, " entries of ", log.partition,
                " that are not here: this ledger went back, or two of them exist"));
  published_.erase(log.partition);  // what stands here is not what was published last
}

void WitnessRounds::accuse(std::size_t index, const LogName& log, const std::string& what) {
  replica_.data().note({"witnessDiffers", replica_.device(), what});
  log_.error("witness", what);
  std::set<std::size_t>& all = contradicting_[log.partition];
  all.insert(index);
  const PartitionHost* mine = replica_.host(log.partition);
  if (all.size() >= options_.require && mine != nullptr && mine->epoch() == log.epoch)
    replica_.stopDeciding(log.partition, what);
}

void WitnessRounds::save() {
  HeadsFile file;
  for (const auto& [partition, head] : published_) file.heads.push_back({partition, head.note});
  if (const Status kept = replaceFile(file_, toJson(file) + "\n", 0644); !kept.ok())
    log_.warn("witness", "published heads could not be written", {{"why", kept.error().message}});
}

}  // namespace witan::node
