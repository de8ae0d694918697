import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

async function verify(
  replies: (string | object)[],
  metadata: unknown = { ideal: "42", tag: "figqa2-img" },
  input?: object[],
) {
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies);
  const content = input ?? [
    { type: "input_image", image_url: "data:x", detail: "auto" },
    { type: "input_text", text: " What? " },
  ];
  const body = verifyBody({ verifier_metadata: metadata }, messageItem("It is 42"));
  const params = { input: [{ role: "user", content }] };
  return { ...(await server.verify({ ...body, responses_create_params: params })), prompt: prompts[0] };
}

describe("labbench2_vlm", () => {
  it.each([
    ["Same value.\n[[A=B]]", 1, "[[A=B]]"],
    ["[[A!=B]]", 0, "[[A!=B]]"],
    ["not [[A!=B]] but [[A=B]]", 0, null],
    ["The answer says [[A=B]].\n[[A!=B]]", 0, null],
    ["yes", 0, null],
  ])("a judge that says %j gives %d", async (reply, reward, verdict_label) => {
    const { body, prompt } = await verify([reply]);
    expect(body).toMatchObject({ reward, judge_evaluations: [{ verdict_label }] });
    for (const part of ["\nWhat?\n", "\n42\n", "\nIt is 42\n"]) expect(prompt).toContain(part);
  });

  it("shows the judge the passage of a question about a protocol", async () => {
    const { prompt } = await verify(["[[A=B]]"], {
      ideal: ["a", "b"],
      tag: "protocolqa2-x",
      reference_passage: "Step 1",
    });
    expect(prompt).toContain("<protocol>\nStep 1\n</protocol>");
    expect(prompt).toContain("['a', 'b']");
  });

  it("asks with an empty question if there is only a picture", async () => {
    const { prompt } = await verify(["[[A=B]]"], null, [
      { type: "input_image", image_url: "data:x", detail: "auto" },
    ]);
    expect(prompt).toContain("<question>\n\n</question>");
  });

  it.each([
    ["no answer", []],
    ["a 500", [{ status: 500, body: "down" }]],
  ])("fails the rollout on %s of the judge", async (_name, replies) => {
    expect((await verify(replies)).body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it("refuses a row without the right answer", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, []);
    const rows = [{ responses_create_params: { input: "?" }, verifier_metadata: { tag: "x" } }];
    expect((await server.post("/check_rows", { rows })).text).toContain("ideal");
  });
});
