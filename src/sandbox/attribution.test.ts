import { describe, expect, it } from "vitest";
import { attribution } from "./attribution.ts";

const nobody = () => undefined;

describe("attribution", () => {
  it("prefers the options, then the variables of the gym, then those of Slurm", () => {
    const slurm = { SLURM_JOB_ACCOUNT: "st", SLURM_JOB_USER: "su", SLURM_JOB_NAME: "sw" };
    const gym = { NEMO_GYM_TEAM: "gt", NEMO_GYM_USER: "gu", NEMO_GYM_WORKLOAD: "gw", NEMO_GYM_RUN_ID: "gr" };
    const login = () => "ada";
    expect(attribution({ env: { ...slurm, ...gym }, login })).toEqual({
      team: "gt",
      user: "gu",
      workload: "gw",
      run: "gr",
    });
    expect(attribution({ env: { ...slurm, NEMO_GYM_CONFIG_PATH: "agent" }, run: "r", login })).toEqual({
      team: "st",
      user: "su",
      workload: "sw",
      run: "r",
    });
    expect(attribution({ env: gym, login, team: "t", user: "u", workload: "w" })).toMatchObject({
      team: "t",
      user: "u",
      workload: "w",
    });
  });

  it("falls back to the login name unless it is root, to the instance and to a random run", () => {
    const env = { NEMO_GYM_TEAM: "  ", NEMO_GYM_CONFIG_PATH: "my_agent" };
    const found = attribution({ env, login: () => "ada" });
    expect(found).toEqual({
      user: "ada",
      workload: "my_agent",
      run: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(attribution({ env, login: () => "root" })["user"]).toBeUndefined();
    expect(attribution({ env: {}, login: nobody, workloadFallback: "x" })).toEqual({
      workload: "x",
      run: found["run"],
    });
  });
});
