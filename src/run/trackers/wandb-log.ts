import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

/**
 * The record log of a W&B run. The format is the log format of LevelDB (blocks of 32 KiB; a record is whole, or has first,
 * middle and last parts), with another header and a plain CRC-32 over type and data.
 */
const BLOCK = 32_768;
const RECORD_HEADER = 7;
const FILE_HEADER = Buffer.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0x00]);

const FULL = 1;
const FIRST = 2;
const MIDDLE = 3;
const LAST = 4;

export class WandbLog {
  readonly #file: number;
  #position = 0;

  /** Creates the file. It must not exist yet. */
  constructor(path: string) {
    this.#file = openSync(path, "wx");
    this.#write(FILE_HEADER);
  }

  append(record: Uint8Array): void {
    if (this.#room < RECORD_HEADER) this.#write(Buffer.alloc(this.#room));
    if (record.length + RECORD_HEADER <= this.#room) {
      this.#part(FULL, record);
      return;
    }
    let done = this.#room - RECORD_HEADER;
    this.#part(FIRST, record.subarray(0, done));
    for (; record.length - done > BLOCK - RECORD_HEADER; done += BLOCK - RECORD_HEADER)
      this.#part(MIDDLE, record.subarray(done, done + BLOCK - RECORD_HEADER));
    this.#part(LAST, record.subarray(done));
  }

  close(): void {
    fsyncSync(this.#file);
    closeSync(this.#file);
  }

  /** Bytes left in the block. */
  get #room(): number {
    return BLOCK - (this.#position % BLOCK);
  }

  #part(type: number, data: Uint8Array): void {
    const header = Buffer.alloc(RECORD_HEADER);
    header.writeUInt32LE(crc32(data, crc32(Uint8Array.of(type))), 0);
    header.writeUInt16LE(data.length, 4);
    header.writeUInt8(type, 6);
    this.#write(header);
    this.#write(data);
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    this.#position += bytes.length;
  }
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** The CRC-32 of bytes, continued from the CRC-32 of the bytes before them. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let value = ~before;
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}

// Records are protocol buffers, with the field numbers of the public `wandb_internal.proto`.

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

/** Key and value of a config, history or summary record. The value is JSON text. */
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
      entity?: string;
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

/** The bytes of a record. `number` is its position in the log, from 1. */
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
