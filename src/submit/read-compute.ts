import type { BlockReader } from "./block-reader.ts";
import { NAME } from "./read-service.ts";
import type { NodePool, SlurmCompute } from "./submit-config.ts";

/** A leading dash would be an option of ssh. */
const HOST = [/^[A-Za-z0-9_][A-Za-z0-9_.@:%-]*$/, "the name of a host, or user@host"] as const;
/** Options of sbatch, without their dashes. */
const OPTION = [/^[a-z][a-z0-9-]*$/, "the long name of an sbatch option, without dashes"] as const;
export const WALLTIME = [/^[0-9]+(?:[-:][0-9]+)*$/, 'a time such as "01:30:00" or "1-12:00:00"'] as const;

export function readCompute(block: BlockReader): SlurmCompute {
  block.choice("type", ["slurm"]);
  const nodePools = new Map<string, NodePool>();
  const compute = {
    account: block.text("account", { required: true }),
    hostname: block.text("hostname", { pattern: HOST }),
    walltime: block.text("walltime", { pattern: WALLTIME }),
    nodePools,
    extraArgs: sbatchOptions(block),
  };
  for (const [name, pool] of block.blocks("node_pools")) {
    if (!NAME[0].test(name)) pool.problem(undefined, `the name of a node pool must be ${NAME[1]}`);
    nodePools.set(name, {
      partition: pool.text("partition", { required: true }),
      nodes: pool.integer("nodes", { default: 1, minimum: 1 }),
      ntasksPerNode: pool.integer("ntasks_per_node", { default: 1, minimum: 1 }),
      gpusPerNode: pool.integer("gpus_per_node", { minimum: 0 }),
      extraArgs: sbatchOptions(pool),
    });
    pool.finish();
  }
  block.finish();
  return compute;
}

/** A line break in one of them would leave the comment that directives are. */
export function sbatchOptions(block: BlockReader): Map<string, string> {
  const options = block.texts("extra_args", OPTION);
  for (const [name, value] of options) {
    if (/\p{Cc}/u.test(value)) block.problem(["extra_args", name], "must be a text of one line");
  }
  return options;
}
