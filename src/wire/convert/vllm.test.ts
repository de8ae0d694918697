import { expect, it } from "vitest";
import { insertAudio, takeAudio } from "./vllm.ts";

it("takes one kind of audio from the metadata", () => {
  expect(takeAudio(null)).toEqual({ sources: [], metadata: undefined });
  expect(takeAudio({ note: "n" })).toEqual({ sources: [], metadata: { note: "n" } });
  expect(takeAudio({ audio_data: "data:x" })).toEqual({
    sources: [{ kind: "data", url: "data:x" }],
    metadata: undefined,
  });
  expect(takeAudio({ audio_paths: '["a", "b"]', note: "n" })).toEqual({
    sources: [
      { kind: "path", path: "a" },
      { kind: "path", path: "b" },
    ],
    metadata: { note: "n" },
  });
  expect(() => takeAudio({ audio_path: "a", audio_data: "b" })).toThrow("audio_data and audio_path");
  expect(() => takeAudio({ audio_paths: "a" })).toThrow("list of paths");
});

it("inserts audio before the text of the last user message", () => {
  const part = { type: "audio_url", audio_url: { url: "u" } };
  const history = [
    { role: "user" as const, content: "first" },
    { role: "user" as const, content: "q" },
    { role: "assistant" as const, content: "a" },
  ];
  expect(insertAudio(history, ["u"])[1]).toEqual({
    role: "user",
    content: [part, { type: "text", text: "q" }],
  });
  expect(insertAudio([], ["u"])).toEqual([{ role: "user", content: [part] }]);
  expect(insertAudio(history, [])).toEqual(history);
});
