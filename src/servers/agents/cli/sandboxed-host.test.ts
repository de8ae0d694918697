import { expect, it } from "vitest";
import { insideUrl, MODEL_ROUTES, TOOL_ROUTES } from "./sandboxed-host.ts";

it("allows only model and tool routes", () => {
  for (const path of [
    "/v1/responses",
    "/ng-rollout/3-0/v1/messages",
    "/ng-rollout/3-0/training-token-capture/v1/x",
  ])
    expect(path).toMatch(MODEL_ROUTES);
  for (const path of ["/stats", "/ng-rollout/3-0/../run", "/x/v1/responses"])
    expect(path).not.toMatch(MODEL_ROUTES);
  for (const path of ["/mcp", "/mcp?x=1", "/mcp/x"]) expect(path).toMatch(TOOL_ROUTES);
  for (const path of ["/verify", "/mcpx", "/seed_session"]) expect(path).not.toMatch(TOOL_ROUTES);
});

it("returns addresses inside the sandbox", () => {
  expect(insideUrl("http://10.0.0.5:4100")).toBe("http://127.0.0.1:4100");
  expect(insideUrl("http://127.0.0.1:4100/mcp")).toBe("http://127.0.0.1:4100/mcp");
});
