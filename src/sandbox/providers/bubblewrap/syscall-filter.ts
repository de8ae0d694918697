import { SandboxUnavailableError } from "../../errors.ts";
import { ABSENT, EXAMINED, FORBIDDEN_CALLS } from "./syscalls.ts";

type Architecture = "x64" | "arm64";

/** `AUDIT_ARCH_*` of linux/audit.h. */
const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Calls of the x32 interface have this bit. The tables have no such numbers. */
const X32_BIT = 0x4000_0000;

// Offsets in `struct seccomp_data`. Both architectures are little-endian: the low half of an argument comes first.
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

// Instructions of classic BPF (linux/bpf_common.h).
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const ERROR = 0x0005_0000;
/** The call does nothing and succeeds. */
const IGNORE = ERROR;
const EPERM = ERROR | 1;
const ENOSYS = ERROR | 38;
const EAFNOSUPPORT = ERROR | 97;

/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK (to list interfaces). Others, such as AF_VSOCK, ignore network namespaces. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** Every CLONE_NEW* flag. */
const NEW_NAMESPACES = 0x7e02_0080;
/** TIOCSTI and TIOCLINUX write to the input of a terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;

interface Instruction {
  code: number;
  /** Number of instructions to skip if the comparison is true, and if it is false. */
  ifTrue?: number;
  ifFalse?: number;
  value: number;
}

/**
 * A seccomp program in the format of `bwrap --seccomp`: an array of `struct sock_filter`. It rejects what namespaces and
 * limits do not cover: memory that belongs to no process, the keyring, the choice of cores, and rarely used kernel functions.
 */
export function syscallFilter(architecture: string = process.arch): Buffer {
  if (architecture !== "x64" && architecture !== "arm64")
    throw new SandboxUnavailableError(
      `The sandbox provider 'bubblewrap' has a system call filter for x64 and arm64 only, not for ${architecture}; use 'docker' here.`,
    );
  return encode(program(architecture));
}

function program(architecture: Architecture): Instruction[] {
  return [
    { code: LOAD_WORD, value: ARCHITECTURE },
    { code: JUMP_IF_EQUAL, value: AUDIT_ARCH[architecture], ifTrue: 1 },
    { code: RETURN, value: KILL_PROCESS },
    { code: LOAD_WORD, value: NUMBER },
    ...(architecture === "x64" ? answerIf(JUMP_IF_AT_LEAST, X32_BIT, ENOSYS) : []),
    ...numbersOf(FORBIDDEN_CALLS, architecture).flatMap((number) => answerIf(JUMP_IF_EQUAL, number, EPERM)),
    ...numbersOf(ABSENT, architecture).flatMap((number) => answerIf(JUMP_IF_EQUAL, number, ENOSYS)),
    ...examine(EXAMINED.socket[architecture], 0, [
      ...SOCKET_FAMILIES.flatMap((family) => answerIf(JUMP_IF_EQUAL, family, ALLOW)),
      { code: RETURN, value: EAFNOSUPPORT },
    ]),
    ...examine(EXAMINED.clone[architecture], 0, answerIf(JUMP_IF_ANY_BIT, NEW_NAMESPACES, EPERM)),
    ...examine(
      EXAMINED.ioctl[architecture],
      1,
      TERMINAL_INPUT.flatMap((request) => answerIf(JUMP_IF_EQUAL, request, EPERM)),
    ),
    // Queues of Unix sockets keep their default size, because their content cannot be measured (memory-watch.ts).
    ...examine(EXAMINED.setsockopt[architecture], 1, [
      { code: JUMP_IF_EQUAL, value: SOL_SOCKET, ifFalse: 3 },
      { code: LOAD_WORD, value: argument(2) },
      ...answerIf(JUMP_IF_EQUAL, SO_SNDBUF, IGNORE),
    ]),
    { code: RETURN, value: ALLOW },
  ];
}

function numbersOf(
  calls: Readonly<Record<string, { x64?: number; arm64?: number }>>,
  architecture: Architecture,
): number[] {
  return Object.values(calls).flatMap((numbers) => numbers[architecture] ?? []);
}

function answerIf(code: number, value: number, answer: number): Instruction[] {
  return [
    { code, value, ifFalse: 1 },
    { code: RETURN, value: answer },
  ];
}

/** Runs `checks` on one argument of one system call. The call is allowed if no check returns. */
function examine(number: number, index: number, checks: readonly Instruction[]): Instruction[] {
  const body = [{ code: LOAD_WORD, value: argument(index) }, ...checks, { code: RETURN, value: ALLOW }];
  return [{ code: JUMP_IF_EQUAL, value: number, ifFalse: body.length }, ...body];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, ifTrue = 0, ifFalse = 0, value }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
