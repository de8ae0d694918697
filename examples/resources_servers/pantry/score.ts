export type Stock = Record<string, number>;

/** The share of goods that are there in the wanted number; nothing wanted: 1. */
export function shareInPlace(stock: Stock, wanted: Stock): number {
  const goods = Object.keys(wanted);
  if (goods.length === 0) return 1;
  return goods.filter((item) => (stock[item] ?? 0) === wanted[item]).length / goods.length;
}
