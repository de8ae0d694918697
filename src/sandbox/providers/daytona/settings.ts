import { z } from "zod";
import { execSettings, probeSettings } from "../../provider-settings.ts";
import { operationSettings, serviceCreateSettings } from "../../service-settings.ts";

const READY = "nemo-gym-sandbox-ready";

/** Settings of `sandbox: {daytona: …}`; intervals are minutes, as the service counts. */
export const daytonaSettings = z.strictObject({
  connection: z
    .looseObject({
      /** `DAYTONA_API_KEY` when absent. */
      api_key: z.string().nullish(),
      jwt_token: z.string().nullish(),
      organization_id: z.string().nullish(),
      /** `DAYTONA_API_URL` when absent, then the public service. */
      api_url: z.string().nullish(),
      server_url: z.string().nullish(),
      target: z.string().nullish(),
    })
    .prefault({}),
  create: z
    .looseObject({
      ...serviceCreateSettings,
      os_user: z.string().nullish(),
      public: z.boolean().nullish(),
      auto_stop_interval: z.number().int().nullish(),
      auto_archive_interval: z.number().int().nullish(),
      auto_delete_interval: z.number().int().nullish(),
      /** No network unless this is false. */
      network_block_all: z.boolean().nullable().default(true),
      network_allow_list: z.string().nullish(),
    })
    .prefault({}),
  exec: z.looseObject(execSettings).prefault({}),
  probe: probeSettings(`printf ${READY}`, READY),
  operations: operationSettings,
  batch: z.looseObject({}).optional(),
});
export type DaytonaSettings = z.output<typeof daytonaSettings>;
