// ContentSeal: encrypts the part of a journal entry that must not be stored or replicated in the clear. A domain
// implements it for its own entry types (domains/extension.h). ContentSeals has those of all domains, with the keys of
// one scope; copies share them. Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"

namespace witan::agents {

// SealKeys: the keys of a scope. What is sealed bears the name of its key; an empty one is that of the key which all
// devices of a cluster share. Implementations may be called from any thread.
class SealKeys {
 public:
  virtual ~SealKeys() = default;
  // Of the key that seals now.
  virtual std::string newest() const = 0;
  // Null: it is not for this device.
  virtual std::shared_ptr<const Secret> find(std::string_view name) const = 0;
};

// The shared key alone.
inline std::shared_ptr<const SealKeys> sharedKey(std::string_view secret) {
  class Shared final : public SealKeys {
   public:
    explicit Shared(std::string_view bytes) : secret_(std::make_shared<const Secret>(Secret::copyOf(bytes))) {}
    std::string newest() const override { return {}; }
    std::shared_ptr<const Secret> find(std::string_view name) const override {
      return name.empty() ? secret_ : std::shared_ptr<const Secret>();
    }

   private:
    const std::shared_ptr<const Secret> secret_;
  };
  return std::make_shared<const Shared>(secret);
}

class ContentSeal {
 public:
  virtual ~ContentSeal() = default;
  // Whether it seals entries of this type.
  virtual bool covers(std::string_view type) const = 0;
  // The payload as it may be stored. A payload without secret content is returned unchanged.
  virtual Result<std::string> sealed(std::string payload) const = 0;
  // The payload with its secret content. Errors: the secret is in the clear, or the seal does not open here.
  virtual Result<json::value> opened(const json::value& payload) const = 0;
};

class ContentSeals {
 public:
  explicit ContentSeals(std::vector<std::shared_ptr<const ContentSeal>> seals) : seals_(std::move(seals)) {}

  // As ContentSeal; a payload of a type that no seal covers is returned unchanged.
  Result<std::string> sealed(std::string_view type, std::string payload) const {
    const ContentSeal* seal = of(type);
    return seal != nullptr ? seal->sealed(std::move(payload)) : Result<std::string>(std::move(payload));
  }
  Result<json::value> opened(std::string_view type, const json::value& payload) const {
    const ContentSeal* seal = of(type);
    return seal != nullptr ? seal->opened(payload) : Result<json::value>(payload);
  }

 private:
  const ContentSeal* of(std::string_view type) const {
    for (const auto& seal : seals_)
      if (seal->covers(type)) return seal.get();
    return nullptr;
  }

  std::vector<std::shared_ptr<const ContentSeal>> seals_;
};

}  // namespace witan::agents
