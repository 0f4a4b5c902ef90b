// A model that answers from a script, in the three wire formats, streamed or whole: for writing and testing agents
// without a model. A line of the script is the answer to one question:
//
//   {"text": "...", "calls": [{"name", "arguments"}], "stop": "end|length|refusal"}
//   {"status": 429, "retryAfter": 1}          an error instead
//   {"obey": true}                            does what the conversation tells it: each CALL {"name","arguments"} in it
//   {"cut": true, "text": "..."}              the answer breaks off
//   {"text": "...", "calls": [{"name", "arguments": "no JSON"}]}
//
// After the last line it goes on with that. Belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "net/http_message.h"

namespace witan::node {

class ModelStub {
 public:
  // JSON Lines. Errors: naming the line.
  static Result<ModelStub> make(std::string_view script);

  // Any of the three paths. 404: another one; 400: no question of its format.
  net::HttpResponse answer(const net::HttpRequest& request);
  std::uint64_t asked() const { return asked_; }

 private:
  std::vector<json::object> script_;
  std::uint64_t asked_ = 0;
};

}  // namespace witan::node
