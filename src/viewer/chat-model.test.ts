import { describe, expect, it } from "vitest";
import {
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  verifyBody,
} from "../hosting/response-items.ts";
import { loads } from "../python/json/json-loads.ts";
import { type ChatEntry, chatOf, sampleLabel } from "./chat-model.ts";

const PICTURE = "data:image/png;base64,iVBORw0KGgo=";

const conversation = (row: Record<string, unknown>) => chatOf(row).filter(({ from }) => from !== "row");
const titles = (entries: ChatEntry[]) => entries.map(({ title }) => title);
const withInput = (input: unknown, ...output: unknown[]) =>
  verifyBody({ responses_create_params: { input } }, ...output);

describe("sampleLabel", () => {
  it("numbers the rows and names their responses", () => {
    expect(sampleLabel({ source: "rollouts", line: 1, response_id: "resp_x" })).toBe(
      "Sample 1 - Responses ID resp_x",
    );
    expect(sampleLabel({ source: "failures", line: 4, response_id: null })).toBe("Failure 4");
  });
});

describe("chatOf", () => {
  it("begins with the fields of the row: text raw, the rest as indented JSON, null not at all", () => {
    const row = loads(
      '{"answer":"a\\nb","reward":1.0,"tags":["é"],"none":null,"seen":true,"responses_create_params":{"input":"hi"},"7":{"a":1}}',
    ) as Record<string, unknown>;
    const metadata = chatOf(row).filter(({ kind }) => kind === "metadata");
    expect(metadata.map(({ title, parts }) => [title, ...parts])).toEqual([
      ["Metadata - answer", { type: "text", text: "a\nb" }],
      ["Metadata - reward", { type: "json", text: "1.0" }],
      ["Metadata - tags", { type: "json", text: '[\n    "é"\n]' }],
      ["Metadata - seen", { type: "json", text: "true" }],
      ["Metadata - responses_create_params", { type: "json", text: '{\n    "input": "hi"\n}' }],
      ["Metadata - 7", { type: "json", text: '{\n    "a": 1\n}' }],
    ]);
  });

  it("shows how the model was asked: sampling params always, tools where there are any", () => {
    const tools = [{ type: "function", name: "look" }];
    const entries = chatOf({
      responses_create_params: { input: "hi", tools, temperature: 0.5, top_p: null },
    });
    expect(
      entries.slice(1, 3).map(({ title, parts }) => [title, parts[0]?.type === "json" && parts[0].text]),
    ).toEqual([
      ["Sampling params", '{\n    "temperature": 0.5,\n    "top_p": null\n}'],
      ["Tools", JSON.stringify(tools, undefined, 4)],
    ]);
    expect(titles(chatOf({ responses_create_params: { input: "hi", tools: [] } }))).toEqual([
      "Metadata - responses_create_params",
      "Sampling params",
      "Turn 1 Step 0 - User message",
    ]);
  });

  it("takes an input of text for one user message", () => {
    expect(conversation(withInput("hello"))).toMatchObject([
      {
        kind: "user",
        title: "Turn 1 Step 0 - User message",
        parts: [{ type: "text", text: "hello" }],
        from: "input",
      },
    ]);
  });

  it("counts a turn for each user message and a step for each function call", () => {
    const reasoning = {
      type: "reasoning",
      id: "rs",
      summary: [
        { type: "summary_text", text: "one" },
        { type: "summary_text", text: "two" },
      ],
    };
    const entries = conversation(
      withInput(
        [
          { role: "system", content: "be brief" },
          { role: "developer", content: "be kind" },
          { role: "user", content: "first" },
          { role: "assistant", content: "yes?" },
          { role: "user", type: "message", content: "second" },
        ],
        reasoning,
        functionCallItem("look", { at: "x" }, "c1"),
        functionCallOutputItem({ seen: 1.5 }, "c1"),
        functionCallItem("look", "not json", "c2"),
        functionCallOutputItem("plain text", "c2"),
        messageItem("done"),
      ),
    );
    expect(titles(entries)).toEqual([
      "Turn 0 Step 0 - System message",
      "Turn 0 Step 0 - System message",
      "Turn 1 Step 0 - User message",
      "Turn 1 Step 0 - Assistant message",
      "Turn 2 Step 0 - User message",
      "Turn 2 Step 0 - Reasoning",
      "Turn 2 Step 0 - Reasoning",
      "Turn 2 Step 1 - Function call - look (tool call ID c1)",
      "Turn 2 Step 1 - Function call output (tool call ID c1)",
      "Turn 2 Step 2 - Function call - look (tool call ID c2)",
      "Turn 2 Step 2 - Function call output (tool call ID c2)",
      "Turn 2 Step 2 - Assistant message",
    ]);
    expect(entries.slice(5).map(({ parts }) => parts)).toEqual([
      [{ type: "text", text: "one" }],
      [{ type: "text", text: "two" }],
      [{ type: "json", text: '{\n    "at": "x"\n}' }],
      [{ type: "json", text: '{\n    "seen": 1.5\n}' }],
      [{ type: "text", text: "not json" }],
      [{ type: "text", text: "plain text" }],
      [{ type: "text", text: "done" }],
    ]);
    expect(entries.map(({ from }) => from)).toEqual([...Array(5).fill("input"), ...Array(7).fill("output")]);
  });

  it("shows pictures that are in the row and only names those that are elsewhere", () => {
    const parts = [
      { type: "input_text", text: "look" },
      { type: "input_image", image_url: PICTURE },
      { type: "image_url", image_url: { url: PICTURE } },
      { type: "input_image", image_url: "https://example.com/a.png" },
      { type: "input_image", image_url: "javascript:alert(1)" },
      { type: "input_image", image_url: "data:text/html,<script>alert(1)</script>" },
      { type: "input_image", file_id: "file_1" },
      { type: "input_file", filename: "a.pdf", file_data: "…" },
      { type: "refusal", refusal: "no" },
      { type: "strange", x: 1 },
    ];
    const [entry] = conversation(withInput([{ role: "user", content: parts }]));
    expect(entry?.parts).toEqual([
      { type: "text", text: "look" },
      { type: "image", url: PICTURE },
      { type: "image", url: PICTURE },
      { type: "link", url: "https://example.com/a.png", label: "image: https://example.com/a.png" },
      { type: "note", text: "(image javascript:alert(1))" },
      { type: "note", text: "(image data:text/html,<script>alert(1)</script>)" },
      { type: "note", text: "(image file_1)" },
      { type: "note", text: "(file a.pdf)" },
      { type: "refusal", text: "no" },
      { type: "json", text: '{\n    "type": "strange",\n    "x": 1\n}' },
    ]);
  });

  it("carries token ids and log-probabilities on the last entry of an item", () => {
    const tokens = { prompt_token_ids: [1, 2], generation_token_ids: [3], generation_log_probs: [-0.5] };
    const reasoning = { type: "reasoning", id: "r", summary: [{ text: "a" }, { text: "b" }], ...tokens };
    const said = messageItem("hi");
    said["content"] = [{ type: "output_text", text: "hi", logprobs: [{ token: "hi", logprob: -1 }] }];
    const entries = conversation(withInput([], reasoning, said));
    expect(entries.map((entry) => entry.tokens)).toEqual([
      undefined,
      { prompt: [1, 2], generation: [3], logProbs: [-0.5], texts: undefined },
      {
        prompt: undefined,
        generation: undefined,
        logProbs: undefined,
        texts: [{ token: "hi", logprob: -1 }],
      },
    ]);
  });

  it("shows anything, however odd", () => {
    const odd = [
      null,
      5,
      "text",
      {},
      { type: 7 },
      { role: "tool", content: null },
      { type: "web_search_call", id: "w" },
    ];
    const entries = conversation(
      withInput(
        odd,
        { type: "reasoning" },
        { type: "function_call" },
        { type: "function_call_output", output: [{ type: "input_text", text: "x" }] },
      ),
    );
    expect(titles(entries)).toEqual([
      "Turn 0 Step 0 - Item",
      "Turn 0 Step 0 - Item",
      "Turn 0 Step 0 - Item",
      "Turn 0 Step 0 - null",
      "Turn 0 Step 0 - 7",
      "Turn 0 Step 0 - Message of tool",
      "Turn 0 Step 0 - web_search_call",
      "Turn 0 Step 0 - Reasoning",
      "Turn 0 Step 1 - Function call - null (tool call ID null)",
      "Turn 0 Step 1 - Function call output (tool call ID null)",
    ]);
    for (const row of [
      {},
      { response: 1 },
      { responses_create_params: [] },
      { responses_create_params: { input: 1 } },
    ]) {
      expect(chatOf(row).at(-1)?.title).toBe("Sampling params");
    }
  });
});
