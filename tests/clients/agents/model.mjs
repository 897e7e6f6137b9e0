// A double of a model: it makes calls of one tool, and ends once it has their results.
import { simulateReadableStream } from "ai";
import * as doubles from "ai/test";

// Version 6 has no other one.
const Model = doubles.MockLanguageModelV4 ?? doubles.MockLanguageModelV3;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes these calls; what it is told of each goes to `told`. */
export function modelCalling(toolName, calls, told = []) {
  const content = (prompt) => {
    const results = prompt.filter((message) => message.role === "tool");
    if (results.length > 0) {
      for (const message of results) {
        for (const part of message.content) if (part.type === "tool-result") told.push(part.output);
      }
      return [[{ type: "text", text: "done" }], "stop"];
    }
    const made = calls.map((input, index) => ({
      type: "tool-call",
      toolCallId: `call-${index}`,
      toolName,
      input: JSON.stringify(input),
    }));
    return [made, "tool-calls"];
  };
  return new Model({
    doGenerate: async ({ prompt }) => {
      const [parts, unified] = content(prompt);
      return { content: parts, finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      const [parts, unified] = content(prompt);
      const chunks = [{ type: "stream-start", warnings: [] }, ...parts.flatMap(chunksOf)];
      chunks.push({ type: "finish", finishReason: { unified, raw: unified }, usage });
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}

function chunksOf(part) {
  if (part.type !== "text") return [part];
  return [
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: part.text },
    { type: "text-end", id: "1" },
  ];
}
