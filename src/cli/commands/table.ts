import type { Program } from "../command.ts";
import { completion } from "./completion.ts";
import { datasetCollate } from "./dataset-collate.ts";
import { datasetDownload } from "./dataset-download.ts";
import { datasetHead } from "./dataset-head.ts";
import { datasetMigrate } from "./dataset-migrate.ts";
import { datasetRender } from "./dataset-render.ts";
import { datasetRm } from "./dataset-rm.ts";
import { datasetStats } from "./dataset-stats.ts";
import { datasetUpload } from "./dataset-upload.ts";
import { envQuery } from "./env-query.ts";
import { envResolve } from "./env-resolve.ts";
import { envStart } from "./env-start.ts";
import { envStatus } from "./env-status.ts";
import { envValidate } from "./env-validate.ts";
import { evalCtl } from "./eval-ctl.ts";
import { evalRun } from "./eval-run.ts";

/** Everything `gym` can do. A new command is one file beside this one and one line here. */
export const program: Program = {
  groups: [
    { name: "list", summary: "list available components" },
    { name: "dataset", summary: "manage datasets" },
    { name: "env", summary: "develop and run environments" },
    { name: "eval", summary: "run evaluations" },
    { name: "dev", summary: "contributor helpers" },
  ],
  commands: [
    datasetUpload,
    datasetDownload,
    datasetRm,
    datasetMigrate,
    datasetRender,
    datasetCollate,
    datasetHead,
    datasetStats,
    envQuery,
    envStatus,
    envStart,
    envResolve,
    envValidate,
    evalRun,
    evalCtl,
    completion,
  ],
};
