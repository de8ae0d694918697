import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { authorTrace, serverOfError } from "./hosted-code.ts";

const core = fileURLToPath(new URL("../../app.ts", import.meta.url));
const stack = [
  "Error: no table",
  "in line 3",
  "    at parse (/project/resources_servers/tables/parse.ts:41:7)",
  "    at async run (file:///project/resources_servers/tables/app.ts:12:3)",
  "    at async /project/resources_servers/other/app.ts:2:1",
  `    at async ServerApp.handle (${core}:100:20)`,
  "    at jitiRequire (/x/node_modules/jiti/dist/jiti.cjs:1:200)",
  "    at new Promise (<anonymous>)",
  "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
].join("\n");
const thrown = Object.assign(new Error("no table\nin line 3"), { stack });

describe("authorTrace", () => {
  it("keeps the message and the frames of servers and their libraries", () => {
    expect(authorTrace(thrown).split("\n")).toEqual(stack.split("\n").slice(0, 5));
  });

  it("describes values that are not errors", () => {
    expect([authorTrace(null), authorTrace("text")]).toEqual(["null", "text"]);
  });
});

describe("serverOfError", () => {
  const code = ["other", "tables"].map((name) => ({
    server: `my_${name}`,
    directories: [join("/project/resources_servers", name)],
  }));

  it("is the innermost server in the stack", () => {
    expect(serverOfError(thrown, code)).toBe("my_tables");
    expect(serverOfError(thrown, code.slice(0, 1))).toBe("my_other");
  });

  it("is undefined if no frame belongs to a server", () => {
    expect(serverOfError(thrown, [])).toBeUndefined();
    expect(serverOfError("text", code)).toBeUndefined();
  });
});
