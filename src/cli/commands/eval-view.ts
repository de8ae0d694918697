import { defineCommand } from "../command.ts";
import { viewKeys } from "../eval/keys.ts";
import { jsonFlag } from "../flags.ts";

export const evalView = defineCommand({
  description:
    "Look at rollouts in the browser: list, filters and search, every conversation turn by turn, the repeats of a task side by side, " +
    "rewards and failures. RUN is a rollouts file, the directory a run wrote to, or one with many runs: then the newest is shown. A run that still goes on is followed. Ctrl-C ends it.",
  flags: {
    host: {
      kind: "text",
      key: "server_host",
      metavar: "HOST",
      help: "address to listen on (default 127.0.0.1: this machine only)",
    },
    port: {
      kind: "value",
      key: "server_port",
      metavar: "PORT",
      help: "port to listen on (default 7860; the next free one if taken)",
    },
    "allow-host": {
      kind: "text",
      metavar: "NAME",
      repeatable: true,
      help: "another name the viewer is reached by, as behind a proxy",
    },
    ...jsonFlag,
  },
  positionals: {
    RUN: {
      completes: "file",
      help: "rollouts file or directory of a run",
      optional: true,
      key: "jsonl_fpath",
    },
  },
  keys: viewKeys,
  examples: [
    "gym eval view results/rollouts.jsonl",
    "gym eval view results/my_agent/2026-01-31T12-00-00 --port 8080",
    "ng_viewer +jsonl_fpath=weather_rollouts.jsonl +server_host=0.0.0.0",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) =>
    (await import("../eval/view.ts")).viewRun(context, { allowedHosts: context.flags["allow-host"] }),
});
