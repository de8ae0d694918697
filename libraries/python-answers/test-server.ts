import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";

/** An answer with a block of Python. */
export const pythonAnswer = (code: string) => messageItem(`Here:\n\`\`\`python\n${code}\n\`\`\``);

/** A server of a folder with example rows, for tests of verifiers that run code. */
export async function codeServer(
  definition: Parameters<typeof createTestServer>[0],
  folder: URL,
  config: object,
) {
  const directory = fileURLToPath(folder);
  const rows: object[] = readFileSync(`${directory}data/example.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const server = await createTestServer(definition, { config: { ...config }, directory });
  const answer = async (index: number, item: ReturnType<typeof messageItem>) =>
    (await server.verify(verifyBody({ ...rows[index] }, item))).body;
  return {
    /** The result for one answer to an example row. */
    answer,
    /** The result for an answer that consists of code. */
    verify: (index: number, code: string) => answer(index, pythonAnswer(code)),
    close: () => server.close(),
  };
}
