/** Records of a W&B run in protocol buffers; field numbers as in its public `wandb_internal.proto`. */

const VARINT = 0;
const BYTES = 2;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

function integer(field: number, value: number): Uint8Array {
  return Uint8Array.from([...varint((field << 3) | VARINT), ...varint(value)]);
}

function bytes(field: number, value: Uint8Array | string): Uint8Array {
  const content = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  return Buffer.concat([
    Uint8Array.from([...varint((field << 3) | BYTES), ...varint(content.length)]),
    content,
  ]);
}

function message(...fields: Uint8Array[]): Uint8Array {
  return Buffer.concat(fields);
}

/** Key and value of a config, history or summary record: the value is JSON text. */
function item(key: string, value: unknown): Uint8Array {
  return message(bytes(1, key), bytes(16, JSON.stringify(value)));
}

const items = (field: number, values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([key, value]) => bytes(field, item(key, value)));

/** One record of the log. */
export type WandbRecord =
  | { type: "header" }
  | {
      type: "run";
      runId: string;
      project: string;
      displayName: string;
      entity?: string | undefined;
      host: string;
      startedAt: Date;
      config: Readonly<Record<string, unknown>>;
    }
  | { type: "history"; step: number; values: Readonly<Record<string, unknown>> }
  | { type: "summary"; values: Readonly<Record<string, unknown>> }
  | { type: "files"; paths: readonly string[] }
  | { type: "exit"; exitCode: number; runtimeSeconds: number }
  | { type: "footer" };

const FIELD = { history: 2, summary: 3, files: 6, run: 17, exit: 18, header: 21, footer: 22 } as const;

/** The bytes of a record; `number` counts the records of the log. */
export function encodeRecord(record: WandbRecord, number: number): Uint8Array {
  return message(integer(1, number), bytes(FIELD[record.type], bodyOf(record)));
}

function bodyOf(record: WandbRecord): Uint8Array {
  switch (record.type) {
    case "header":
    case "footer":
      return message();
    case "run":
      return message(
        bytes(1, record.runId),
        ...(record.entity === undefined ? [] : [bytes(2, record.entity)]),
        bytes(3, record.project),
        bytes(4, message(...items(1, record.config))),
        bytes(8, record.displayName),
        bytes(13, record.host),
        bytes(17, timestamp(record.startedAt)),
      );
    case "history":
      return message(...items(1, record.values), bytes(2, integer(1, record.step)));
    case "summary":
      return message(...items(1, record.values));
    case "files":
      return message(...record.paths.map((path) => bytes(1, bytes(1, path))));
    case "exit":
      return message(integer(1, record.exitCode), integer(2, record.runtimeSeconds));
  }
}

function timestamp(date: Date): Uint8Array {
  const milliseconds = date.getTime();
  const seconds = Math.floor(milliseconds / 1000);
  return message(integer(1, seconds), integer(2, (milliseconds - seconds * 1000) * 1_000_000));
}
