import { h } from "./helper.js"
export default { name: "t", transform: () => [{ id: h }] }
