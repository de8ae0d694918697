import type { ScaffoldFiles } from "./files.ts";
import { DATA_GITIGNORE, serverConfig } from "./resources-server.ts";

/** A multi-turn environment: it answers every turn of the model, until it ends the episode. */
export function gameFiles(name: string): ScaffoldFiles {
  const folder = `resources_servers/${name}`;
  return {
    [`${folder}/app.ts`]: APP,
    [`${folder}/app.test.ts`]: APP_TEST,
    [`${folder}/configs/${name}.yaml`]: serverConfig(name, {
      domain: "games",
      agent: "gymnasium_agent",
      agentKeys: "      max_steps: 10\n",
    }),
    [`${folder}/data/example.jsonl`]: exampleRows(),
    [`${folder}/data/.gitignore`]: DATA_GITIGNORE,
    [`${folder}/README.md`]: readme(name),
  };
}

const APP = `import { defineGymnasiumServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";

/** Higher or lower: the model names numbers until it has found the one of the row. */
export default defineGymnasiumServer({
  row: z.object({ number: z.number().int(), guesses: z.number().int().default(7) }),
  /** Starts an episode. The session lives as long as it; the observation is what the model reads first. */
  reset: ({ row }) => ({
    session: { left: row.guesses },
    observation: \`I think of a number from 1 to 100. You have \${row.guesses} guesses. Answer with a number.\`,
  }),
  /** Answers one turn of the model. A malformed answer costs a guess; it is never an exception. */
  step({ row, session, response }) {
    session.left--;
    const guess = Number(/-?\\d+/.exec(outputText(response))?.[0]);
    if (guess === row.number) return { reward: 1, terminated: true, info: { guesses_left: session.left } };
    const hint = Number.isNaN(guess) ? "That is not a number." : guess < row.number ? "Higher." : "Lower.";
    return { reward: 0, truncated: session.left <= 0, observation: \`\${hint} \${session.left} guesses left.\` };
  },
});
`;

const APP_TEST = `import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

async function play(...answers: string[]) {
  const server = await createTestServer(definition);
  const row = { number: 5, guesses: 3 };
  const replies = [(await server.post("/reset", verifyBody(row))).body];
  for (const answer of answers)
    replies.push((await server.post("/step", verifyBody(row, messageItem(answer)))).body);
  await server.close();
  return replies;
}

it("says where to look, and pays for the number", async () => {
  const [start, low, high, found] = await play("3", "Is it 9?", "5");
  expect(start.observation).toContain("3 guesses");
  expect(low.observation).toBe("Higher. 2 guesses left.");
  expect(high.observation).toBe("Lower. 1 guesses left.");
  expect(found).toMatchObject({ reward: 1, terminated: true, truncated: false });
});

it("ends when the guesses are used up, whatever they were spent on", async () => {
  const [, nonsense, , last] = await play("Hm.", "", "4");
  expect(nonsense.observation).toContain("That is not a number.");
  expect(last).toMatchObject({ reward: 0, terminated: false, truncated: true });
});
`;

function exampleRows(): string {
  const input = [{ role: "user", content: "Let us play a game." }];
  return [42, 7, 99, 50, 1]
    .map((number) => `${JSON.stringify({ responses_create_params: { input }, number })}\n`)
    .join("");
}

function readme(name: string): string {
  return `# ${name}

What the model plays, how an episode ends, and what earns a reward.

| Field of a row | Meaning |
| --- | --- |
| \`number\` | the number to find |
| \`guesses\` | turns of the episode |

\`\`\`bash
gym env test --resources-server ${name}
gym eval run --resources-server ${name} --model-type random_model --output results/${name}.jsonl
\`\`\`

## Licensing

Code: Apache 2.0. Data: Apache 2.0.
`;
}
