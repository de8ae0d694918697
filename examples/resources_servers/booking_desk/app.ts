import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";

/** Bookings at a desk whose house rules the prompt does not tell. The verifier says which rule a booking breaks. */
export default defineResourcesServer({
  row: z.looseObject({
    expected_booking: z.string(),
    /** The house rule that decides about this booking; null: any correct booking is accepted. */
    house_rule: z.string().nullable(),
  }),
  tools: {
    book: {
      description: "Books a room.",
      input: z.object({ entry: z.string().describe("The entry for the book.") }),
      run: ({ input }) => ({ booked: input.entry }),
    },
  },
  verify({ row, response }) {
    const call = response.output.find((item) => item.type === "function_call");
    const isRight = call?.arguments.includes(row.expected_booking) ?? false;
    const broken = row.house_rule === null ? "The entry is wrong." : `House rule: ${row.house_rule}`;
    return { reward: isRight ? 1 : 0, feedback: isRight ? "The booking is right." : broken };
  },
});
