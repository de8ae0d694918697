import { setMember } from "nemo-gym/verify";

export type Table = Record<string, unknown>;
export type TomlKey = readonly string[];

/** A violation of the TOML rules, without a position: the reader adds it. */
export class NamespaceError extends Error {}

type Flag = "frozen" | "explicit";

interface Mark {
  own: Set<Flag>;
  below: Set<Flag>;
  members: Map<string, Mark>;
}

/** The tables defined so far: which were opened by name, and which must not be extended. */
class Marks {
  private readonly root = new Map<string, Mark>();
  private pending: { key: TomlKey; flag: Flag }[] = [];

  has(key: TomlKey, flag: Flag): boolean {
    let members = this.root;
    for (const [index, part] of key.entries()) {
      const mark = members.get(part);
      if (mark === undefined) return false;
      if (mark.below.has(flag)) return true;
      if (index === key.length - 1) return mark.own.has(flag);
      members = mark.members;
    }
    return false;
  }

  set(key: TomlKey, flag: Flag, options: { below: boolean }): void {
    let members = this.root;
    for (const [index, part] of key.entries()) {
      let mark = members.get(part);
      if (mark === undefined) {
        mark = { own: new Set(), below: new Set(), members: new Map() };
        members.set(part, mark);
      }
      if (index === key.length - 1) (options.below ? mark.below : mark.own).add(flag);
      members = mark.members;
    }
  }

  forget(key: TomlKey): void {
    let members = this.root;
    for (const part of key.slice(0, -1)) {
      const mark = members.get(part);
      if (mark === undefined) return;
      members = mark.members;
    }
    members.delete(key.at(-1) ?? "");
  }

  /** Takes effect at the next table header. */
  setLater(key: TomlKey, flag: Flag): void {
    this.pending.push({ key, flag });
  }

  settle(): void {
    for (const { key, flag } of this.pending) this.set(key, flag, { below: false });
    this.pending = [];
  }
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function isContainer(value: unknown): boolean {
  return Array.isArray(value) || isTable(value);
}

/** The tables of a document, or of one inline table, with the rules against duplicate definitions. */
export class Namespace {
  readonly data: Table = {};
  private readonly marks = new Marks();

  openTable(key: TomlKey): void {
    this.marks.settle();
    if (this.marks.has(key, "explicit") || this.marks.has(key, "frozen")) {
      throw new NamespaceError(`cannot declare ${key.join(".")} twice`);
    }
    this.marks.set(key, "explicit", { below: false });
    this.nest(key, true);
  }

  openListItem(key: TomlKey): void {
    this.marks.settle();
    if (this.marks.has(key, "frozen")) throw new NamespaceError(`cannot change ${key.join(".")}`);
    this.marks.forget(key);
    this.marks.set(key, "explicit", { below: false });
    const parent = this.nest(key.slice(0, -1), true);
    const name = key.at(-1) ?? "";
    const list = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (list === undefined) setMember(parent, name, [{}]);
    else if (Array.isArray(list)) list.push({});
    else throw new NamespaceError("cannot overwrite a value");
  }

  /** `key = value` below a table header. */
  assign(header: TomlKey, key: TomlKey, value: unknown): void {
    for (let length = 1; length < key.length; length++) {
      const container = [...header, ...key.slice(0, length)];
      if (this.marks.has(container, "explicit"))
        throw new NamespaceError(`cannot redefine ${container.join(".")}`);
      this.marks.setLater(container, "explicit");
    }
    const parent = [...header, ...key.slice(0, -1)];
    if (this.marks.has(parent, "frozen")) throw new NamespaceError(`cannot change ${parent.join(".")}`);
    this.define(this.nest(parent, true), key, value);
    if (isContainer(value)) this.marks.set([...header, ...key], "frozen", { below: true });
  }

  /** `key = value` inside an inline table. */
  assignInline(key: TomlKey, value: unknown): void {
    if (this.marks.has(key, "frozen")) throw new NamespaceError(`cannot change ${key.join(".")}`);
    this.define(this.nest(key.slice(0, -1), false), key, value);
    if (isContainer(value)) this.marks.set(key, "frozen", { below: true });
  }

  private define(table: Table, key: TomlKey, value: unknown): void {
    const name = key.at(-1) ?? "";
    if (Object.hasOwn(table, name)) throw new NamespaceError("cannot overwrite a value");
    setMember(table, name, value);
  }

  /** The table at `key`, created if it is missing; for an array of tables its last table. */
  private nest(key: TomlKey, intoLists: boolean): Table {
    let table = this.data;
    for (const part of key) {
      if (!Object.hasOwn(table, part)) setMember(table, part, {});
      let next = table[part];
      if (intoLists && Array.isArray(next)) next = next.at(-1);
      if (!isTable(next)) throw new NamespaceError("cannot overwrite a value");
      table = next;
    }
    return table;
  }
}
