import type { ErrorTable } from "../base/errors.ts";

/** Codes of evaluations and of the head server. */
export const runErrorCodes = {
  GymError: {
    HEAD_SERVER: {
      when: "A command that needs running servers finds no head server, a head server that does not answer, or another program on its port.",
      fix: "Start the servers with `gym env start`, or give the address with `++head_server.port=N`. A head server that does not answer may share its process with a busy server.",
    },
    OPTIONS_INVALID: {
      when: "A program passes an unknown option, or a value of another type, to a function of `nemo-gym/run`.",
      fix: "Correct the option that the message names. The TypeScript compiler finds most such mistakes.",
    },
    OPTIMIZE_INVALID: {
      when: "`gym optimize` was given a component, split, model server or directory that it cannot use, or no rollout of the first texts was scored.",
      fix: "Correct what the message names. `gym optimize --help` lists the forms of components and splits.",
    },
    EVAL_NO_INPUT: {
      when: "`gym eval run` was given neither rows nor a split, and the config has no example data; or the input is a directory, pipe or device.",
      fix: "Give `--input FILE` or `--split NAME`; save the output of a pipe to a file first.",
    },
    EVAL_NOT_PREPARED: {
      when: "The rows of a benchmark must be downloaded, and nobody agreed to it.",
      fix: "Add `--prepare`, or run `gym eval prepare` first.",
    },
    EVAL_NO_SPLIT: {
      when: "The config has no dataset of the requested type.",
      fix: "Use a split of the datasets listed.",
    },
    SCALE_FIGURES: {
      when: "`gym scale plan` finds no measured figures of a run, or figures without the usage per rollout.",
      fix: "Run an evaluation with its own servers or with workers on Linux; it writes `<rollouts>_resources.json`.",
    },
  },
} satisfies ErrorTable;
