import { table } from "./table.js"
export default { name: "t", transform: () => [{ id: table.a }] }
