import { silentLogger } from "../base/door.ts";
import { GymError } from "../base/errors.ts";
import type { ResolvedConfig } from "../config/door.ts";
import { citePositions } from "../config/light-door.ts";
import { RolloutError } from "../records/errors.ts";
import { agentNameOf } from "../records/files/door.ts";
import { RolloutKeyMap } from "../records/metrics/door.ts";
import type { ServerDefinition } from "../servers/definitions/door.ts";
import { loadDefinition, readConfig } from "../servers/hosting/light-door.ts";
import type { ResumePlan } from "./resume/resume.ts";
import { locateInstances, onlyServers } from "./start-servers.ts";

/** Maximum number of tasks that a message names. */
const MAX_NAMED = 10;

/** An environment that scores the rollouts of a task together. */
export interface Cohort {
  server: string;
  /** Number of rollouts that wait for each other. */
  size: number;
}

/** The environments of the config whose rollouts wait for each other, by agent. */
export async function findCohorts(
  config: ResolvedConfig,
  definitions: ReadonlyMap<string, ServerDefinition>,
  { roots, installRoot }: { roots: readonly string[]; installRoot: string },
): Promise<Map<string, Cohort>> {
  const agents = config.servers.flatMap(({ name, type, config: block }) => {
    const server = (block["resources_server"] as { name?: unknown } | undefined)?.name;
    return type === "responses_api_agents" && typeof server === "string" ? [{ name, server }] : [];
  });
  const used = new Set(agents.map(({ server }) => server));
  const wanted = onlyServers(config, ({ name, type }) => type === "resources_servers" && used.has(name));
  const sizes = new Map<string, number>();
  for (const instance of locateInstances(wanted, roots, definitions)) {
    const { name, code } = instance;
    // The libraries of such a server are installed when it starts.
    if (code.language !== "node" || code.hasOwnDependencies) continue;
    const definition = instance.definition ?? (await loadDefinition(code.entry, installRoot));
    const { cohort } = definition.options as { cohort?: (config: unknown) => number };
    if (cohort === undefined) continue;
    try {
      const size = cohort(readConfig(definition, { ...instance, log: silentLogger }));
      if (size > 1) sizes.set(name, size);
    } catch (error) {
      if (error instanceof GymError) error.message = citePositions(error.message, config);
      throw error;
    }
  }
  return new Map(
    agents.flatMap(({ name, server }) => {
      const size = sizes.get(server);
      return size === undefined ? [] : [[name, { server, size }]];
    }),
  );
}

/** The concurrency with which one cohort of each agent can run. */
function concurrencyOf(cohorts: ReadonlyMap<string, Cohort>): number {
  return [...cohorts.values()].reduce((sum, { size }) => sum + size, 0);
}

export interface CohortSettings {
  /** Whether workers run the rollouts. */
  queue: boolean;
  /** Concurrent rollouts; null: automatic. */
  concurrency: number | null;
  repeatOrder: "depth" | "breadth";
}

/** Rejects settings under which the rollouts of a task cannot meet; their rollouts would wait in vain and fail. */
export function rejectSettings(cohorts: ReadonlyMap<string, Cohort>, settings: CohortSettings): void {
  const { queue, concurrency, repeatOrder } = settings;
  const needed = concurrencyOf(cohorts);
  for (const { server, size } of cohorts.values()) {
    const wait = `'${server}' scores ${size} rollouts of a task together, and they wait for each other in one process.`;
    if (queue)
      throw rejected(
        `${wait} The workers of a queue have processes of their own: run it without --queue, in a run of its own if others need the queue.`,
      );
    if (repeatOrder === "breadth")
      throw rejected(
        `${wait} With --repeat-order breadth they would not run at the same time: use --repeat-order depth.`,
      );
    if (concurrency !== null && concurrency < needed)
      throw rejected(
        `${wait} --concurrency ${concurrency} is too low: at least ${needed} rollouts must run at once.`,
      );
  }
}

/**
 * The tasks of which an earlier session has done a part. The rest of their rollouts would wait in vain. Rejects a run
 * whose tasks have more or fewer rollouts than their environment scores together.
 */
export async function incompleteTasks(
  cohorts: ReadonlyMap<string, Cohort>,
  plan: ResumePlan,
  { resumed }: { resumed: boolean },
): Promise<{ tasks: Set<number>; rollouts: number }> {
  const agents = [...cohorts.keys()];
  const counts = new RolloutKeyMap();
  for await (const { row, taskIndex } of plan.rows()) {
    const agent = agents.indexOf(agentNameOf(row) ?? "");
    if (agent >= 0) counts.set(taskIndex, agent, (counts.get(taskIndex, agent) ?? 0) + 1);
  }
  const tasks = new Set<number>();
  let rollouts = 0;
  for (const [task, agent, count] of counts.entries()) {
    const { server, size } = cohorts.get(agents[agent] ?? "") as Cohort;
    if (count === size) continue;
    if (!resumed)
      throw rejected(
        `'${server}' scores ${size} rollouts of a task together, but task ${task} has ${count}. Set --num-repeats ${size}, or change the size in the config of the server.`,
      );
    tasks.add(task);
    rollouts += count;
  }
  return { tasks, rollouts };
}

export function namedTasks(tasks: ReadonlySet<number>): string {
  const named = [...tasks].slice(0, MAX_NAMED).join(", ");
  return tasks.size > MAX_NAMED ? `${named}, …` : named;
}

function rejected(message: string): RolloutError {
  return new RolloutError("ROLLOUT_COHORT", message);
}
