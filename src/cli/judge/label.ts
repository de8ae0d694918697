import { once } from "node:events";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { isLoopback, printable } from "../../base/door.ts";
import { PACKED_SUFFIX } from "../../records/door.ts";
import { labelsPath } from "../../records/judges/door.ts";
import {
  type LabelItem,
  LabelSession,
  type LabelState,
  labelPages,
  loadWebFiles,
  newToken,
  ViewerServer,
  Workspace,
} from "../../viewer/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { outputFile, shownPath } from "../files.ts";
import { openBrowser } from "../open-browser.ts";
import { countText } from "../render/progress.ts";
import { judgedAgent } from "./judged-agent.ts";

interface LabelFlags {
  sample: number;
  agent: string | undefined;
  threshold: number;
  labels: string | undefined;
  labeller: string | undefined;
  by: "human" | "model";
  each: number | undefined;
  seed: number;
  terminal: boolean;
  host: string;
  port: number;
  "allow-host": readonly string[];
  open: boolean;
}

/** Runs `gym judge label`. */
export async function labelRollouts(
  context: CommandContext,
  given: string,
  flags: LabelFlags,
): Promise<number> {
  const { agent, path: run } = await judgedAgent(context, given, flags.agent);
  if (flags.labels === undefined && run.includes(`${PACKED_SUFFIX}${path.sep}`))
    throw new UsageError("a packed run keeps no labels: name a file with --labels");
  const labels =
    flags.labels === undefined ? labelsPath(run) : await outputFile(context, flags.labels, "name a file");
  const labeller = flags.labeller?.trim() ?? userName();
  if (labeller === "" || labeller.length > 100)
    throw new UsageError("argument --labeller: expected a name of 1 to 100 characters");
  const { sample, seed, threshold, each, by } = flags;
  const { rollouts } = agent;
  const session = await LabelSession.open({
    run,
    rollouts,
    labels,
    sample,
    seed,
    threshold,
    each,
    by,
    labeller,
  });
  if (session.total > sample)
    context.err(
      context.terminal.yellow(
        `${sample} are too few for all kinds of verdicts: ${session.total} rollouts are labelled.`,
      ),
    );
  if (flags.terminal) return askInTerminal(context, session, labeller, labels);
  return serve(context, session, { run, labels, flags });
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return "somebody";
  }
}

async function serve(
  context: CommandContext,
  labels: LabelSession,
  given: { run: string; labels: string; flags: LabelFlags },
): Promise<number> {
  const { out, err, json, terminal, signal, installRoot } = context;
  const { host, port, open, "allow-host": allowedHosts } = given.flags;
  const webFiles = labelPages(await loadWebFiles(path.join(installRoot, "dist", "viewer")));
  const workspace = await Workspace.open([given.run]);
  const token = newToken();
  const server = await ViewerServer.listen({
    workspace,
    webFiles,
    labels,
    readOnly: true,
    token,
    host,
    port,
    allowedHosts,
  });
  try {
    const file = shownPath(context, given.labels);
    if (json) out(JSON.stringify({ url: server.url, token, labels: given.labels, rollouts: labels.total }));
    else {
      if (server.port !== port && port !== 0)
        err(terminal.yellow(`Port ${port} is in use; using ${server.port}.`));
      if (!isLoopback(host))
        err(terminal.yellow("Everyone who has this address can read these rollouts and label them."));
      out(`${countText(labels.total, "rollout")} to label at ${terminal.bold(server.url)}`);
      out(`Labels are saved in ${file}. Press Ctrl-C to stop; the same command continues.`);
    }
    if (open)
      openBrowser(server.oneTimeUrl(), (reason) =>
        err(terminal.yellow(`No browser was opened: ${reason}. Open ${server.url} yourself.`)),
      );
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await server.close();
    await workspace.close();
  }
  return 0;
}

const ANSWERS: Readonly<Record<string, LabelItem["label"]>> = {
  r: "right",
  right: "right",
  w: "wrong",
  wrong: "wrong",
  u: "unclear",
  unclear: "unclear",
};

/** Shows one rollout after the other, and reads a letter for each. */
async function askInTerminal(
  context: CommandContext,
  session: LabelSession,
  labeller: string,
  file: string,
): Promise<number> {
  const { io, out, terminal, signal } = context;
  if (!io.stdin) throw new UsageError("argument --terminal: there is no input to read labels from");
  const input = createInterface({ input: io.stdin, signal });
  // Begins at once: lines that arrive before somebody reads them would be lost.
  const lines = input[Symbol.asyncIterator]();
  const end = (state: LabelState, why: string) => {
    out("");
    out(
      `${why} ${state.done} of ${countText(state.total, "rollout")} labelled in ${shownPath(context, file)}.`,
    );
    return 0;
  };
  try {
    let state = await session.state(labeller);
    if (!state.item) return end(state, "Nothing is left to label.");
    show(state, context);
    for (let next = await lines.next(); !next.done; next = await lines.next()) {
      const line = next.value;
      const { item } = state;
      const answer = line.trim().toLowerCase();
      if (answer === "q" || answer === "quit") break;
      const label = Object.hasOwn(ANSWERS, answer) ? ANSWERS[answer] : undefined;
      if (!label || !item) {
        out(terminal.yellow(`'${printable(answer)}' is not a label.`));
        out(QUESTION);
        continue;
      }
      state = await session.submit({ labeller, ...item.key, label });
      if (!state.item) return end(state, "Done.");
      show(state, context);
    }
    return end(state, "Stopped. The same command continues.");
  } finally {
    input.close();
  }
}

const QUESTION = "Is the answer right? r right, w wrong, u unclear, q quit";

function show({ item, total }: LabelState, { out, terminal }: CommandContext): void {
  if (!item) return;
  out("");
  out(terminal.bold(`Rollout ${item.place} of ${total}`));
  const sections = { Task: item.task, "About the task": item.fields, Answer: item.answer };
  for (const [title, texts] of Object.entries(sections)) {
    if (texts.length > 0) out(terminal.bold(title));
    for (const { name, text } of texts) {
      const isLong = text.includes("\n") || text.length > 60;
      out(`  ${printable(name)}:${isLong ? "" : ` ${printable(text)}`}`);
      if (isLong) for (const each of text.split("\n")) out(`    ${printable(each)}`);
    }
  }
  if (item.answer.length === 0) out("  (no answer)");
  out(QUESTION);
}
