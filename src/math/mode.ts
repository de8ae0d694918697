/** `compat` decides as math-verify 0.8 does, its mistakes included; `strict` as mathematics does. */
export type Mode = "compat" | "strict";
