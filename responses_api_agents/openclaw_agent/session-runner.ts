/**
 * Starts OpenClaw, which keeps its session in a database and prints only the end result. Prints the events of the session
 * as they are written, one per line, then the output of the program as the last event. It runs in the home folder of the
 * rollout, so it is a string here and imports nothing.
 */
export const sessionRunner = `
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const [program, ...args] = process.argv.slice(2);
const agent = args[args.indexOf("--agent") + 1];
const file = process.env.HOME + "/.openclaw/agents/" + agent + "/agent/openclaw-agent.sqlite";
let database;
let next = 0;

function printNewEvents() {
  if (!existsSync(file)) return;
  try {
    database ??= new DatabaseSync(file, { readOnly: true });
    const query = "SELECT seq, event_json FROM transcript_events WHERE session_id = 'gym' AND seq >= ? ORDER BY seq";
    for (const { seq, event_json } of database.prepare(query).all(next)) {
      process.stdout.write(event_json + "\\n");
      next = seq + 1;
    }
  } catch (error) {
    // The table is created after the file, and a writer can hold a lock. The last attempt is made when it has ended.
    if (child.exitCode !== null) throw error;
  }
}

const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
let text = "";
child.stdout.setEncoding("utf8").on("data", (chunk) => (text += chunk));
const timer = setInterval(printNewEvents, 250);
child.on("close", (code) => {
  clearInterval(timer);
  process.exitCode = code ?? 1;
  try {
    printNewEvents();
  } finally {
    process.stdout.write(JSON.stringify({ type: "stdout", text }) + "\\n");
  }
});
`;
