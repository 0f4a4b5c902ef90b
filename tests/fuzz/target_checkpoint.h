// Any bytes as a signed note, as the text of a checkpoint and as a verifier key. What is accepted has exactly one text.
#pragma once

#include "kernel/record/checkpoint.h"
#include "tests/fuzz/domains.h"

namespace witan::fuzz {

// The key that signed the notes of the corpus.
inline const SigningKey& corpusKey() {
  static const SigningKey key = SigningKey::fromSeed(std::string(32, 'k')).value();
  return key;
}
inline constexpr std::string_view kCorpusOrigin = "witan/corpus";

inline void fuzzCheckpoint(std::string_view text) {
  using namespace kernel;
  static const NoteVerifier known = makeNoteVerifier(kCorpusOrigin, corpusKey().publicKey()).value();
  if (const auto opened = openNote(text, {&known, 1}); opened.ok()) {
    WITAN_CHECK(opened->verifiedBy.size() == 1 && text.starts_with(opened->text), "a note that a known key signed");
  }
  if (const auto opened = openCheckpoint(text, kCorpusOrigin, {&known, 1}); opened.ok()) {
    WITAN_CHECK(opened->checkpoint.origin == kCorpusOrigin, "of the log that was asked for");
  }
  if (const auto checkpoint = parseCheckpointText(text); checkpoint.ok()) {
    WITAN_CHECK(checkpointText(*checkpoint).value() == text, "a checkpoint has one text");
  }
  if (const auto verifier = parseVerifierKey(text); verifier.ok()) {
    WITAN_CHECK(*parseVerifierKey(verifierKeyText(*verifier)) == *verifier, "a verifier key reads back");
  }
}

}  // namespace witan::fuzz
