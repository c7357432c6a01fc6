export interface Source {
  readonly path: string
  readonly content: string
  readonly sha256: string
}

/** One value for each line that holds anything. */
export function recordsOf<T = any>({ content, path }: Source): T[] {
  return content.split(/\r?\n/).filter(Boolean).map((line, index): T => {
    try {
      return JSON.parse(line)
    } catch (error) {
      throw new SyntaxError(`${path}:${index + 1}: ${(error as Error).message}`)
    }
  })
}
