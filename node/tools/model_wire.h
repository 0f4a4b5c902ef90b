// The three wire formats of models (OpenAI-compatible chat completions, Anthropic messages, Ollama chat) and the one
// form that agents see. The question, arguments of the look NAME.chat:
//
//   {"system", "messages": [{"role": "user", "text"}, {"role": "assistant", "text", "calls":
//   [{"id","name","arguments"}]},
//                           {"role": "tool", "id", "text"}], "tools": [{"name","description","parameters"}],
//                           "maxTokens"}
//
// and the answer: {"text", "calls": [{"id","name","arguments"}], "stop": "end|tools|length|refusal"}. The arguments of
// a call that are no JSON object stay a text: whoever asked decides what to do about them. Names of tools have dots,
// which two of the formats refuse: they cross as "__".
//
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace witan::node {

enum class ModelFormat { openai, anthropic, ollama };

ModelFormat modelFormat(std::string_view name);
// "/v1/chat/completions"
std::string_view modelPath(ModelFormat format);
// The body of a request for a streamed answer.
json::object modelRequest(ModelFormat format, const std::string& model, const json::object& question);

struct ModelReply {
  json::object answer;
  std::int64_t tokens = 0;  // that it did cost; 0: it does not say
};
// Of the whole body, streamed or not. Errors: invalid, no answer of this format; it was cut off.
Result<ModelReply> modelReply(ModelFormat format, std::string_view contentType, std::string_view body);

}  // namespace witan::node
