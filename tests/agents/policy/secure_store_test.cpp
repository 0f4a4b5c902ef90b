// The file of secrets: what is put in comes out for the right key, and nothing for anybody else; every change of the
// file is noticed; no secret byte is in the file or in an error.
#include "agents/policy/secure_store.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "base/bytes.h"
#include "base/sha256.h"

namespace witan::agents::secure_store_test {
namespace {

constexpr std::string_view kValue = "sk-live-0123456789abcdef-SECRET-VALUE";
constexpr std::string_view kName = "cloud-llm-key-NAME";
constexpr std::size_t kFields = 52, kHeader = kFields + 32 + 16;
constexpr std::size_t kVersionAt = 14, kKindAt = 16, kLog2NAt = 17, kSaltAt = 20, kNonceAt = 36, kLengthAt = 48;

StoreKey keyOf(char byte) {
  std::string content(32, byte);
  return keyFromFile(content).value();
}
StoreKey passphraseOf(std::string_view words) { return keyFromPassphrase(Secret::copyOf(words)).value(); }

SecureStore sample() {
  SecureStore store;
  EXPECT_TRUE(store.set(kName, Secret::copyOf(kValue)).ok());
  EXPECT_TRUE(store.set("other", Secret::copyOf("x")).ok());
  return store;
}
std::string sealed(const SecureStore& store, const StoreKey& key, std::uint64_t seed = 1) {
  SeededRandom random(seed);
  return store.seal(key, random, {14, 8, 1});
}
std::string sealedSample() { return sealed(sample(), keyOf('k')); }

// No piece of 6 bytes of the name, the value or the key.
void expectNoSecretIn(std::string_view text, const std::string& where) {
  for (const std::string_view secret : {kValue, kName, std::string_view("correct horse battery")})
    for (std::size_t i = 0; i + 6 <= secret.size(); ++i)
      EXPECT_EQ(text.find(secret.substr(i, 6)), std::string_view::npos) << where;
  EXPECT_EQ(text.find(std::string(6, 'k')), std::string_view::npos) << where;
}

Error refusalOf(std::string_view file, const StoreKey& key) {
  const auto store = SecureStore::open(file, key);
  EXPECT_FALSE(store.ok());
  if (store.ok()) return {};
  expectNoSecretIn(store.error().message + store.error().hint, "an error");
  return store.error();
}

// A forger who knows the format, and no key, makes the header's own check right again.
std::string checked(std::string file) {
  const Hash hash = sha256(std::string_view(file).substr(0, kFields + 32));
  return file.replace(kFields + 32, 16, asView(hash).substr(0, 16));
}

TEST(SecureStore, GivesBackWhatWasPutIn) {
  const auto store = SecureStore::open(sealedSample(), keyOf('k'));
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ(store->size(), 2u);
  ASSERT_NE(store->find(kName), nullptr);
  EXPECT_TRUE(store->find(kName)->sameAs(kValue));
  EXPECT_EQ(store->find("third"), nullptr);
  EXPECT_EQ(store->names(), (std::set<std::string, std::less<>>{std::string(kName), "other"}));
}

TEST(SecureStore, OpensWithItsPassphraseOnly) {
  const std::string file = sealed(sample(), passphraseOf("correct horse battery"));
  EXPECT_EQ(storeKeyKind(file).value(), StoreKeyKind::passphrase);
  const auto store = SecureStore::open(file, passphraseOf("correct horse battery"));
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_TRUE(store->find(kName)->sameAs(kValue));
  const Error wrong = refusalOf(file, passphraseOf("correct horse batterz"));
  EXPECT_EQ(wrong.code, ErrorCode::unauthorised);
  EXPECT_EQ(wrong.message, "this is not the passphrase of the file of secrets");
  EXPECT_EQ(refusalOf(file, keyOf('k')).message, "the file of secrets is for a passphrase, not for a key file");
}

TEST(SecureStore, OpensWithItsKeyFileOnly) {
  const std::string file = sealedSample();
  EXPECT_EQ(storeKeyKind(file).value(), StoreKeyKind::keyFile);
  const Error wrong = refusalOf(file, keyOf('l'));
  EXPECT_EQ(wrong.code, ErrorCode::unauthorised);
  EXPECT_EQ(wrong.message, "this is not the key of the file of secrets");
  EXPECT_EQ(refusalOf(file, passphraseOf("correct horse battery")).message,
            "the file of secrets is for a key file, not for a passphrase");
}

// An empty store is a store, too: whether there are secrets is not to be seen by the size.
TEST(SecureStore, EmptyOrNotLooksTheSame) {
  const std::string file = sealed(SecureStore(), keyOf('k'));
  const auto store = SecureStore::open(file, keyOf('k'));
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->size(), 0u);
  EXPECT_EQ(file.size(), sealedSample().size());
}

TEST(SecureStore, EveryChangedByteIsNoticed) {
  const std::string file = sealedSample();
  for (std::size_t i = 0; i < file.size(); ++i)
    for (const int turned : {0x01, 0x80, 0xff}) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ turned);
      EXPECT_EQ(refusalOf(changed, keyOf('k')).code, ErrorCode::corrupt) << i;
    }
}

TEST(SecureStore, EveryTruncationAndExtensionIsNoticed) {
  const std::string file = sealedSample();
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_EQ(refusalOf(std::string_view(file).substr(0, size), keyOf('k')).code, ErrorCode::corrupt) << size;
  EXPECT_EQ(refusalOf(file + '\0', keyOf('k')).message, "the file of secrets has something behind its end");
  EXPECT_EQ(refusalOf(std::string(kMaxSecureStoreBytes + 1, 'w'), keyOf('k')).message,
            "the file of secrets has more than 4 MiB");
}

TEST(SecureStore, SaysWhatIsDamaged) {
  const std::string file = sealedSample();
  const auto at = [&](std::size_t i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    return refusalOf(changed, keyOf('k')).message;
  };
  EXPECT_EQ(at(0), "this is no file of secrets");
  EXPECT_EQ(at(kSaltAt), "the file of secrets has a damaged header");
  EXPECT_EQ(at(kFields), "the file of secrets has a damaged header");
  EXPECT_EQ(at(kHeader - 1), "the file of secrets has a damaged header");
  EXPECT_EQ(at(kHeader), "the file of secrets has damaged contents");
  EXPECT_EQ(at(file.size() - 1), "the file of secrets has damaged contents");
  EXPECT_EQ(refusalOf(file.substr(0, kHeader - 1), keyOf('k')).message, "the file of secrets is cut within its header");
  EXPECT_EQ(refusalOf(file.substr(0, kHeader), keyOf('k')).message, "the file of secrets is cut: its end is missing");
}

// Downgrades: with a check that is right, each is refused before a key is derived, or by the HMAC.
TEST(SecureStore, AForgedHeaderIsRefused) {
  const std::string file = sealedSample();
  const auto forged = [&](std::size_t at, char byte) {
    std::string changed = file;
    changed[at] = byte;
    return refusalOf(checked(changed), keyOf('k'));
  };
  EXPECT_EQ(forged(kVersionAt, 0).message, "the file of secrets has version 0, this program reads 1");
  EXPECT_EQ(forged(kVersionAt, 2).message, "the file of secrets has version 2, this program reads 1");
  EXPECT_EQ(forged(kKindAt, 2).message, "the file of secrets is for a kind of key that does not exist");
  EXPECT_EQ(forged(kKindAt, 1).message, "the file of secrets asks for scrypt costs that are not accepted");
  for (std::size_t i = kLog2NAt; i < kSaltAt; ++i)
    EXPECT_EQ(forged(i, 14).message, "the file of secrets asks for scrypt costs that are not accepted");
  for (std::size_t i = kSaltAt; i < kLengthAt; ++i)
    EXPECT_EQ(forged(i, static_cast<char>(file[i] ^ 1)).code, ErrorCode::unauthorised) << i;
  EXPECT_EQ(forged(kFields, static_cast<char>(file[kFields] ^ 1)).code, ErrorCode::unauthorised);
}

// Nobody is made to compute for minutes, or to be content with next to nothing, by a file.
TEST(SecureStore, ScryptCostsAreBounded) {
  const std::string file = sealed(sample(), passphraseOf("correct horse battery"));
  const auto with = [&](char log2N, char r, char p) {
    std::string changed = file;
    changed[kLog2NAt] = log2N;
    changed[kLog2NAt + 1] = r;
    changed[kLog2NAt + 2] = p;
    return storeKeyKind(checked(changed)).ok();
  };
  EXPECT_TRUE(with(14, 8, 1));
  EXPECT_TRUE(with(18, 8, 4));
  EXPECT_FALSE(with(13, 8, 1));
  EXPECT_FALSE(with(19, 8, 1));
  EXPECT_FALSE(with(63, 8, 1));
  EXPECT_FALSE(with(0, 8, 1));
  EXPECT_FALSE(with(15, 1, 1));
  EXPECT_FALSE(with(15, 16, 1));
  EXPECT_FALSE(with(15, 8, 0));
  EXPECT_FALSE(with(15, 8, 5));
}

// Costs between the limits that are not the file's: the HMAC covers them.
TEST(SecureStore, ChangedScryptCostsAreAWrongKey) {
  std::string file = sealed(sample(), passphraseOf("correct horse battery"));
  file[kLog2NAt] = 15;
  EXPECT_EQ(refusalOf(checked(file), passphraseOf("correct horse battery")).code, ErrorCode::unauthorised);
}

TEST(SecureStore, TwoFilesOfTheSameDiffer) {
  const std::string one = sealed(sample(), keyOf('k'), 1), two = sealed(sample(), keyOf('k'), 2);
  std::size_t same = 0;
  for (std::size_t i = kSaltAt; i < one.size(); ++i) same += one[i] == two[i] ? 1 : 0;
  EXPECT_LT(same, one.size() / 50);
  EXPECT_NE(one.substr(kSaltAt, 16), two.substr(kSaltAt, 16));
  EXPECT_NE(one.substr(kNonceAt, 12), two.substr(kNonceAt, 12));
  EXPECT_NE(sealed(sample(), passphraseOf("correct horse battery"), 1).substr(kHeader),
            sealed(sample(), passphraseOf("correct horse battery"), 2).substr(kHeader));
}

TEST(SecureStore, NoSecretByteIsInTheFile) {
  expectNoSecretIn(sealedSample(), "the file");
  expectNoSecretIn(sealed(sample(), passphraseOf("correct horse battery")), "the file");
}

TEST(SecureStore, TheSearchFires) {
  EXPECT_NONFATAL_FAILURE(expectNoSecretIn("..." + std::string(kValue.substr(3, 6)) + "...", "here"), "here");
  EXPECT_NONFATAL_FAILURE(expectNoSecretIn("..." + std::string(kName.substr(3, 6)) + "...", "here"), "here");
}

TEST(SecureStore, ReplacesAndRemoves) {
  SecureStore store = sample();
  ASSERT_TRUE(store.set("other", Secret::copyOf("y")).ok());
  EXPECT_TRUE(store.find("other")->sameAs("y"));
  EXPECT_EQ(store.size(), 2u);
  EXPECT_TRUE(store.remove("other"));
  EXPECT_FALSE(store.remove("other"));
  EXPECT_EQ(store.find("other"), nullptr);
}

TEST(SecureStore, LimitsHold) {
  SecureStore store;
  EXPECT_FALSE(store.set("", Secret::copyOf("x")).ok());
  EXPECT_FALSE(store.set("a b", Secret::copyOf("x")).ok());
  EXPECT_FALSE(store.set("a", Secret{}).ok());
  EXPECT_FALSE(store.set("a", Secret(kMaxSecretBytes + 1)).ok());
  EXPECT_TRUE(store.set("a", Secret(kMaxSecretBytes)).ok());
  for (std::size_t i = 1; i < kMaxSecrets; ++i)
    ASSERT_TRUE(store.set("n" + std::to_string(i), Secret::copyOf("x")).ok());
  EXPECT_EQ(store.set("one-more", Secret::copyOf("x")).error().code, ErrorCode::conflict);
  EXPECT_TRUE(store.set("a", Secret::copyOf("y")).ok()) << "in place of another";
}

// What set() took can be opened again.
TEST(SecureStore, AFullStoreOpens) {
  SecureStore store;
  std::size_t held = 0;
  while (store.set("n" + std::to_string(held), Secret(kMaxSecretBytes)).ok()) ++held;
  EXPECT_GT(held, 60u);
  const std::string file = sealed(store, keyOf('k'));
  EXPECT_LE(file.size(), kMaxSecureStoreBytes);
  const auto again = SecureStore::open(file, keyOf('k'));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->size(), held);
}

RC_GTEST_PROP(SecureStore, AnySecretsReadBack, ()) {
  SecureStore store;
  const auto values = *rc::gen::container<std::vector<std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::arbitrary<char>())));
  for (std::size_t i = 0; i < values.size(); ++i)
    RC_ASSERT(store.set("n" + std::to_string(i), Secret::copyOf(values[i])).ok());
  const auto again = SecureStore::open(sealed(store, keyOf('k')), keyOf('k'));
  RC_ASSERT(again.ok() && again->size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) RC_ASSERT(again->find("n" + std::to_string(i))->sameAs(values[i]));
}

TEST(StoreKeys, AreRead) {
  std::string raw(32, '\x01'), hex, hexLine;
  for (int i = 0; i < 32; ++i) hex += "01";
  hexLine = hex + "\n";
  const std::string file = sealed(sample(), keyFromFile(raw).value());
  EXPECT_TRUE(raw.empty()) << "wiped";
  EXPECT_TRUE(SecureStore::open(file, keyFromFile(hex).value()).ok());
  EXPECT_TRUE(SecureStore::open(file, keyFromFile(hexLine).value()).ok());
  for (std::string bad : {std::string(), std::string(31, 'a'), std::string(33, 'a'), std::string(64, 'g'),
                          std::string(64, 'A'), std::string(66, '0')}) {
    const std::string kept = bad;
    const auto key = keyFromFile(bad);
    ASSERT_FALSE(key.ok());
    EXPECT_EQ(key.error().message, "a key file has 32 bytes, or 64 lower-case hex digits");
  }
  EXPECT_FALSE(keyFromPassphrase(Secret{}).ok());
  EXPECT_FALSE(keyFromPassphrase(Secret(kMaxPassphraseBytes + 1)).ok());
}

}  // namespace
}  // namespace witan::agents::secure_store_test
