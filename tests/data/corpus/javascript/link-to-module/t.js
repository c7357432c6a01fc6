import { h } from "./linked.js"
export default { name: "t", transform: () => [{ id: h }] }
