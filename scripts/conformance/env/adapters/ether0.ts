import path from "node:path";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { isObject, type JsonObject, readLines } from "../rows.ts";

/** Molecules need a Python with rdkit and exmol. */
const python = process.env["RDKIT_PYTHON"] ?? "python3";

interface Chemistry {
  describe(smiles: string, signal: AbortSignal): Promise<JsonObject>;
  details(smiles: string, signal: AbortSignal): Promise<{ rings: string[] }>;
  functionalGroups(smiles: string, signal: AbortSignal): Promise<string[]>;
  similarity(one: string, other: string, signal: AbortSignal): Promise<number>;
  close(): void;
}

/** Questions about single molecules. */
async function answer(chemistry: Chemistry, kind: unknown, smiles: string[]): Promise<unknown> {
  const { signal } = new AbortController();
  const [one = "", other = ""] = smiles;
  if (kind === "ring_systems") return (await chemistry.details(one, signal)).rings.sort();
  if (kind === "functional_groups") return chemistry.functionalGroups(one, signal);
  if (kind === "tanimoto") return chemistry.similarity(one, other, signal);
  return (await chemistry.describe(one, signal))[kind === "formula" ? "formula" : "canonical"];
}

/** The filters and the services answer as the row says. */
export const adapter: Adapter = {
  rows: readLines,
  config: () => ({ python }),
  definition(module, row) {
    const { defineEther0 } = module;
    if (typeof defineEther0 !== "function") throw new Error("ether0/app must export defineEther0");
    const remote = isObject(row["remote"]) ? row["remote"] : {};
    const bloom = isObject(row["bloom"]) ? row["bloom"] : {};
    return defineEther0(() => ({
      services: {
        solubility: async () => remote["solubility"],
        purchasable: async () => remote["purchasable"] ?? {},
        product: async () => remote["product"],
      },
      known: (kind: string) => bloom[kind] !== false,
    }));
  },
  caseOf(row, { directory }) {
    const { kind, smiles } = row;
    if (smiles === undefined) return undefined;
    return async () => {
      const { Chemistry } = (await import(
        "../../../../resources_servers/ether0/chemistry.ts"
      )) as unknown as { Chemistry: new (settings: object) => Chemistry };
      const chemistry = new Chemistry({ python, directory: path.resolve(directory), timeoutMs: 60_000 });
      try {
        const found = await answer(chemistry, kind, [smiles].flat() as string[]);
        const expected = row.expected as unknown;
        return difference(found, Array.isArray(expected) ? expected.toSorted() : expected, "answer", {
          relative: 1e-12,
        });
      } finally {
        chemistry.close();
      }
    };
  },
};
