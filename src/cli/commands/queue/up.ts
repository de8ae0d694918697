import { defineCommand } from "../../command.ts";

export const queueUp = defineCommand({
  description:
    "Start nats-server with JetStream on this machine and keep it running until Ctrl-C. It listens on loopback unless --host says otherwise; " +
    "then set NATS_USER and NATS_PASSWORD, which it asks of everyone.",
  flags: {
    host: { kind: "text", metavar: "ADDRESS", default: "127.0.0.1", help: "address to listen on" },
    port: { kind: "text", metavar: "PORT", default: "4222", help: "port to listen on" },
    directory: {
      kind: "text",
      metavar: "DIR",
      default: "results/nats",
      completes: "directory",
      help: "where the broker keeps its files",
    },
  },
  examples: ["gym queue up", "NATS_USER=gym NATS_PASSWORD=... gym queue up --host 0.0.0.0"],
  run: async (context) => (await import("../../queue/up.ts")).queueUp(context),
});
