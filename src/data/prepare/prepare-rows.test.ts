import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toPlainNumbers } from "../../base/python/numbers/py-float.ts";
import { prepareRows } from "./prepare-rows.ts";
import type { SourceAccess } from "./sources.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-prepare-rows-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const tables: Record<string, Record<string, unknown>[]> = {
  "org/set": [
    { id: 1, answer: "b", score: null, "two words": "x" },
    { id: 2, answer: "a", score: 0, "two words": "y" },
    { id: 3, answer: "b", score: 7, "two words": "z" },
  ],
};
const access: SourceAccess = {
  async *hubRows({ hub, config, split }) {
    for (const row of tables[hub] ?? []) yield { ...row, from: `${config ?? ""}/${split}` };
  },
  hubConfigs: async () => ["de", "en"],
  open: async ({ url, file }) => ({
    name: url ?? file ?? "",
    text: async () =>
      url?.endsWith(".csv") ? 'k,v\na,"1, ""2"""\nb\n' : "WORDS = {'a': ('x', 'y'), 'n': None}\n",
    async *members(_encoding, wanted) {
      const members = { "data/b.csv": "1,2\n3\n", "data/a.csv": "5,6\n", "notes.txt": "no" };
      for (const [name, text] of Object.entries(members)) if (wanted(name)) yield { name, text };
    },
  }),
};

async function rows(
  yaml: string,
  options: {
    args?: Record<string, unknown>;
    limit?: number;
    onFile?: (name: string, value: unknown) => void;
  } = {},
) {
  const file = path.join(base, "prepare.yaml");
  writeFileSync(file, yaml);
  const made: unknown[] = [];
  for await (const { row } of prepareRows({ file, access, args: {}, ...options }))
    made.push(toPlainNumbers(row));
  return made;
}
const hub = "source: {hub: org/set, split: test}\n";

describe("rows from a prepare.yaml", () => {
  it("keeps the type of an expression and fills in templates", async () => {
    expect(
      await rows(
        `${hub}fields: {n: = id + 1, t: "{{ id }}: {{ score }}", w: '= row["two words"]', c: 5, l: [= id, {a: = text(2.0)}]}`,
        { limit: 1 },
      ),
    ).toEqual([{ n: 2, t: "1: None", w: "x", c: 5, l: [1, { a: "2.0" }] }]);
  });

  it("makes files beside the rows from joins and tables, also after a limit", async () => {
    const files: unknown[] = [];
    const all = "join: {all: {source: {hub: org/set, split: test}, key: answer, all: true}}\n";
    const also =
      "also: {tests.json: {pairs: {each: = keys(all), as: k, value: [= k, '= all[k] | length']}}}\n";
    await rows(`${hub}${all}fields: {id: = id}\n${also}`, {
      limit: 1,
      onFile: (...file) => files.push(file),
    });
    expect(files).toEqual([["tests.json", { b: 2, a: 1 }]]);
    await expect(rows(`${hub}fields: {id: = id}\nalso: {../x.json: 1}\n`)).rejects.toThrow(
      /prepare\.yaml:3:\d+: '\.\.\/x\.json' is not the name of a JSON file/,
    );
  });

  it("computes let in order, drops rows by where, and counts all source rows in index", async () => {
    expect(
      await rows(
        `${hub}let: {a: = id * 2, b: = a + 1}\nwhere: answer == "b"\nfields: {b: = b, index: = index}`,
      ),
    ).toEqual([
      { b: 3, index: 0 },
      { b: 7, index: 2 },
    ]);
  });

  it("keeps and drops fields, and leaves optional ones out", async () => {
    const yaml = `${hub}keep: all\ndrop: [from, two words]\nfields: {score: = score}\noptional: [score]`;
    expect(await rows(yaml, { limit: 3 })).toEqual([
      { id: 1, answer: "b" },
      { id: 2, answer: "a" },
      { id: 3, answer: "b", score: 7 },
    ]);
    expect(await rows(`${hub}keep: [id]`, { limit: 1 })).toEqual([{ id: 1 }]);
  });

  it("goes through all combinations, with arguments and a condition", async () => {
    const yaml = `args: {langs: [de, fr]}
foreach: {lang: = langs, level: [low, top]}
when: not (lang == "fr" and level == "top")
source: {hub: org/set, config: "{{ lang }}", split: "{{ level }}"}
where: id == 1
fields: {from: = from}`;
    expect(await rows(yaml)).toEqual([{ from: "de/low" }, { from: "de/top" }, { from: "fr/low" }]);
    expect(await rows(yaml, { args: { langs: ["it"] } })).toHaveLength(2);
    await expect(rows(yaml, { args: { lang: 1 } })).rejects.toThrow(
      "no argument 'lang'; it has langs; did you mean 'langs'?",
    );
    const all =
      'foreach: {c: null}\nsource: {hub: org/set, config: "{{ c }}", split: x}\nfields: {from: = from}';
    expect(await rows(all, { limit: 4 })).toHaveLength(4);
  });

  it("joins other sources, and reads tables, CSV, archives and Python literals", async () => {
    expect(
      await rows(`${hub}join: {by_key: {source: {url: "https://example.org/x.csv"}, key: k, value: v}}
tables: {names: {a: first}, words: {url: "https://example.org/x.py", format: python}}
fields: {v: '= lookup(by_key, answer, "none")', name: '= lookup(names, answer)', w: = words.WORDS.a}`),
    ).toEqual([
      { v: null, name: null, w: ["x", "y"] },
      { v: '1, "2"', name: "first", w: ["x", "y"] },
      { v: null, name: null, w: ["x", "y"] },
    ]);
    const archive =
      "source: {url: 'https://example.org/x.tar', members: '^data/', format: csv, header: [p, q], order: name}";
    expect(await rows(`${archive}\nfields: {p: = p, m: = stem(member)}`)).toEqual([
      { p: "5", m: "a" },
      { p: "1", m: "b" },
    ]);
  });

  it("makes lists", async () => {
    const yaml = `${hub}fields: {l: {each: "[1, 2, 3]", as: x, where: x != 2, value: "= n ~ '-' ~ x"}}`;
    expect(await rows(yaml, { limit: 1 })).toEqual([{ l: ["1-1", "2-3"] }]);
  });

  it("shuffles as Python does", async () => {
    // python3 -c "import random; r = random.Random(42); a = list('abcde'); r.shuffle(a); b = list('abcde'); r.shuffle(b); print(a, b)"
    const yaml = `${hub}seed: 42\nfields: {s: '= shuffled(["a", "b", "c", "d", "e"]) | join'}`;
    expect(await rows(yaml, { limit: 2 })).toEqual([{ s: "dbcea" }, { s: "dcaeb" }]);
    expect(await rows(`${hub}fields: {s: '= shuffled([1, 2, 3], md5int("q"))'}`, { limit: 1 })).toEqual([
      { s: [3, 2, 1] },
    ]);
  });

  it("groups, sorts, shuffles and draws rows", async () => {
    const grouped = `${hub}group: {by: answer, sort: 0 - id}\nfields: {a: = answer, ids: '= rows | map(attribute="id")'}`;
    expect(await rows(grouped)).toEqual([
      { a: "b", ids: [3, 1] },
      { a: "a", ids: [2] },
    ]);
    expect(await rows(`${hub}sort: answer\nfields: {id: = id}`)).toEqual([{ id: 2 }, { id: 1 }, { id: 3 }]);
    // python3 -c "import random; a = [1, 2, 3]; random.Random(42).shuffle(a); print(a, random.Random(42).sample([1, 2, 3], 2))"
    expect(await rows(`${hub}shuffle: {seed: 42}\nfields: {id: = id}`)).toEqual([
      { id: 2 },
      { id: 1 },
      { id: 3 },
    ]);
    expect(await rows(`${hub}shuffle: {seed: 42, where: id != 2}\nfields: {id: = id}`)).toEqual([
      { id: 1 },
      { id: 3 },
    ]);
    const drawn = `args: {some: 2}\n${hub}sample: {count: = some, seed: 42}\nfields: {id: = id}`;
    expect(await rows(drawn)).toEqual([{ id: 3 }, { id: 1 }]);
    expect(await rows(drawn, { args: { some: null } })).toHaveLength(3);
  });

  it("keeps all rows of a key in a join", async () => {
    const yaml = `${hub}join: {ids: {source: {hub: org/set, split: x}, key: answer, value: id, all: true}}
fields: {ids: '= must(ids, answer)'}`;
    expect(await rows(yaml, { limit: 2 })).toEqual([{ ids: [1, 3] }, { ids: [2] }]);
  });

  it("unpacks texts without running them", async () => {
    // python3: base64.b64encode(zlib.compress(pickle.dumps("[1, é]", protocol=4)))
    const value = async (expression: string) =>
      ((await rows(`${hub}fields: {v: '= ${expression}'}`, { limit: 1 })) as { v: unknown }[])[0]?.v;
    expect(await value('unpack_text("eJxrYJnKzQABPezRhjoKh1fGTtEDAC24BRs=")')).toBe("[1, é]");
    expect(await value('unpack_text("[2]")')).toBe("[2]");
    await expect(
      value('unpack_text("eJxrYJkqxwABPRxJpZk5JZl5xVN6WAuKMvNKpkye0sNYMaV1StAUPQDyFg4J")'),
    ).rejects.toThrow("not a pickled text");
    expect(await value('plain_name("a/Müllerɢ")')).toBe("a/Müllerɢ");
    expect(await value('plain_name("lcr/itΓÇÖs s╠º")')).toBe("lcr/it's ş");
    expect(await value('put("{1}-{0}-{2}", 1, "a")')).toBe("a-1-{2}");
  });

  it("calls mapRow of a row.ts", async () => {
    writeFileSync(
      path.join(base, "row.ts"),
      "export const mapRow = (row: any, { doubled }: any) => (row.id === 2 ? null : [{ a: doubled }, { a: row.id }]);",
    );
    expect(await rows(`${hub}let: {doubled: = id * 2}\nmap: ./row.ts`)).toEqual([
      { a: 2 },
      { a: 1 },
      { a: 6 },
      { a: 3 },
    ]);
  });

  it("rejects another number of rows than expected, unless only some are wanted", async () => {
    const yaml = `${hub}expect: 4\nfields: {id: = id}`;
    await expect(rows(yaml)).rejects.toThrow("the sources give 3 rows, but 4 are expected");
    expect(await rows(yaml, { limit: 2 })).toHaveLength(2);
  });

  it.each([
    ["sorce: {}", /prepare\.yaml:1:1: unknown key 'sorce'; did you mean 'source'\?/],
    ["source: {hub: a/b, splt: x}", /:1:26: a source has no 'splt'; did you mean 'split'\?/],
    ["source: {split: x}", /:1:1: a source has one of/],
    [`${hub}`, /one of `fields`, `keep` and `map` is needed/],
    [
      `${hub}fields:\n  a: = shufled([1])`,
      /prepare\.yaml:3:6: there is no function 'shufled'; did you mean 'shuffled'\?/,
    ],
    [`${hub}fields:\n  a: = id +`, /prepare\.yaml:3:6: /],
    [
      `${hub}fields:\n  a: = anser`,
      /prepare\.yaml:3:6: there is no name 'anser'; did you mean 'answer'\?\. Source row 1: \{"id": 1,/,
    ],
    [`${hub}where: id < answer\nkeep: all`, /prepare\.yaml:2:8: int and str have no order\. Source row 1/],
    [`${hub}fields: {a: '= must({}, answer)'}`, /the table has no 'b'\. Source row 1/],
  ])("reports %j with its place", async (yaml, message) => {
    await expect(rows(yaml)).rejects.toThrow(message);
  });
});
