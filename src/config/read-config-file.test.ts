import { expect, it } from "vitest";
import { readConfigFile } from "./read-config-file.ts";

it("reads no more than its limit from a device that never ends", () => {
  expect(() => readConfigFile("/dev/zero")).toThrow("'/dev/zero' cannot be read: it is larger than 4 MiB");
});

it("reads an empty device as an empty config", () => {
  expect(readConfigFile("/dev/null").entries.size).toBe(0);
});
