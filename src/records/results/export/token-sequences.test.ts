import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResponseOutputItem, TokenInformation } from "../../../wire/schemas/item-types.ts";
import { sequencesOf, TOKEN_PROJECTIONS, tokenCallsOf } from "./token-sequences.ts";

const call = (prompt: number[], generation: number[]): TokenInformation => ({
  prompt_token_ids: prompt,
  generation_token_ids: generation,
  generation_log_probs: generation.map((id) => -id / 10),
});

const first = call([1, 2], [3, 4]);
const extending = call([1, 2, 3, 4, 5], [6]);
const departing = call([1, 2, 3, 9, 5], [7]);

describe("training sequences", () => {
  it("join calls that continue each other, and mask the tokens of the environment", () => {
    expect(sequencesOf([first, extending])).toEqual([
      {
        prompt_ids: [1, 2],
        completion_ids: [3, 4, 5, 6],
        mask: [1, 1, 0, 1],
        logprobs: [-0.3, -0.4, 0, -0.6],
        calls: 2,
      },
    ]);
  });

  it("fork, are truncated, or fail when a prompt differs", () => {
    const calls = [first, departing, call([1, 2, 3, 9, 5, 7, 8], [6])];
    const forked = sequencesOf(calls);
    expect(forked.map(({ prompt_ids, completion_ids }) => [prompt_ids, completion_ids])).toEqual([
      [
        [1, 2],
        [3, 4],
      ],
      [
        [1, 2, 3, 9, 5],
        [7, 8, 6],
      ],
    ]);
    expect(sequencesOf(calls, "truncate")).toEqual(forked.slice(0, 1));
    expect(() => sequencesOf(calls, "strict")).toThrow(
      "call 2: its prompt departs from the tokens before it after 3 tokens, in the generation",
    );
  });

  it("start again after a call whose ids are lost", () => {
    expect(sequencesOf([undefined, first])).toHaveLength(1);
    expect(sequencesOf([first, undefined, extending])).toHaveLength(2);
    expect(sequencesOf([first, undefined, extending], "truncate")).toHaveLength(1);
    expect(() => sequencesOf([first, undefined], "strict")).toThrow("call 2: its token ids");
    expect(() => sequencesOf([undefined, first], "strict")).toThrow("call 1");
  });

  it("leave out calls that generated nothing", () => {
    expect(sequencesOf([call([1], []), first])).toHaveLength(1);
    expect(sequencesOf([call([1], [])])).toEqual([]);
    expect(sequencesOf([first, call([1, 2, 3, 4, 8], []), extending], "strict")[0]?.completion_ids).toEqual([
      3, 4, 5, 6,
    ]);
  });

  it("are rejected if a list is too short or has a value that is not a number", () => {
    const item = (log: unknown) =>
      [
        { type: "message", role: "assistant", content: [], ...first, generation_log_probs: log },
      ] as unknown as ResponseOutputItem[];
    expect(() => tokenCallsOf(item([-1]))).toThrow("call 1: 2 token ids with 1 log-probabilities");
    expect(() => tokenCallsOf(item(undefined))).toThrow("with no log-probabilities");
    expect(() => tokenCallsOf(item([-1, null]))).toThrow("not a finite number");
  });

  it("contain every generated id exactly once and no others", () => {
    const ids = fc.array(fc.nat(3), { maxLength: 6 });
    const anyCall = fc.option(fc.record({ prompt: ids, generation: ids }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 6 }), (drawn) => {
        const calls = drawn.map((one) => one && call(one.prompt, one.generation));
        const sequences = sequencesOf(calls);
        const trained = sequences.flatMap(({ completion_ids, mask }) =>
          completion_ids.filter((_, at) => mask[at] === 1),
        );
        expect(trained).toEqual(calls.flatMap((one) => one?.generation_token_ids ?? []));
        for (const { prompt_ids, completion_ids, mask, logprobs } of sequences) {
          expect(mask).toHaveLength(completion_ids.length);
          expect(logprobs).toHaveLength(completion_ids.length);
          const whole = [...prompt_ids, ...completion_ids];
          // Each sequence is exactly the prompt and the generation of its last call.
          expect(
            calls.some(
              (one) =>
                one && String([...one.prompt_token_ids, ...one.generation_token_ids]) === String(whole),
            ),
          ).toBe(true);
        }
      }),
    );
  });
});

it("have one format for each trainer", () => {
  const [sequence = expect.fail()] = sequencesOf([first, extending]);
  const context = { reward: 1, environment: "counter", temperature: 0.7, stopReason: "stop" };
  const shown = Object.fromEntries(
    Object.entries(TOKEN_PROJECTIONS).map(([format, project]) => [format, project(sequence, context)]),
  );
  expect(shown).toMatchInlineSnapshot(`
    {
      "nemo-rl": {
        "message_log": [
          {
            "role": "user",
            "token_ids": [
              1,
              2,
            ],
          },
          {
            "generation_logprobs": [
              -0.3,
              -0.4,
            ],
            "role": "assistant",
            "token_ids": [
              3,
              4,
            ],
          },
          {
            "role": "user",
            "token_ids": [
              5,
            ],
          },
          {
            "generation_logprobs": [
              -0.6,
            ],
            "role": "assistant",
            "token_ids": [
              6,
            ],
          },
        ],
        "reward": 1,
      },
      "prime-rl": {
        "env_name": "counter",
        "logprobs": [
          0,
          0,
          -0.3,
          -0.4,
          0,
          -0.6,
        ],
        "mask": [
          false,
          false,
          true,
          true,
          false,
          true,
        ],
        "reward": 1,
        "temperatures": [
          0.7,
          0.7,
          0.7,
          0.7,
          0.7,
          0.7,
        ],
        "token_ids": [
          1,
          2,
          3,
          4,
          5,
          6,
        ],
      },
      "skyrl": {
        "loss_masks": [
          1,
          1,
          0,
          1,
        ],
        "prompt_token_ids": [
          1,
          2,
        ],
        "response_ids": [
          3,
          4,
          5,
          6,
        ],
        "rewards": 1,
        "rollout_logprobs": [
          -0.3,
          -0.4,
          0,
          -0.6,
        ],
        "stop_reasons": "stop",
      },
      "trl": {
        "completion_ids": [
          3,
          4,
          5,
          6,
        ],
        "env_mask": [
          1,
          1,
          0,
          1,
        ],
        "logprobs": [
          -0.3,
          -0.4,
          0,
          -0.6,
        ],
        "prompt_ids": [
          1,
          2,
        ],
        "reward": 1,
      },
      "verl": {
        "num_turns": 2,
        "prompt_ids": [
          1,
          2,
        ],
        "response_ids": [
          3,
          4,
          5,
          6,
        ],
        "response_logprobs": [
          -0.3,
          -0.4,
          0,
          -0.6,
        ],
        "response_mask": [
          1,
          1,
          0,
          1,
        ],
        "reward_score": 1,
      },
    }
  `);
});
