import { defineResourcesServer } from "nemo-gym";
import { lastItemText } from "nemo-gym/openai";
import { z } from "zod";
import { findFault } from "./grade.ts";

/** Scheduling by conversation: the model prints the calendar, and its events must satisfy the user's constraints. */
export default defineResourcesServer({
  row: z.object({ exp_cal_state: z.looseObject({}) }),
  echo: [],
  verify: ({ row, response }) => ({
    reward: findFault(lastItemText(response), row.exp_cal_state) === undefined ? 1 : 0,
  }),
});
