export { x } from "../../outside.js"
