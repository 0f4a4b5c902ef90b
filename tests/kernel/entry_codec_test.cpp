// The bytes of ledger records against Cap'n Proto itself: kernel/record/ledger.capnp compiled by its compiler, encoded
// and canonicalised by its library (https://capnproto.org/encoding.html#canonicalization).
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "kernel/epoch.h"
#include "kernel/record/entry.h"
#include "kernel/record/entry_text.h"
#include "kernel/record/ledger.capnp.h"
#include "tests/same_layout.h"

namespace witan::kernel::entry_codec_test {
namespace {

std::string hexOf(std::string_view bytes) {
  return toHex(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

kj::ArrayPtr<const kj::byte> bytesOf(std::span<const std::uint8_t> data) { return {data.data(), data.size()}; }

template <class Builder>
std::string canonical(Builder root) {
  const auto words = capnp::canonicalize(root.asReader());
  const auto bytes = words.asBytes();
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

// An absent text and an empty one are the same to us, and a null pointer on the wire.
#define SET_TEXT(setter, text) \
  if (!(text).empty()) to.setter(kj::StringPtr((text).c_str(), (text).size()))

std::string byLibrary(const Entry& e) {
  capnp::MallocMessageBuilder message;
  auto to = message.initRoot<wire::Entry>();
  to.setSeq(e.seq);
  to.setTime(e.time.micros);
  to.setTag(static_cast<std::uint16_t>(e.tag));
  to.setEscalation(e.escalation);
  SET_TEXT(setEntity, e.entity);
  SET_TEXT(setRole, e.role);
  SET_TEXT(setDevice, e.device);
  SET_TEXT(setAgent, e.agent);
  SET_TEXT(setOperationId, e.operationId);
  SET_TEXT(setAction, e.action);
  SET_TEXT(setInvariant, e.invariant);
  SET_TEXT(setMessage, e.message);
  SET_TEXT(setWrites, e.writes);
  if (!e.verdicts.empty()) to.setVerdicts(bytesOf(e.verdicts));
  SET_TEXT(setCounselor, e.counselor);
  SET_TEXT(setReason, e.reason);
  SET_TEXT(setDecision, e.decision);
  to.setStateDigest(bytesOf(e.stateDigest));
  SET_TEXT(setGenesis, e.genesis);
  if (!e.runKey.empty()) to.setRunKey(bytesOf(e.runKey));
  if (!e.planDigest.empty()) to.setPlanDigest(bytesOf(e.planDigest));
  if (!e.findings.empty()) {
    auto list = to.initFindings(static_cast<unsigned>(e.findings.size()));
    for (unsigned i = 0; i < list.size(); ++i) {
      auto finding = list[i];
      const auto& f = e.findings[i];
      if (!f.invariant.empty()) finding.setInvariant(kj::StringPtr(f.invariant.c_str(), f.invariant.size()));
      finding.setResult(f.result);
      if (!f.message.empty()) finding.setMessage(kj::StringPtr(f.message.c_str(), f.message.size()));
    }
  }
  return canonical(to);
}

std::string byUs(const Entry& e) {
  WordWriter writer;
  return std::string(writer.message(e));
}

Entry sampleEntry() {
  Entry e;
  e.seq = 3;
  e.time = Time{1'774'252'800'000'000};
  e.tag = Tag::escalated;
  e.entity = "U02";
  e.role = "Clinical";
  e.operationId = "op-3";
  e.action = R"({"type":"RecordResult"})";
  e.verdicts = {1, 1, 3};
  e.findings = {{"UDT_RELAPSE_RESPONSE", 3, "no response"}, {"", 0, ""}};
  e.stateDigest.fill(0xab);
  return e;
}

TEST(EntryCodec, EqualsTheLibrarysCanonicalForm) {
  EXPECT_EQ(hexOf(byUs(Entry{})), hexOf(byLibrary(Entry{})));
  EXPECT_EQ(hexOf(byUs(sampleEntry())), hexOf(byLibrary(sampleEntry())));
  Entry emptyFindings;
  emptyFindings.findings.resize(3);  // elements of no words at all
  EXPECT_EQ(hexOf(byUs(emptyFindings)), hexOf(byLibrary(emptyFindings)));
}

Entry anyEntry() {
  using namespace rc;
  const auto text = [] {
    return *gen::oneOf(gen::just(std::string()), gen::container<std::string>(gen::inRange<char>(1, 127)));
  };
  Entry e;
  e.seq = *gen::arbitrary<std::uint64_t>();
  e.time.micros =
      *gen::inRange<std::int64_t>(-62'135'596'800'000'000, 253'402'300'800'000'000);  // the years 0001 to 9999
  e.tag = static_cast<Tag>(*gen::inRange(0, 5));
  e.escalation = *gen::element<std::uint64_t>(0, 1, 1ull << 63);
  for (std::string* member : {&e.entity, &e.role, &e.device, &e.agent, &e.operationId, &e.action, &e.invariant,
                              &e.message, &e.writes, &e.counselor, &e.reason, &e.decision, &e.genesis})
    *member = text();
  e.verdicts = *gen::arbitrary<std::vector<std::uint8_t>>();
  for (int i = *gen::inRange(0, 5); i > 0; --i)
    e.findings.push_back({text(), *gen::element<std::uint16_t>(0, 2, 3, 65535), text()});
  for (auto& byte : e.stateDigest) byte = *gen::arbitrary<std::uint8_t>();
  const std::size_t digest = *gen::element<std::size_t>(0, 32);
  for (std::vector<std::uint8_t>* member : {&e.runKey, &e.planDigest})
    *member = *gen::container<std::vector<std::uint8_t>>(digest, gen::arbitrary<std::uint8_t>());
  return e;
}

RC_GTEST_PROP(EntryCodec, AnyEntryEqualsTheLibrarysCanonicalForm, ()) {
  const Entry e = anyEntry();
  RC_ASSERT(hexOf(byUs(e)) == hexOf(byLibrary(e)));
}

RC_GTEST_PROP(EntryCodec, RoundTrip, ()) {
  const Entry e = anyEntry();
  const std::string bytes = byUs(e);
  const Entry back = readEntry(bytes).value();
  RC_ASSERT(byUs(back) == bytes);
  RC_ASSERT(back.seq == e.seq);
  RC_ASSERT(back.time == e.time);
  RC_ASSERT(back.tag == e.tag);
  RC_ASSERT(back.genesis == e.genesis);
  RC_ASSERT(back.verdicts == e.verdicts);
  RC_ASSERT(back.stateDigest == e.stateDigest);
  RC_ASSERT(back.runKey == e.runKey);
  RC_ASSERT(back.planDigest == e.planDigest);
  RC_ASSERT(back.findings.size() == e.findings.size());
}

// The library reads what we write, by its own accessors.
RC_GTEST_PROP(EntryCodec, TheLibraryReadsOurs, ()) {
  const Entry e = anyEntry();
  const std::string bytes = byUs(e);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const kj::ArrayPtr<const capnp::word> segment(reinterpret_cast<const capnp::word*>(words.data()), words.size());
  capnp::SegmentArrayMessageReader reader(kj::arrayPtr(&segment, 1));
  RC_ASSERT(reader.isCanonical());
  const auto from = reader.getRoot<wire::Entry>();
  RC_ASSERT(from.getSeq() == e.seq);
  RC_ASSERT(from.getTime() == e.time.micros);
  RC_ASSERT(from.getEscalation() == e.escalation);
  RC_ASSERT(std::string(from.getAction().cStr(), from.getAction().size()) == e.action);
  RC_ASSERT(std::string(from.getGenesis().cStr(), from.getGenesis().size()) == e.genesis);
  RC_ASSERT(from.getVerdicts().size() == e.verdicts.size());
  RC_ASSERT(from.getFindings().size() == e.findings.size());
  for (unsigned i = 0; i < e.findings.size(); ++i) RC_ASSERT(from.getFindings()[i].getResult() == e.findings[i].result);
}

// docs/ledger-format.md: an entry without a run has the bytes that it had before there were runs.
TEST(EntryCodec, AnEntryWithoutARunIsWhatItWas) {
  Entry named = sampleEntry();
  named.runKey.assign(32, 7);
  named.planDigest.assign(32, 9);
  const std::string with = byUs(named), without = byUs(sampleEntry());
  EXPECT_EQ(with.size(), without.size() + 3 * 8 + 2 * 32);  // two digests, their pointers, that of no genesis
  EXPECT_TRUE(readEntry(without).value().runKey.empty());
  EXPECT_EQ(readEntry(with).value().planDigest, named.planDigest);
}

TEST(EntryCodec, ARunAndItsPlanGoTogether) {
  const auto problemOf = [](std::size_t run, std::size_t plan) {
    Entry e = sampleEntry();
    e.runKey.assign(run, 7);
    e.planDigest.assign(plan, 9);
    const auto read = readEntry(byUs(e));
    return read.ok() ? std::string() : read.error().message;
  };
  EXPECT_EQ(problemOf(32, 32), "");
  EXPECT_EQ(problemOf(32, 0), "entry: a run key without a plan digest, or the reverse");
  EXPECT_EQ(problemOf(0, 32), "entry: a run key without a plan digest, or the reverse");
  EXPECT_EQ(problemOf(31, 31), "entry.runKey: expected 32 bytes, found 31");
}

// A second encoding of the same entry is seen: it would be a second leaf.
TEST(EntryCodec, OnlyOneEncodingIsCanonical) {
  const Entry e = sampleEntry();
  const std::string bytes = byUs(e);
  std::vector<std::uint64_t> words(bytes.size() / 8 + 1);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::string_view aligned(reinterpret_cast<const char*>(words.data()), bytes.size());
  const EntryView view = readEntryView(aligned).value();
  EXPECT_TRUE(isCanonicalEntry(view, aligned));
  const std::string_view padded(aligned.data(), bytes.size() + 8);  // one zero word more
  EXPECT_TRUE(readEntryView(padded).ok());
  EXPECT_FALSE(isCanonicalEntry(view, padded));
}

TEST(EntryCodec, EveryTruncationIsAnErrorOrReadsNothingWrong) {
  const std::string bytes = byUs(sampleEntry());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    auto entry = readEntry(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(entry.ok()) << cut;
  }
}

RC_GTEST_PROP(EntryCodec, AnyWordsGiveAnEntryOrAnError, (std::vector<std::uint64_t> words)) {
  (void)readEntry({reinterpret_cast<const char*>(words.data()), words.size() * 8});
}

RC_GTEST_PROP(EntryCodec, AnyAlteredByteGivesAnEntryOrAnError, (std::uint16_t at, std::uint8_t value)) {
  std::string bytes = byUs(sampleEntry());
  bytes[at % bytes.size()] = static_cast<char>(value);
  (void)readEntry(bytes);
}

TEST(EntryCodec, AnUnknownTagIsAnError) {
  Entry e = sampleEntry();
  e.tag = static_cast<Tag>(9);
  EXPECT_EQ(readEntry(byUs(e)).error().message, "entry.tag: no such enumerant 9");
}

// What exports and people get: each member that an entry has, none that it has not.
TEST(EntryJson, ShowsEachMember) {
  Entry e = sampleEntry();
  e.device = "device-1";
  e.agent = "triage";
  e.runKey.assign(32, 7);
  e.planDigest.assign(32, 9);
  e.invariant = "UDT_RELAPSE_RESPONSE";
  e.message = "no \"response\"";
  e.writes = R"({"b":1,"a":[2]})";
  e.verdicts = {1, 0, 3, 9};
  e.counselor = "Ruth";
  e.escalation = 2;
  e.reason = "seen";
  e.decision = "no JSON";
  e.genesis = R"({"state":{}})";
  const std::string bytes = byUs(e);
  std::string expected = R"({"seq":3,"time":"2026-03-23T08:00:00Z","tag":"escalated","entity":"U02","role":"Clinical",)"
                         R"("device":"device-1","agent":"triage","operationId":"op-3","runKey":")";
  for (int i = 0; i < 32; ++i) expected += "07";
  expected += R"(","planDigest":")";
  for (int i = 0; i < 32; ++i) expected += "09";
  expected += R"(","action":{"type":"RecordResult"},"invariant":"UDT_RELAPSE_RESPONSE","message":"no \"response\"",)"
              R"("writes":{"a":[2],"b":1},"verdicts":{"KERNEL_INTEGRITY":"pass","#2":"escalate","#3":"?"},"findings":[)"
              R"({"invariant":"UDT_RELAPSE_RESPONSE","result":"escalate","message":"no response"},)"
              R"({"invariant":"","result":"notEvaluated","message":""}],"counselor":"Ruth","escalation":2,)"
              R"("reason":"seen","decision":"no JSON","stateDigest":")";
  for (int i = 0; i < 32; ++i) expected += "ab";
  expected += R"(","genesis":{"state":{}}})";
  EXPECT_EQ(entryJson(readEntryView(bytes).value(), {"KERNEL_INTEGRITY", "BUDGET_CAP"}), expected);
}

TEST(EntryJson, LeavesOutWhatIsNotThere) {
  Entry e;
  e.tag = Tag::cCommitted;
  const std::string bytes = byUs(e);
  EXPECT_EQ(entryJson(readEntryView(bytes).value(), {}),
            R"({"seq":0,"time":"1970-01-01T00:00:00Z","tag":"cCommitted","verdicts":{},"findings":[],"stateDigest":")" +
                std::string(64, '0') + "\"}");
}

// Every member that an entry may have, in both forms; any other byte anywhere is another text.
RC_GTEST_PROP(EntryText, IsTheEntrysJsonAndNoOther, (std::uint16_t at, std::uint8_t byte)) {
  Entry e = anyEntry();
  e.seq %= std::uint64_t{1} << 53, e.escalation %= std::uint64_t{1} << 53, e.epoch %= std::uint64_t{1} << 53;
  e.time = {static_cast<std::int64_t>(e.seq % 253'000'000'000'000'000)};
  for (std::string* json : {&e.action, &e.writes, &e.decision, &e.genesis}) *json = R"({"a":[1,"x"],"b":null})";
  const std::string bytes = byUs(e);
  const auto view = readEntryView(bytes);
  RC_PRE(view.ok());
  const std::vector<std::string> names{"KERNEL_INTEGRITY", "b", "a \"quoted\" one", "C"};
  const std::string written = entryJson(*view, names);
  const auto parsed = parseJson(written, kOwnJson);
  RC_PRE(parsed.ok());
  const std::string sorted = canonicalJson(*parsed);
  const auto is = [&](const std::string& text, EntryForm form) { return isEntryText(text, *view, names, form); };
  RC_ASSERT(is(written, EntryForm::written));
  RC_ASSERT(is(sorted, EntryForm::sorted));
  RC_ASSERT(!is(sorted, EntryForm::written));
  RC_ASSERT(!is(written, EntryForm::sorted));
  for (const auto& [text, form] : {std::pair(written, EntryForm::written), std::pair(sorted, EntryForm::sorted)}) {
    std::string other = text;
    char& changed = other[at % other.size()];
    changed = static_cast<char>(changed ^ (byte == 0 ? 1 : byte));
    RC_ASSERT(!is(other, form));
    RC_ASSERT(!is(text + " ", form));
    RC_ASSERT(!is(text.substr(0, text.size() - 1), form));
  }
}

using witan::layout::expectSameLayout;

TEST(EntryCodec, LayoutIsTheCompilers) {
  expectSameLayout<wire::Entry, Entry>();
  expectSameLayout<wire::Finding, BasicFinding<std::string>>();
  expectSameLayout<wire::Genesis, Genesis>();
  expectSameLayout<wire::Note, BasicNote<std::string>>();
  expectSameLayout<wire::Epoch, EpochRecord>();
}

}  // namespace
}  // namespace witan::kernel::entry_codec_test
