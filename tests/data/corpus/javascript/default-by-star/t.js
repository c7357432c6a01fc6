export * from "./real.js"
