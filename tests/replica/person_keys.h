// The roster of a test, as a device knows it: one person answers by a key.
#pragma once

#include "tests/replica/test_cluster.h"

namespace witan::node::test {

class PersonKeys final : public HeadKeys {
 public:
  // `domain`: whose questions the person answers; empty: any.
  PersonKeys(std::string_view device, std::string person, std::string domain = "")
      : device_(device), person_(std::move(person)), domain_(std::move(domain)) {}
  static SigningKey keyOfPerson() { return *SigningKey::fromSeed(std::string(32, 'P')); }

  const SigningKey& key() const override { return device_.key(); }
  std::vector<PublicKey> keysOf(std::string_view device) const override { return device_.keysOf(device); }
  Takeover mayTakeOver(std::string_view device) const override { return device_.mayTakeOver(device); }
  Result<std::string> remembered() const override { return device_.remembered(); }
  Status remember(std::string_view text) override { return device_.remember(text); }
  std::vector<PublicKey> keysOfPerson(std::string_view person) const override {
    return person == person_ ? std::vector{keyOfPerson().publicKey()} : std::vector<PublicKey>();
  }
  bool mayAnswer(std::string_view person, const PublicKey& key, std::string_view domain) const override {
    return lax || (person == person_ && (domain_.empty() || domain == domain_) && key == keyOfPerson().publicKey());
  }
  bool mayAnswerUnsigned(std::string_view, std::string_view) const override { return lax; }

  bool lax = false;  // it lets everybody answer

 private:
  TestKeys device_;
  const std::string person_, domain_;
};

// Incidents that a device has, as "kind peer".
inline std::vector<std::string> accusedBy(Device& device) {
  std::vector<std::string> all;
  const auto incidents = device.replica().data().incidents();
  for (const replication::Incident& incident : *incidents) all.push_back(incident.kind + " " + incident.peer);
  return all;
}

}  // namespace witan::node::test
