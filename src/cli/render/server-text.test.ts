import { expect, it } from "vitest";
import { lagText, ownFrames } from "./server-text.ts";

const TRACE = `error: /step: TypeError: x is undefined
    at Object.step (/home/me/resources_servers/game/app.ts:17:15)
    at step (file:///opt/gym/dist/src/servers/hosting/apps/gymnasium-app.js:57:37)
    at ask (/opt/gym/responses_api_agents/gymnasium_agent/app.ts:79:51)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`;

it("keeps the stack frames of servers", () => {
  expect(ownFrames(TRACE, "/opt/gym")).toBe(`error: /step: TypeError: x is undefined
    at Object.step (/home/me/resources_servers/game/app.ts:17:15)
    at ask (/opt/gym/responses_api_agents/gymnasium_agent/app.ts:79:51)`);
  const ours = "error: a bug\n    at f (file:///opt/gym/dist/src/servers/calls/x.js:1:2)";
  expect(ownFrames(ours, "/opt/gym")).toBe(ours);
  expect(ownFrames("warning: at home", "/opt/gym")).toBe("warning: at home");
});

it("adds a remedy to a message about lag", () => {
  const nobody = { lagMs: 581.4, server: undefined, path: undefined, heldMs: 0 };
  expect(lagText(nobody)).toBe(
    "The event loop lagged 581 ms: a server computes after an await. With ++hosting=process the server is named.",
  );
  expect(lagText({ lagMs: 300, server: "mcqa", path: "/verify", heldMs: 250 })).toMatch(
    /^The event loop lagged 300 ms; mcqa \/verify computed for 250 ms\. Move the work off the loop/,
  );
  expect(lagText({ lagMs: 300, server: "mcqa", path: "/seed_session", heldMs: 250 })).not.toContain(
    "verifyIn",
  );
});
