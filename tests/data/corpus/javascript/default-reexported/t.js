export { "the transformer" as default } from "./real.js"
