import { base } from "./t.js"
export const y = "y" + base
