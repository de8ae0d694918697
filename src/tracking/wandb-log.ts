import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

/**
 * The record log of a W&B run: the log format of LevelDB (blocks of 32 KiB; a record is whole, or first, middle and last parts) with
 * a header of its own and plain CRC-32 over type and data.
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

  /** Creates the file, which must not exist yet. */
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

/** CRC-32 of bytes, going on from that of the bytes before them. */
export function crc32(bytes: Uint8Array, before = 0): number {
  let value = ~before;
  for (const byte of bytes) value = (value >>> 8) ^ (TABLE[(value ^ byte) & 0xff] ?? 0);
  return ~value >>> 0;
}
