import path from "node:path";
import { HttpError } from "nemo-gym";
import { z } from "zod";
import { PythonProgram, PythonProgramError } from "../../libraries/python-program/python-program.ts";

/** Longer texts are no molecule. */
const MAX_SMILES = 4_000;

const Description = z.object({
  /** SMILES with stereochemistry in RDKit's canonical form. */
  canonical: z.string(),
  formula: z.string(),
  atoms: z.number(),
  heavy: z.number(),
});
const Details = z.object({
  /** Heavy atoms of each fragment, the largest first. */
  sizes: z.array(z.number()),
  rings: z.array(z.string()),
  bits: z.array(z.string()),
});
export type Description = z.output<typeof Description>;
export type Details = z.output<typeof Details>;

/** Why there is no answer about a molecule, although RDKit works: the text is not a molecule. */
export class NoMolecule extends Error {}

/** RDKit in a Python process. */
export class Chemistry {
  readonly #program: PythonProgram;

  constructor(settings: { python: string; directory: string; timeoutMs: number }) {
    const { python, directory, timeoutMs } = settings;
    this.#program = new PythonProgram({ python, file: path.join(directory, "molecules.py"), timeoutMs });
  }

  /** Null for a text that is not a molecule. */
  async describe(smiles: string, signal: AbortSignal): Promise<Description | null> {
    try {
      return Description.nullable().parse(await this.#ask("describe", [smiles], signal));
    } catch (error) {
      if (error instanceof NoMolecule) return null;
      throw error;
    }
  }

  async details(smiles: string, signal: AbortSignal): Promise<Details> {
    return Details.parse(await this.#ask("details", [smiles], signal));
  }

  /** The Tanimoto similarity of the fingerprints. */
  async similarity(one: string, other: string, signal: AbortSignal): Promise<number> {
    return z.number().parse(await this.#ask("similarity", [one, other], signal));
  }

  async contains(smiles: string, pattern: string, signal: AbortSignal): Promise<boolean> {
    return z.boolean().parse(await this.#ask("contains", [smiles, pattern], signal));
  }

  async functionalGroups(smiles: string, signal: AbortSignal): Promise<string[]> {
    return z.array(z.string()).parse(await this.#ask("functional_groups", [smiles], signal));
  }

  /** The value of a Python literal of the row. */
  literal(text: string, signal: AbortSignal): Promise<unknown> {
    return this.#ask("literal", [text], signal);
  }

  close(): void {
    this.#program.close();
  }

  async #ask(question: string, about: string[], signal: AbortSignal): Promise<unknown> {
    if (about.some((text) => text.length > MAX_SMILES)) throw new NoMolecule("The text is too long.");
    try {
      const { value, missing, error } = await this.#program.ask({ question, about }, signal);
      if (missing !== undefined) throw new HttpError(500, `python: ${missing}`);
      if (error !== undefined) throw new NoMolecule(String(error));
      return value;
    } catch (error) {
      if (!(error instanceof PythonProgramError)) throw error;
      // A molecule can be made such that RDKit does not end.
      if (error.isLate) throw new NoMolecule(error.message);
      throw new HttpError(
        500,
        `The rules about molecules need a Python with rdkit and exmol: ${error.message}`,
      );
    }
  }
}
