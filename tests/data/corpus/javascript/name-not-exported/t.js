import { one, two } from "./some.js"
export default { name: "t", transform: () => [{ id: one + two }] }
