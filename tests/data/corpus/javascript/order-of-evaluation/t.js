import "./one.js"
import "./two.js"
import { log } from "./log.js"
log.push("entry")
export default { name: "t", transform: () => [{ id: log.join(" ") }] }
