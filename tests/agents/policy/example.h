// The example policy of docs/examples, and a request that it allows: the tests change one thing of it at a time.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "agents/policy/monitor.h"

#include "tests/paths.h"

namespace witan::agents::test {

inline std::string exampleText() {
  std::ifstream in(std::string(witan::tests::kSourceDir) + "/docs/examples/agents-policy.toml", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Policy examplePolicy() { return parsePolicyToml(exampleText(), "agents-policy.toml").value(); }

// "journal-summariser" asks the cloud's model to summarise a visit.
struct Example {
  Policy policy = examplePolicy();
  Monitor monitor = Monitor::compile(policy).value();
  std::vector<std::string> scopes{"journal:visit"};
  PolicyScope held = grantedScope(policy, "journal-summariser", "health");
  ModelName model{"cloud.example", "large-2"};
  json::value payload =
      parseJson(R"({"visit":{"on":"2026-03-23","notes":["slept well"]},"patient":{"birthYear":1971}})").value();
  PolicyRequest request;
  ReceiptBook receipts;
  SecretNames secrets{"cloud-llm-key", "laboratory-token"};

  Example() {
    request.agent = "journal-summariser";
    request.category = "health";
    request.tool = "llm.chat";
    request.scopes = scopes;
    request.held = &held;
    request.boundary = "cloud-llm";
    request.operation = "summarise";
    request.model = &model;
    request.secret = "cloud-llm-key";
    request.payload = &payload;
    request.operationId = "op-1";
    confirmNow();
  }
  Example(const Example&) = delete;

  void confirmNow() {
    EXPECT_TRUE(
        receipts.add(confirm(policy, request.agent, request.model, request.boundary, "dr.supervising", 1)).ok());
  }
  void recompile() { monitor = Monitor::compile(policy).value(); }
  PolicyVerdict check() const { return monitor.check(request, receipts, secrets); }
};

// The other operation that needs everything: "udt-lab" orders a test; a person approves each one.
struct OrderExample : Example {
  OrderExample() {
    scopes = {"journal:order"};
    held = grantedScope(policy, "udt-lab", "health");
    payload = parseJson(R"({"order":{"id":"O1","code":"G0480","specimen":{"kind":"urine"}}})").value();
    request.agent = "udt-lab";
    request.tool = "laboratory.order";
    request.scopes = scopes;
    request.boundary = "laboratory";
    request.operation = "order";
    request.model = nullptr;
    request.secret = "laboratory-token";
    confirmNow();
  }
};

}  // namespace witan::agents::test
