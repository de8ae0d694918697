import { readFile } from "node:fs/promises";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const metadata = (grading_mode?: string) => ({
  instruction_id_list: ["punctuation:no_comma", "keywords:existence"],
  prompt: "p",
  kwargs: [null, { keywords: ["fox"], spare: null }],
  ...(grading_mode && { grading_mode }),
});

describe("instruction_following", () => {
  it("rewards a response that follows every instruction, or the share it follows", async () => {
    const server = await createTestServer(definition);
    const { status, body } = await server.verify(
      verifyBody({ id: 1, verifier_metadata: metadata() }, messageItem("fox, dog")),
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      reward: 0,
      follow_all_instructions: false,
      follow_instruction_list: [false, true],
      verifier_metadata: metadata(),
    });
    const fraction = verifyBody({ id: 1, verifier_metadata: metadata("fraction") }, messageItem("fox, dog"));
    expect((await server.verify(fraction)).body.reward).toBe(0.5);
    const all = verifyBody({ id: 1, verifier_metadata: metadata() }, messageItem("fox", "a, b"));
    expect((await server.verify(all)).body.reward).toBe(1);
  });

  it("reads rows with the fields outside verifier_metadata", async () => {
    const server = await createTestServer(definition);
    const { body } = await server.verify(verifyBody({ id: "7", ...metadata() }, messageItem("fox")));
    expect(body).toMatchObject({ reward: 1, verifier_metadata: metadata() });
    expect(body).not.toHaveProperty("id");
    expect(body).not.toHaveProperty("kwargs");
  });

  it("treats a response without text as empty", async () => {
    const server = await createTestServer(definition);
    const row = {
      id: 1,
      verifier_metadata: { ...metadata(), instruction_id_list: ["punctuation:no_comma"] },
    };
    for (const output of [[], [messageItem("a, b"), functionCallItem("x")]]) {
      expect((await server.verify(verifyBody(row, ...output))).body.reward).toBe(1);
    }
  });

  it("treats a refusal as an answer that follows no instruction", async () => {
    const server = await createTestServer(definition);
    const refusal = { ...messageItem(), content: [{ type: "refusal", refusal: "no, sorry" }] };
    for (const ids of [["punctuation:no_comma"], []]) {
      const row = { id: 1, verifier_metadata: { ...metadata(), instruction_id_list: ids } };
      expect((await server.verify(verifyBody(row, refusal))).body).toMatchObject({
        reward: 0,
        follow_all_instructions: false,
        follow_instruction_list: ids.map(() => false),
      });
    }
  });

  it("names the field of a malformed row", async () => {
    const server = await createTestServer(definition);
    const rows = [
      [{ id: "x", verifier_metadata: metadata() }, ["body", "id"]],
      [
        { id: 1, verifier_metadata: { prompt: "p", kwargs: [] } },
        ["body", "verifier_metadata", "instruction_id_list"],
      ],
      [{ id: 1, verifier_metadata: metadata("other") }, ["body", "verifier_metadata", "grading_mode"]],
      [{ id: 1, verifier_metadata: 3 }, ["body", "verifier_metadata"]],
    ] as const;
    for (const [row, loc] of rows) {
      const { status, body } = await server.verify(verifyBody(row, messageItem("x")));
      expect(status).toBe(422);
      expect(body.detail[0].loc).toEqual(loc);
    }
  });

  it("accepts every example row, and each can be solved", async () => {
    const server = await createTestServer(definition);
    const answers = [
      "Light from the sun has many colours. Air spreads the blue part most so we see blue.",
      "<<Harbour days>>\n* Walk to the lighthouse\n* Eat fish\n* Rent a boat\n* Watch the sunset",
      "Yeast eats sugar and makes gas.\n***\nThe gas is caught in the dough. Let it rest.",
      "Liebe Frau Berg, vielen Dank, dass Sie meine Blumen gegossen haben.\nP.S. Der Kuchen ist für Sie.",
      '{"weekdays": "9:00-17:00"}',
    ];
    const rows = (await readFile(new URL("data/example.jsonl", import.meta.url), "utf8")).trim().split("\n");
    expect(rows).toHaveLength(answers.length);
    for (const [index, line] of rows.entries()) {
      const { status, body } = await server.verify(
        verifyBody(JSON.parse(line), messageItem(answers[index] ?? "")),
      );
      expect([status, body.reward, index]).toEqual([200, 1, index]);
    }
  });

  it("accepts answers of 5 MB", async () => {
    const server = await createTestServer(definition);
    const ids = ["length_constraints:number_sentences", "count:count_unique", "language:response_language"];
    const kwargs = [{ num_sentences: 3, relation: "at least" }, {}, { language: "en" }];
    const row = { id: 1, verifier_metadata: { instruction_id_list: ids, prompt: "p", kwargs } };
    const { status } = await server.verify(verifyBody(row, messageItem("Some words here. ".repeat(300_000))));
    expect(status).toBe(200);
  });
});
