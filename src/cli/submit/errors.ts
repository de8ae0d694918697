import { type CodesOf, type ErrorTable, GymError } from "../../base/errors.ts";

/** A job cannot be described, written or submitted. */
export class SubmitError extends GymError {
  constructor(code: CodesOf<typeof submitErrorCodes>, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** Codes of jobs on a cluster. */
export const submitErrorCodes = {
  SubmitError: {
    SUBMIT_CONFIG: {
      when: "The YAML of `gym eval submit` has unknown, missing or contradicting keys, or values of the wrong kind.",
      fix: "Correct it at the places shown; `--dry-run` checks it without submitting anything.",
    },
    SUBMIT_MOUNT_MISSING: {
      when: "A directory to be mounted into a container does not exist on the cluster.",
      fix: "Create it, or correct the part of the mount before the first colon.",
    },
    SUBMIT_DIRECTORY: {
      when: "The directory of the jobs cannot be created: `job.output_path` is not writable, or the directory already exists.",
      fix: "Choose a directory that you can write to, or submit again.",
    },
    SUBMIT_TOOL: {
      when: "`sbatch` or `ssh` cannot be run, rejected the job, or did not answer in time.",
      fix: "Read the message of the tool; on a machine without Slurm set `compute.<name>.hostname` to its login node.",
    },
  },
} satisfies ErrorTable;
