import { label } from "./lib/rows.ts"
export default { name: "t", transform: () => [{ id: label(12) }] }
