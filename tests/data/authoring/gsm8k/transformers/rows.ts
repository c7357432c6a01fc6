export interface Row {
  readonly question: string
  readonly answer: string
}

export function rowsOf(content: string): Row[] {
  return content
    .split("\n")
    .filter((line) => line.length > 0)
    .map((line) => JSON.parse(line) as Row)
}
