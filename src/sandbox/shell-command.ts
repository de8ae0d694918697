/** Linux rejects a single argument of 128 KiB. Quoting for a second shell makes a text at most four times as long. */
export const LONGEST_SCRIPT_ARGUMENT = 32_000;

const FROM_STDIN = 'script=$(cat) && exec </dev/null && eval "$script"';

type Input = string | Uint8Array;

/** How to run a script in a shell: as an argument or, if it is too long for one, from standard input. */
export function shellCommand(
  shell: string,
  script: string,
  stdin?: Input,
): { argv: string[]; stdin: Input | undefined } {
  if (stdin !== undefined || Buffer.byteLength(script) <= LONGEST_SCRIPT_ARGUMENT)
    return { argv: [shell, "-c", script], stdin };
  return { argv: [shell, "-c", FROM_STDIN], stdin: script };
}
