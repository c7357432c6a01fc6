export * from "./left.js"
export * from "./right.js"
