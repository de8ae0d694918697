/**
 * The thread that watches the event loop of the main one.
 *
 * @module
 */
import { closeSync, writeSync } from "node:fs";
import { type Debugger, Session } from "node:inspector";
import { workerData } from "node:worker_threads";
import { killLeftBehind, killOwnGroup } from "../processes/left-behind.ts";
import { serverOfFile } from "./hosted-code.ts";
import { onSignals } from "./thread-signals.ts";
import { Slot, type WatchdogTask } from "./watchdog.ts";

const LOOK_MS = 1_000;
const REPEAT_SECONDS = 60;
/** Native code cannot be interrupted to ask where it is. */
const PAUSE_LIMIT_MS = 5_000;
const STDERR = 2;
const SIGNAL_EXIT_BASE = 128;
/** The loop may come back and do what a signal asks for; whoever repeats it does not want to wait for that. */
const SIGNAL_GRACE_SECONDS = 4;
const REPEATED_SIGNAL_GRACE_SECONDS = 1;
/** A loop that only works a lot notices by itself that its parent is gone. */
const ORPHAN_GRACE_SECONDS = 3;

const { slots, code, signals, warnSeconds, limitSeconds, hasOneServer, parent, startedBefore } =
  workerData as WatchdogTask;
const shared = new Int32Array(slots);
let lastBeat = Atomics.load(shared, Slot.beat);
let blockedSeconds = 0;
let nextWarning = warnSeconds;
/** What came in, and the last beat before it: the loop has not moved since. */
let asked: { name: NodeJS.Signals; number: number; beat: number; times: number; seconds: number } | undefined;

const watching = setInterval(() => {
  // Looks are counted, not time: a laptop that slept has not blocked its loop.
  const beat = Atomics.load(shared, Slot.beat);
  if (beat !== asked?.beat) asked = undefined;
  if (beat !== lastBeat) {
    lastBeat = beat;
    blockedSeconds = 0;
    nextWarning = warnSeconds;
    return;
  }
  blockedSeconds += LOOK_MS / 1000;
  if (asked) answerSignal(asked);
  else if (parent !== undefined && process.ppid !== parent && blockedSeconds >= ORPHAN_GRACE_SECONDS)
    endGroup();
  else if (limitSeconds !== null && blockedSeconds >= limitSeconds)
    end(1, `That is the limit (blocked_loop_limit_seconds: ${limitSeconds}): the process ends here.`);
  else if (blockedSeconds >= nextWarning) {
    nextWarning += REPEAT_SECONDS;
    withPausedMain((frames) => say(`${describe(frames)}. ${REMEDY}`));
  }
}, LOOK_MS);

onSignals(signals, (name, number) => {
  const beat = Atomics.load(shared, Slot.beat);
  if (asked?.beat === beat) asked.times++;
  else asked = { name, number, beat, times: 1, seconds: 0 };
});

const OWN_PROCESS = hasOneServer ? "" : ", or give the server a process of its own (hosting: process)";
const REMEDY =
  "Nothing else in this process can run meanwhile. " +
  `Make the work asynchronous or bounded${hasOneServer ? " or" : ","} move it to a worker (verifyIn: "pool" for a verifier)${OWN_PROCESS}.`;

/** A signal the blocked thread cannot answer: says so at once, and ends the process when it does not come back. */
function answerSignal(signal: NonNullable<typeof asked>): void {
  signal.seconds += LOOK_MS / 1000;
  const { name, number, times, seconds } = signal;
  const grace = times > 1 ? REPEATED_SIGNAL_GRACE_SECONDS : SIGNAL_GRACE_SECONDS;
  if (seconds > grace) end(SIGNAL_EXIT_BASE + number, `It cannot answer ${name}: the process ends here.`);
  else if (seconds === LOOK_MS / 1000 && times === 1)
    withPausedMain((frames) =>
      say(`${describe(frames)}. It cannot answer ${name} yet; the process ends in ${grace} s at the latest.`),
    );
}

function end(exitCode: number, why: string): void {
  clearInterval(watching);
  withPausedMain((frames, evaluate) => {
    say(`${describe(frames)}. ${why} What was finished is saved; resume when the server is mended.`);
    if (startedBefore) killLeftBehind(startedBefore);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), PAUSE_LIMIT_MS);
    // Node would add that it waits for a debugger to leave, which is this thread and nobody the reader knows.
    closeSync(STDERR);
    evaluate(`try { process.emit("exit", ${exitCode}); } finally { process.reallyExit(${exitCode}); }`);
  });
}

/** Nobody is there any more to be told, or to stop what this process has started. */
function endGroup(): void {
  killOwnGroup();
  process.kill(process.pid, "SIGKILL");
}

/** stderr of a worker goes through the thread that is blocked; the descriptor does not. */
function say(text: string): void {
  try {
    writeSync(STDERR, `${text}\n`);
  } catch {
    // Nobody reads it, or the pipe is full: the process still has to end.
  }
}

interface Frame {
  functionName: string;
  file: string;
  line: number;
}

function describe(frames: readonly Frame[]): string {
  const held = `the event loop has been blocked for ${Math.round(blockedSeconds)} s`;
  const frame = frames.find(({ file }) => serverOfFile(file, code) !== undefined);
  if (frame) {
    const { functionName, file, line } = frame;
    const server = serverOfFile(file, code);
    return `Server '${server}' hangs: ${held} in ${functionName || "unnamed code"} (${file.replace(/^file:\/\//, "")}:${line})`;
  }
  const handling = code[Atomics.load(shared, Slot.held) - 1]?.server;
  if (handling !== undefined) return `Server '${handling}' hangs: ${held} by a handler of it`;
  const last = code[Atomics.load(shared, Slot.entered) - 1]?.server;
  return `A server hangs: ${held}${last === undefined ? "" : `; the last request was for '${last}'`}`;
}

type Evaluate = (expression: string) => void;

/** Interrupts the main thread, tells what it is doing, and lets it go on. */
function withPausedMain(then: (frames: Frame[], evaluate: Evaluate) => void): void {
  const session = new Session();
  const files = new Map<string, string>();
  let told = false;
  const tell = (frames: Frame[], evaluate: Evaluate) => {
    if (told) return;
    told = true;
    clearTimeout(timer);
    try {
      then(frames, evaluate);
      session.post("Debugger.resume");
    } finally {
      session.disconnect();
    }
  };
  // Without a pause there is nobody to evaluate anything: whoever wants an end has its own way.
  const timer = setTimeout(() => tell([], () => {}), PAUSE_LIMIT_MS);
  session.on("Debugger.scriptParsed", ({ params }) => void files.set(params.scriptId, params.url));
  session.on("Debugger.paused", ({ params }) => {
    const frames = params.callFrames.map(({ functionName, location }: Debugger.CallFrame) => ({
      functionName,
      file: files.get(location.scriptId) ?? "",
      line: location.lineNumber + 1,
    }));
    const callFrameId = params.callFrames[0]?.callFrameId ?? "";
    tell(frames, (expression) => session.post("Debugger.evaluateOnCallFrame", { callFrameId, expression }));
  });
  try {
    session.connectToMainThread();
    session.post("Debugger.enable");
    session.post("Debugger.pause");
  } catch {
    tell([], () => {});
  }
}
