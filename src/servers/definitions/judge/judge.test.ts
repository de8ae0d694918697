import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { JudgeError } from "../../../base/server-errors.ts";
import type { CallOptions, ServerClient, ServerReply } from "../../calls/server-client.ts";
import {
  createJudge,
  Judge,
  type JudgeOptions,
  judgeConfig,
  judgeErrorStatus,
  requireJudgeText,
} from "./judge.ts";
import { takeJudgeTally } from "./judge-tally.ts";
import { lastLabel } from "./judge-verdict.ts";

interface Call {
  server: string;
  path: string;
  body: Record<string, unknown>;
}

function reply(status: number, body: unknown): ServerReply {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const json = () => JSON.parse(text) as unknown;
  return { status, ok: status < 300, cookies: {}, json, text: () => text, payload: () => ({ raw: text }) };
}

const says = (text: string) =>
  reply(200, { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }] });

function scripted(
  answer: (call: Call, index: number, options?: CallOptions) => ServerReply | Promise<ServerReply>,
  options: Partial<JudgeOptions> = {},
) {
  const calls: Call[] = [];
  const client = {
    post(server: string, path: string, body: unknown, callOptions?: CallOptions) {
      const call = { server, path, body: body as Record<string, unknown> };
      calls.push(call);
      return Promise.resolve(answer(call, calls.length - 1, callOptions));
    },
  } as ServerClient;
  return { calls, judge: new Judge({ client }, { modelServer: "judge", ...options }) };
}

describe("Judge.ask", () => {
  it("inserts the prompt into the base parameters", async () => {
    const { calls, judge } = scripted(() => says(" yes "), {
      params: { input: [], temperature: 0 },
      systemMessage: "Be fair.",
    });
    const { text, params, response } = await judge.ask("equal?", { params: { max_output_tokens: 5 } });
    const input = [
      { role: "system", content: "Be fair." },
      { role: "user", content: "equal?" },
    ];
    expect(text).toBe("yes");
    expect(params).toEqual({ input, temperature: 0, max_output_tokens: 5 });
    expect(calls).toEqual([{ server: "judge", path: "/v1/responses", body: params }]);
    expect(response).toHaveProperty("output");
  });

  it("uses chat completions", async () => {
    const { calls, judge } = scripted(() => reply(200, { choices: [{ message: { content: " A\n" } }] }), {
      api: "chat",
    });
    expect((await judge.ask([{ role: "user", content: "?" }])).text).toBe("A");
    expect(calls[0]).toEqual({
      server: "judge",
      path: "/v1/chat/completions",
      body: { messages: [{ role: "user", content: "?" }] },
    });
  });

  it("throws a JudgeError for every failed call", async () => {
    const answers: (() => ServerReply | Promise<ServerReply>)[] = [
      () => Promise.reject(new Error("socket closed")),
      () => reply(503, "overloaded"),
      () => reply(200, "not json"),
      () => reply(200, []),
      () => reply(200, { id: "no output" }),
    ];
    for (const answer of answers) {
      await expect(scripted(answer).judge.ask("?")).rejects.toBeInstanceOf(JudgeError);
    }
    await expect(scripted(() => reply(200, { choices: [] }), { api: "chat" }).judge.ask("?")).rejects.toThrow(
      "choices[0]",
    );
    const error = await scripted(() => reply(429, "slow down"))
      .judge.ask("?")
      .catch((caught: unknown) => caught);
    expect(String(error)).toContain("answered 429: slow down");
    expect(judgeErrorStatus(error)).toBe(429);
    expect(judgeErrorStatus(new Error("x"))).toBeUndefined();
  });

  it("does not report a JudgeError when the caller aborts", async () => {
    const controller = new AbortController();
    const { judge } = scripted(async () => {
      controller.abort(new Error("rollout deadline"));
      throw new Error("aborted");
    });
    await expect(judge.ask("?", { signal: controller.signal })).rejects.toThrow("rollout deadline");
  });

  it("passes its time limit to the client", async () => {
    let seen: CallOptions | undefined;
    const { judge } = scripted(
      (_call, _index, options) => {
        seen = options;
        return says("ok");
      },
      { timeoutMs: 1500 },
    );
    await judge.ask("?");
    expect(seen?.timeoutMs).toBe(1500);
  });

  it("limits concurrent calls", async () => {
    let running = 0;
    let peak = 0;
    const { judge } = scripted(
      async () => {
        peak = Math.max(peak, ++running);
        await sleep(1);
        running--;
        return says("ok");
      },
      { maxConcurrency: 3 },
    );
    await Promise.all(Array.from({ length: 12 }, (_, index) => judge.ask(`${index}`)));
    expect(peak).toBe(3);
  });

  it("caches answers but not failures", async () => {
    const { calls, judge } = scripted((_call, index) => (index === 0 ? reply(500, "no") : says(`${index}`)), {
      cacheEntries: 2,
    });
    await expect(judge.ask("a")).rejects.toThrow("500");
    expect((await judge.ask("a")).text).toBe("1");
    expect((await judge.ask("a")).text).toBe("1");
    expect((await judge.ask("a", { params: { seed: 1 } })).text).toBe("2");
    expect(calls).toHaveLength(3);
  });

  it("truncates long values only if configured", () => {
    expect(scripted(() => says("")).judge.fit("x".repeat(100))).toHaveLength(100);
    expect(scripted(() => says(""), { maxValueChars: 4 }).judge.fit("abcdefgh")).toBe(
      "ab\n[4 characters omitted]\ngh",
    );
    expect(scripted(() => says(""), { maxValueChars: 6 }).judge.fit("😀😀😀😀")).toBe(
      "😀\n[4 characters omitted]\n😀",
    );
  });
});

describe("Judge.vote", () => {
  const letter = (text: string) => (text === "A" || text === "B" ? text : null);

  it("returns the majority without unreadable replies", async () => {
    const { judge } = scripted((_call, index) => says(["A", "?", "B", "A", "?"][index] ?? ""), {
      cacheEntries: 10,
    });
    const result = await judge.vote("?", { votes: 5, parse: letter });
    expect(result.verdict).toBe("A");
    expect(result.verdicts).toEqual(["A", null, "B", "A", null]);
    expect(result.replies).toHaveLength(5);
  });

  it("has no verdict for a tie or without readable replies", async () => {
    const tie = scripted((_call, index) => says(index % 2 ? "A" : "B"));
    expect((await tie.judge.vote("?", { votes: 4, parse: letter })).verdict).toBeNull();
    expect((await scripted(() => says("?")).judge.vote("?", { votes: 2, parse: letter })).verdict).toBeNull();
  });

  it("fails as a whole when one call fails", async () => {
    const { judge } = scripted((_call, index) => (index === 1 ? reply(500, "no") : says("A")));
    await expect(judge.vote("?", { votes: 3, parse: letter })).rejects.toBeInstanceOf(JudgeError);
  });
});

describe("createJudge", () => {
  it("reads the common config keys", () => {
    const config = z.object(judgeConfig).parse({
      judge_model_server: { type: "responses_api_models", name: "judge_model" },
      judge_responses_create_params: { input: [], temperature: 0 },
      judge_timeout_seconds: 2,
    });
    const { options } = createJudge({ client: {} as ServerClient }, config, { systemMessage: "S" });
    expect(options).toMatchObject({
      modelServer: "judge_model",
      maxConcurrency: 64,
      timeoutMs: 2000,
      systemMessage: "S",
    });
    expect(
      z.object(judgeConfig).parse({ judge_model_server: "j", judge_endpoint_max_concurrency: null }),
    ).toMatchObject({
      judge_model_server: "j",
      judge_endpoint_max_concurrency: null,
    });
  });

  it("can require a text", async () => {
    const { judge } = scripted(() => says("  "));
    const reply = await judge.ask("?");
    expect(() => requireJudgeText(reply)).toThrow(JudgeError);
    expect(requireJudgeText({ ...reply, text: "A" })).toBe("A");
  });
});

describe("the counts of a request", () => {
  const usage = { input_tokens: 7, output_tokens: 2 };
  const parse = (text: string) => lastLabel(text, ["GOOD", "BAD"]);
  const answers = (...texts: string[]) =>
    scripted((_, index) => {
      const content = [{ type: "output_text", text: texts[index] }];
      return reply(200, {
        output: [{ type: "message", role: "assistant", content }],
        usage,
        model: "grader-1",
      });
    });

  it("counts calls, tokens and replies without a verdict", async () => {
    const { signal } = new AbortController();
    const { judge } = answers("GOOD", "well", "BAD", "hm");
    expect((await judge.ask("?", { signal, parse })).verdict).toBe("GOOD");
    expect((await judge.ask("?", { signal, parse })).verdict).toBeNull();
    await judge.vote("?", { signal, parse, votes: 2 });
    expect(takeJudgeTally(signal)).toEqual({
      calls: 4,
      input_tokens: 28,
      output_tokens: 8,
      unreadable: 2,
      judges: [{ server: "judge", model: "grader-1", calls: 4 }],
      votes: [["BAD", null]],
    });
    expect(takeJudgeTally(signal)).toBeUndefined();
  });

  it("names the judge of a cached answer without counting a call, and separates requests", async () => {
    const [first, second] = [new AbortController().signal, new AbortController().signal];
    const { judge, calls } = scripted(() => says("GOOD"), { cacheEntries: 10 });
    await judge.ask("?", { signal: first, parse });
    await judge.ask("?", { signal: second, parse });
    expect(calls).toHaveLength(1);
    expect(takeJudgeTally(first)).toMatchObject({ calls: 1, unreadable: 0 });
    expect(takeJudgeTally(second)).toMatchObject({
      calls: 0,
      input_tokens: 0,
      judges: [{ server: "judge", calls: 0 }],
    });
  });
});
