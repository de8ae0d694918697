import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import app from "./app.ts";
import { databaseFiles } from "./generate-databases.ts";

const directory = fileURLToPath(new URL(".", import.meta.url));
const serve = () => createTestServer(app, { directory });
const row = { id: 1, category: "c", environment_name: "workplace_assistant", ground_truth: [] as unknown[] };
const truth = (...calls: [string, unknown][]) => ({
  ...row,
  ground_truth: calls.map(([name, args]) => ({ name, arguments: JSON.stringify(args) })),
});

describe("workplace_assistant", () => {
  it("keeps one workplace per session", async () => {
    const server = await serve();
    const [a, b] = [server.newJar(), server.newJar()];
    await server.seed(row, a);
    await server.seed({}, b);
    const given = { email_id: "00000384", unused: null };
    expect((await server.tool("email_delete_email", given, a)).body).toEqual({
      output: "Email deleted successfully.",
    });
    expect((await server.tool("email_delete_email", given, a)).body).toEqual({ output: "Email not found." });
    expect((await server.tool("email_delete_email", given, b)).body).toEqual({
      output: "Email deleted successfully.",
    });
    await server.seed(row, a);
    expect((await server.tool("email_delete_email", given, a)).body).toEqual({
      output: "Email deleted successfully.",
    });
  });

  it("refuses tools before the session is seeded, and bodies that are not objects", async () => {
    const server = await serve();
    expect(await server.tool("email_delete_email", {})).toMatchObject({
      status: 400,
      body: { detail: "Session not initialized. Please call seed_session first." },
    });
    await server.seed({});
    expect((await server.tool("email_delete_email", [1])).status).toBe(422);
    expect((await server.tool("no_such_tool", {})).body.output).toMatch(
      /^Error executing tool 'no_such_tool': /,
    );
  });

  it.each([
    ["reads do not matter", truth(), [["calendar_search_events", { query: "x" }]], 1],
    [
      "a change that changes nothing",
      truth(),
      [["calendar_update_event", { event_id: "00000136", field: "event_name", new_value: "LAB TOUR" }]],
      1,
    ],
    [
      "case matters for some columns",
      truth(),
      [
        [
          "customer_relationship_manager_add_customer",
          { customer_name: "a", assigned_to_email: "b", status: "lead" },
        ],
      ],
      0,
    ],
    [
      "deleting the last row again",
      truth(),
      [
        ["email_send_email", { recipient: "a@b.c", subject: "s", body: "b" }],
        ["email_delete_email", { email_id: "500" }],
      ],
      1,
    ],
    [
      "labels after a deletion and an addition",
      truth(
        ["email_delete_email", { email_id: "00000384" }],
        ["email_send_email", { recipient: "a@b.c", subject: "s", body: "b" }],
      ),
      [
        ["email_send_email", { recipient: "a@b.c", subject: "s", body: "b" }],
        ["email_delete_email", { email_id: "00000384" }],
      ],
      0,
    ],
    [
      "an integer where text is expected",
      truth(["calendar_update_event", { event_id: "00000136", field: "duration", new_value: "60" }]),
      [["calendar_update_event", { event_id: "00000136", field: "duration", new_value: 60 }]],
      0,
    ],
    [
      "two integers of any value",
      truth(["calendar_update_event", { event_id: "00000136", field: "duration", new_value: 60 }]),
      [["calendar_update_event", { event_id: "00000136", field: "duration", new_value: 90 }]],
      1,
    ],
  ] as [string, Record<string, unknown>, [string, unknown][], number][])(
    "compares states: %s",
    async (_, task, calls, reward) => {
      const server = await serve();
      const items = calls.map(([name, args]) => functionCallItem(name, args));
      expect((await server.verify(verifyBody(task, ...items))).body.reward).toBe(reward);
    },
  );

  it("rewards the ground truth of its example rows, but not doing nothing", async () => {
    const server = await serve();
    const lines = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
      .trim()
      .split("\n");
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const example = JSON.parse(line);
      expect(example.responses_create_params.tools).toHaveLength(27);
      await server.seed(example);
      const items = [];
      for (const call of example.ground_truth) {
        const { body } = await server.tool(call.name, JSON.parse(call.arguments));
        expect(body.output).toMatch(/success|^\d{8}$|^plots\//);
        items.push(functionCallItem(call.name, call.arguments));
      }
      expect((await server.verify(verifyBody(example, ...items, messageItem("Done.")))).body.reward).toBe(1);
      expect((await server.verify(verifyBody(example, messageItem("Done.")))).body.reward).toBe(0);
    }
  });

  it("includes the databases that its generator writes", () => {
    for (const [path, text] of databaseFiles()) {
      expect(readFileSync(new URL(`csv_data/${path}`, import.meta.url), "utf8")).toBe(text);
    }
  });

  it("refuses malformed rows and names the field", async () => {
    const server = await serve();
    for (const field of ["id", "ground_truth", "category", "environment_name"]) {
      const { status, body } = await server.verify(verifyBody({ ...row, [field]: undefined }));
      expect(status).toBe(422);
      expect(body.detail[0].loc).toEqual(["body", field]);
    }
    for (const ground_truth of ["", "text"]) {
      expect((await server.verify(verifyBody({ ...row, ground_truth }))).body.reward).toBe(1);
    }
  });

  it("skips hostile calls in bounded time", async () => {
    const server = await serve();
    const items = [
      functionCallItem("email_send_email", "x".repeat(5_000_000)),
      functionCallItem("email_send_email", "[".repeat(1_000_000)),
      functionCallItem("calendar_search_events", { query: "(a+)+$" }),
      functionCallItem("email_search_emails", { query: "\ud800" }),
      functionCallItem(
        "calendar_update_event",
        '{"event_id": "00000136", "field": "duration", "new_value": NaN}',
      ),
      functionCallItem(
        "calendar_update_event",
        `{"event_id": "00000136", "field": "duration", "new_value": ${"9".repeat(5000)}}`,
      ),
      functionCallItem("__proto__", {}),
      functionCallItem("email_delete_email", '{"__proto__": {"email_id": "00000384"}}'),
    ];
    expect((await server.verify(verifyBody(row, ...items))).body.reward).toBe(1);
    const many = Array.from({ length: 300 }, (_, n) =>
      functionCallItem("email_send_email", { recipient: "a@b.c", subject: `${n}`, body: "b" }),
    );
    expect((await server.verify(verifyBody(row, ...many))).body.reward).toBe(0);
  });
});
