import { expect, it } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { rememberSecrets } from "../../base/secrets.ts";
import { HttpError } from "../../base/server-errors.ts";
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
])("describes the thrown value: %s", (thrown, body) => {
  expect(mapError(thrown, context)).toEqual({ status: 500, body });
});

it("masks secrets of the config in errors of server code", () => {
  rememberSecrets({ search: { api_key: "sk-Abcdefgh12345678" } });
  const encoded = Buffer.from("sk-Abcdefgh12345678").toString("base64url");
  const thrown = new Error(`401 for key sk-Abcdefgh12345678 (${encoded})`);
  expect(mapError(thrown, context).body).toBe("Error('401 for key **** (****)')");
  const failing = new HttpError(503, "no answer to sk-Abcdefgh12345678");
  expect(mapError(failing, context).body).toEqual({ detail: "no answer to ****" });
});
