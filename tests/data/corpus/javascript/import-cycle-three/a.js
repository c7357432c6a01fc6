import { b } from "./b.js"
export function a(n) { return n ? `a${b(n - 1)}` : "." }
