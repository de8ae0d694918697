import { afterEach, beforeEach, expect, it } from "vitest";
import { StoreServer } from "./store-server.ts";

let store: StoreServer;
const taken: unknown[] = [];

beforeEach(async () => {
  taken.length = 0;
  store = await StoreServer.listen(
    {
      config: () => "a: 1\n",
      rows: (addresses) => addresses.map(([task]) => (task === 0 ? '{"n":0}' : null)),
      result: async (head, line) => {
        taken.push([head.task, line]);
        return "counted";
      },
    },
    "127.0.0.1",
  );
});
afterEach(() => store.close());

async function post(path: string, body: string, token = store.token): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${store.url}${path}`, { method: "POST", headers, body });
  return `${answer.status} ${await answer.text()}`;
}

const head = { task: 0, rollout: 0, attempt: 0, at: 0, agent: "a", worker: "w", status: "completed" };

it("returns rows and accepts results", async () => {
  expect(await post("/rows", "[[0,0,0,0],[1,0,0,9]]")).toBe('200 {"n":0}\nnull');
  expect(await post("/results", `${JSON.stringify(head)}\n{}`)).toBe('200 ["counted"]');
  expect(taken).toEqual([[0, "{}"]]);
});

it("requires the token", async () => {
  expect(await post("/rows", "[]", "wrong")).toMatch(/^401/);
});

it("rejects an invalid request as a whole", async () => {
  for (const text of ["", "null", "[1]", "[[0,0,0,-1]]", '[["0",0,0,0]]', "[[0,0,0,1.5]]"])
    expect(await post("/rows", text)).toMatch(/^400/);
  for (const wrong of ["x", "null", "{}", JSON.stringify({ ...head, status: "failed" })])
    expect(await post("/results", `${JSON.stringify(head)}\n{}\n${wrong}\n{}`)).toMatch(/^400/);
  expect(taken).toEqual([]);
});
