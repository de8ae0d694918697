/**
 * Stands for a person in the example of gym judge: labels poems in the terminal by the rules of haiku.
 *
 * Usage: node critic.mjs RUN [N]
 */
import { spawn } from "node:child_process";

const [run = "results/poems.jsonl", sample = "80"] = process.argv.slice(2);
const words = ["judge", "label", run, "--sample", sample, "--labeller", "critic", "--terminal"];
const gym = spawn("gym", words, { stdio: ["pipe", "pipe", "inherit"] });

let shown = "";
gym.stdout.setEncoding("utf8").on("data", (text) => {
  shown += text;
  for (
    let end = shown.indexOf("Is the answer right?");
    end !== -1;
    end = shown.indexOf("Is the answer right?")
  ) {
    const rollout = shown.slice(0, end);
    shown = shown.slice(shown.indexOf("\n", end) + 1);
    gym.stdin.write(isHaiku(rollout) ? "r\n" : "w\n");
  }
});
gym.on("close", (code) => {
  process.stdout.write(shown.trimStart());
  process.exitCode = code ?? 1;
});

/** Three lines that show the topic and name no feeling. */
function isHaiku(rollout) {
  const topic = /topic: (.*)/.exec(rollout)?.[1] ?? "";
  const [, poem = ""] = rollout.split("assistant:\n");
  const lines = poem.split("\n").filter((line) => line.trim() !== "");
  return lines.length === 3 && poem.includes(topic) && !/\b(?:sad|happy|lonely|love|joy)\b/.test(poem);
}
