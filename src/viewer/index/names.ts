/** Further names share one number. */
const MAX_NAMES = 10_000;
const OTHERS = "(others)";

/** Numbers for names that many rows share. */
export class Names {
  readonly #places = new Map<string, number>();
  readonly all: string[] = [];

  /** The number of a name, from 1; 0 for none. */
  place(name: string | undefined): number {
    if (name === undefined) return 0;
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    if (this.all.length >= MAX_NAMES) return MAX_NAMES;
    const shown = this.all.length === MAX_NAMES - 1 ? OTHERS : name;
    this.all.push(shown);
    this.#places.set(shown, this.all.length);
    return this.all.length;
  }

  name(place: number): string | undefined {
    return this.all[place - 1];
  }

  /** The numbers of all names that pass a test. */
  matching(test: (name: string) => boolean): Set<number> {
    return new Set(this.all.flatMap((name, index) => (test(name) ? [index + 1] : [])));
  }

  restore(names: readonly string[]): void {
    for (const name of names) this.place(name);
  }
}
