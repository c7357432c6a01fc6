import { y } from "./x.js"
export const base = "b"
export default { name: "t", transform: () => [{ id: y }] }
