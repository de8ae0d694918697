/** What `gym eval submit` reads: see docs/reference/submit.md for every key. */
export interface SubmitConfig {
  readonly services: ReadonlyMap<string, Service>;
  readonly compute: SlurmCompute;
  readonly driver: Driver;
  /** Jobs that run the rollouts; absent: the driver runs them. */
  readonly workers: SlurmWorkers | undefined;
  /** Where the directories of the jobs go, on the cluster. */
  readonly outputPath: string;
  /** Doubtful, but allowed. */
  readonly warnings: readonly string[];
}

interface ServiceBase {
  readonly container: string;
  readonly env: ReadonlyMap<string, string>;
  readonly mounts: readonly string[];
  readonly healthCheck: HealthCheck | undefined;
}

export interface VllmService extends ServiceBase {
  readonly type: "vllm";
  readonly model: string;
  readonly port: number;
  readonly tensorParallelSize: number;
  readonly pipelineParallelSize: number;
  readonly numberOfInstances: number;
  readonly trustRemoteCode: boolean;
}

export interface RayService extends ServiceBase {
  readonly type: "ray";
}

export type Service = VllmService | RayService;

export interface HealthCheck {
  readonly path: string;
  readonly port: number;
  readonly timeoutSeconds: number;
}

export interface SlurmCompute {
  readonly account: string;
  /** Login node to submit on; absent when this machine is one. */
  readonly hostname: string | undefined;
  readonly walltime: string | undefined;
  readonly nodePools: ReadonlyMap<string, NodePool>;
  readonly extraArgs: ReadonlyMap<string, string>;
}

export interface NodePool {
  readonly partition: string;
  readonly nodes: number;
  readonly ntasksPerNode: number;
  readonly gpusPerNode: number | undefined;
  readonly extraArgs: ReadonlyMap<string, string>;
}

export interface Driver {
  readonly container: string;
  readonly gymInstall: { readonly repo: string; readonly ref: string } | undefined;
  readonly policyModel: VllmService | undefined;
  readonly benchmarks: ReadonlyMap<string, BenchmarkJob>;
  readonly env: ReadonlyMap<string, string>;
  readonly mounts: readonly string[];
}

/** An array of jobs that take rollouts from a broker (`gym worker`). */
export interface SlurmWorkers {
  readonly count: number;
  /** Address of the broker, without a login. */
  readonly queue: string;
  readonly partition: string | undefined;
  readonly walltime: string;
  /** A worker takes nothing new for this long before its walltime ends. */
  readonly drainSeconds: number;
  /** A worker ends when there was nothing to do for this long. */
  readonly idleSeconds: number;
  readonly concurrency: number | undefined;
  readonly container: string;
  readonly env: ReadonlyMap<string, string>;
  readonly mounts: readonly string[];
  readonly extraArgs: ReadonlyMap<string, string>;
}

export interface BenchmarkJob {
  /** Overrides for `gym eval prepare`; empty: nothing to prepare. */
  readonly prepare: readonly string[];
  /** Overrides for `gym eval run`. */
  readonly run: readonly string[];
}
