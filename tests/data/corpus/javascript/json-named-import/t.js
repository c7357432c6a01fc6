import { a } from "./data.json" with { type: "json" }
export default { name: "t", transform: () => [{ id: a }] }
