import { isAbsolute, join } from "node:path";
import { defineResourcesServer, HttpError } from "nemo-gym";
import { functionCalls, laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { sameState } from "./compare-state.ts";
import { type Databases, loadDatabases } from "./databases.ts";
import { type Call, replay } from "./replay.ts";
import { ToolError } from "./tool-error.ts";
import { toolDeclarations, tools } from "./tools/index.ts";
import { Workplace } from "./workplace.ts";

const config = z.object({
  /** Folder of the databases, relative to the folder of this server. */
  csv_data_dir: z.string().default("csv_data"),
});

/** Databases are read once per folder and shared by all instances; they are never modified. */
const loaded = new Map<string, Promise<Databases>>();

function databasesOf(server: { directory: string; config: z.output<typeof config> }): Promise<Databases> {
  const { csv_data_dir } = server.config;
  const directory = isAbsolute(csv_data_dir) ? csv_data_dir : join(server.directory, csv_data_dir);
  let databases = loaded.get(directory);
  if (databases === undefined) {
    databases = loadDatabases(directory);
    loaded.set(directory, databases);
  }
  return databases;
}

/** Office work in several steps over five databases; the final state of the databases is scored. */
export default defineResourcesServer({
  config,
  seed: z.looseObject({}),
  row: z.object({
    id: laxInt(),
    ground_truth: z.union([z.array(z.looseObject({ name: z.string(), arguments: z.string() })), z.string()]),
    category: z.string(),
    environment_name: z.string(),
  }),
  echo: [],
  reverifyMode: "stateless",
  start: async (server) => {
    await databasesOf(server);
  },
  session: async ({ server }): Promise<{ workplace: Workplace | undefined }> => ({
    workplace: new Workplace(await databasesOf(server)),
  }),
  unseeded: () => ({ workplace: undefined }),
  fallbackTool: {
    list: () =>
      toolDeclarations().map(({ name, description, parameters }) => ({
        name,
        description,
        inputSchema: parameters,
      })),
    run: ({ name, input, session: { workplace } }) => {
      if (workplace === undefined)
        throw new HttpError(400, "Session not initialized. Please call seed_session first.");
      try {
        return { output: workplace.call(tools, name, withoutNulls(input)) };
      } catch (error) {
        if (error instanceof ToolError) return { output: `Error executing tool '${name}': ${error.message}` };
        throw error;
      }
    },
  },
  verify: async ({ row, response, server }) => {
    const databases = await databasesOf(server);
    // A string as ground truth contains no calls; the original iterates its characters and finds none.
    const expected: Call[] = typeof row.ground_truth === "string" ? [] : row.ground_truth;
    const same = sameState(replay(databases, functionCalls(response)), replay(databases, expected));
    return { reward: same ? 1 : 0 };
  },
});

function withoutNulls(input: unknown): Record<string, unknown> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new HttpError(422, [
      { type: "dict_type", loc: ["body"], msg: "Input should be a valid dictionary", input },
    ]);
  }
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}
