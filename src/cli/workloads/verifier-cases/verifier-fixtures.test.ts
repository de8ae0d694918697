import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  defineGymnasiumServer,
  defineResourcesServer,
} from "../../../servers/definitions/define-resources.ts";
import {
  functionCallItem,
  functionCallOutputItem,
  messageItem,
  verifyBody,
} from "../../../servers/hosting/response-items.ts";
import { outputText } from "../../../wire/read-output.ts";
import { readCases } from "./cases.ts";
import { exerciseVerifierCases, type VerifierCasesOptions } from "./exercise.ts";

let base: string;
let file: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-cases-"));
  file = path.join(base, "verifier_cases.jsonl");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Gives the number in the answer. */
const counting = defineResourcesServer({
  row: z.object({ unit: z.string() }),
  verify: ({ response }) => ({ reward: Number(outputText(response)) }),
});

const answer = (text: string) => verifyBody({ unit: "points" }, messageItem(text));
const full = { name: "right", kind: "full_reward", request: answer("1"), expected_reward: 1 };
const zero = { name: "wrong", kind: "zero_reward", request: answer("0"), expected_reward: 0 };
const malformed = { name: "no unit", kind: "malformed", request: verifyBody({}), expected_error: "unit" };

function write(...cases: readonly object[]): void {
  writeFileSync(file, cases.map((found) => `${JSON.stringify(found)}\n`).join(""));
}

const exercise = (options: Partial<VerifierCasesOptions> = {}, definition = counting) =>
  exerciseVerifierCases(definition, { file, ...options });

describe("readCases", () => {
  it("rejects two cases with the same name", () => {
    write(full, zero, { ...zero, name: "right" });
    expect(() => readCases(file)).toThrow(
      `${file}:3 has the same name as line 1, 'right'; names must be unique.`,
    );
  });

  it.each([
    ["a further key", { ...full, note: "x" }, "note"],
    ["an unknown kind", { ...full, kind: "half_reward" }, "kind"],
    ["an empty name", { ...full, name: "  " }, "name: must not be empty"],
    ["a reward that is text", { ...full, expected_reward: "1" }, "expected_reward"],
    ["a reward that is a boolean", { ...full, expected_reward: true }, "expected_reward"],
    ["no reward", { ...full, expected_reward: null }, "expected_reward: a full_reward case needs it"],
    ["an error beside the reward", { ...zero, expected_error: "x" }, "expected_error"],
    [
      "a malformed case without error",
      { ...malformed, expected_error: " " },
      "expected_error: a malformed case needs",
    ],
    [
      "a malformed case with reward",
      { ...malformed, expected_reward: 0 },
      "expected_reward: a malformed case must not",
    ],
    ["a request that is not an object", { ...full, request: [] }, "request"],
  ])("rejects %s", (_, found, message) => {
    write(full, found);
    expect(() => readCases(file)).toThrow(`${file}:2 is not a verifier case: `);
    expect(() => readCases(file)).toThrow(message);
  });

  it("reports the line of invalid JSON, skips blank lines, and rejects an empty file", () => {
    writeFileSync(file, "\n\n{");
    expect(() => readCases(file)).toThrow(`${file}:3 is not JSON`);
    writeFileSync(file, '{"name": "a", "kind": "full_reward", "request": {}, "expected_reward": NaN}');
    expect(() => readCases(file)).toThrow("expected_reward");
    writeFileSync(file, "\n \n");
    expect(() => readCases(file)).toThrow("has no cases");
    expect(() => readCases(path.join(base, "absent"))).toThrow("cannot be read");
  });
});

describe("exerciseVerifierCases", () => {
  it("returns the observed rewards", async () => {
    write(full, zero, malformed);
    expect(await exercise()).toEqual([
      { name: "right", kind: "full_reward", observed_rewards: [1] },
      { name: "wrong", kind: "zero_reward", observed_rewards: [0] },
      { name: "no unit", kind: "malformed", observed_rewards: [] },
    ]);
  });

  it("requires a case of every kind, and one of determinism for seeded environments", async () => {
    write(full);
    await expect(exercise()).rejects.toThrow("missing: malformed, zero_reward.");
    write(full, zero, malformed);
    await expect(exercise({ determinism: "seeded" })).rejects.toThrow("missing: determinism.");
  });

  it("accepts partial rewards inside the range", async () => {
    const part = { ...full, name: "part", kind: "partial_reward", expected_reward: 0.5 };
    write(full, zero, malformed, part);
    await expect(exercise({})).rejects.toThrow("the reward is 1, an end of the declared range");
  });

  it("runs determinism cases twice, and rejects them if rewards are stochastic", async () => {
    let served = 0;
    const moody = defineResourcesServer({
      row: z.object({ unit: z.string() }),
      verify: ({ response }) => ({
        reward: outputText(response) === "?" ? 0.1 * ++served : Number(outputText(response)),
      }),
    });
    write(full, zero, malformed, { ...full, name: "again", kind: "determinism", request: answer("?") });
    await expect(exercise({ determinism: "stochastic" }, moody)).rejects.toThrow("rewards are stochastic");
    await expect(exercise({}, moody)).rejects.toThrow(
      "again (determinism, line 4): the reward changed from 0.1 to 0.2 on a second fresh server",
    );
    write(full, zero, malformed, { ...full, name: "again", kind: "determinism" });
    expect((await exercise({ determinism: "seeded" })).at(-1)?.observed_rewards).toEqual([1, 1]);
  });

  it("checks rewards against the declared range and direction", async () => {
    write(full, zero, malformed);
    await expect(exercise({ range: [0, 2] })).rejects.toThrow(
      "right (full_reward, line 1): the reward is 1, not the upper end of the declared range, 2",
    );
    await expect(exercise({ range: [0, 0.5] })).rejects.toThrow(
      "the reward 1 is outside the declared range [0, 0.5]",
    );
    await expect(exercise({ higherIsBetter: false })).rejects.toThrow(
      "not the lower end of the declared range, 0",
    );
    await expect(exercise({ range: [1, 1] })).rejects.toThrow("the lower one first");
    const golf = [
      { ...full, request: answer("0"), expected_reward: 0 },
      { ...zero, request: answer("1"), expected_reward: 1 },
    ];
    write(...golf, malformed);
    expect(await exercise({ higherIsBetter: false })).toHaveLength(3);
  });

  it("reports every case that fails", async () => {
    write(
      { ...full, expected_reward: 0.5 },
      { ...zero, request: answer("much") },
      { ...malformed, expected_error: "colour" },
      { ...malformed, name: "fine", request: answer("1") },
      { ...full, name: "rejected", request: {} },
    );
    const error = await exercise().then(String, (found: Error) => found.message);
    expect(error).toContain(`5 of 5 cases in ${file} failed:`);
    expect(error).toContain("the reward is 1, but expected_reward says 0.5");
    expect(error).toContain("the reward is not a finite number");
    expect(error).toContain("rejected it, but without 'colour' in the message: unit: ");
    expect(error).toContain("fine (malformed, line 4): it was not rejected, but got the reward 1");
    expect(error).toContain("rejected (full_reward, line 5): /verify answered 422: ");
  });

  it("repeats the executed calls to restore the session", async () => {
    const counter = defineResourcesServer({
      row: z.object({ unit: z.string() }),
      session: () => ({ count: 0 }),
      tools: {
        add: {
          run: ({ session }) => {
            session.count++;
            return {};
          },
        },
      },
      verify: ({ session }) => ({ reward: session.count === 2 ? 1 : 0 }),
    });
    const call = (id: string) => [functionCallItem("add", {}, id), functionCallOutputItem({}, id)];
    const request = (...items: unknown[]) => verifyBody({ unit: "points" }, ...items, messageItem("Done."));
    write(
      { ...full, request: request(...call("a"), ...call("b"), functionCallItem("add", {}, "not run")) },
      { ...zero, request: request(...call("a"), functionCallItem("add", {}, "not run")) },
      malformed,
    );
    expect(await exercise({}, counter)).toHaveLength(3);
  });

  it("replays one turn per message in multi-turn environments", async () => {
    const episode = defineGymnasiumServer({
      row: z.object({ unit: z.string() }),
      reset: () => ({ session: { turns: 0 } }),
      step: ({ session, response }) => {
        session.turns++;
        return { reward: Number(outputText(response)), terminated: session.turns === 2 };
      },
    });
    const request = (...texts: string[]) =>
      verifyBody({ unit: "points" }, ...texts.map((text) => messageItem(text)));
    write({ ...full, request: request("0.5", "0.5", "7") }, { ...zero, request: request("0") }, malformed);
    expect(await exercise({}, episode as never)).toHaveLength(3);
  });
});

describe("updateExpected", () => {
  it("rewrites the file, sorted and without nulls, and leaves no other file", async () => {
    const exact = '{"unit": "points", "long": 12345678901234567890, "half": 2.0}';
    const request = JSON.stringify(answer("0.25")).replace('"unit":"points"', exact.slice(1, -1));
    write({ ...full, expected_error: null }, { ...zero, expected_reward: 0 }, malformed);
    writeFileSync(
      file,
      `${readFileSync(file, "utf8")}\n{"name": " quarter ", "kind": "determinism", "request": ${request}, "expected_reward": 1}\n`,
    );
    chmodSync(file, 0o640);
    await expect(exercise({ determinism: "seeded" })).rejects.toThrow("expected_reward says 1");
    await exercise({ determinism: "seeded", updateExpected: true });
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(
      /^\{"expected_reward": 1\.0, "kind": "full_reward", "name": "right", "request": \{/,
    );
    expect(lines[0]).not.toContain("expected_error");
    expect(lines[2]).toMatch(/^\{"expected_error": "unit", "kind": "malformed"/);
    expect(lines[3]).toMatch(/^\{"expected_reward": 0\.25, "kind": "determinism", "name": "quarter"/);
    expect(lines[3]).toContain('"half": 2.0, "long": 12345678901234567890,');
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(base)).toEqual(["verifier_cases.jsonl"]);
    const { mtimeMs } = statSync(file);
    await exercise({ determinism: "seeded", updateExpected: true });
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
  });

  it("keeps the file if a case fails, and does not replace a link", async () => {
    write(full, { ...zero, request: answer("0.5") }, malformed);
    const before = readFileSync(file, "utf8");
    await expect(exercise({ updateExpected: true })).rejects.toThrow("not the lower end");
    expect(readFileSync(file, "utf8")).toBe(before);
    write({ ...full, expected_reward: 0 }, zero, malformed);
    const link = path.join(base, "link.jsonl");
    symlinkSync(file, link);
    await expect(exercise({ updateExpected: true, file: link })).rejects.toThrow("not a regular file");
  });
});
