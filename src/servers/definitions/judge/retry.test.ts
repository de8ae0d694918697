import { describe, expect, it } from "vitest";
import { JudgeError } from "../../../base/server-errors.ts";
import { retryJudge } from "./retry.ts";

const { signal } = new AbortController();

function failing(times: number, error: Error = new JudgeError("no")) {
  let calls = 0;
  return async () => {
    calls++;
    if (calls <= times) throw error;
    return calls;
  };
}

describe("retryJudge", () => {
  it("asks until the judge answers", async () => {
    const delays: number[] = [];
    const delay = (attempt: number) => {
      delays.push(attempt);
      return 0;
    };
    expect(await retryJudge(failing(2), { attempts: 3, delay, signal })).toEqual({ reply: 3, attempt: 3 });
    expect(delays).toEqual([1, 2]);
  });

  it.each([
    ["after the last attempt", failing(3), undefined],
    ["at once if the failure stays", failing(1), () => false],
    ["at once if it is not a failure of the judge", failing(1, new Error("no")), undefined],
  ])("throws %s", async (_name, ask, mayRetry) => {
    const options = { attempts: 3, delay: () => 0, signal, ...(mayRetry && { mayRetry }) };
    await expect(retryJudge(ask, options)).rejects.toThrow("no");
  });
});
