import { defineCommand } from "../command.ts";

export const evalCtl = defineCommand({
  description:
    "List the collections of this user that run on this machine, show one, pause and resume it, cancel a rollout, or change its concurrency. " +
    "ACTION is list (default), show, pause, resume, cancel ID or concurrency N|auto.",
  flags: {
    pid: { kind: "text", metavar: "PID", help: "which collection; found by itself when only one runs" },
    json: { kind: "switch", help: "print JSON" },
  },
  positionals: {
    ACTION: {
      help: "what to do",
      optional: true,
      choices: ["list", "show", "pause", "resume", "cancel", "concurrency"],
    },
    VALUE: { help: "rollout id for cancel, number or auto for concurrency", optional: true },
  },
  examples: ["gym eval ctl", "gym eval ctl concurrency 32", "gym eval ctl cancel 12-3 --pid 4711"],
  run: async (context) => (await import("../eval/ctl.ts")).controlRun(context as never),
});
