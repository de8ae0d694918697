import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { viewKeys } from "../../eval/keys.ts";
import { jsonFlag } from "../../flags.ts";

export const evalView = defineCommand({
  description:
    "Look at runs in the browser: all runs below a directory, the overview of each, its tasks and repeats, every rollout turn by turn, comparisons of runs, " +
    "and a run while it goes on. RUN is a rollouts file (also .gz), a directory, a pattern such as 'results/*/run.jsonl', or the http(s) address of a file; without it, results/. " +
    "OTHER is opened beside it and compared. With --to-html or --to-folder nothing is served: the run is written as static pages.",
  flags: {
    ...keyFlags(viewKeys),
    "allow-host": {
      kind: "text",
      metavar: "NAME",
      repeatable: true,
      help: "another name the viewer is reached by, as behind a proxy",
    },
    where: {
      kind: "text",
      metavar: "QUERY",
      help: "open on the rollouts that a query selects, as 'reward<0.5 tool:python'; also selects for --to-html",
    },
    "read-only": { kind: "switch", help: "no annotations, and no control of a run under way" },
    "no-token": {
      kind: "switch",
      help: "let everyone who reaches the port in, without the token of the address",
    },
    "to-html": {
      kind: "text",
      metavar: "FILE",
      completes: "file",
      help: "write the rollouts of --where (at most 500) into one HTML file",
      exclusive: "export",
    },
    "to-folder": {
      kind: "text",
      metavar: "DIRECTORY",
      completes: "directory",
      help: "write the run as a folder of static pages for any web host",
      exclusive: "export",
    },
    ...jsonFlag,
  },
  positionals: {
    RUN: {
      completes: "file",
      help: "rollouts file, directory, pattern or address (default: results)",
      optional: true,
      key: "jsonl_fpath",
    },
    OTHER: { completes: "file", help: "another run to compare with", optional: true },
  },
  keys: viewKeys,
  examples: [
    "gym eval view",
    "gym eval view results/my_agent/2026-01-31T12-00-00 --port 8080",
    "gym eval view before.jsonl after.jsonl",
    "gym eval view results/run.jsonl --where 'reward<0.5 tool:python turns>6'",
    "gym eval view results/run.jsonl --where 'is:failed' --to-html failures.html",
    "ng_viewer +jsonl_fpath=weather_rollouts.jsonl +server_host=0.0.0.0",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) =>
    (await import("../../eval/view.ts")).viewRun(context, {
      allowedHosts: context.flags["allow-host"],
      other: context.positionals["OTHER"],
      where: context.flags.where,
      readOnly: context.flags["read-only"],
      noToken: context.flags["no-token"],
      toHtml: context.flags["to-html"],
      toFolder: context.flags["to-folder"],
    }),
});
