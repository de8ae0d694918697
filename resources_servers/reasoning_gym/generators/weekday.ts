import { defineGenerator } from "./generator.ts";

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** The day of the week a date falls on. */
export const weekday = defineGenerator<{ task: "weekday_of_date"; date: string }>({
  task: "calendar_arithmetic",
  draw: (random, level) => {
    const span = 40 * level * level;
    const year = random.int(2024 - span, 2024 + span);
    const [month, day] = [random.int(1, 12), random.int(1, 28)];
    const date = `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
    return {
      question: `On which day of the week does ${date} fall in the Gregorian calendar? Answer with the English name, such as Monday.`,
      metadata: { task: "weekday_of_date", date },
    };
  },
  solve: ({ date }) => WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? "",
});
