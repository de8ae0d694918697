import { defineCommand } from "../../command.ts";

export const devTest = defineCommand({
  description:
    "Run the unit tests of the project in the working directory with coverage; the exit code is the runner's.",
  flags: {},
  examples: ["gym dev test"],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/test/dev-test.ts")).runDevTests(context),
});
