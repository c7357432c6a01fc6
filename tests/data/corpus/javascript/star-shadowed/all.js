export * from "./left.js"
export * as left from "./left.js"
export const name = "own"
