import type { ErrorCodeRow } from "../errors.ts";

/** Codes of jobs for a cluster. */
export const submitErrorCodes = [
  {
    code: "SUBMIT_CONFIG",
    class: "SubmitError",
    when: "The YAML of `gym eval submit` has unknown, missing or contradicting keys, or values of the wrong kind.",
    fix: "Correct it at the places shown; `--dry-run` checks it without submitting anything.",
  },
  {
    code: "SUBMIT_MOUNT_MISSING",
    class: "SubmitError",
    when: "A directory that a container is to see does not exist on the cluster.",
    fix: "Create it, or correct the part of the mount before the first colon.",
  },
  {
    code: "SUBMIT_DIRECTORY",
    class: "SubmitError",
    when: "The directory of the jobs cannot be made: `job.output_path` may not be written, or the directory is there already.",
    fix: "Choose a directory you may write to, or submit again.",
  },
  {
    code: "SUBMIT_TOOL",
    class: "SubmitError",
    when: "`sbatch` or `ssh` cannot be run, refused the job, or did not answer in time.",
    fix: "Read what the tool said; on a machine without Slurm set `compute.<name>.hostname` to its login node.",
  },
] as const satisfies readonly ErrorCodeRow[];
