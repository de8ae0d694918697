import type { ManifestKind } from "./manifest.ts";

/** Something that can be run: an environment or a benchmark, wherever its config lies. */
export interface Workload {
  readonly name: string;
  readonly kind: ManifestKind;
  /** `experimental` when it has a manifest. */
  readonly status: "experimental" | "no-manifest";
  readonly configFile: string;
  readonly manifestFile?: string;
  readonly domain?: string;
  readonly description?: string;
  readonly version?: string;
  readonly integrationProfile?: string;
  readonly modality?: string;
  readonly licensing?: string;
  readonly lifecycle?: string;
  /** The value of `--resources-server` for workloads that live in a resources server. */
  readonly resourcesServer?: string;
}
