import { c } from "./c.js"
export const b = (n) => (n ? `b${c(n - 1)}` : ".")
