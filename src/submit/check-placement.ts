import type { Problems } from "./problems.ts";
import type { Service, SlurmCompute } from "./submit-config.ts";

/** All services share one machine, so each port can be had once. */
export function checkPorts(services: ReadonlyMap<string, Service>, problems: Problems): void {
  const owners = new Map<number, string>();
  for (const [name, service] of services) {
    if (service.type !== "vllm") continue;
    const owner = owners.get(service.port);
    if (owner === undefined) owners.set(service.port, name);
    else
      problems.add(["services", name], `has the same port as '${owner}', ${service.port}; give it another`);
  }
}

/** A vLLM with all its instances has to fit on one node. */
export function checkGpus(
  services: ReadonlyMap<string, Service>,
  compute: SlurmCompute,
  problems: Problems,
  warnings: string[],
): void {
  const largest = Math.max(...[...compute.nodePools.values()].map(({ gpusPerNode }) => gpusPerNode ?? -1));
  if (largest < 0) return;
  for (const [name, service] of services) {
    if (service.type !== "vllm") continue;
    const {
      tensorParallelSize: tensor,
      pipelineParallelSize: pipeline,
      numberOfInstances: instances,
    } = service;
    const needed = tensor * pipeline * instances;
    const product = `tensor_parallel_size ${tensor} x pipeline_parallel_size ${pipeline} x number_of_instances ${instances}`;
    if (needed > largest) {
      problems.add(
        ["services", name],
        `needs ${needed} GPUs (${product}), and the largest node pool has ${largest} per node`,
      );
    } else if (needed < largest) {
      warnings.push(`Service '${name}' uses ${needed} of the ${largest} GPUs of a node (${product}).`);
    }
  }
}
