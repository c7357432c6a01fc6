import { name } from "./all.js"
export default { name: "t", transform: () => [{ id: name }] }
