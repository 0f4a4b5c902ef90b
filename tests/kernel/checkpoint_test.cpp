#include "kernel/record/checkpoint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"

namespace witan::kernel::checkpoint_test {
namespace {

// The example of Go's golang.org/x/mod/sumdb/note package documentation.
constexpr std::string_view goKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
constexpr std::string_view goSecret = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
constexpr std::string_view goText =
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n";
constexpr std::string_view goLine =
    "\u2014 PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

std::string joined(std::string_view a, std::string_view b, std::string_view c = {}, std::string_view d = {}) {
  return std::string(a).append(b).append(c).append(d);
}

const std::string goNote = joined(goText, "\n", goLine);

SigningKey keyOf(char seed) { return SigningKey::fromSeed(std::string(32, seed)).value(); }

NoteVerifier verifierOf(std::string_view name, const SigningKey& key) {
  return makeNoteVerifier(name, key.publicKey()).value();
}

Result<OpenedNote> openWith(std::string_view note, const std::vector<NoteVerifier>& known) {
  return openNote(note, known);
}

TEST(SignedNote, GoKeyAndNoteVerify) {
  const NoteVerifier key = parseVerifierKey(goKey).value();
  EXPECT_EQ(key.name, "PeterNeumann");
  EXPECT_EQ(key.keyId, 0xc74f20a3u);
  EXPECT_EQ(verifierKeyText(key), goKey);
  const OpenedNote opened = openWith(goNote, {key}).value();
  EXPECT_EQ(opened.text, goText);
  EXPECT_EQ(opened.verifiedBy, std::vector{key});
  EXPECT_EQ(opened.unknownSignatures, 0u);
}

TEST(SignedNote, SigningAsGoDoesGivesGosBytes) {
  const std::string secret = fromBase64(goSecret).value().substr(1);
  const NoteSigner signer{"PeterNeumann", SigningKey::fromSeed(secret).value()};
  EXPECT_EQ(signNote(goText, {&signer, 1}).value(), goNote);
  EXPECT_EQ(verifierKeyText(verifierOf(signer.name, signer.key)), goKey);
}

TEST(SignedNote, EveryFlippedByteIsRefusedOrIgnored) {
  const NoteVerifier key = parseVerifierKey(goKey).value();
  for (std::size_t i = 0; i < goNote.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string altered = goNote;
      altered[i] = static_cast<char>(altered[i] ^ (1 << bit));
      EXPECT_FALSE(openWith(altered, {key}).ok()) << i << " " << bit;
    }
  }
}

TEST(SignedNote, UnknownSignaturesAreIgnoredButNeverEnough) {
  const NoteSigner log{"example.com/log", keyOf('a')};
  const NoteSigner witness{"example.com/witness", keyOf('b')};
  const NoteSigner both[] = {witness, log, log};
  const std::string note = signNote("text\n\nmore\n", both).value();
  const NoteVerifier logKey = verifierOf(log.name, log.key);
  const OpenedNote opened = openWith(note, {logKey}).value();
  EXPECT_EQ(opened.text, "text\n\nmore\n");
  EXPECT_EQ(opened.verifiedBy, std::vector{logKey});  // once, though it signed twice
  EXPECT_EQ(opened.unknownSignatures, 1u);
  EXPECT_EQ(openWith(note, {}).error().code, ErrorCode::unauthorised);
  // The name alone, or the id alone, is not a known key.
  EXPECT_FALSE(openWith(note, {verifierOf(log.name, keyOf('c'))}).ok());
  EXPECT_FALSE(openWith(note, {NoteVerifier{"example.com/other", logKey.keyId, logKey.publicKey}}).ok());
}

TEST(SignedNote, ABadSignatureOfAKnownKeyRefusesTheNote) {
  const NoteSigner log{"example.com/log", keyOf('a')};
  const NoteSigner witness{"example.com/witness", keyOf('b')};
  const std::string good = signNote("text\n", {&log, 1}).value();
  const std::string other = signNote("other\n", {&witness, 1}).value();
  const std::string mixed = good + other.substr(other.rfind("\n\n") + 2);
  const std::vector<NoteVerifier> known{verifierOf(log.name, log.key), verifierOf(witness.name, witness.key)};
  EXPECT_EQ(openWith(mixed, known).error().message, "note: the signature of example.com/witness does not verify");
  EXPECT_TRUE(openWith(mixed, {known[0]}).ok());  // for who does not know the witness, it is an unknown signature
  // A short signature under a known name and id must fail too, not crash.
  const std::string shortLine = "\u2014 example.com/log " + toBase64(std::string("\0\0\0\0x", 5)) + "\n";
  EXPECT_FALSE(openWith("text\n\n" + shortLine, {NoteVerifier{log.name, 0, log.key.publicKey()}}).ok());
}

TEST(SignedNote, MalformedNotesAreRefusedWithTheirCause) {
  const std::vector<NoteVerifier> known{parseVerifierKey(goKey).value()};
  const auto why = [&](std::string_view note) { return openWith(note, known).error().message; };
  const std::string line(goLine);
  EXPECT_EQ(why(""), "note: no blank line between text and signatures");
  EXPECT_EQ(why(goText), "note: no blank line between text and signatures");
  EXPECT_EQ(why("\n" + line), "note: no blank line between text and signatures");
  EXPECT_EQ(why(joined(goText, "\n")), "note: no signature line");
  EXPECT_EQ(why(goNote.substr(0, goNote.size() - 1)), "note: the last line has no newline");
  EXPECT_EQ(why(goNote + "x\n"), "note: signature line 2: does not start with an em dash and a space");
  EXPECT_EQ(why(joined(goText, "\n- ", line.substr(4))),
            "note: signature line 1: does not start with an em dash and a space");
  EXPECT_EQ(why("t\n\n\u2014 name\n"), "note: signature line 1: no space after the key name");
  EXPECT_EQ(why("t\n\n\u2014  AAAAAAAA\n"), "note: signature line 1: the key name is not valid");
  EXPECT_EQ(why("t\n\n\u2014 a+b AAAAAAAA\n"), "note: signature line 1: the key name is not valid");
  EXPECT_EQ(why("t\n\n\u2014 n A*==\n"), "note: signature line 1: the signature is not base64");
  EXPECT_EQ(why("t\n\n\u2014 n AAAAAA==\n"), "note: signature line 1: the signature is too short");
  EXPECT_EQ(why("t\r\n\n" + line), "note: not UTF-8, or with a control character");
  EXPECT_EQ(why("t\xff\n\n" + line), "note: not UTF-8, or with a control character");
  EXPECT_EQ(why("t\xed\xa0\x80\n\n" + line), "note: not UTF-8, or with a control character");  // a surrogate
  EXPECT_EQ(why("t\xc0\xaf\n\n" + line), "note: not UTF-8, or with a control character");      // overlong
  EXPECT_EQ(why("t\xe0\x80\xaf\n\n" + line), "note: not UTF-8, or with a control character");
  EXPECT_EQ(why("t\xf0\x80\x80\xaf\n\n" + line), "note: not UTF-8, or with a control character");
  EXPECT_EQ(why("t\xe2\x80"), "note: not UTF-8, or with a control character");  // cut short
  EXPECT_EQ(why("t\xf4\x90\x80\x80\n\n" + line), "note: not UTF-8, or with a control character");
  EXPECT_EQ(why(std::string(maxNoteBytes + 1, 'x')), "note: more than 1000000 bytes");
  std::string many = goNote;
  for (std::size_t i = 0; i < maxNoteSignatures; ++i) many += "\u2014 n AAAAAAAA\n";
  EXPECT_EQ(why(many), "note: more than 100 signatures");
  many.resize(many.rfind("\u2014"));
  EXPECT_TRUE(openWith(many, known).ok());  // exactly the limit
}

TEST(SignedNote, KeyNames) {
  EXPECT_TRUE(isKeyName("example.com/log42"));
  EXPECT_TRUE(isKeyName("Grüße"));
  for (const char* bad : {"", "a b", "a+b", "a\tb", "a\u00a0b", "a\u3000b", "a\u2028b", "a\xff", "\u1680"}) {
    EXPECT_FALSE(isKeyName(bad)) << bad;
  }
  EXPECT_TRUE(isKeyName(std::string(maxKeyNameBytes, 'n')));
  EXPECT_FALSE(isKeyName(std::string(maxKeyNameBytes + 1, 'n')));
  EXPECT_FALSE(makeNoteVerifier("a b", PublicKey{}).ok());
}

TEST(SignedNote, BadVerifierKeysAreRefused) {
  const std::string key(goKey);
  for (const std::string& bad :
       {std::string(), std::string("name"), key.substr(0, 20), "Other" + key, key.substr(0, key.size() - 1), key + "A",
        std::string("PeterNeumann+c74f20a4") + key.substr(21), std::string("PeterNeumann+C74F20A3") + key.substr(21),
        std::string("PeterNeumann+c74f20a3+AhpcAAAA"), std::string("+c74f20a3+") + key.substr(22)}) {
    EXPECT_FALSE(parseVerifierKey(bad).ok()) << bad;
  }
}

TEST(SignedNote, AVerifierKeyUnderWhichAnybodySignsIsRefused) {
  const NoteVerifier weak = makeNoteVerifier("log", PublicKey{1}).value();
  EXPECT_EQ(parseVerifierKey(verifierKeyText(weak)).error().code, ErrorCode::invalidInput);
}

TEST(SignedNote, SigningRefusesWhatCouldNotBeOpened) {
  const NoteSigner signer{"n", keyOf('a')};
  const NoteSigner unnamed{"", keyOf('a')};
  EXPECT_FALSE(signNote("", {&signer, 1}).ok());
  EXPECT_FALSE(signNote("no newline", {&signer, 1}).ok());
  EXPECT_FALSE(signNote("tab\there\n", {&signer, 1}).ok());
  EXPECT_FALSE(signNote("text\n", {}).ok());
  EXPECT_FALSE(signNote("text\n", {&unnamed, 1}).ok());
  EXPECT_FALSE(signNote(std::string(maxNoteBytes, 'x') + "\n", {&signer, 1}).ok());
}

Checkpoint sample() {
  Hash root{};
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = static_cast<std::uint8_t>(i);
  return {"example.com/log", 20852163, root, {}};
}

TEST(Checkpoint, TextForm) {
  EXPECT_EQ(checkpointText(sample()).value(),
            "example.com/log\n20852163\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n");
  Checkpoint empty{"o", 0, sha256(""), {"one", "two"}};
  EXPECT_EQ(checkpointText(empty).value(), "o\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\none\ntwo\n");
  EXPECT_EQ(parseCheckpointText(checkpointText(empty).value()).value(), empty);
}

// The example of the C2SP specification: its root and size, without the key to check the signature.
TEST(Checkpoint, SpecificationExampleParses) {
  const Checkpoint checkpoint =
      parseCheckpointText("example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n")
          .value();
  EXPECT_EQ(checkpoint.origin, "example.com/behind-the-sofa");
  EXPECT_EQ(checkpoint.size, 20852163u);
  EXPECT_EQ(toHex(checkpoint.root), "0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62");
}

TEST(Checkpoint, SignAndOpen) {
  const SigningKey key = keyOf('k');
  const NoteVerifier known = verifierOf("example.com/log", key);
  const std::string note = signCheckpoint(sample(), key).value();
  const OpenedCheckpoint opened = openCheckpoint(note, "example.com/log", {&known, 1}).value();
  EXPECT_EQ(opened.checkpoint, sample());
  EXPECT_EQ(opened.verifiedBy, std::vector{known});
  EXPECT_EQ(openCheckpoint(note, "example.com/other", {&known, 1}).error().message,
            "checkpoint: of the log \"example.com/log\", not of \"example.com/other\"");
  const NoteVerifier stranger = verifierOf("example.com/log", keyOf('s'));
  EXPECT_EQ(openCheckpoint(note, "example.com/log", {&stranger, 1}).error().code, ErrorCode::unauthorised);
  for (std::size_t i = 0; i < note.size(); ++i) {
    std::string altered = note;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(openCheckpoint(altered, "example.com/log", {&known, 1}).ok()) << i;
  }
}

TEST(Checkpoint, BadTextsAreRefusedWithTheirLine) {
  const std::string root = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
  const auto why = [](const std::string& text) { return parseCheckpointText(text).error().message; };
  const std::string size = "checkpoint: line 2: the tree size is not a decimal number without leading zeros";
  for (const char* bad : {"01", "-1", "+1", "1 ", " 1", "0x1", "18446744073709551616", "00"}) {
    EXPECT_EQ(why(std::string("o\n") + bad + "\n" + root), size);
  }
  EXPECT_EQ(why("o\n9223372036854775808\n" + root), "checkpoint: line 2: the tree size is above 2^63 - 1");
  EXPECT_EQ(why("o\n1\nAAAA\n"), "checkpoint: line 3: the root hash is not the base64 of 32 bytes");
  EXPECT_EQ(why("o\n1\n" + root.substr(1)), "checkpoint: line 3: the root hash is not the base64 of 32 bytes");
  // The same 32 bytes with a stray bit behind them: one root, one text.
  EXPECT_EQ(why("o\n1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=\n"),
            "checkpoint: line 3: the root hash is not the base64 of 32 bytes");
  EXPECT_EQ(why("\n1\n" + root), "checkpoint: line 1: empty, or with a control character");
  EXPECT_EQ(why("o\n1\n" + root + "\n"), "checkpoint: line 4: empty, or with a control character");
  EXPECT_EQ(why("o\n1\n"), "checkpoint: origin, tree size and root hash are three lines");
  EXPECT_EQ(why("o\n1\nx"), "checkpoint: the last line has no newline");
  EXPECT_EQ(why(""), "checkpoint: the last line has no newline");
  EXPECT_EQ(why(std::string(maxOriginBytes + 1, 'o') + "\n1\n" + root), "checkpoint: line 1: the origin is too long");
  std::string long64 = "o\n1\n" + root;
  for (std::size_t i = 0; i < maxExtensionLines; ++i) long64 += "x\n";
  EXPECT_TRUE(parseCheckpointText(long64).ok());
  EXPECT_EQ(why(long64 + "x\n"), "checkpoint: line 68: too many extension lines");
}

TEST(Checkpoint, SigningRefusesWhatHasNoText) {
  const auto fails = [](auto change) {
    Checkpoint checkpoint = sample();
    change(checkpoint);
    return !signCheckpoint(checkpoint, keyOf('k')).ok();
  };
  EXPECT_TRUE(fails([](Checkpoint& c) { c.origin = ""; }));
  EXPECT_TRUE(fails([](Checkpoint& c) { c.origin = "a\nb"; }));
  EXPECT_TRUE(fails([](Checkpoint& c) { c.origin = "a b"; }));  // a text, but no key name
  EXPECT_TRUE(fails([](Checkpoint& c) { c.size = ~std::uint64_t{0}; }));
  EXPECT_TRUE(fails([](Checkpoint& c) { c.extensions = {""}; }));
  EXPECT_TRUE(fails([](Checkpoint& c) { c.extensions = {"a\nb"}; }));
  EXPECT_TRUE(fails([](Checkpoint& c) { c.extensions = {"\xff"}; }));
  EXPECT_TRUE(fails([](Checkpoint& c) { c.extensions.assign(maxExtensionLines + 1, "x"); }));
}

// Pieces that make the parsers go deep, in any order.
std::string randomNote() {
  static const std::vector<std::string> pieces = {std::string(goText),
                                                  "\n",
                                                  std::string(goLine),
                                                  "\u2014 ",
                                                  "PeterNeumann ",
                                                  "x08go/ZJ",
                                                  "=",
                                                  "o\n1\n",
                                                  "\xe2",
                                                  "+",
                                                  "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
                                                  std::string(goKey),
                                                  std::string(1, '\0'),
                                                  "c74f20a3",
                                                  "18446744"};
  std::string note;
  for (const std::string& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) {
    note += piece;
  }
  return note + *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
}

RC_GTEST_PROP(Checkpoint, AnyBytesAreReadOrRefused, ()) {
  const std::string bytes = randomNote();
  const NoteVerifier key = parseVerifierKey(goKey).value();
  const Result<OpenedNote> note = openNote(bytes, {&key, 1});
  if (note.ok()) RC_ASSERT(note->text == goText);  // the only text that this key ever signed
  const Result<Checkpoint> checkpoint = parseCheckpointText(bytes);
  if (checkpoint.ok()) RC_ASSERT(checkpointText(*checkpoint).value() == bytes);
  const Result<NoteVerifier> verifier = parseVerifierKey(bytes);
  if (verifier.ok()) RC_ASSERT(verifierKeyText(*verifier) == bytes);
  RC_ASSERT(!openCheckpoint(bytes, "o", {&key, 1}).ok());
}

}  // namespace
}  // namespace witan::kernel::checkpoint_test
