import { a } from "./a.js"
export const c = (n) => (n ? `c${a(n - 1)}` : ".")
