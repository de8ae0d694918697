import { createJudgedServer, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readScore } from "./read-score.ts";

const score = (points: unknown) => JSON.stringify({ score: points, reason: "r" });
const row = {
  task_id: "t",
  files: { "in/a.txt": "alpha" },
  rubrics: [{ rubric: "R", weight: 3 }, { rubric: "S" }],
};

async function attempt(commands: string[], replies: readonly (string | object)[], config = {}) {
  const { server, calls } = await createJudgedServer(definition, import.meta.url, replies, config);
  try {
    const body = verifyBody(row);
    const { response: _none, ...start } = body;
    await server.post("/seed_session", start);
    const outputs: Record<string, unknown>[] = [];
    for (const command of commands) outputs.push((await server.post("/bash", { command })).body);
    const reply = await server.verify(body);
    const shown = calls.map((call) => JSON.stringify(call.body["messages"]));
    return { ...reply, outputs, shown };
  } finally {
    await server.close();
  }
}

describe.skipIf(skipWithoutBubblewrap)("job_bench", { timeout: 60_000 }, () => {
  it("shows the files to the judge and weighs its points", async () => {
    const { body, shown, outputs } = await attempt(
      [
        "cat task/in/a.txt; ls /workspace/task",
        "mkdir output/x && echo done > output/x/b.md && printf 'GIF89a' > output/p.gif && head -c 99 /dev/zero > output/c.bin",
        "ln -s /etc/passwd output/link.txt && echo beta > output/d.up",
      ],
      [score(2), score(1)],
      { extractors: { ".up": "tr a-z A-Z < {file}" } },
    );
    expect(outputs[0]).toEqual({ exit_code: 0, output: "alphain\n" });
    expect(body).toMatchObject({ reward: 0.75, task_id: "t", hidden_files: ["c.bin"] });
    expect(shown[0]).toContain("=== x/b.md ===");
    expect(shown[0]).toContain("BETA");
    expect(shown[0]).toContain("data:image/gif;base64,R0lGODlh");
    expect(shown[0]).not.toContain("link.txt");
  });

  it("does not ask the judge if there is nothing to read", async () => {
    expect(await attempt([], [])).toMatchObject({ body: { reward: 0 }, shown: [] });
  });

  it("asks again for a reply that cannot be read, and fails without one", async () => {
    const write = ["echo x > output/a.txt"];
    const config = { judge_max_attempts: 2 };
    const second = await attempt(write, ["?", score(9), score(1), score(1)], config);
    expect(second.body).toMatchObject({ reward: 0.5 });
    const replies = Array.from({ length: 4 }, () => "three points");
    expect((await attempt(write, replies, config)).body).toMatchObject({ _ng_failure_class: "judge_failed" });
    expect((await attempt(write, [])).body).toMatchObject({ _ng_failure_class: "judge_failed" });
  });

  it("refuses rows without rubrics and files outside of the task", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, []);
    for (const wrong of [{ rubrics: [] }, { files: { "../x": "" } }, { files: { "/etc/x": "" } }]) {
      const { response: _none, ...start } = verifyBody({ ...row, ...wrong });
      expect((await server.post("/seed_session", start)).status).toBe(422);
    }
    await server.close();
  });
});

describe("readScore", () => {
  it.each([
    [score(2), 2],
    [`\`\`\`json\n${score(0.5)}\n\`\`\``, 0.5],
    [score(4), undefined],
    [score(-1), undefined],
    [score("2"), undefined],
    [score(true), undefined],
    [`I say ${score(3)}`, undefined],
    ["3", undefined],
  ])("%s", (reply, expected) => {
    expect(readScore(reply, 3)?.score).toBe(expected);
  });
});
