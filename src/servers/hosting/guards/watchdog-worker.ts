/**
 * The thread that watches the event loop of the main one.
 *
 * @module
 */
import { writeSync } from "node:fs";
import { type Debugger, Session } from "node:inspector";
import { workerData } from "node:worker_threads";
import { killLeftBehind, killOwnGroup } from "../processes/process-tree.ts";
import { serverOfFile } from "./hosted-code.ts";
import { WATCHDOG_SLOTS, type WatchdogTask } from "./watchdog.ts";

const LOOK_MS = 1_000;
const REPEAT_SECONDS = 60;
/** Native code cannot be paused to get its position. */
const PAUSE_LIMIT_MS = 5_000;
const STDERR = 2;
/** Within this time, a busy loop that is not blocked detects the end of its parent without the watchdog. */
const ORPHAN_GRACE_SECONDS = 3;

const { slots, code, warnSeconds, limitSeconds, hasOneServer, parent, startedBefore } =
  workerData as WatchdogTask;
const shared = new Int32Array(slots);
let lastBeat = Atomics.load(shared, WATCHDOG_SLOTS.beat);
let blockedSeconds = 0;
let nextWarning = warnSeconds;

const watching = setInterval(() => {
  // Checks are counted instead of time, because a suspended machine has not blocked its loop.
  const beat = Atomics.load(shared, WATCHDOG_SLOTS.beat);
  if (beat !== lastBeat) {
    lastBeat = beat;
    blockedSeconds = 0;
    nextWarning = warnSeconds;
    return;
  }
  blockedSeconds += LOOK_MS / 1000;
  if (parent !== undefined && process.ppid !== parent && blockedSeconds >= ORPHAN_GRACE_SECONDS) endGroup();
  else if (limitSeconds !== null && blockedSeconds >= limitSeconds)
    end(`That is the limit (blocked_loop_limit_seconds: ${limitSeconds}): the process ends here.`);
  else if (blockedSeconds >= nextWarning) {
    nextWarning += REPEAT_SECONDS;
    const seconds = blockedSeconds;
    withPausedMain((frames) => say(`${describe(frames, seconds)}. ${REMEDY}`));
  }
}, LOOK_MS);

const OWN_PROCESS = hasOneServer ? "" : ", or run the server in its own process (hosting: process)";
const REMEDY =
  "Nothing else in this process can run meanwhile; Ctrl-C has to wait too, Ctrl-\\ ends the process at once. " +
  `Make the work asynchronous or bounded${hasOneServer ? " or" : ","} move it to a worker (verifyIn: "pool" for a verifier)${OWN_PROCESS}.`;

/**
 * Only SIGKILL ends a thread that never returns. Files stay valid: every line is complete, and the run can be resumed.
 */
function end(why: string): void {
  clearInterval(watching);
  const seconds = blockedSeconds;
  withPausedMain((frames) => {
    say(
      `${describe(frames, seconds)}. ${why} Finished rollouts are saved; resume the run when the server is fixed.`,
    );
    if (startedBefore) killLeftBehind(startedBefore);
    process.kill(process.pid, "SIGKILL");
  });
}

/** The parent has ended, so this process ends itself and everything it has started. */
function endGroup(): void {
  killOwnGroup();
  process.kill(process.pid, "SIGKILL");
}

/** stderr of a worker thread goes through the blocked main thread; the file descriptor does not. */
function say(text: string): void {
  try {
    writeSync(STDERR, `${text}\n`);
  } catch {
    // The pipe is closed or full; the process must end anyway.
  }
}

interface Frame {
  functionName: string;
  file: string;
  line: number;
}

function describe(frames: readonly Frame[], seconds: number): string {
  const held = `the event loop has been blocked for ${Math.round(seconds)} s`;
  const frame = frames.find(({ file }) => serverOfFile(file, code) !== undefined);
  if (frame) {
    const { functionName, file, line } = frame;
    const server = serverOfFile(file, code);
    return `Server '${server}' hangs: ${held} in ${functionName || "unnamed code"} (${file.replace(/^file:\/\//, "")}:${line})`;
  }
  const handling = code[Atomics.load(shared, WATCHDOG_SLOTS.held) - 1]?.server;
  if (handling !== undefined) return `Server '${handling}' hangs: ${held} by a handler of it`;
  const last = code[Atomics.load(shared, WATCHDOG_SLOTS.entered) - 1]?.server;
  return `A server hangs: ${held}${last === undefined ? "" : `; the last request was for '${last}'`}`;
}

/** Pauses the main thread, reports its stack, and resumes it. */
function withPausedMain(then: (frames: Frame[]) => void): void {
  const session = new Session();
  const files = new Map<string, string>();
  let isReported = false;
  const report = (frames: Frame[]) => {
    if (isReported) return;
    isReported = true;
    clearTimeout(timer);
    try {
      then(frames);
      session.post("Debugger.resume");
    } finally {
      session.disconnect();
    }
  };
  const timer = setTimeout(() => report([]), PAUSE_LIMIT_MS);
  session.on("Debugger.scriptParsed", ({ params }) => void files.set(params.scriptId, params.url));
  session.on("Debugger.paused", ({ params }) => {
    const frames = params.callFrames.map(({ functionName, location }: Debugger.CallFrame) => ({
      functionName,
      file: files.get(location.scriptId) ?? "",
      line: location.lineNumber + 1,
    }));
    report(frames);
  });
  try {
    session.connectToMainThread();
    session.post("Debugger.enable");
    session.post("Debugger.pause");
  } catch {
    report([]);
  }
}
