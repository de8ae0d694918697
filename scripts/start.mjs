// Runs an evaluation with the content of the package: no key, no network.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const gym = fileURLToPath(new URL("../bin/gym.js", import.meta.url));
const words = [
  "eval",
  "run",
  "--resources-server",
  "blackjack",
  "--model-type",
  "random_model",
  "--num-repeats",
  "20",
];
console.log(`$ gym ${words.join(" ")}\n`);
const { status } = spawnSync(process.execPath, [gym, ...words], { stdio: "inherit" });
if (status === 0) {
  console.log(`
What to do next:
  gym list environments                                   what there is to run
  gym eval run --resources-server mcqa --model-type random_model --num-repeats 4
  gym env start --resources-server example_single_tool_call --model-type random_model
  docs/guide/getting-started.md                           your own model, your own environment
(\`npm link\` puts gym on your PATH; here it is \`node bin/gym.js\`.)`);
}
process.exitCode = status ?? 1;
