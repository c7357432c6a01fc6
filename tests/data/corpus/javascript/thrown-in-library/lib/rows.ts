class RowError extends Error { override name = "RowError"; constructor(readonly row: number, message: string) { super(message) } }
export function label(row: number): string {
  if (row > 9)
  throw new RowError(row, `row ${row}: no label`)
  return `l${row}`
}
