import { a } from "./a.js"
export default { name: "t", transform: () => [{ id: a(4) }] }
