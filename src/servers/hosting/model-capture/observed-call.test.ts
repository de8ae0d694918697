import { expect, it } from "vitest";
import { encodeSse } from "../../../wire/stream/sse.ts";
import { holdLastEvent, type StreamEnd } from "./observed-call.ts";

const created = encodeSse({ event: "response.created", data: { type: "response.created" } });
const completed = encodeSse({ event: "response.completed", data: { type: "response.completed" } });

async function* from(frames: readonly string[], failure?: Error): AsyncGenerator<string> {
  yield* frames;
  if (failure) throw failure;
}

async function read(stream: AsyncIterable<string>, log: string[], limit = Number.POSITIVE_INFINITY) {
  for await (const frame of stream) {
    log.push(frame);
    if (log.filter((entry) => entry !== "recorded").length >= limit) break;
  }
}

function recorder(log: string[]) {
  const ends: StreamEnd[] = [];
  const finish = async (end: StreamEnd) => {
    await new Promise((resolve) => setImmediate(resolve));
    ends.push({ ...end });
    log.push("recorded");
  };
  return { ends, finish };
}

it("forwards frames at once and the last event after it is recorded", async () => {
  const log: string[] = [];
  const { ends, finish } = recorder(log);
  await read(holdLastEvent(from([created, completed]), "responses", finish), log);
  expect(log).toEqual([created, "recorded", completed]);
  expect(ends[0]).toMatchObject({ text: created + completed, outcome: "complete", failure: undefined });
});

it("recognizes the last event when it arrives in pieces", async () => {
  const log: string[] = [];
  const { ends, finish } = recorder(log);
  const [head, tail] = [completed.slice(0, 20), completed.slice(20)];
  await read(holdLastEvent(from([created, head, tail]), "responses", finish), log);
  expect(log).toEqual([created, head, "recorded", tail]);
  expect(ends[0]?.outcome).toBe("complete");
});

it("distinguishes an interrupted stream from a complete one", async () => {
  const log: string[] = [];
  const { ends, finish } = recorder(log);
  await read(holdLastEvent(from([created]), "responses", finish), log);
  expect(ends[0]).toMatchObject({ outcome: undefined, failure: undefined });
});

it("records a stream that throws, then throws", async () => {
  const log: string[] = [];
  const { ends, finish } = recorder(log);
  const failing = holdLastEvent(from([created], new Error("gone")), "responses", finish);
  await expect(read(failing, log)).rejects.toThrow("gone");
  expect(ends[0]?.failure?.error).toMatchObject({ message: "gone" });
});

it("records the partial stream when the client disconnects", async () => {
  const log: string[] = [];
  const { ends, finish } = recorder(log);
  await read(holdLastEvent(from([created, created, completed]), "responses", finish), log, 1);
  expect(ends[0]).toMatchObject({ text: created, outcome: undefined });
});
