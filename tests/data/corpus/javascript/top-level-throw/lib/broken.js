export const table = new Map()
throw new RangeError("no table")
