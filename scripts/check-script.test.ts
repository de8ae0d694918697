import { expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

it("reports in `npm run check` the errors that only a build with declarations has", () => {
  const { build, check } = manifest.scripts;
  const compile = build.split(" && ").filter((command) => command.startsWith("tsc "));
  expect(compile).not.toEqual([]);
  expect(check.split(" && ")).toEqual(
    expect.arrayContaining(compile.map((command) => `${command} --noEmit`)),
  );
});
