import { x } from "./lib/up.js"
export default { name: "t", transform: () => [{ id: x }] }
