/**
 * Entry point of a process that hosts one server. It ends with the process that started it.
 *
 * @module
 */
import cluster from "node:cluster";
import { errorMessage } from "../../../base/errors.ts";
import { rememberSecrets } from "../../../base/secrets.ts";
import { Telemetry } from "../../../base/telemetry/door.ts";
import { findPath } from "../../../config/paths.ts";
import { isObserved } from "../../capture/settings.ts";
import { joinBudgets } from "../../model-endpoint/budget/budget-client.ts";
import { shareLimitsAmong } from "../../model-endpoint/limit-shares.ts";
import { CoHost, type CoHostOptions, hostedCodeOf } from "../cohost.ts";
import { strayText } from "../guards/hosted-code.ts";
import { LoopMonitor } from "../guards/loop-monitor.ts";
import { captureOutput } from "../guards/output-capture.ts";
import { Watchdog, watchdogLimits } from "../guards/watchdog.ts";
import { workerCount } from "../host-settings.ts";
import { withRollout } from "../rollout-attribution.ts";
import { isStartMessage, type ServerMessage, type StartMessage } from "./messages.ts";
import { killOwnGroup } from "./process-tree.ts";
import { runPython } from "./python-server.ts";
import { logSandboxCommands, prefixedLogger } from "./server-log.ts";
import { forkWorkers, sessionAffinity } from "./workers.ts";

/** Time for running calls after the parent has ended. */
const ORPHAN_GRACE_MS = 3_000;

const report = (message: ServerMessage) => process.send?.(message);

/** Prefixes every output line with the rollout that the code works for. */
function nameRollouts(server: string): () => void {
  const write = {
    stdout: process.stdout.write.bind(process.stdout),
    stderr: process.stderr.write.bind(process.stderr),
  };
  return captureOutput(
    () => server,
    (_, line, stream) => write[stream](`${withRollout(line)}\n`),
  );
}

async function start(message: StartMessage): Promise<() => Promise<void>> {
  const { instance } = message;
  rememberSecrets(message.globalConfig);
  if (instance.code.language === "python") return runPython(message);
  if (!message.worker && workerCount(instance) > 1) return forkWorkers(message);
  const endings: (() => void)[] = [];
  if (isObserved(message.globalConfig)) {
    endings.push(nameRollouts(instance.name));
    if (message.logDirectory !== undefined)
      endings.push(
        logSandboxCommands(message.logDirectory, (error) => console.error(`sandbox.log: ${error.message}`)),
      );
  }
  if (message.budgetSocketPath !== undefined) await joinBudgets(message.budgetSocketPath);
  if (message.worker) shareLimitsAmong(message.worker.count);
  const monitor = new LoopMonitor((lag) => report({ type: "lag", ...lag }));
  const affinity =
    message.worker && instance.type !== "responses_api_agents" ? sessionAffinity(message.worker) : undefined;
  const limits = watchdogLimits(message.globalConfig);
  const { installRoot } = message;
  const code = hostedCodeOf({ instances: [instance], installRoot });
  const watchdog = new Watchdog(code, limits, { installRoot, hasOneServer: true, parent: process.ppid });
  // Writes to the output of this process. The parent adds the name of the server.
  const consoleLogger = prefixedLogger(
    (line, level) => (level === "info" ? console.log(line) : console.error(line)),
    message.globalConfig["verbose"] === true,
  );
  const telemetry = Telemetry.open({
    block: message.globalConfig["telemetry"],
    version: message.version ?? "unknown",
    isChild: true,
    // The process that started this one reports a receiver that does not work.
    onNotice: (text) => consoleLogger.info(text),
  });
  const options: CoHostOptions = {
    instances: [instance],
    telemetry,
    addresses: new Map(message.addresses),
    globalConfig: message.globalConfig,
    installRoot,
    findFile: (path) => findPath(path, message.roots),
    logger: () => consoleLogger,
    monitor,
    watchdog,
    link: message.link && { ...message.link, sockets: new Map(message.link.sockets) },
    profileSuffix: message.worker && `.${message.worker.index}`,
    mcpSecret: message.worker?.mcpSecret,
    newSessionId: affinity?.newSessionId,
    intercept: affinity?.intercept,
  };
  const host = new CoHost(options);
  try {
    await host.start();
  } catch (error) {
    await host.close();
    await telemetry?.close();
    throw error;
  }
  monitor.begin();
  await affinity?.listen();
  return async () => {
    monitor.stop();
    await affinity?.close();
    await host.close();
    await telemetry?.close();
    await watchdog.stop();
    for (const end of endings) end();
  };
}

let stop: (() => Promise<void>) | undefined;
let stopping = false;
let hasFailed = false;

async function shutDown(code: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  try {
    await stop?.();
  } finally {
    process.exit(code);
  }
}

/** The parent has ended. This process and everything it has started must end too. */
async function endOrphaned(): Promise<void> {
  setTimeout(killEverything, ORPHAN_GRACE_MS);
  try {
    await stop?.();
  } finally {
    killEverything();
  }
}

function killEverything(): void {
  killOwnGroup();
  // A worker does not lead a process group, so it ends only itself.
  process.exit(1);
}

process.on("message", (message: unknown) => {
  if (!isStartMessage(message)) return;
  start(message)
    .then((stopServer) => {
      stop = stopServer;
      report({ type: "ready" });
    })
    .catch((error: unknown) => {
      report({ type: "failed", message: errorMessage(error) });
      process.exitCode = 1;
      hasFailed = true;
      process.disconnect?.();
    });
});
process.on("disconnect", () => {
  if (hasFailed || stopping) void shutDown((process.exitCode as number | undefined) ?? 0);
  else void endOrphaned();
});
process.on("SIGTERM", () => void shutDown(0));
process.on("SIGINT", () => void shutDown(0));
// An exception outside a request must not end the other rollouts.
process.on("unhandledRejection", (error) => console.error(`error: ${strayText(error)}`));
process.on("uncaughtException", (error) => console.error(`error: ${strayText(error)}`));
if (cluster.isWorker) process.title = "gym server worker";
report({ type: "loaded" });
