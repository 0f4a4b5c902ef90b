// What a node says of itself, as far as a catalogue reads it, for the tests of this folder.
#pragma once

#include "base/json.h"

namespace witan::mcp_test {

inline json::value fromText(std::string_view text) { return parseJson(text).value(); }

// The operations that the catalogue names, as a node's document has them.
inline json::value document() {
  json::object paths;
  const auto add = [&](const char* path, const char* method, const char* id, const char* role) {
    json::object operation{
        {"operationId", id}, {"summary", id}, {"security", json::array{json::object{{"bearer", json::array{role}}}}}};
    if (method == std::string_view("get"))
      operation["parameters"] = fromText(
          R"([{"name":"domain","required":true,"description":"d","schema":{"type":"string"}},{"name":"role","required":false,"schema":{"type":"string"}},)"
          R"({"name":"entity","required":false,"schema":{"type":"string"}},{"name":"limit","required":false,"schema":{"type":"integer"}}])");
    else
      operation["requestBody"] =
          fromText(R"({"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Body"}}}})");
    paths[path] = json::object{{method, std::move(operation)}};
  };
  add("/v1/queue/decide", "post", "decideQueued", "counselor");
  add("/v1/entities", "post", "beginEntity", "operator");
  add("/v1/domains", "get", "listDomains", "observer");
  add("/v1/domains/{domain}", "get", "describeDomain", "observer");
  add("/v1/queue", "get", "listQueue", "observer");
  add("/v1/journal/get", "get", "getJournal", "observer");
  add("/v1/journal/list", "get", "listJournal", "observer");
  add("/v1/journal/put", "post", "putJournal", "operator");
  add("/v1/queue/preview", "post", "previewCommit", "observer");
  add("/v1/propose", "post", "proposeAction", "operator");
  add("/v1/slice", "get", "readSlice", "observer");
  add("/v1/ledger", "get", "listLedgerEntries", "observer");
  return json::object{
      {"paths", std::move(paths)},
      {"components",
       fromText(
           R"({"schemas":{"Body":{"type":"object","properties":{"domain":{"type":"string"},"role":{"type":"string"}}}}})")}};
}

}  // namespace witan::mcp_test
