import { expect, it } from "vitest";
import { silentLogger } from "../logger.ts";
import { mapError } from "./error-mapper.ts";

const context = {
  server: "tools",
  path: "/cut",
  signal: new AbortController().signal,
  log: silentLogger,
};

it.each([
  [new TypeError("no blade"), "TypeError('no blade')"],
  ["plain text", "string('plain text')"],
  [null, "Error('null was thrown')"],
  [undefined, "Error('undefined was thrown')"],
])("tells what was thrown: %s", (thrown, body) => {
  expect(mapError(thrown, context)).toEqual({ status: 500, body });
});
