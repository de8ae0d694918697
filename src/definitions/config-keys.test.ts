import { expect, it } from "vitest";
import { z } from "zod";
import { createTestServer } from "../hosting/test-server.ts";
import { misspeltKeys, nearestKey } from "./config-keys.ts";
import { defineModel } from "./define-model.ts";

const schema = z.looseObject({ base_url: z.string(), max_concurrent_requests: z.number().nullish() });

it("tells keys that are nearly right, and leaves others alone", () => {
  const found = (config: Record<string, unknown>) => [...misspeltKeys(schema, config)];
  expect(found({ base_url: "u", max_concurent_requests: 3 })).toEqual([
    "max_concurent_requests has no effect: nothing reads it. Did you mean 'max_concurrent_requests'?",
  ]);
  expect(found({ base_url: "u", max_concurent_requests: 3, max_concurrent_requests: 4 })).toHaveLength(1);
  expect(found({ base_url: "u", entrypoint: "app.ts", num_workers: 2 })).toEqual([]);
  const prepared = z.preprocess((given) => given, schema);
  expect([...misspeltKeys(prepared, { bas_url: "u" })]).toHaveLength(1);
  expect([...misspeltKeys(z.record(z.string(), z.unknown()), { bas_url: "u" })]).toEqual([]);
});

it("finds one wrong letter in a short key, but not another word", () => {
  expect(nearestKey("sead", ["seed", "rate"])).toBe("seed");
  expect(nearestKey("domian", ["domain"])).toBe("domain");
  expect(nearestKey("cost", ["host", "port"])).toBeUndefined();
});

it("names the nearest of the values that are allowed", async () => {
  const definition = defineModel({
    config: z.looseObject({ provider: z.enum(["together", "nebius"]) }),
    chat: () => Promise.reject(new Error("not asked")),
  });
  await expect(createTestServer(definition, { config: { provider: "togther" } })).rejects.toThrow(
    "Did you mean 'together'?",
  );
});
