import { inner } from "./lib"
import { outer } from "."
import { typed } from "./lib/typed.js"
export default { name: "t", transform: () => [{ id: inner + outer + typed }] }
