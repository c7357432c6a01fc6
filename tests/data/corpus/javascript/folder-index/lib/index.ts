export { inner } from "./inner"
